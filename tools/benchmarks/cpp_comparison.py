"""The same work in C++, through ``libdirectml.so``, and in Python; and single calls of Windows programs under Wine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from building import windows_dlls

import directml_py
from directml_py.cli.config_command import SYSTEM_HEADERS, Missing, cflags, libs
from directml_py.wine.loader import WineError, dll_path, find_loader

from .replay_cost import opened
from .runs import OURS, Row
from .timing_samples import join_desc

PROGRAM = Path(__file__).with_name("native_round.cpp")
CALLS = Path(__file__).with_name("calls.c")
MINGW = "x86_64-w64-mingw32-gcc"
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
    compiler = shutil.which("cc" if source.suffix == ".c" else "c++")
    if compiler is None:
        print(f"{source.name}: left out, there is no compiler", file=sys.stderr)
        return None
    program = Path(folder) / source.stem
    standard = "gnu11" if source.suffix == ".c" else "c++17"
    command = [compiler, "-O2", f"-std={standard}", str(source), "-o", str(program), *options]
    subprocess.run(command, check=True)
    return program


def built_for_windows(source: Path, folder: str) -> Path | None:
    """As ``built``, by MinGW for Wine."""
    dlls = [dll_path(name) for name in windows_dlls.DLLS]
    try:
        find_loader()
    except WineError as error:
        print(f"{source.name}: left out for Windows, {error}", file=sys.stderr)
        return None
    if shutil.which(MINGW) is None or not all(dll.exists() for dll in dlls):
        print(f"{source.name}: left out for Windows, MinGW has not built the DLLs", file=sys.stderr)
        return None
    program = Path(folder) / f"{source.stem}.exe"
    command = [
        MINGW,
        "-O2",
        "-static",
        str(source),
        *map(str, dlls),
        "-ldxguid",
        "-lpthread",
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True)
    return program


def rows() -> Iterator[Row]:
    yield from rounds()
    yield from calls()


def calls() -> Iterator[Row]:
    """What a call costs a Windows program under Wine and a program for Linux."""
    with tempfile.TemporaryDirectory() as folder:
        linux = built(CALLS, folder)
        windows = built_for_windows(CALLS, folder)
        if linux is None or windows is None:
            return
        commands = {OURS: [sys.executable, "-m", "directml_py", "wine", str(windows)], "Linux": [str(linux)]}
        found: dict[str, dict[str, list[float]]] = {}
        for _ in range(RUNS):
            for side, command in commands.items():
                for line in subprocess.run(
                    command, check=True, capture_output=True, text=True
                ).stdout.splitlines():
                    call, nanoseconds = line.split(": ")
                    found.setdefault(call, {}).setdefault(side, []).append(float(nanoseconds) / 1e9)
    for call, sides in found.items():
        yield Row(f"Windows program: {call}", sides)


def rounds() -> Iterator[Row]:
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
