"""Recorder: writes a capture of what the devices of this process do."""

from __future__ import annotations

import errno
import functools
import os
import sys
import threading
import time
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from .._version import __version__
from ..abi.lifetime import Lifetime
from ..d3d12.clears import ClearView
from ..d3d12.command_list import Copy, DescriptorHeaps, ID3D12GraphicsCommandList
from ..d3d12.command_queue import ID3D12CommandQueue
from ..d3d12.fence import ID3D12Fence
from ..d3d12.heap import ID3D12Heap
from ..d3d12.immediate import WriteImmediate
from ..d3d12.info_queue import Message
from ..d3d12.markers import Marker
from ..d3d12.queries import EndQuery, Queries, ResolveQueries
from ..d3d12.resource import ID3D12Resource, ResourceBuffer
from ..dml.compiled_operator import IDMLCompiledOperator
from ..dml.dispatch_command import RecordedDispatch
from ..dml.dispatchable import IDMLDispatchable
from ..dml.initializer import IDMLOperatorInitializer
from ..kernels import backend
from ..runtime.allocation import Allocation
from ..runtime.buffer import Buffer, BufferRange
from ..runtime.execution import Execution, Recording
from ..runtime.observers import Observer, watchers
from ..runtime.recording import Access, AccessKind, Barriers, Command
from .content_store import FORMAT, VERSION, CaptureWriter
from .serialize import Json, describe_barrier, describe_buffer, describe_operator, enumerator_name

M = TypeVar("M", bound=Callable[..., None])


def _recording(method: M) -> M:
    """Decorator for methods that write: they hold the lock, and do nothing after a file error or ``stop``."""

    @functools.wraps(method)
    def call(self: Recorder, *arguments: Any) -> None:
        process = os.getpid()
        with self._locks.get(process) or self._locks.setdefault(process, threading.RLock()):
            if not self.running:
                return
            try:
                if process != self._pid:
                    # The child of a fork needs files of its own: its parent continues to write the inherited ones.
                    self._open()
                # A program sees no effect of a command before its execution ends, so that lines may wait until then.
                self._writer.gathers = self._current is not None
                if self._freed:
                    self._record_freed()
                method(self, *arguments)
            except OSError as error:
                self._fail(error)
            except MemoryError:
                self._fail(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))

    return cast(M, call)


def _arguments() -> list[str]:
    """Those of the program: while Python looks for the module of ``python -m``, sys.argv lacks its name."""
    arguments: list[str] = getattr(sys, "argv", [])
    if arguments[:1] == ["-m"] and "-m" in sys.orig_argv:
        return sys.orig_argv[sys.orig_argv.index("-m") :]
    return arguments


class _Numbers:
    """Numbers for the objects that a capture refers to, held weakly."""

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._next = 0

    def of(self, item: object, describe: Callable[[int], None]) -> int:
        """The object's number; ``describe`` is called with it when it is new."""
        number = self._numbers.get(item)
        if number is None:
            number = self._numbers[item] = self._next
            self._next += 1
            describe(number)
        return number

    def get(self, item: object) -> int | None:
        return self._numbers.get(item)


class _RecordedExecution:
    """The progress of the execution that a thread is running."""

    def __init__(self, number: int, recordings: Sequence[Recording]) -> None:
        self.number = number
        self.index = -1
        self.began = 0.0
        self.found: list[Json] = []
        self.accesses: tuple[Access, ...] = ()
        # Cumulative command counts, by list.
        self.ends: list[int] = []
        for recording in recordings:
            self.ends.append((self.ends[-1] if self.ends else 0) + len(recording.commands))

    @property
    def list(self) -> int:
        """The index of the current command's list."""
        return next((index for index, end in enumerate(self.ends) if self.index < end), 0)


