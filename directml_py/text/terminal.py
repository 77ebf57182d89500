"""Text that comes from files and programs, on its way to a terminal."""

from __future__ import annotations

import sys
import unicodedata

# Controls, formats such as bidirectional ones, surrogates, and line and paragraph separators.
_ESCAPED = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def shown(text: str) -> str:
    """``text`` with everything escaped that a terminal could act on, other than line breaks."""
    return "".join(
        char if char == "\n" or unicodedata.category(char) not in _ESCAPED else ascii(char)[1:-1]
        for char in text
    )


def escape_what_streams_cannot_encode() -> None:
    """Have the standard streams escape characters that their encoding lacks, instead of raising an exception."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
