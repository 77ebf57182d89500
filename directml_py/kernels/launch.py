"""Calls as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import groupby
from typing import Any

from .backend import backend
from .native_arrays import Run, bound

PREFIX = "DML_LAUNCH_"


def in_turn(runs: Sequence[Run]) -> Run:
    """The calls, one after the other, as one; those of native loops that follow each other are called from C, as long
    as signals may wait."""
    if len(runs) == 1:
        return runs[0]
    functions = {} if backend.native is None else _functions(backend.native.lib)
    merged: list[Run] = []
    for is_native, group in groupby(_apart(runs), lambda run: getattr(run, "func", None) in functions):
        some = list(group)
        merged += [_turns(some, functions)] if is_native and len(some) > 1 else some
    return merged[0] if len(merged) == 1 else partial(_run_all, merged)


def _apart(runs: Iterable[Run]) -> Iterable[Run]:
    """What calls are made of."""
    for run in runs:
        if isinstance(run, partial) and run.func is _run_all:
            yield from _apart(run.args[0])
        else:
            yield from getattr(run, "turns", (run,))


def _run_all(runs: Sequence[Run]) -> None:
    for run in runs:
        run()


@cache
def _functions(lib: Any) -> dict[Any, int]:
    """The numbers of the functions that take turns in C."""
    names = [name for name in dir(lib) if name.startswith(PREFIX)]
    return {getattr(lib, f"dml_{name[len(PREFIX) :].lower()}_run"): getattr(lib, name) for name in names}


def _turns(runs: Sequence[Any], functions: dict[Any, int]) -> Run:
    ffi = backend.native.ffi
    turns = ffi.new("dml_launch[]", len(runs))
    for turn, run in zip(turns, runs):
        turn.function = functions[run.func]
        turn.task = int(ffi.cast("uintptr_t", run.args[0]))
        turn.count = run.args[1] if len(run.args) > 1 else 1
    call: Any = bound(_take_turns, backend.native.lib.dml_run_launches, turns, len(runs), memory=runs)
    call.turns = tuple(runs)
    ready: Run = call
    return ready


def _take_turns(run: Callable[[Any, int], int], turns: Any, count: int) -> None:
    done = 0
    while done < count:
        done += run(turns + done, count - done)
