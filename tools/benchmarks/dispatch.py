"""Executing a recorded dispatch again, with and without the debug layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import directml_py as dml
from directml_py.evaluate import Session

from .samples import join_desc
from .timing import Row, interleaved


def rows() -> Iterator[Row]:
    times = interleaved({"off": replay(debug=False), "on": replay(debug=True)})
    yield Row("dispatch", "execute a recorded JOIN and wait", times["off"], {"debug layers on": times["on"]})


def replay(debug: bool) -> Callable[[], None]:
    """A call that executes a recorded dispatch of a tiny JOIN and waits for its fence."""
    switch = dml.D3D12GetDebugInterface()
    if debug:
        switch.EnableDebugLayer()
    d3d12 = dml.D3D12CreateDevice()
    switch.DisableDebugLayer()
    flags = dml.DML_CREATE_DEVICE_FLAG_DEBUG if debug else dml.DML_CREATE_DEVICE_FLAG_NONE
    device = dml.DMLCreateDevice(d3d12, flags)
    compiled = device.CompileOperator(device.CreateOperator(join_desc()))
    session = Session(d3d12, device, compiled, compiled.inputs, compiled.outputs)
    unordered = dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
    sizes = [
        slot.tensor.total_size for slot in (*compiled.inputs, *compiled.outputs) if slot.tensor is not None
    ]
    *inputs, output = [session.buffer(size, dml.D3D12_HEAP_TYPE_DEFAULT, unordered) for size in sizes]
    persistent = session.initialize(inputs)
    session.execute()
    session.allocator.Reset()
    session.commands.Reset(session.allocator)
    session.dispatch(inputs, [output], persistent)
    session.commands.Close()
    fence = d3d12.CreateFence(0)
    value = 0

    def execute() -> None:
        nonlocal value
        value += 1
        session.queue.ExecuteCommandLists([session.commands])
        session.queue.Signal(fence, value)
        fence.SetEventOnCompletion(value)

    return execute