class Recorder(Observer):
    """Records from construction to ``stop``. A file error ends the recording and is kept in ``error``.

    Contents are stored where they come from outside (memory that the CPU can write, whenever a command reads it, and
    memory written before the recording began) and where dispatches write. All others follow from these.

    Raises ``OSError`` if the files cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running = True
        self.error: OSError | None = None
        # By process: the child of a fork inherits a lock that a thread of its parent may have held.
        self._locks: dict[int, threading.RLock] = {}
        self._open()
        watchers.add(self)

    def _open(self) -> None:
        self._writer = CaptureWriter(self.folder)
        # The process that owns the files, which a child that failed to create its own must not write.
        self._pid = os.getpid()
        self._began = time.perf_counter()
        self._thread = threading.local()
        self._numbers = _Numbers()
        self._executions = _Numbers()
        # Filled by finalizers, which may run at any time.
        self._freed: list[int] = []
        # The content number last stored for each range of an allocation.
        self._last: dict[int, dict[tuple[int, int], int]] = {}
        self._names: weakref.WeakKeyDictionary[Lifetime, str] = weakref.WeakKeyDictionary()
        # None where the whole allocation is known.
        self._known: weakref.WeakKeyDictionary[Allocation, IntervalSet | None] = weakref.WeakKeyDictionary()
        self._event(
            "process",
            format=FORMAT,
            version=VERSION,
            pid=self._pid,
            arguments=[os.fsencode(argument).decode("utf-8", "replace") for argument in _arguments()],
            started=time.strftime("%Y-%m-%d %H:%M:%S %z"),
            directml_py=__version__,
            kernels=backend.title,
        )

        # Children of multiprocessing leave by _exit, after their own finalizers.
        processes = sys.modules.get("multiprocessing.util")
        if processes is not None:
            processes.Finalize(None, self.stop_at_exit, exitpriority=0)

    def stop_at_exit(self) -> None:
        """``stop``, unless this is a child that has recorded nothing."""
        if self._pid == os.getpid():
            self.stop()

    def stop(self) -> None:
        """End the recording; idempotent."""
        watchers.remove(self)
        self._end()

    def remove(self) -> None:
        """``stop``, and remove the files."""
        self.stop()
        with suppress(OSError):
            self._writer.remove()

    @_recording
    def _end(self) -> None:
        self.running = False
        self._event("end")
        self._writer.close()

    def _fail(self, error: OSError) -> None:
        self.running = False
        self.error = error
        watchers.remove(self)
        if self._pid == os.getpid():
            with suppress(OSError, MemoryError):
                self._writer.close()
        text = f"directml_py: the capture in {self.folder} ends here: {error.strerror or error}"
        print(text, file=sys.stderr)

    def _event(self, kind: str, /, **members: Any) -> None:
        self._writer.event(kind, time=round(time.perf_counter() - self._began, 6), **members)

    def _record_freed(self) -> None:
        while self._freed:
            number = self._freed.pop(0)
            self._last.pop(number, None)
            self._event("freed", id=number)

    def _store(self, buffer_range: BufferRange) -> Json:
        """Store the current contents of a buffer range."""
        buffer = buffer_range.buffer
        allocation, start = self._allocation(buffer.allocation), buffer.offset + buffer_range.offset
        last_contents, key = self._last.setdefault(allocation, {}), (start, buffer_range.size)
        content = last_contents[key] = self._writer.content(buffer_range.bytes, last_contents.get(key))
        return {"allocation": allocation, "offset": start, "content": content}

    def _allocation(self, allocation: Allocation, fresh: bool = False) -> int:
        def describe(number: int) -> None:
            # Untouched memory is all zeros, or filled with the debug layer's pattern.
            fill = int(allocation.bytes[0]) if fresh and len(allocation.bytes) else 0
            self._known[allocation] = None if fresh else IntervalSet()
            self._event("allocation", id=number, size=len(allocation.bytes), fill=fill)
            weakref.finalize(allocation, self._freed.append, number).atexit = False

        return self._numbers.of(allocation, describe)

    def _resource(self, buffer: Buffer | None) -> int | None:
        if buffer is None:
            return None

        def describe(number: int) -> None:
            assert isinstance(buffer, ResourceBuffer)
            allocation = self._allocation(buffer.allocation)
            self._event("resource", id=number, allocation=allocation, **describe_buffer(buffer))

        return self._named(buffer, self._numbers.of(buffer, describe))

    def _queue(self, queue: ID3D12CommandQueue | None) -> int | None:
        if queue is None:
            return None

        def describe(number: int) -> None:
            self._event("queue", id=number, type=enumerator_name(queue.type), name=queue.life.name)

        return self._named(queue.life, self._numbers.of(queue.life, describe))

    def _fence(self, fence: ID3D12Fence) -> int:
        def describe(number: int) -> None:
            self._event("fence", id=number, value=fence.value, name=fence.life.name)

        return self._named(fence.life, self._numbers.of(fence.life, describe))

    def _list(self, commands: ID3D12GraphicsCommandList) -> int:
        def describe(number: int) -> None:
            self._event("list", id=number, type=enumerator_name(commands.type), name="")

        return self._numbers.of(commands, describe)

    def _queries(self, queries: Queries) -> int:
        def describe(number: int) -> None:
            self._event("queries", id=number, count=len(queries.results), name=queries.name)

        return self._named(queries, self._numbers.of(queries, describe))

    def _dispatchable(self, item: IDMLDispatchable | None, life: Lifetime) -> int:
        def describe(number: int) -> None:
            if isinstance(item, IDMLCompiledOperator):
                members = describe_operator(item, self._writer.content)
                self._event("operator", id=number, **members)
            elif isinstance(item, IDMLOperatorInitializer):
                self._event("initializer", id=number, name=life.name)
            else:
                self._event("released", id=number, title=str(life))

        return self._named(life, self._numbers.of(life, describe))

    def _named(self, life: Lifetime, number: int) -> int:
        """``number``, after recording a name set since the object was described."""
        if self._names.setdefault(life, "") != life.name:
            self._names[life] = life.name
            self._event("name", id=number, name=life.name)
        return number

    @_recording
    def created(self, item: object) -> None:
        if isinstance(item, ID3D12Heap):
            self._allocation(item.allocation, fresh=True)
        elif isinstance(item, ID3D12Resource):
            if item.buffer.heap is None:
                self._allocation(item.buffer.allocation, fresh=True)
            self._resource(item.buffer)
        elif isinstance(item, ID3D12CommandQueue):
            self._queue(item)
        elif isinstance(item, ID3D12GraphicsCommandList):
            self._list(item)
        elif isinstance(item, ID3D12Fence):
            self._fence(item)
        elif isinstance(item, IDMLDispatchable):
            self._dispatchable(item, item.life)

    @_recording
    def closed(self, commands: ID3D12GraphicsCommandList) -> None:
        self._event("closed", list=self._list(commands), commands=len(commands.recording.commands))

    @_recording
    def submitted(
        self, queue: ID3D12CommandQueue, execution: Execution, lists: Sequence[ID3D12GraphicsCommandList]
    ) -> None:
        numbers = [self._list(commands) for commands in lists]
        queue_number = self._queue(queue)
        self._executions.of(
            execution, lambda number: self._event("execute", id=number, queue=queue_number, lists=numbers)
        )

    @_recording
    def started(self, execution: Execution) -> None:
        number = self._executions.get(execution)
        # Executions submitted before the recording began are left out.
        self._thread.execution = None if number is None else _RecordedExecution(number, execution.recordings)

    @_recording
    def finished(self, execution: Execution) -> None:
        recorded, self._thread.execution = self._current, None
        self._writer.gathers = False
        if recorded is not None:
            self._event("executed", id=recorded.number)

    @property
    def _current(self) -> _RecordedExecution | None:
        execution: _RecordedExecution | None = getattr(self._thread, "execution", None)
        return execution

    @_recording
    def before(self, command: Command) -> None:
        execution = self._current
        if execution is None:
            return
        execution.index += 1
        execution.accesses = tuple(command.accesses())
        execution.found = [
            self._store(access.range)
            for access in execution.accesses
            if access.use is AccessKind.READ and not self._follows(access.range)
        ]
        execution.began = time.perf_counter()

    def _follows(self, buffer_range: BufferRange) -> bool:
        """Whether the contents follow from what is recorded already; marks them as known."""
        buffer = buffer_range.buffer
        if buffer.is_host_visible:
            return False
        self._allocation(buffer.allocation)
        known, start = self._known[buffer.allocation], buffer.offset + buffer_range.offset
        if known is None or known.covers(start, start + buffer_range.size):
            return True
        known.add(start, start + buffer_range.size)
        return False

    @_recording
    def after(self, command: Command) -> None:
        execution = self._current
        if execution is None:
            return
        duration = time.perf_counter() - execution.began
        written = []
        for access in execution.accesses:
            if access.use is AccessKind.WRITE:
                if not isinstance(command, Copy):
                    written.append(self._store(access.range))
                self._follows(access.range)
        members = self._describe(command)
        self._event(
            "command",
            execution=execution.number,
            list=execution.list,
            index=execution.index,
            duration=round(duration, 9),
            found=execution.found,
            written=written,
            **members,
        )

    def _describe(self, command: Command) -> Json:
        if isinstance(command, RecordedDispatch):
            return self._describe_dispatch(command)
        if isinstance(command, Copy):
            source, destination = self._range(command.source), self._range(command.destination)
            return {"kind": "copy", "source": source, "destination": destination}
        if isinstance(command, Barriers):
            barriers = [describe_barrier(barrier, self._resource) for barrier in command.barriers]
            return {"kind": "barriers", "barriers": barriers}
        if isinstance(command, Marker):
            return {"kind": "marker", "call": command.title, "text": command.text}
        if isinstance(command, ClearView):
            return {
                "kind": "clear",
                "call": command.title,
                "format": command.format.name,
                "values": command.values.view(np.uint32).tolist(),
                "range": self._range(command.range),
            }
        if isinstance(command, EndQuery):
            return {"kind": "query", "heap": self._queries(command.queries), "query": command.index}
        if isinstance(command, ResolveQueries):
            return {
                "kind": "resolve",
                "heap": self._queries(command.queries),
                "start": command.start,
                "destination": self._range(command.destination),
            }
        if isinstance(command, WriteImmediate):
            writes = [
                {"range": self._range(destination_range), "value": value}
                for destination_range, value in command.writes
            ]
            return {"kind": "immediate", "writes": writes}
        if isinstance(command, DescriptorHeaps):
            return {"kind": "other", "title": command.title, "ranges": []}
        ranges = [self._access(access) for access in command.accesses()]
        return {"kind": "other", "title": command.title, "ranges": ranges}

    def _describe_dispatch(self, command: RecordedDispatch) -> Json:
        item = command.dispatchable
        # Since recording, the initializer may have been reset to other operators, or been released.
        by_life = {op.life: op for op in item.operators} if isinstance(item, IDMLOperatorInitializer) else {}
        return {
            "kind": "dispatch",
            "dispatchable": self._dispatchable(item, command.life),
            "operators": [self._dispatchable(by_life.get(life), life) for life in command.used_lives],
            "bindings": [
                {"slot": list(slot), "range": self._range(view)}
                for slot, view in command.bound().items()
                if view is not None
            ],
        }

    def _access(self, access: Access) -> Json:
        return {"name": access.name, "use": access.use.name, "range": self._range(access.range)}

    def _range(self, buffer_range: BufferRange) -> list[int | None]:
        return [self._resource(buffer_range.buffer), buffer_range.offset, buffer_range.size]

    @_recording
    def marked(self, queue: ID3D12CommandQueue, marker: Marker) -> None:
        self._event("mark", queue=self._queue(queue), call=marker.title, text=marker.text)

    @_recording
    def signaled(self, queue: ID3D12CommandQueue | None, fence: ID3D12Fence, value: int) -> None:
        self._event("signal", queue=self._queue(queue), fence=self._fence(fence), value=value)

    @_recording
    def waited(self, queue: ID3D12CommandQueue | None, fence: ID3D12Fence, value: int) -> None:
        self._event("wait", queue=self._queue(queue), fence=self._fence(fence), value=value)

    @_recording
    def reported(self, message: Message) -> None:
        execution = self._current
        self._event(
            "message",
            severity=enumerator_name(message.Severity),
            rule=message.rule,
            text=message.pDescription,
            execution=None if execution is None else execution.number,
            index=-1 if execution is None else execution.index,
        )

    @_recording
    def removed(self, text: str) -> None:
        self._event("removed", text=text)


class IntervalSet:
    """Disjoint ranges of bytes in ascending order; ranges that touch are merged."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def covers(self, start: int, end: int) -> bool:
        index = bisect_right(self._starts, start) - 1
        return start >= end or (index >= 0 and end <= self._ends[index])

    def add(self, start: int, end: int) -> None:
        if start >= end:
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]
