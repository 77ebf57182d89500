"""Reading a capture. Nothing is allocated for what a line claims before it is known to be there."""

from __future__ import annotations

import json
import mmap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..abi.hresult import DMLError
from ..d3d12.allocation import physical_memory
from ..dml.slot import Slot
from ..graph.reading import GraphFileError, Item
from . import events as e
from .files import CONTENTS, EVENTS, FORMAT, VERSION
from .fingerprint import fingerprint
from .operators import Operators

Bytes = npt.NDArray[np.uint8]

UINT64_MAX = (1 << 64) - 1
CALLS = ("SetMarker", "BeginEvent", "EndEvent")
KINDS = ("input", "output", "temporary", "persistent")
USES = ("READ", "WRITE", "SCRATCH")


class CaptureError(ValueError):
    """A capture that cannot be read; the text names the file, the line and the member."""


@dataclass
class Log:
    """What one process did."""

    path: Path
    process: e.Process
    contents: list[e.Content] = field(default_factory=list)
    allocations: dict[int, e.Allocation] = field(default_factory=dict)
    resources: dict[int, e.Resource] = field(default_factory=dict)
    moments: list[e.Moment] = field(default_factory=list)
    ran: list[tuple[e.Execution, e.Command]] = field(default_factory=list)
    truncated: bool = False
    operators: Operators = field(init=False)

    @property
    def dispatches(self) -> list[e.Dispatch]:
        return [command.what for _, command in self.ran if isinstance(command.what, e.Dispatch)]

    def bytes(self, content: e.Content) -> Bytes:
        """Raises ``CaptureError`` if they are not those that were written."""
        stored = self._memory[content.offset : content.offset + content.size]
        if fingerprint(stored) != content.hash:
            raise CaptureError(
                f"{self._file}: bytes {content.offset} to {content.offset + content.size} are damaged"
            )
        return stored

    @property
    def _file(self) -> Path:
        return self.path.with_suffix(CONTENTS)

    def open(self) -> None:
        """Map the contents."""
        self._memory: Bytes = np.empty(0, np.uint8)
        with self._file.open("rb") as file:
            if file.seek(0, 2):
                whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._memory = np.frombuffer(whole, np.uint8)

    @property
    def size(self) -> int:
        """How many bytes of contents there are."""
        return len(self._memory)


def read_capture(folder: str | Path) -> list[Log]:
    """The processes of the capture in ``folder``, in the order in which they began.

    Raises ``CaptureError`` for what is no capture, or a damaged one, and ``OSError``. A last line that was not finished
    is left out, as a process that was killed leaves it.
    """
    place = Path(folder)
    paths = sorted(place.glob(f"*{EVENTS}")) if place.is_dir() else []
    if not paths:
        raise CaptureError(f"{place} is no capture: it has no {EVENTS} file")
    logs: list[Log] = []
    for path in paths:
        try:
            logs.append(_Reader(path).read())
        except GraphFileError as error:
            raise CaptureError(str(error)) from None
        except FileNotFoundError as error:
            raise CaptureError(f"{error.filename} is missing") from None
    logs.sort(key=lambda log: (log.process.started, log.path.name))
    count = 0
    for log in logs:
        count = _number_dispatches(log, count)
    return logs


def _number_dispatches(log: Log, count: int) -> int:
    for _, command in log.ran:
        if isinstance(command.what, e.Dispatch):
            command.what = command.what._replace(number=count)
            count += 1
    return count


