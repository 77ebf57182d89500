"""Parser for captures, which notebooks show as tables.

Sizes that a line claims are checked before anything of that size is allocated.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..abi.hresult import DMLError
from ..abi.physical_memory import physical_memory
from ..d3d12.queries import MAX_QUERIES
from ..storage import regular_file
from ..text.html import HTML, element, join, table
from ..text.json_reading import Item, JsonError, read_json
from ..text.plural import counted_words
from . import EVENTS
from . import event_types as e
from .command_parser import UINT64_MAX, CommandReader, get, marker_of, old, text_of
from .content_store import CONTENTS, FORMAT, VERSION
from .recompile import Operators

Bytes = npt.NDArray[np.uint8]


class CaptureError(ValueError):
    """A malformed capture; the text names the file, the line and the member."""


@dataclass(repr=False)
class CaptureLog:
    """The events of one process."""

    path: Path
    process: e.Process
    contents: list[e.Content] = field(default_factory=list)
    allocations: dict[int, e.CapturedAllocation] = field(default_factory=dict)
    resources: dict[int, e.CapturedResource] = field(default_factory=dict)
    events: list[e.CaptureEvent] = field(default_factory=list)
    ran: list[tuple[e.CapturedExecution, e.CapturedCommand]] = field(default_factory=list)
    truncated: bool = False
    ended: bool = False
    operators: Operators = field(init=False)

    def __repr__(self) -> str:
        return f"<CaptureLog: {title(self)}>"

    def _repr_html_(self) -> str:
        return capture_html(self)

    @property
    def dispatches(self) -> list[e.DispatchEvent]:
        return [command.what for _, command in self.ran if isinstance(command.what, e.DispatchEvent)]

    @property
    def cut(self) -> str:
        """Why the recording may lack what the program did last; empty if it ended by itself."""
        if self.ended:
            return ""
        found = "its last line is cut off" if self.truncated else "it has no end"
        return f"{found}: the disk was full, or the process ended without leaving by exit"

    def bytes(self, content: e.Content) -> Bytes:
        return self._memory[content.offset : content.offset + content.size]

    @property
    def _file(self) -> Path:
        return self.path.with_suffix(CONTENTS)

    def open(self) -> None:
        """Map the contents file into memory."""
        self._memory: Bytes = np.empty(0, np.uint8)
        with regular_file(self._file) as file:
            if file.seek(0, 2):
                whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._memory = np.frombuffer(whole, np.uint8)

    @property
    def size(self) -> int:
        """The size of the contents, in bytes."""
        return len(self._memory)


def read_capture(folder: str | Path) -> Captures:
    """The processes of the capture in ``folder``, in the order in which they began.

    Raises ``OSError``, and ``CaptureError`` for what is not a capture or is damaged. An incomplete last line, which a
    killed process leaves, is skipped.
    """
    directory = Path(folder)
    if not directory.is_dir():
        is_there = (
            "it is a file, and a capture is a folder" if directory.exists() else "there is no such folder"
        )
        raise CaptureError(f"{directory} is not a capture: {is_there}")
    paths = sorted(directory.glob(f"*{EVENTS}"))
    if not paths:
        raise CaptureError(f"{directory} is not a capture: it has no {EVENTS} file")
    logs = Captures()
    for path in paths:
        try:
            logs.append(_Reader(path).read())
        except JsonError as error:
            raise CaptureError(str(error)) from None
        except FileNotFoundError as error:
            raise CaptureError(f"{error.filename} is missing") from None
    logs.sort(key=lambda log: (log.process.started, log.path.name))
    count = 0
    for log in logs:
        count = _number_dispatches(log, count)
    return logs


def _number_dispatches(log: CaptureLog, count: int) -> int:
    for _, command in log.ran:
        if isinstance(command.what, e.DispatchEvent):
            command.what = command.what._replace(number=count)
            count += 1
    return count


class _Reader:
    """Reader of one events file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.objects: dict[int, e.CapturedObject] = {}
        self.dispatchables: dict[int, e.Dispatchable] = {}
        self.query_heaps: dict[int, e.QueryHeap] = {}
        self.executions: dict[int, e.CapturedExecution] = {}
        self.names: dict[int, Any] = {}
        self.pending_messages: dict[tuple[int, int], list[e.CapturedMessage]] = {}
        self.freed: list[int] = []
        self.counts: Counter[str] = Counter()
        self.truncated = False
        self.limit = physical_memory()

    def read(self) -> CaptureLog:
        lines = self._lines()
        first = next(lines, None)
        if first is None:
            raise CaptureError(f"{self.path} is empty")
        kind, members = first
        if kind != "process":
            raise members["event"].error("must be 'process' in the first line")
        self.log = CaptureLog(self.path, self._process(members))
        self.log.open()
        self.operators = self.log.operators = Operators(self.log)
        self.commands = CommandReader(self.log.resources, self.dispatchables, self.query_heaps)
        for kind, members in lines:
            read = getattr(self, f"_on_{kind}", None)
            if read is None:
                raise members["event"].error(f"is {kind!r}, which is not an event")
            read(members)
        self._leave_messages()
        self.log.truncated = self.truncated
        return self.log

    def _lines(self) -> Iterator[tuple[str, dict[str, Item]]]:
        with regular_file(self.path) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self.truncated = True
                    return
                try:
                    value = read_json(line)
                except JsonError as error:
                    raise CaptureError(f"{self.path}: line {number}: is not JSON ({error})") from None
                top = Item(self.path, f"line {number}", value)
                if type(value) is not dict or "event" not in value:
                    raise top.error("is not an event")
                members = top.fields(set(value))
                yield members["event"].text(), members

    @staticmethod
    def _process(members: dict[str, Item]) -> e.Process:
        if get(members, "format").value != FORMAT:
            raise members["format"].error(f"must be {FORMAT!r}")
        if get(members, "version").value != VERSION:
            raise members["version"].error(f"is {members['version'].value!r}; only {VERSION} is known")
        return e.Process(
            get(members, "pid").integer(),
            tuple(text_of(one) for one in get(members, "arguments")),
            text_of(get(members, "started")),
            text_of(get(members, "directml_py")),
            text_of(get(members, "kernels")),
        )

    def _on_content(self, members: dict[str, Item]) -> None:
        offset, size = (get(members, name).integer(0, UINT64_MAX) for name in ("offset", "size"))
        if offset + size > self.log.size:
            raise members["size"].error(
                f"is {size} at offset {offset}; the contents file has {self.log.size} bytes"
            )
        if get(members, "id").value != len(self.log.contents):
            raise members["id"].error(f"must be {len(self.log.contents)}")
        self.log.contents.append(e.Content(offset, size))

    def _on_allocation(self, members: dict[str, Item]) -> None:
        size = get(members, "size").integer(1, UINT64_MAX)
        if self.limit is not None and size > self.limit:
            raise members["size"].error(f"is {size} bytes; this machine has {self.limit}")
        number = self._new(members, self.log.allocations)
        self.log.allocations[number] = e.CapturedAllocation(size, get(members, "fill").integer(0, 255))

    def _on_freed(self, members: dict[str, Item]) -> None:
        self.freed.append(old(members, "id", self.log.allocations))

    def _on_resource(self, members: dict[str, Item]) -> None:
        allocation = old(members, "allocation", self.log.allocations)
        offset, width = (get(members, name).integer(0, UINT64_MAX) for name in ("offset", "width"))
        size = self.log.allocations[allocation].size
        if offset + width > size:
            raise members["width"].error(f"is {width} at offset {offset}; the allocation has {size} bytes")
        number = self._new(members, self.log.resources)
        texts = [text_of(get(members, name)) for name in ("heap", "flags", "state")]
        placed = get(members, "placed").boolean()
        name = text_of(get(members, "name"))
        # Captures of earlier releases do not say.
        created = text_of(members["created"]) if "created" in members else ""
        resource = e.CapturedResource(
            number, allocation, offset, width, texts[0], texts[1], texts[2], placed, name, created
        )
        self.names[number] = self.log.resources[number] = resource

    def _add_object(self, members: dict[str, Item], kind: str, detail: str) -> None:
        number = self._new(members, self.objects)
        before = self.counts[kind]
        self.counts[kind] += 1
        entry = e.CapturedObject(before, kind, detail, text_of(get(members, "name")))
        self.names[number] = self.objects[number] = entry

    def _on_queue(self, members: dict[str, Item]) -> None:
        self._add_object(members, "queue", text_of(get(members, "type")))

    def _on_list(self, members: dict[str, Item]) -> None:
        self._add_object(members, "list", text_of(get(members, "type")))

    def _on_fence(self, members: dict[str, Item]) -> None:
        self._add_object(members, "fence", str(get(members, "value").integer(0, UINT64_MAX)))

    def _on_queries(self, members: dict[str, Item]) -> None:
        number = self._new(members, self.query_heaps)
        count = get(members, "count").integer(1, MAX_QUERIES)
        heap = e.QueryHeap(number, count, text_of(get(members, "name")))
        self.names[number] = self.query_heaps[number] = heap

    def _on_operator(self, members: dict[str, Item]) -> None:
        number = self._new(members, self.dispatchables)
        try:
            op = self.operators.compile(members)
        except DMLError as error:
            raise members["event"].error(f"is refused: {error.args[-1]}") from None
        entry = e.Dispatchable(number, text_of(get(members, "name")), op.title, op)
        self.names[number] = self.dispatchables[number] = entry

    def _on_initializer(self, members: dict[str, Item]) -> None:
        number = self._new(members, self.dispatchables)
        entry = e.Dispatchable(number, text_of(get(members, "name")), "an operator initializer")
        self.names[number] = self.dispatchables[number] = entry

    def _on_released(self, members: dict[str, Item]) -> None:
        number = self._new(members, self.dispatchables)
        title = text_of(get(members, "title"))
        self.names[number] = self.dispatchables[number] = e.Dispatchable(number, "", title, is_released=True)

    def _on_name(self, members: dict[str, Item]) -> None:
        self.names[old(members, "id", self.names)].name = text_of(get(members, "name"))

    def _on_closed(self, members: dict[str, Item]) -> None:
        old(members, "list", self.objects)

    def _on_execute(self, members: dict[str, Item]) -> None:
        queue = self._one(get(members, "queue"), "queue")
        lists = tuple(self._one(one, "list") for one in get(members, "lists"))
        number = self._new(members, self.executions)
        execution = e.CapturedExecution(number, queue, lists, get(members, "time").number())
        self.executions[number] = execution
        self.log.events.append(execution)

    def _on_executed(self, members: dict[str, Item]) -> None:
        self.executions[old(members, "id", self.executions)].complete = True

    def _on_signal(self, members: dict[str, Item]) -> None:
        self.log.events.append(e.SignalEvent(*self._fencing(members)))

    def _on_wait(self, members: dict[str, Item]) -> None:
        self.log.events.append(e.WaitEvent(*self._fencing(members)))

    def _fencing(self, members: dict[str, Item]) -> tuple[e.CapturedObject | None, e.CapturedObject, int]:
        queue = get(members, "queue")
        return (
            None if queue.value is None else self._one(queue, "queue"),
            self._one(get(members, "fence"), "fence"),
            get(members, "value").integer(0, UINT64_MAX),
        )

    def _on_mark(self, members: dict[str, Item]) -> None:
        self.log.events.append(
            e.QueueMarkerEvent(self._one(get(members, "queue"), "queue"), marker_of(members))
        )

    def _on_message(self, members: dict[str, Item]) -> None:
        texts = [text_of(get(members, name)) for name in ("severity", "rule", "text")]
        message = e.CapturedMessage(texts[0], texts[1], texts[2])
        if get(members, "execution").value is None:
            self.log.events.append(message)
            return
        number = old(members, "execution", self.executions)
        index = get(members, "index").integer(-1, UINT64_MAX)
        self.pending_messages.setdefault((number, index), []).append(message)

    def _on_removed(self, members: dict[str, Item]) -> None:
        self.log.events.append(e.Removed(text_of(get(members, "text"))))

    def _on_end(self, members: dict[str, Item]) -> None:
        self.log.ended = True

    def _on_command(self, members: dict[str, Item]) -> None:
        number = old(members, "execution", self.executions)
        execution = self.executions[number]
        command = e.CapturedCommand(
            get(members, "list").index(max(1, len(execution.lists)), "lists"),
            get(members, "index").integer(0, UINT64_MAX),
            get(members, "time").number(),
            get(members, "duration").number(),
            self.commands.read(members),
            self._patches(get(members, "found")),
            self._patches(get(members, "written")),
        )
        command.freed, self.freed = tuple(self.freed), []
        command.messages = self.pending_messages.pop((number, command.index), [])
        execution.commands.append(command)
        self.log.ran.append((execution, command))

    def _leave_messages(self) -> None:
        """Attach messages from outside commands, or from before a command that never ended, to the execution."""
        for (number, _), messages in self.pending_messages.items():
            self.executions[number].messages += messages

    def _patches(self, item: Item) -> tuple[e.MemoryPatch, ...]:
        return tuple(self._patch(one.fields({"allocation", "offset", "content"})) for one in item)

    def _patch(self, parts: dict[str, Item]) -> e.MemoryPatch:
        allocation = old(parts, "allocation", self.log.allocations)
        content = self.log.contents[parts["content"].index(len(self.log.contents), "contents")]
        offset = parts["offset"].integer(0, UINT64_MAX)
        if offset + content.size > self.log.allocations[allocation].size:
            raise parts["offset"].error(
                f"is {offset}; {content.size} bytes at that offset exceed the allocation"
            )
        return e.MemoryPatch(allocation, offset, content)

    def _new(self, members: dict[str, Item], known: dict[int, Any]) -> int:
        number = get(members, "id").integer(0, UINT64_MAX)
        if number in known:
            raise members["id"].error(f"is {number}, which is already in use")
        return number

    def _one(self, item: Item, kind: str) -> e.CapturedObject:
        entry = self.objects.get(item.integer(0, UINT64_MAX))
        if entry is None or entry.kind != kind:
            raise item.error(f"is {item.value}, which is not a {kind} of this capture")
        return entry


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
