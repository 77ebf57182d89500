"""The same work in C++, through ``libdirectml.so``, and in Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import directml_py
from directml_py.cli.config_command import SYSTEM_HEADERS, Missing, cflags, libs

from .replay_cost import opened
from .runs import OURS, Row
from .timing_samples import join_desc

PROGRAM = Path(__file__).with_name("native_round.cpp")
FIRST = Path(__file__).with_name("first_dispatch.py")
RUNS = 5
ROUNDS = 2000


def built(source: Path, folder: str) -> Path | None:
    """The program of a C++ source; None, with the reason on standard error, where it cannot be built."""
    try:
        options = [*cflags(SYSTEM_HEADERS), *libs()]
    except Missing as missing:
        print(f"{source.name}: left out, {missing}", file=sys.stderr)
        return None
    compiler = shutil.which("c++")
    if compiler is None:
        print(f"{source.name}: left out, there is no C++ compiler", file=sys.stderr)
        return None
    program = Path(folder) / source.stem
    command = [compiler, "-O2", "-std=c++17", str(source), "-o", str(program), *options]
    subprocess.run(command, check=True)
    return program


def rows() -> Iterator[Row]:
    starts, native, python, python_starts = [], [], [], []
    again = python_round()
    # The C++ program takes the package from where it was linked, Python from where this process has it.
    environment = {**os.environ, "PYTHONPATH": str(Path(directml_py.__file__).parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        program = built(PROGRAM, folder)
        if program is None:
            return
        for _ in range(RUNS):
            found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
            starts.append(float(found[0]) / 1e6)
            native.append(float(found[1]) / 1e6)
            python.append(timed(again))
            begin = time.perf_counter()
            subprocess.run([sys.executable, str(FIRST)], check=True, env=environment)
            python_starts.append(time.perf_counter() - begin)
    yield Row("native C++: record, execute, wait, reset", {OURS: native, "Python": python})
    yield Row("native C++: process start to first dispatch", {OURS: starts, "Python": python_starts})


def timed(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    for _ in range(ROUNDS):
        call()
    return (time.perf_counter() - start) / ROUNDS


def python_round() -> Callable[[], None]:
    """The Python equivalent of one round of the C++ program."""
    session = opened()
    compiled, commands, allocator = session.compile(join_desc(3, 4)), session.commands, session.allocator
    sizes = [slot.tensor.total_size for slot in (*compiled.inputs, *compiled.outputs) if slot.tensor]
    *inputs, output = [session.buffer(size) for size in sizes]
    table = session.table(compiled, inputs, [output])
    heap, recorder = session.heap, session.recorder
    fence = session.d3d12.CreateFence(0)
    commands.Close()
    allocator.Reset()
    commands.Reset(allocator)
    value = 0

    def again() -> None:
        nonlocal value
        value += 1
        commands.SetDescriptorHeaps(1, [heap])
        recorder.RecordDispatch(commands, compiled, table)
        commands.Close()
        session.queue.ExecuteCommandLists(1, [commands])
        session.queue.Signal(fence, value)
        fence.SetEventOnCompletion(value)
        allocator.Reset()
        commands.Reset(allocator)

    return again
