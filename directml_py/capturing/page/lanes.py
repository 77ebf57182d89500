"""The overview: one lane per queue, one mark per command, in execution order."""

from __future__ import annotations

from ...text.html import HTML, element, join
from .. import event_types as e
from ..parser import CaptureLog

STEP, HEIGHT, GAP, TOP = 12, 26, 12, 4
# More marks could not be told apart.
LIMIT = 4000
CLASSES = {
    e.DispatchEvent: "dispatch",
    e.CopyEvent: "copy",
    e.BarrierEvent: "barrier",
    e.MarkerEvent: "marker",
    **dict.fromkeys(
        (e.ClearEvent, e.EndQueryEvent, e.ResolveQueryEvent, e.WriteImmediateEvent, e.OtherEvent), "other"
    ),
}


def lanes(log: CaptureLog, prefix: str) -> HTML:
    """The diagram; empty for a log without commands."""
    queues: list[e.CapturedObject] = []
    marks: list[str] = []
    hidden = 0
    column, before = 0, None
    blocks: dict[int, tuple[int, int, int]] = {}
    for execution, command in log.ran:
        if not command.messages and _is_small(command.what):
            continue
        if column >= LIMIT:
            hidden += 1
            continue
        if execution.queue not in queues:
            queues.append(execution.queue)
        column += 1 if before in (None, execution.number) else 2
        before = execution.number
        lane = queues.index(execution.queue)
        first = blocks.get(execution.number, (lane, column, column))[1]
        blocks[execution.number] = (lane, first, column)
        marks.append(_mark(execution, command, column, lane, prefix))
    if not marks:
        return HTML("")
    width, height = (column + 2) * STEP, TOP + len(queues) * (HEIGHT + GAP)
    frames = [
        f'<rect class="block" x="{first * STEP - 3}" y="{TOP + lane * (HEIGHT + GAP)}" rx="4" '
        f'width="{(last - first + 1) * STEP + 2}" height="{HEIGHT}"/>'
        for lane, first, last in blocks.values()
    ]
    picture = HTML(
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Commands by queue">{"".join(frames)}{"".join(marks)}</svg>'
    )
    names = join(element("li", queue.title) for queue in queues)
    key = join(
        element("li", name, class_=f"key-{name}")
        for name in ("dispatch", "copy", "barrier", "marker", "message")
    )
    note = element("p", f"{hidden} more commands are not drawn", class_="quiet") if hidden else HTML("")
    strip = element("div", picture, class_="strip", tabindex="0", role="region", aria_label="Overview")
    overview = join([element("ol", names, class_="names"), strip])
    return element(
        "nav", join([element("div", overview, class_="lanes"), element("ul", key, class_="key"), note])
    )


def _is_small(what: e.CommandEvent) -> bool:
    """Whether it accesses no memory, or ends a span that another mark begins."""
    if isinstance(what, e.MarkerEvent):
        return what.call == "EndEvent"
    return isinstance(what, (e.EndQueryEvent, e.OtherEvent)) and not what.uses


def _mark(
    execution: e.CapturedExecution, command: e.CapturedCommand, column: int, lane: int, prefix: str
) -> str:
    kind = CLASSES[type(command.what)]
    x, y = column * STEP, TOP + lane * (HEIGHT + GAP) + 5
    shape = (
        f'<rect x="{x + 3}" y="{y - 1}" width="2" height="{HEIGHT - 8}" rx="1"/>'
        if kind in ("barrier", "marker")
        else f'<rect x="{x}" y="{y}" width="{STEP - 3}" height="{HEIGHT - 10}" rx="2"/>'
    )
    if command.messages:
        shape += f'<path class="alarm" d="M{x - 1} {y + HEIGHT + 4}l5.5 -9l5.5 9z"/>'
    anchor = f"{prefix}c{execution.number}-{command.index}"
    return f'<a href="#{anchor}" class="{kind}" tabindex="-1">{shape}</a>'
