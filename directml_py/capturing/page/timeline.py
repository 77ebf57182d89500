"""The timeline: a program's executions, command by command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...descs.data_types import type_name
from ...descs.desc_json import write_record
from ...descs.format import braces
from ...dml.compiler.graph_program import GraphProgram
from ...text.html import HTML, element, join
from .. import event_types as e
from ..parser import CaptureLog
from ..replay_state import Operand, ReplayState
from .tensor_values import values_of

SHORT = "D3D12_RESOURCE_STATE_"
OPERATOR = "DML_OPERATOR_"


def messages_of(log: CaptureLog) -> list[e.CapturedMessage]:
    """All messages, of commands, executions and the process, in the order of the page."""
    found: list[e.CapturedMessage] = []
    for event in log.events:
        if isinstance(event, e.CapturedMessage):
            found.append(event)
        elif isinstance(event, e.CapturedExecution):
            found += [message for command in event.commands for message in command.messages]
            found += event.messages
    return found


class Timeline:
    """The HTML of one process; ``prefix`` begins every id. Raises ``CaptureError`` for damaged contents."""

    def __init__(self, log: CaptureLog, prefix: str) -> None:
        self._log = log
        self._prefix = prefix
        self._anchors = {id(one): f"{prefix}m{index}" for index, one in enumerate(messages_of(log))}
        state = ReplayState(log)
        # Memory follows execution order, the page call order.
        self._commands: dict[int, list[HTML]] = {}
        previous: tuple[int, int] | None = None
        for execution, command in log.ran:
            state.find(command)
            inputs = list(self._operands(state, command, "input"))
            state.leave(command)
            operands = [*inputs, *self._operands(state, command, "output")]
            pieces = self._commands.setdefault(execution.number, [])
            if (execution.number, command.list_index) != previous:
                previous = (execution.number, command.list_index)
                pieces.append(_list_title(execution, command.list_index))
            pieces += map(self._message, command.messages)
            pieces.append(self._command(execution, command, operands))

    @staticmethod
    def _operands(
        state: ReplayState, command: e.CapturedCommand, kind: str
    ) -> Iterator[tuple[Operand, HTML]]:
        if isinstance(command.what, e.DispatchEvent):
            for operand in state.operands(command.what):
                if operand.slot.kind == kind:
                    yield operand, values_of(operand)

    def all(self) -> Iterator[HTML]:
        for event in self._log.events:
            yield self._event(event)

    def _event(self, event: e.CaptureEvent) -> HTML:
        if isinstance(event, e.CapturedExecution):
            return self._execution(event)
        if isinstance(event, e.CapturedMessage):
            return self._message(event)
        if isinstance(event, e.Removed):
            return element(
                "p", join([element("b", "The device was removed. "), event.text]), class_="message error"
            )
        if isinstance(event, e.QueueMarkerEvent):
            return element(
                "p",
                join([element("i", event.queue.title), " ", _marker_text(event.marker)]),
                class_="fence",
            )
        subject = "the CPU" if event.queue is None else event.queue.title
        sets = isinstance(event, e.SignalEvent)
        verb, sign = ("sets", "=") if sets else ("waits for", "≥")
        parts = [
            element("i", subject),
            f" {verb} ",
            element("b", event.fence.title),
            f" {sign} {event.value}",
        ]
        return element("p", join(parts), class_="fence set" if sets else "fence wait")

    def _execution(self, execution: e.CapturedExecution) -> HTML:
        commands = execution.commands
        lists, ran = _count(len(execution.lists), "list"), _count(len(commands), "command")
        seconds = time_text(sum(command.duration for command in commands))
        facts = f"{lists} · {ran} · {seconds} · at {execution.time * 1e3:.2f} ms"
        head = [
            element("h3", f"ExecuteCommandLists · {execution.queue.title}"),
            element("p", facts, class_="quiet"),
        ]
        if not commands:
            head.append(element("p", "None of it has run.", class_="note"))
        elif not execution.complete:
            head.append(element("p", "The capture ends before these lists have finished.", class_="note"))
        messages = [self._message(message) for message in execution.messages]
        body = _nested(self._commands.get(execution.number, []))
        return element("section", join([*head, body, *messages]), class_="execution")

    def _command(
        self, execution: e.CapturedExecution, command: e.CapturedCommand, operands: list[tuple[Operand, HTML]]
    ) -> HTML:
        event, anchor = command.what, f"{self._prefix}c{execution.number}-{command.index}"
        if isinstance(event, e.DispatchEvent):
            return self._dispatch(command, event, operands, anchor)
        if isinstance(event, e.BarrierEvent):
            lines = join(element("li", _barrier(access)) for access in event.barriers)
            return element("ul", lines, class_="barriers", id=anchor)
        if isinstance(event, e.MarkerEvent):
            return _span(event, anchor)
        if isinstance(event, e.CopyEvent):
            line = [element("b", "Copy "), f"{event.source} → {event.destination}", _duration(command)]
            return element("p", join(line), class_="command copy", id=anchor)
        if not event.uses:
            return element("p", event.title, class_="command small quiet", id=anchor)
        uses = "; ".join(f"{access.use.lower()} {access.name}: {access.range}" for access in event.uses)
        line = [element("b", f"{event.title} "), uses, _duration(command)]
        return element("p", join(line), class_="command other", id=anchor)

    def _dispatch(
        self,
        command: e.CapturedCommand,
        dispatch: e.DispatchEvent,
        operands: list[tuple[Operand, HTML]],
        anchor: str,
    ) -> HTML:
        outputs = [output for output, _ in operands if output.slot.kind == "output"]
        shapes = ", ".join(
            f"{type_name(output.tensor.data_type)} {braces(output.tensor.sizes)}" for output in outputs
        )
        if dispatch.operators:
            shapes = f"of {_names(dispatch)}"
        shown = element("span", shapes, class_="quiet shapes") if shapes else ""
        title = dispatch.dispatchable.title.replace(OPERATOR, "")
        head = [
            element("span", str(dispatch.number), class_="number"),
            element("span", join([element("b", title[0].upper() + title[1:]), " ", shown])),
            _duration(command),
        ]
        shown_points = {operand.slot for operand, _ in operands}
        rows = [_tensor(operand, values) for operand, values in operands]
        rows += [
            element("li", join([element("b", slot.name), element("span", f" {bound}", class_="quiet")]))
            for slot, bound in dispatch.bindings.items()
            if slot not in shown_points
        ]
        body = [element("ul", join(rows), class_="tensors"), self._desc(dispatch)]
        summary = element("summary", join(head))
        return element("details", join([summary, *body]), class_="command dispatch", id=anchor)

    def _message(self, message: e.CapturedMessage) -> HTML:
        level = message.severity.rpartition("_")[2].lower()
        kind = "message error" if level in ("error", "corruption") else "message"
        parts = [element("b", level.capitalize()), " ", message.text]
        return element("p", join(parts), class_=kind, role="note", id=self._anchors[id(message)])

    def _desc(self, dispatch: e.DispatchEvent) -> HTML:
        op = dispatch.dispatchable.op
        if op is None:
            return element("p", f"Initializes {_names(dispatch) or 'nothing'}.", class_="quiet")
        if op.op is None:
            assert isinstance(op.program, GraphProgram)
            lines = join(element("li", node.title) for node in op.program.graph.nodes if node is not None)
            return join(
                [element("p", "The graph's nodes:", class_="quiet"), element("ol", lines, class_="nodes")]
            )
        record = write_record(op.op.desc)
        tensors = {slot.field for slot in (*op.inputs, *op.outputs)}
        chips = [
            join([element("dt", name), element("dd", _attribute(value))])
            for name, value in record.items()
            if name not in tensors
        ]
        raw = element(
            "details",
            join([element("summary", op.op.desc.struct.name), element("pre", json.dumps(record, indent=1))]),
            class_="raw",
        )
        return join([element("dl", join(chips), class_="attributes") if chips else "", raw])


def _names(dispatch: e.DispatchEvent) -> str:
    """What an initializer initializes."""
    return ", ".join(
        "an unknown operator" if operator is None else operator.title.replace(OPERATOR, "")
        for operator in dispatch.operators
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _attribute(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{name} {_attribute(item)}" for name, item in value.get("desc", value).items())
        name = value.get("operator", "")
        return f"{name} ({inner})" if name and inner else name or inner
    if isinstance(value, list):
        return braces([_attribute(item) for item in value])
    return str(value)


def _tensor(operand: Operand, values: HTML) -> HTML:
    tensor = operand.tensor
    shape = f"{type_name(tensor.data_type)} {braces(tensor.sizes)}"
    if tensor.strides is not None:
        shape += f" strides {braces(tensor.strides)}"
    where = "owned by DirectML, as initialized" if operand.range is None else str(operand.range)
    head = [
        element("b", operand.name),
        element("code", shape),
        element("span", f"{where} · {size_text(tensor.total_size)}", class_="quiet"),
    ]
    return element("li", join([element("div", join(head), class_="head"), values]), class_=operand.slot.kind)


def _barrier(barrier: e.CapturedBarrier) -> HTML:
    if isinstance(barrier, e.CapturedTransition):
        before, after = (state.replace(SHORT, "") for state in (barrier.before, barrier.after))
        only = "" if barrier.flags == "D3D12_RESOURCE_BARRIER_FLAG_NONE" else f" ({barrier.flags})"
        return join([element("b", barrier.resource.title), f" {before} → {after}{only}"])
    if isinstance(barrier, e.CapturedAliasing):
        names = [one.title if one is not None else "anything" for one in barrier]
        return join(["aliasing barrier · ", element("b", f"{names[0]} → {names[1]}")])
    where = "all resources" if barrier.resource is None else barrier.resource.title
    return join(["UAV barrier · ", element("b", where)])


def _marker_text(marker: e.MarkerEvent) -> str:
    return {"BeginEvent": "begins", "EndEvent": "ends", "SetMarker": "marks"}[
        marker.call
    ] + f" {marker.text}".rstrip()


class _Begin(HTML):
    """The start of a span, which ``_nested`` closes where no end follows."""


class _SpanEnd(HTML):
    """The end of a span, if one is open."""


class _Title(HTML):
    """The heading of a command list, before which open spans of the previous list are closed."""


def _list_title(execution: e.CapturedExecution, index: int) -> HTML:
    return _Title(element("h4", execution.lists[index].title if index < len(execution.lists) else "a list"))


def _span(marker: e.MarkerEvent, anchor: str) -> HTML:
    if marker.call == "SetMarker":
        return element("p", f"◆ {marker.text}", class_="marker", id=anchor)
    if marker.call == "EndEvent":
        return _SpanEnd(f'<span id="{anchor}"></span></div>')
    name = element("h5", marker.text or "an event")
    return _Begin(f'<div class="span" id="{anchor}">{name}')


def _nested(pieces: list[HTML]) -> HTML:
    """Balance the tags of one execution: spans may begin in one list and end in another, elements may not."""
    depth, parts = 0, []
    for piece in pieces:
        if isinstance(piece, _Title):
            parts.append(HTML("</div>" * depth))
            depth = 0
        if isinstance(piece, _SpanEnd) and not depth:
            continue
        depth += isinstance(piece, _Begin) - isinstance(piece, _SpanEnd)
        parts.append(piece)
    return join([*parts, HTML("</div>" * depth)])


def _duration(command: e.CapturedCommand) -> HTML:
    return element("span", time_text(command.duration), class_="time")


def time_text(seconds: float) -> str:
    """A duration with a unit, as ``1.25 ms``."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def size_text(count: int) -> str:
    """A byte count with a unit, as ``1.5 MiB``."""
    if count < 1024:
        return f"{count} bytes"
    units = ("KiB", "MiB", "GiB", "TiB")
    power = min((count.bit_length() - 1) // 10, len(units))
    return f"{count / 1024**power:.3g} {units[power - 1]}"
