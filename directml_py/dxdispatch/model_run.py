"""Execution of a model: creates resources and dispatchables, then runs the commands one by one, waiting for each."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..abi.hresult import E_FAIL, DMLError
from ..api.d3d12_enums import (
    D3D12_HEAP_TYPE_READBACK,
    D3D12_QUERY_HEAP_TYPE_TIMESTAMP,
    D3D12_QUERY_TYPE_TIMESTAMP,
)
from ..api.d3d12_structs import D3D12_QUERY_HEAP_DESC
from ..api.enums import DML_TENSOR_DATA_TYPE_UNKNOWN
from ..d3d12.queries import RESULT_SIZE
from ..descs.data_types import data_type_of
from ..dml import IDMLDevice
from ..session import Session
from .dispatchables import Compiled, CompiledDesc, CompiledGraphFile
from .initializers import IMAGES
from .model import (
    Bindings,
    Command,
    Dispatchable,
    DispatchCommand,
    ForeignDispatchable,
    Model,
    ModelResource,
    OperatorDispatchable,
    PrintCommand,
    WriteFileCommand,
)
from .model_buffers import ModelBuffers
from .model_files import ModelError, write_file, write_npy


class Log(Protocol):
    """Receiver of DxDispatch's log lines. Bytes that are not UTF-8 are surrogates, as in file names."""

    def info(self, line: str) -> None: ...

    def error(self, line: str) -> None: ...


class NoLog:
    """A log that discards all lines."""

    def info(self, line: str) -> None: ...

    def error(self, line: str) -> None: ...


@dataclass(frozen=True)
class RunOptions:
    """DxDispatch's options.

    A dispatch command is repeated ``iterations`` times, or for ``milliseconds``, at least ``interval`` milliseconds
    apart, with ``repeat`` dispatches in each command list, a UAV barrier after each if ``barriers``. Timings skip up to
    ``warmup`` first samples, and are more detailed with a ``verbosity`` of 1 and 2. ``most_printed``, unlike in
    DxDispatch, limits the values of a resource that are printed: of more, the first and the last are.
    """

    iterations: int = 1
    repeat: int = 1
    milliseconds: int | None = None
    interval: int = 0
    warmup: int = 1
    verbosity: int = 0
    barriers: bool = True
    print_commands: bool = False
    most_printed: int | None = None


# Not every OSError: a broken pipe of the log is not a failure of the model.
FAILURES = (ModelError, DMLError, MemoryError, ValueError)


