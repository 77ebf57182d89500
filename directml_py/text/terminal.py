"""What a terminal shows: text that comes from files and programs, and progress bars."""

from __future__ import annotations

import sys
import time
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TypeVar

from ..late import loading

T = TypeVar("T")

PATIENCE_SECONDS = 1.0
REFRESH_SECONDS = 0.1
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


def track(items: Iterable[T], title: str, total: int | None = None) -> Iterator[T]:
    """Yield the items; after a second, a bar on standard error shows how many of ``total`` are done.

    Nothing is shown if standard error is not a terminal. No thread draws the bar: the process may fork meanwhile.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    try:
        with loading:
            from rich.console import Console
            from rich.progress import Progress
    except ImportError:
        yield from items
        return
    began = drawn = time.monotonic()
    with ExitStack() as stack:
        bar = None
        for done, item in enumerate(items):
            now = time.monotonic()
            if bar is None and now - began > PATIENCE_SECONDS:
                console = Console(stderr=True)
                bar = stack.enter_context(Progress(console=console, transient=True, auto_refresh=False))
                task = bar.add_task(title, total=total)
            if bar is not None:
                is_due = now - drawn > REFRESH_SECONDS
                bar.update(task, completed=done, refresh=is_due)
                drawn = now if is_due else drawn
            yield item
