"""The same work from C++, through ``libdirectml.so``, and from Python."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import directml_py as dml
from directml_py.com.config import SYSTEM_HEADERS, Missing, cflags, libs
from directml_py.evaluate import Session

from .samples import join_desc
from .timing import Row

PROGRAM = Path(__file__).with_name("native_round.cpp")
RUNS = 5
ROUNDS = 2000


def rows() -> Iterator[Row]:
    compiler = shutil.which("c++")
    try:
        options = [*cflags(SYSTEM_HEADERS), *libs()]
    except Missing as missing:
        print(f"native: left out, {missing}", file=sys.stderr)
        return
    if compiler is None:
        print("native: left out, there is no C++ compiler", file=sys.stderr)
        return
    starts, native, python, imports = [], [], [], []
    again = python_round()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "round"
        command = [compiler, "-O2", "-std=c++17", str(PROGRAM), "-o", str(program), *options]
        subprocess.run(command, check=True)
        for _ in range(RUNS):
            found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
            starts.append(float(found[0]) / 1000)
            native.append(float(found[1]))
            python.append(timed(again))
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", "import directml_py"], check=True)
            imports.append((time.perf_counter() - begin) * 1000)
    yield Row(
        "native",
        "C++: record, execute, wait, reset",
        statistics.median(native),
        {"Python": statistics.median(python)},
    )
    yield Row(
        "native",
        "C++: process start to first dispatch",
        statistics.median(starts),
        {"python -c 'import directml_py'": statistics.median(imports)},
        unit="ms",
    )


def timed(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    for _ in range(ROUNDS):
        call()
    return (time.perf_counter() - start) / ROUNDS * 1e6


def python_round() -> Callable[[], None]:
    """What the C++ program does in a round."""
    d3d12 = dml.D3D12CreateDevice()
    device = dml.DMLCreateDevice(d3d12)
    compiled = device.CompileOperator(device.CreateOperator(join_desc()))
    session = Session(d3d12, device, compiled, compiled.inputs, compiled.outputs)
    unordered = dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
    sizes = [
        slot.tensor.total_size for slot in (*compiled.inputs, *compiled.outputs) if slot.tensor is not None
    ]
    *inputs, output = [session.buffer(size, dml.D3D12_HEAP_TYPE_DEFAULT, unordered) for size in sizes]
    count = compiled.GetBindingProperties().RequiredDescriptorCount
    heap = d3d12.CreateDescriptorHeap(
        dml.D3D12_DESCRIPTOR_HEAP_DESC(
            NumDescriptors=count, Flags=dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
        )
    )
    table = device.CreateBindingTable(
        dml.DML_BINDING_TABLE_DESC(
            Dispatchable=compiled,
            CPUDescriptorHandle=heap.GetCPUDescriptorHandleForHeapStart(),
            GPUDescriptorHandle=heap.GetGPUDescriptorHandleForHeapStart(),
            SizeInDescriptors=count,
        )
    )

    def binding(resource: dml.ID3D12Resource, size: int) -> dml.DML_BINDING_DESC:
        return dml.DML_BINDING_DESC(
            Type=dml.DML_BINDING_TYPE_BUFFER,
            Desc=dml.DML_BUFFER_BINDING(Buffer=resource, Offset=0, SizeInBytes=size),
        )

    table.BindInputs([binding(resource, size) for resource, size in zip(inputs, sizes)])
    table.BindOutputs([binding(output, sizes[-1])])
    recorder = device.CreateCommandRecorder()
    fence = d3d12.CreateFence(0)
    commands, allocator = session.commands, session.allocator
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
