"""Programs that time their steps: the calls that a dispatch of an operator or a graph consists of, and how much of each
the native kernels take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

from directml_py.descs.operator_desc import OperatorDesc
from directml_py.dml.compiler.graph_program import GraphProgram
from directml_py.kernels.backend import backend
from directml_py.kernels.launch import NativeRun, RunSequence, entry_point
from directml_py.kernels.native_arrays import Run
from directml_py.operators.program import DispatchProgram


class TimedStep(NamedTuple):
    """One call of a dispatch, and how long it took; ``native`` is the part within native kernels, if that is asked for.
    ``node`` and ``operator`` are those of the plan's step, ``descs`` those of all operators that the call computes."""

    node: int
    operator: str
    descs: Sequence[OperatorDesc]
    call: Run
    nanoseconds: int = 0
    native: int = 0

    @property
    def is_native(self) -> bool:
        return is_native(self.call)


class TimedLibrary:
    """Takes the place of the native kernels' library, and adds up the time within its functions, in nanoseconds."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.nanoseconds = 0

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._library, name)
        timed = self._timed(member) if callable(member) else member
        setattr(self, name, timed)
        return timed

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            start = time.perf_counter_ns()
            result = function(*arguments)
            self.nanoseconds += time.perf_counter_ns() - start
            return result

        return call


@contextmanager
def timed_library() -> Iterator[TimedLibrary | None]:
    """What is bound within the block calls native kernels through the ``TimedLibrary``; None without native kernels."""
    native = backend.native
    if native is None:
        yield None
        return
    library = TimedLibrary(native.lib)
    backend.native = SimpleNamespace(ffi=native.ffi, lib=library)
    entry_point.cache_clear()
    try:
        yield library
    finally:
        backend.native = native
        entry_point.cache_clear()


# Takes the steps of a dispatch that has run.
Record: TypeAlias = Callable[[list[TimedStep]], object]


class TimedProgram:
    """Takes the place of a compiled operator's program, and passes the times of each dispatch to ``record``.

    Of a step that is not native as a whole, ``library`` knows which part is.
    """

    def __init__(self, program: DispatchProgram, record: Record, library: TimedLibrary | None = None) -> None:
        self._program = program
        self._record = record
        self._library = library

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)

    def bind(self, *arguments: Any) -> Run:
        steps = list(_steps(self._program, arguments))

        def run() -> None:
            self._record([timed(step, self._library) for step in steps])

        return run


def _steps(program: DispatchProgram, arguments: Sequence[Any]) -> Iterator[TimedStep]:
    if not isinstance(program, GraphProgram):
        (desc,) = program.operators
        yield TimedStep(0, desc.name, (desc,), program.bind(*arguments))
        return
    for step, call in program.calls(*arguments):
        descs = [program.graph.node(node).desc for node in step.nodes]
        yield TimedStep(step.node, step.operator, [desc for desc in descs if desc is not None], call)


def timed(step: TimedStep, library: TimedLibrary | None) -> TimedStep:
    """The step, after its call."""
    before = 0 if library is None else library.nanoseconds
    start = time.perf_counter_ns()
    step.call()
    whole = time.perf_counter_ns() - start
    within = 0 if library is None else library.nanoseconds - before
    # Threads of NumPy's path convert elements at the same time.
    return step._replace(nanoseconds=whole, native=whole if step.is_native else min(whole, within))


def fastest(rounds: Iterable[Sequence[TimedStep]]) -> list[TimedStep]:
    """The steps of a dispatch that has run several times, each with its least time."""
    return [min(times, key=lambda step: step.nanoseconds) for times in zip(*rounds)]


def is_native(run: Run) -> bool:
    """Whether it launches native kernels; calls from Python that check whether to launch one are among them."""
    if isinstance(run, RunSequence):
        return all(map(is_native, run.runs))
    launched = [part for part in run.args if callable(part)] if isinstance(run, partial) else []
    return isinstance(run, NativeRun) or any(map(is_native, launched))
