"""Progress bar for operations of more than a second, where the package rich is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 1.0


def track(items: Iterable[T], title: str, total: int | None = None) -> Iterator[T]:
    """Yield the items; after a second, a bar on standard error shows how many of ``total`` are done.

    Nothing is shown if standard error is not a terminal.
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
    began = time.monotonic()
    with ExitStack() as stack:
        bar = None
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - began > PATIENCE_SECONDS:
                bar = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
                task = bar.add_task(title, total=total)
            if bar is not None:
                bar.update(task, completed=done)
            yield item