class ModelRun:
    """One run of a model."""

    def __init__(
        self, model: Model, device: IDMLDevice | None, options: RunOptions | None, log: Log | None
    ) -> None:
        self.model = model
        self.session = Session(device)
        self.options = options or RunOptions()
        self.log = log or NoLog()
        self.dispatchables: dict[str, Compiled] = {}

    def run(self) -> dict[str, np.ndarray[Any, Any]]:
        """Raises ``ModelError``."""
        with _naming(""):
            self.memory = ModelBuffers(self.session, self.model.resources.values())
        self._prepare()
        for index, command in enumerate(self.model.commands):
            self._run(index, command)
        return {
            name: self._final(resource)
            for name, resource in self.model.resources.items()
            if not resource.deferred
        }

    def _final(self, resource: ModelResource) -> np.ndarray[Any, Any]:
        content = self._content(resource)[: resource.value_size]
        if resource.data_type == DML_TENSOR_DATA_TYPE_UNKNOWN:
            return np.frombuffer(content, np.uint8)
        return elements(resource.data_type, content)

    def _content(self, resource: ModelResource) -> bytes:
        return self.session.read(self.memory.buffers[resource.name]).tobytes()

    def _prepare(self) -> None:
        for name, dispatchable in self.model.dispatchables.items():
            with _naming(f"ERROR creating dispatchable '{name}': "):
                self.dispatchables[name] = self._create(dispatchable)
        for name, compiled in self.dispatchables.items():
            with _naming(f"ERROR while initializing '{name}': "):
                start = time.perf_counter()
                line = compiled.compile()
                if line is not None:
                    self.log.info(line)
                compiled.initialize()
                if self.options.verbosity:
                    self.log.info(f"Initialize '{name}': {_milliseconds(start):.4f} ms")

    def _create(self, source: Dispatchable) -> Compiled:
        if isinstance(source, ForeignDispatchable):
            raise ModelError(source.needs)
        if isinstance(source, OperatorDispatchable):
            self._resolve(source.bindings)
            return CompiledDesc(source, self.memory)
        return CompiledGraphFile(source, self.memory)

    def _resolve(self, bindings: Bindings) -> None:
        """Raise ``ModelError`` if a binding counts elements of unknown size."""
        try:
            for sources in bindings.values():
                for source in sources:
                    self.memory.element_size(source)
        except ModelError as error:
            self.log.error(f"Failed to resolve bindings: {error}")
            raise

    def _run(self, index: int, command: Command) -> None:
        tell = self.log.info if self.options.print_commands else NoLog().info
        tell(f"[StartCmd][{index:04}]\t: {command.text}")
        try:
            if isinstance(command, DispatchCommand):
                self._dispatch(command)
            elif isinstance(command, PrintCommand):
                self._print(command)
            else:
                self._write(command)
        except FAILURES as error:
            hresult = error.hresult if isinstance(error, DMLError) else E_FAIL
            tell(f"[EndCmd][{index:04}]\t: hr=0x{hresult:08x} {error}\n")
            raise ModelError(str(error)) from error
        tell(f"[EndCmd][{index:04}]\t: hr=0x00000000 \n")

    def _dispatch(self, command: DispatchCommand) -> None:
        options, compiled = self.options, self.dispatchables[command.dispatchable]
        self._resolve(command.bindings)
        try:
            samples = self._loop(compiled, command)
        except FAILURES as error:
            self.log.error(f"Failed to execute dispatchable: {error}")
            raise
        for line in timing_lines(command.dispatchable, samples, options.warmup, options.verbosity):
            self.log.info(line)

    def _loop(self, compiled: Compiled, command: DispatchCommand) -> Samples:
        options, clock = self.options, GpuClock(self.session)
        samples: list[float] = []
        begin = time.perf_counter()
        repeats = max(options.repeat, 1)
        while options.milliseconds is not None or len(samples) < options.iterations:
            start = time.perf_counter()
            try:
                table = compiled.bind(command.bindings)
            except FAILURES as error:
                self.log.error(f"ERROR while binding resources: {error}\n")
                raise
            dispatched = time.perf_counter()
            clock.mark()
            for _ in range(options.repeat):
                self.session.record(compiled.operator, table)
                if options.barriers:
                    self.session.barrier()
            clock.mark()
            self.session.execute()
            self.session.dml.removal.check()
            samples.append(_milliseconds(dispatched) / repeats)
            rest = max(0.0, options.interval - _milliseconds(start))
            if options.milliseconds is not None and _milliseconds(begin) + rest > options.milliseconds:
                break
            time.sleep(rest / 1000)
        return Samples(samples, [sample / repeats for sample in clock.samples()])

    def _print(self, command: PrintCommand) -> None:
        resource = self.model.resources[command.resource]
        try:
            content = self._present(resource)[: resource.value_size]
            most = self.options.most_printed
            line = printed(resource.name, resource.data_type, content, command.verbose, most)
        except FAILURES as error:
            self.log.error(f"Failed to print resource: {error}")
            raise
        self.log.info(line)

    def _present(self, resource: ModelResource) -> bytes:
        if resource.deferred:
            message = f"Could not find deferred resource {resource.name}"
            self.log.error(message)
            raise ModelError(message)
        return self._content(resource)

    def _write(self, command: WriteFileCommand) -> None:
        resource, target = self.model.resources[command.resource], Path(command.target)
        try:
            content = self._present(resource)
            suffix = target.suffix.lower()
            if suffix in IMAGES:
                raise ModelError("images can be written on Windows only")
            if suffix == ".npy":
                content = write_npy(_shaped(elements(resource.data_type, content), command.dimensions))
            write_file(target, content)
        except (*FAILURES, OSError) as error:
            # As in DxDispatch, later commands still run.
            self.log.error(f"Failed to write resource to file '{command.target}': {error}")
            return
        self.log.info(f"Resource '{resource.name}' written to '{command.target}'")


