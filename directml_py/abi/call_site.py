"""Call sites in the calling program."""

from __future__ import annotations

import os
import sys

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# These count as programs although they ship with the package.
_SAMPLES = _PACKAGE + "samples" + os.sep


def called(call: str, site: str) -> str:
    """``call`` and its call site, if that is known."""
    return f"{call} (called at {site})" if site else call


def caller() -> str:
    """``file:line`` of the innermost frame outside this package; empty if there is none, as in C programs."""
    frame = sys._getframe(1)
    while True:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE) or file.startswith(_SAMPLES):
            # The import machinery has no file.
            return "" if file.startswith("<frozen") else f"{file}:{frame.f_lineno}"
        if frame.f_back is None:
            return ""
        frame = frame.f_back
