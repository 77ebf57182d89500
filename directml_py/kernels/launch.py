"""Native kernels bound to their tasks, and sequences launched by one call from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import groupby
from typing import Any

from .backend import backend
from .decisions import take
from .native_arrays import Run


class Fixed:
    """Base of what a task keeps alive that refers to no memory which the kernel is bound to."""


class NativeRun(partial[Any]):
    """The call of a native kernel, without arguments.

    ``number`` identifies its function to ``dml_run_launches``; None if it cannot be launched with others. ``task`` is a
    pointer, to ``count`` tasks if the function takes an array; ``keepalive`` holds the memory that it points to.
    """

    number: int | None
    task: Any
    count: int
    keepalive: object

    def __new__(cls, function: str, task: Any, count: int | None = None, *, keepalive: object) -> NativeRun:
        """``function``: the name in C, ``dml_..._run``."""
        call, number, kernel = entry_point(function)
        take(kernel)
        return cls._of(call, number, task, () if count is None else (count,), keepalive)

    @classmethod
    def _of(
        cls,
        call: Callable[..., Any],
        number: int | None,
        task: Any,
        counts: tuple[int, ...],
        keepalive: object,
    ) -> NativeRun:
        run = super().__new__(cls, call, task, *counts)
        run.number, run.task, run.count, run.keepalive = number, task, counts[0] if counts else 1, keepalive
        return run

    def maker(self) -> Callable[[Any, object], NativeRun]:
        """Makes a call with another task, and its keepalive."""
        call, number, counts = self.func, self.number, self.args[1:]
        return lambda task, keepalive: NativeRun._of(call, number, task, counts, keepalive)


class RunSequence(partial[None]):
    """The call that makes several ``runs`` in order.

    ``launches`` is the array of ``dml_launch`` if all are native kernels that can be launched together, else None.
    """

    runs: Sequence[Run]
    launches: Any

    def __new__(
        cls, runs: Sequence[Run], call: Callable[..., None], *arguments: Any, launches: Any = None
    ) -> RunSequence:
        sequence = super().__new__(cls, call, *arguments)
        sequence.runs, sequence.launches = runs, launches
        return sequence


@cache
def entry_point(function: str) -> tuple[Callable[..., Any], int | None, str]:
    """A function of the native kernels, its number if it can be launched with others, and the kernel's name."""
    lib, name = backend.native.lib, function.removeprefix("dml_")
    return getattr(lib, function), getattr(lib, f"DML_LAUNCH_{name.upper()}", None), name.removesuffix("_run")


def launch_in_order(runs: Sequence[Run]) -> Run:
    """The runs combined into one."""
    calls = calls_in_order(runs)
    return calls[0] if len(calls) == 1 else RunSequence(calls, run_all, calls)


def calls_in_order(runs: Sequence[Run]) -> Sequence[Run]:
    """The runs combined into as few as possible. Consecutive native kernels are launched from C, as long as signals may
    wait."""
    if len(runs) < 2:
        return runs
    calls: list[Run] = []
    for launchable, group in groupby(flattened(runs), is_launchable):
        members: list[Any] = list(group)
        calls += [launched(members)] if launchable and len(members) > 1 else members
    return calls


def flattened(runs: Iterable[Run]) -> Iterable[Run]:
    """The runs, with sequences that are not launched together replaced by their parts."""
    for run in runs:
        if isinstance(run, RunSequence) and run.launches is None:
            yield from flattened(run.runs)
        else:
            yield run


def is_launchable(run: Run) -> bool:
    if isinstance(run, NativeRun):
        return run.number is not None
    return isinstance(run, RunSequence) and run.launches is not None


def run_all(runs: Sequence[Run]) -> None:
    for run in runs:
        run()


def launched(parts: Sequence[NativeRun | RunSequence]) -> RunSequence:
    """Native kernels, and sequences of them, as one call."""
    ffi, lib = backend.native.ffi, backend.native.lib
    runs = [run for part in parts for run in (part.runs if isinstance(part, RunSequence) else [part])]
    launches = ffi.new("dml_launch[]", len(runs))
    index = 0
    for part in parts:
        if isinstance(part, RunSequence):
            ffi.memmove(launches + index, part.launches, ffi.sizeof(part.launches))
            index += len(part.runs)
        else:
            launch = launches[index]
            launch.kernel, launch.count = part.number, part.count
            launch.task = int(ffi.cast("uintptr_t", part.task))
            index += 1
    return RunSequence(runs, run_launches, lib.dml_run_launches, launches, len(runs), launches=launches)


def run_launches(run: Callable[[Any, int], int], launches: Any, count: int) -> None:
    done = 0
    while done < count:
        done += run(launches + done, count - done)