def _shaped(array: np.ndarray[Any, Any], dimensions: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if not dimensions:
        return array
    count = math.prod(dimensions)
    if count > len(array):
        raise ModelError(f"the dimensions need {count} elements; the resource has {len(array)}")
    return array[:count].reshape(dimensions)


def _milliseconds(start: float) -> float:
    return (time.perf_counter() - start) * 1000


@contextmanager
def _naming(prefix: str) -> Iterator[None]:
    """Turn failures within the block into ``ModelError``, with ``place`` as a prefix."""
    try:
        yield
    except FAILURES as error:
        raise ModelError(f"{prefix}{error}") from error


def elements(data_type: int, content: bytes) -> np.ndarray[Any, Any]:
    """The complete elements in ``content``. Raises ``ModelError`` for types that buffers cannot have."""
    element_type = data_type_of(data_type)
    if element_type.bits < 8:
        raise ModelError("Unexpected DML_TENSOR_DATA_TYPE")
    size = element_type.dtype.itemsize
    return np.frombuffer(content[: len(content) // size * size], element_type.dtype)


def printed(name: str, data_type: int, content: bytes, verbose: bool, most: int | None = None) -> str:
    """The line, or with ``verbose`` the lines, for a resource's contents, as long as its initial values.

    A line shows at most ``most`` values.
    """
    values = elements(data_type, content)
    show = _shower(values.dtype)
    if not verbose:
        if most is not None and len(values) > most:
            ends = (values[: most // 2].tolist(), values[-(most // 2) :].tolist())
            first, last = (", ".join(map(show, end)) for end in ends)
            return f"Resource '{name}': {first}, ..., {last} ({len(values)} values; --print_all shows each)"
        return f"Resource '{name}': {', '.join(map(show, values.tolist()))}"
    width, digits = len(str(len(values))), 2 * values.itemsize
    bits = values.view(f"u{values.itemsize}").tolist()
    lines = [
        f"[{index:{width}}] {show(value)} (0x{hexadecimal:{digits}X})\n"
        for index, (value, hexadecimal) in enumerate(zip(values.tolist(), bits))
    ]
    return f"Resource '{name}':\n" + "".join(lines)


def _shower(dtype: np.dtype[Any]) -> Callable[[Any], str]:
    if dtype.kind == "f":
        return lambda value: f"{value:g}"
    return _character if dtype.itemsize == 1 else str


def _character(value: int) -> str:
    """A byte as a C++ stream writes it; non-ASCII bytes become surrogates."""
    return bytes([value & 0xFF]).decode("ascii", "surrogateescape")


class Samples(NamedTuple):
    """The duration of each iteration in milliseconds, on the CPU and on the GPU."""

    cpu: list[float]
    gpu: list[float]


def timing_lines(name: str, samples: Samples, warmup: int, verbosity: int) -> Iterator[str]:
    """The log lines for ``samples``; the first ``warmup`` are cold, except that at least one is hot."""
    count = len(samples.cpu)
    if not count:
        return
    cold = min(count - 1, warmup)
    if verbosity == 0:
        cpu, gpu = _median(samples.cpu[cold:]), _median(samples.gpu[cold:])
        yield f"Dispatch '{name}': {count} iterations, {cpu:.4f} ms median (CPU), {gpu:.6f} ms median (GPU)"
        return
    yield f"Dispatch '{name}': {count} iterations"
    for title, phase in (("(Cold) ", slice(cold)), ("(Hot)  ", slice(cold, None))):
        for processor, times in (("CPU", samples.cpu[phase]), ("GPU", samples.gpu[phase])):
            if times:
                yield f"{processor} Timings {title}: {_statistics(times)}"
    if verbosity > 1:
        yield "The timings of each iteration: "
        for index, (cpu, gpu) in enumerate(zip(*samples)):
            yield f"iteration {index}: {cpu:.4f} ms (CPU), {gpu:.4f} ms (GPU)"


def _median(samples: Sequence[float]) -> float:
    return sorted(samples)[len(samples) // 2]


def _statistics(samples: Sequence[float]) -> str:
    return (
        f"{len(samples)} samples, {sum(samples) / len(samples):.4f} ms average, {min(samples):.4f} ms min, "
        f"{_median(samples):.4f} ms median, {max(samples):.4f} ms max"
    )


TIMESTAMP = D3D12_QUERY_TYPE_TIMESTAMP
# Pairs per query heap: results are read when it is full, so that memory does not grow with the run.
PAIRS = 1024


class GpuClock:
    """Call ``mark`` before and after the measured work, and ``samples`` when it has run."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._heap = session.d3d12.CreateQueryHeap(
            D3D12_QUERY_HEAP_DESC(D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2 * PAIRS)
        )
        self._read = session.buffer(2 * PAIRS * RESULT_SIZE, D3D12_HEAP_TYPE_READBACK)
        self._ended = 0
        self._samples: list[float] = []

    def mark(self) -> None:
        """Record a timestamp; every second one begins a pair, by when all earlier pairs must have run."""
        if self._ended == 2 * PAIRS:
            self._resolve()
        self._session.commands.EndQuery(self._heap, TIMESTAMP, self._ended)
        self._ended += 1

    def samples(self) -> list[float]:
        """The duration of each pair in milliseconds."""
        self._resolve()
        return self._samples

    def _resolve(self) -> None:
        count = self._ended
        if not count:
            return
        self._session.run(
            lambda commands: commands.ResolveQueryData(self._heap, TIMESTAMP, 0, count, self._read, 0)
        )
        ticks = self._read.Map()[: count * RESULT_SIZE].view(np.uint64).reshape(-1, 2)
        frequency = self._session.queue.GetTimestampFrequency()
        self._samples += [int(end - begin) * 1000 / frequency for begin, end in ticks]
        self._read.Unmap()
        self._ended = 0
