"""Progress bar for operations of more than a second, where the package rich is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 1.0
REFRESH_SECONDS = 0.1


def track(items: Iterable[T], title: str, total: int | None = None) -> Iterator[T]:
    """Yield the items; after a second, a bar on standard error shows how many of ``total`` are done.

    Nothing is shown if standard error is not a terminal. No thread draws the bar: the process may fork meanwhile.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    try:
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
