"""Captures in a notebook: a table of their dispatches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..text.html import HTML, element, join, table
from ..text.plural import counted_words
from . import event_types as e

if TYPE_CHECKING:
    from .parser import CaptureLog

HEADER = ("Dispatch", "Operator", "Bound", "Messages")
# A table is to be read in a cell; the capture's page has all.
MOST_ROWS = 100


class Captures(list["CaptureLog"]):
    """The processes of a capture, which a notebook shows as a table each."""

    def _repr_html_(self) -> str:
        return join(capture_html(log) for log in self)


def title(log: CaptureLog) -> str:
    counts = (
        counted_words(len(log.dispatches), "dispatch", "dispatches"),
        counted_words(len(log.resources), "resource"),
    )
    return f"{log.process.title}: {', '.join(counts)}"


def capture_html(log: CaptureLog) -> HTML:
    """A row for each dispatch: its operator, what was bound, and what the debug layers said of it."""
    rows = list(_rows(log))
    shown = table(title(log), rows[:MOST_ROWS], HEADER)
    notes = [f"and {counted_words(len(rows) - MOST_ROWS, 'more dispatch', 'more dispatches')}"]
    texts = [*(notes if len(rows) > MOST_ROWS else ()), *([f"incomplete; {log.cut}"] if log.cut else ())]
    return join([shown, *(element("p", text) for text in texts)])


def _rows(log: CaptureLog) -> Iterator[tuple[str, ...]]:
    for _, command in log.ran:
        event = command.what
        if isinstance(event, e.DispatchEvent):
            yield (
                f"{event.number:,}",
                event.dispatchable.title,
                _lines(f"{point.name}: {bound}" for point, bound in event.bindings.items()),
                _lines(f"{message.text} [{message.rule}]" for message in command.messages),
            )


def _lines(texts: Iterable[str]) -> HTML:
    return join(element("div", text) for text in texts)
