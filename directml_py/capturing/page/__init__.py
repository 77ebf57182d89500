"""Renders a capture as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence

from ...text.html import HTML, element, join
from ...text.plural import counted_words
from .. import event_types as e
from ..parser import CaptureLog
from .lanes import lanes
from .style import SCRIPT, STYLE
from .timeline import Timeline, messages_of, size_text, time_text

__all__ = ["page"]

MESSAGE = "message", "messages"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(logs: Sequence[CaptureLog]) -> str:
    """The page for the processes of a capture. Raises ``CaptureError`` where contents are damaged."""
    title = logs[0].process.title if logs else "nothing"
    parts = [(log, f"p{index}-" if index else "") for index, log in enumerate(logs)]
    body = [_head(parts), *(_process(log, prefix) for log, prefix in parts)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"{element('title', f'Capture of {title}')}<style>{STYLE}</style></head>"
        f'<body><a class="skip" href="#timeline">To the timeline</a>{join(body)}'
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def _head(parts: Sequence[tuple[CaptureLog, str]]) -> HTML:
    logs = [log for log, _ in parts]
    commands = [command for log in logs for _, command in log.ran]
    messages = sum(len(messages_of(log)) for log in logs)
    first = next((f"#{prefix}m0" for log, prefix in parts if messages_of(log)), None)
    kinds = [type(command.what) for command in commands]
    facts = [
        _counted(kinds.count(e.DispatchEvent), "dispatch", "dispatches"),
        _counted(kinds.count(e.CopyEvent), "copy", "copies"),
        _counted(kinds.count(e.BarrierEvent), "barrier", "barriers"),
        _counted(messages, *MESSAGE),
        (time_text(sum(command.duration for command in commands)), "in commands"),
        (size_text(sum(log.size for log in logs)), "of contents"),
    ]
    chips = []
    for number, what in facts:
        text = join([element("b", number), " ", what])
        if what in MESSAGE and first is not None:
            chips.append(element("li", element("a", text, href=first), class_="alarm"))
        else:
            chips.append(element("li", text))
    tools = HTML(
        '<div class="tools"><input id="filter" type="search" placeholder="Filter: GEMM, result, hazard …" '
        'aria-label="Filter commands" autocomplete="off"><button id="unfold" type="button">Open all</button>'
        '<p class="keys"><kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>Enter</kbd> open · <kbd>/</kbd> filter · '
        "<kbd>h</kbd> next message</p></div>"
    )
    heading = element("h1", "Capture")
    return element("header", join([heading, element("ul", join(chips), class_="facts"), tools]))


def _counted(count: int, noun: str, several: str) -> tuple[str, str]:
    number, _, what = counted_words(count, noun, several).partition(" ")
    return number, what


def _process(log: CaptureLog, prefix: str) -> HTML:
    """``prefix`` makes element ids unique, since processes may share a process identifier."""
    process = log.process
    facts = f"{process.started} · process {process.pid} · directml-py {process.version} · {process.kernels}"
    parts = [element("h2", process.title, class_="program"), element("p", facts, class_="quiet")]
    if log.cut:
        parts.append(element("p", f"This recording is incomplete; {log.cut}.", class_="note"))
    parts += [lanes(log, prefix), *Timeline(log, prefix).all()]
    return element("main", join(parts), id=f"{prefix}timeline")