class _Reader:
    """One file of events."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.things: dict[int, e.Thing] = {}
        self.dispatchables: dict[int, e.Dispatchable] = {}
        self.executions: dict[int, e.Execution] = {}
        self.names: dict[int, Any] = {}
        self.waiting: dict[tuple[int, int], list[e.Message]] = {}
        self.freed: list[int] = []
        self.counts: Counter[str] = Counter()
        self.limit = physical_memory()

    def read(self) -> Log:
        lines = self._lines()
        first = next(lines, None)
        if first is None:
            raise CaptureError(f"{self.path} is empty")
        kind, members = first
        if kind != "process":
            raise members["event"].error("must be 'process' in the first line")
        self.log = Log(self.path, self._process(members))
        self.log.open()
        self.operators = self.log.operators = Operators(self.log)
        for kind, members in lines:
            read = getattr(self, f"_on_{kind}", None)
            if read is None:
                raise members["event"].error(f"is {kind!r}, which is no event")
            read(members)
        self._leave_messages()
        self.log.truncated = self.truncated
        return self.log

    truncated = False

    def _lines(self) -> Iterator[tuple[str, dict[str, Item]]]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self.truncated = True
                    return
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise CaptureError(f"{self.path}: line {number}: is no JSON ({error})") from None
                top = Item(self.path, f"line {number}", value)
                if type(value) is not dict or "event" not in value:
                    raise top.error("is no event")
                members = top.fields(set(value))
                yield members["event"].text(), members

    # What lines say.

    @staticmethod
    def _process(members: dict[str, Item]) -> e.Process:
        if _get(members, "format").value != FORMAT:
            raise members["format"].error(f"must be {FORMAT!r}")
        if _get(members, "version").value != VERSION:
            raise members["version"].error(f"is {members['version'].value!r}; only {VERSION} is known")
        return e.Process(
            _get(members, "pid").integer(),
            tuple(_text(one) for one in _get(members, "arguments")),
            _text(_get(members, "started")),
            _text(_get(members, "directml_py")),
            _text(_get(members, "kernels")),
        )

    def _on_content(self, members: dict[str, Item]) -> None:
        offset, size = (_get(members, name).integer(0, UINT64_MAX) for name in ("offset", "size"))
        if offset + size > self.log.size:
            raise members["size"].error(
                f"is {size} from byte {offset} on; the file of contents has {self.log.size} bytes"
            )
        if _get(members, "id").value != len(self.log.contents):
            raise members["id"].error(f"must be {len(self.log.contents)}")
        self.log.contents.append(e.Content(offset, size, _text(_get(members, "hash"))))

    def _on_allocation(self, members: dict[str, Item]) -> None:
        size = _get(members, "size").integer(1, UINT64_MAX)
        if self.limit is not None and size > self.limit:
            raise members["size"].error(f"is {size} bytes; this machine has {self.limit}")
        number = self._new(members, self.log.allocations)
        self.log.allocations[number] = e.Allocation(size, _get(members, "fill").integer(0, 255))

    def _on_freed(self, members: dict[str, Item]) -> None:
        self.freed.append(self._old(members, "id", self.log.allocations))

    def _on_resource(self, members: dict[str, Item]) -> None:
        allocation = self._old(members, "allocation", self.log.allocations)
        offset, width = (_get(members, name).integer(0, UINT64_MAX) for name in ("offset", "width"))
        size = self.log.allocations[allocation].size
        if offset + width > size:
            raise members["width"].error(f"is {width} from byte {offset} on; the allocation has {size} bytes")
        number = self._new(members, self.log.resources)
        texts = [_text(_get(members, name)) for name in ("heap", "flags", "state")]
        placed = _get(members, "placed").boolean()
        name = _text(_get(members, "name"))
        resource = e.Resource(number, allocation, offset, width, texts[0], texts[1], texts[2], placed, name)
        self.names[number] = self.log.resources[number] = resource

    def _thing(self, members: dict[str, Item], kind: str, detail: str) -> None:
        number = self._new(members, self.things)
        before = self.counts[kind]
        self.counts[kind] += 1
        entry = e.Thing(before, kind, detail, _text(_get(members, "name")))
        self.names[number] = self.things[number] = entry

    def _on_queue(self, members: dict[str, Item]) -> None:
        self._thing(members, "queue", _text(_get(members, "type")))

    def _on_list(self, members: dict[str, Item]) -> None:
        self._thing(members, "list", _text(_get(members, "type")))

    def _on_fence(self, members: dict[str, Item]) -> None:
        self._thing(members, "fence", str(_get(members, "value").integer(0, UINT64_MAX)))

    def _on_operator(self, members: dict[str, Item]) -> None:
        number = self._new(members, self.dispatchables)
        try:
            op = self.operators.compile(members)
        except DMLError as error:
            raise members["event"].error(f"is refused: {error.args[-1]}") from None
        entry = e.Dispatchable(number, _text(_get(members, "name")), op.title, op)
        self.names[number] = self.dispatchables[number] = entry

    def _on_initializer(self, members: dict[str, Item]) -> None:
        number = self._new(members, self.dispatchables)
        entry = e.Dispatchable(number, _text(_get(members, "name")), "an operator initializer")
        self.names[number] = self.dispatchables[number] = entry

    def _on_released(self, members: dict[str, Item]) -> None:
        number = self._new(members, self.dispatchables)
        title = _text(_get(members, "title"))
        self.names[number] = self.dispatchables[number] = e.Dispatchable(number, "", title)

    def _on_name(self, members: dict[str, Item]) -> None:
        self.names[self._old(members, "id", self.names)].name = _text(_get(members, "name"))

    def _on_closed(self, members: dict[str, Item]) -> None:
        self._old(members, "list", self.things)

    def _on_execute(self, members: dict[str, Item]) -> None:
        queue = self._one(_get(members, "queue"), "queue")
        lists = tuple(self._one(one, "list") for one in _get(members, "lists"))
        number = self._new(members, self.executions)
        execution = e.Execution(number, queue, lists, _get(members, "time").number())
        self.executions[number] = execution
        self.log.moments.append(execution)

    def _on_executed(self, members: dict[str, Item]) -> None:
        self.executions[self._old(members, "id", self.executions)].complete = True

    def _on_signal(self, members: dict[str, Item]) -> None:
        self.log.moments.append(e.Signal(*self._fencing(members)))

    def _on_wait(self, members: dict[str, Item]) -> None:
        self.log.moments.append(e.Wait(*self._fencing(members)))

    def _fencing(self, members: dict[str, Item]) -> tuple[e.Thing | None, e.Thing, int]:
        queue = _get(members, "queue")
        return (
            None if queue.value is None else self._one(queue, "queue"),
            self._one(_get(members, "fence"), "fence"),
            _get(members, "value").integer(0, UINT64_MAX),
        )

    def _on_mark(self, members: dict[str, Item]) -> None:
        self.log.moments.append(e.Mark(self._one(_get(members, "queue"), "queue"), _marker(members)))

    def _on_message(self, members: dict[str, Item]) -> None:
        texts = [_text(_get(members, name)) for name in ("severity", "rule", "text")]
        message = e.Message(texts[0], texts[1], texts[2])
        if _get(members, "execution").value is None:
            self.log.moments.append(message)
            return
        number = self._old(members, "execution", self.executions)
        index = _get(members, "index").integer(-1, UINT64_MAX)
        self.waiting.setdefault((number, index), []).append(message)

    def _on_removed(self, members: dict[str, Item]) -> None:
        self.log.moments.append(e.Removed(_text(_get(members, "text"))))

    def _on_end(self, members: dict[str, Item]) -> None:
        """Nothing follows from it."""

    def _on_command(self, members: dict[str, Item]) -> None:
        number = self._old(members, "execution", self.executions)
        execution = self.executions[number]
        command = e.Command(
            _get(members, "list").index(max(1, len(execution.lists)), "lists"),
            _get(members, "index").integer(0, UINT64_MAX),
            _get(members, "time").number(),
            _get(members, "duration").number(),
            self._what(members),
            self._patches(_get(members, "found")),
            self._patches(_get(members, "written")),
        )
        command.freed, self.freed = tuple(self.freed), []
        command.messages = self.waiting.pop((number, command.index), [])
        execution.commands.append(command)
        self.log.ran.append((execution, command))

    def _leave_messages(self) -> None:
        """What came up outside commands, or before one that never ended, goes with the execution."""
        for (number, _), messages in self.waiting.items():
            self.executions[number].messages += messages

    def _what(self, members: dict[str, Item]) -> e.Dispatch | e.Copy | e.Barriers | e.Marker | e.Other:
        kind = _get(members, "kind")
        if kind.value == "dispatch":
            return self._dispatch(members)
        if kind.value == "copy":
            copy = e.Copy(self._range(_get(members, "source")), self._range(_get(members, "destination")))
            if copy.source.size != copy.destination.size:
                raise members["source"].error("has another size than destination")
            return copy
        if kind.value == "barriers":
            return e.Barriers(tuple(self._barrier(one) for one in _get(members, "barriers")))
        if kind.value == "marker":
            return _marker(members)
        if kind.value == "other":
            uses = tuple(self._use(one) for one in _get(members, "ranges"))
            return e.Other(_text(_get(members, "title")), uses)
        raise kind.error(f"is {kind.value!r}, which is no kind of command")

    def _dispatch(self, members: dict[str, Item]) -> e.Dispatch:
        entry = self.dispatchables[self._old(members, "dispatchable", self.dispatchables)]
        operators = []
        for one in _get(members, "operators"):
            known = self.dispatchables.get(one.integer(0, UINT64_MAX))
            if known is None:
                raise one.error("is no operator of this capture")
            operators.append(known.op)
        bindings = {}
        for one in _get(members, "bindings"):
            parts = one.fields({"slot", "range"})
            bindings[_slot(parts["slot"])] = self._range(parts["range"])
        dispatch = e.Dispatch(0, entry, tuple(operators), bindings)
        if entry.op is not None:
            self._check_bindings(entry.op.needs, dispatch, members["bindings"])
        return dispatch

    @staticmethod
    def _check_bindings(needs: Any, dispatch: e.Dispatch, item: Item) -> None:
        """All tensors that the operator needs are there and large enough.

        How much else it needs depends on the loops of the machine.
        """
        for slot, need in needs.items():
            if not slot.is_tensor:
                continue
            bound = dispatch.bindings.get(slot)
            if bound is None or bound.size < need.size:
                size = 0 if bound is None else bound.size
                raise item.error(f"binds {size} bytes to {slot.name}; {need.size} are needed")
        for slot in dispatch.bindings:
            if slot.is_tensor and slot not in needs:
                raise item.error(f"binds {slot.name}, which the operator does not have")

    def _barrier(self, item: Item) -> e.Barrier:
        members = item.fields({"type"}, {"resource", "before", "after", "flags"})
        kind = members["type"].text()
        if kind == "TRANSITION":
            resource = self._resource(_get(members, "resource"))
            if resource is None:
                raise members["resource"].error("must be a resource")
            texts = [_text(_get(members, name)) for name in ("before", "after", "flags")]
            return e.Transition(resource, texts[0], texts[1], texts[2])
        if kind == "ALIASING":
            before, after = (self._resource(_get(members, name)) for name in ("before", "after"))
            return e.Aliasing(before, after)
        if kind == "UAV":
            return e.Unordered(self._resource(_get(members, "resource")))
        raise members["type"].error(f"is {kind!r}, which is no type of barrier")

    def _resource(self, item: Item) -> e.Resource | None:
        if item.value is None:
            return None
        if type(item.value) is not int or item.value not in self.log.resources:
            raise item.error("is no resource of this capture")
        return self.log.resources[item.value]

    def _range(self, item: Item) -> e.Range:
        parts = list(item)
        if len(parts) != 3:
            raise item.error("must be a resource, an offset and a size")
        resource = self._resource(parts[0])
        offset, size = (one.integer(0, UINT64_MAX) for one in parts[1:])
        if resource is None or offset + size > resource.width:
            raise item.error(f"is {size} bytes from byte {offset} on, which no resource has")
        return e.Range(resource, offset, size)

    def _use(self, item: Item) -> e.Use:
        parts = item.fields({"name", "use", "range"})
        use = parts["use"].text()
        if use not in USES:
            raise parts["use"].error(f"must be one of {', '.join(USES)}")
        return e.Use(_text(parts["name"]), use, self._range(parts["range"]))

    def _patches(self, item: Item) -> tuple[e.Patch, ...]:
        return tuple(self._patch(one.fields({"allocation", "offset", "content"})) for one in item)

    def _patch(self, parts: dict[str, Item]) -> e.Patch:
        allocation = self._old(parts, "allocation", self.log.allocations)
        content = self.log.contents[parts["content"].index(len(self.log.contents), "contents")]
        offset = parts["offset"].integer(0, UINT64_MAX)
        if offset + content.size > self.log.allocations[allocation].size:
            raise parts["offset"].error(
                f"is {offset}; {content.size} bytes from there on leave the allocation"
            )
        return e.Patch(allocation, offset, content)

    # Numbers of objects.

    def _new(self, members: dict[str, Item], known: dict[int, Any]) -> int:
        number = _get(members, "id").integer(0, UINT64_MAX)
        if number in known:
            raise members["id"].error(f"is {number}, which is taken")
        return number

    @staticmethod
    def _old(members: dict[str, Item], name: str, known: dict[int, Any]) -> int:
        number = _get(members, name).integer(0, UINT64_MAX)
        if number not in known:
            raise members[name].error(f"is {number}, of which no line before speaks")
        return number

    def _one(self, item: Item, kind: str) -> e.Thing:
        entry = self.things.get(item.integer(0, UINT64_MAX))
        if entry is None or entry.kind != kind:
            raise item.error(f"is {item.value}, which is no {kind} of this capture")
        return entry


def _get(members: dict[str, Item], name: str) -> Item:
    if name not in members:
        raise next(iter(members.values())).error(f"comes without {name!r}")
    return members[name]


def _text(item: Item) -> str:
    """Any string, the empty one too."""
    if type(item.value) is not str:
        raise item.error("must be a string")
    return item.value


def _slot(item: Item) -> Slot:
    parts = list(item)
    if len(parts) != 3 or parts[0].value not in KINDS:
        raise item.error(f"must be one of {', '.join(KINDS)} with two numbers")
    return Slot(parts[0].value, parts[1].integer(), parts[2].integer())


def _marker(members: dict[str, Item]) -> e.Marker:
    call = _get(members, "call").text()
    if call not in CALLS:
        raise members["call"].error(f"must be one of {', '.join(CALLS)}")
    return e.Marker(call, _text(_get(members, "text")))
