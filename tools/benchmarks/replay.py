"""Our side: an operator over arrays, recorded once and executed again and again, as a program would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml
from directml_py.evaluate import Session

ELEMENT = {
    np.dtype(name.lower()): dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"]
    for name in (
        "FLOAT16",
        "FLOAT32",
        "FLOAT64",
        "INT8",
        "INT32",
        "INT64",
        "UINT8",
        "UINT32",
        "UINT64",
    )
}


def tensor(array: Any) -> dml.DML_TENSOR_DESC:
    """The desc of a tensor that lies in memory as ``array`` does."""
    strides = [stride // array.itemsize for stride in array.strides]
    return dml.tensor_desc(ELEMENT[array.dtype], list(array.shape), strides)


class Recorded(NamedTuple):
    """``execute`` runs a recorded dispatch and signals a fence; ``inputs`` and ``outputs`` are the tensors in its
    buffers, for peers to work on the same memory."""

    execute: Callable[[], None]
    inputs: list[Any]
    outputs: list[Any]


def opened(desc: Any, debug: bool = False) -> Session:
    """A session for ``desc`` on a device of its own, with or without the debug layers."""
    switch = dml.D3D12GetDebugInterface()
    if debug:
        switch.EnableDebugLayer()
    d3d12 = dml.D3D12CreateDevice()
    switch.DisableDebugLayer()
    flags = dml.DML_CREATE_DEVICE_FLAG_DEBUG if debug else dml.DML_CREATE_DEVICE_FLAG_NONE
    device = dml.DMLCreateDevice(d3d12, flags)
    compiled = device.CompileOperator(device.CreateOperator(desc))
    return Session(d3d12, device, compiled, compiled.inputs, compiled.outputs)


def recorded(desc: Any, inputs: Sequence[Any], debug: bool = False) -> Recorded:
    """A dispatch of ``desc`` over copies of ``inputs``, recorded once."""
    session = opened(desc, debug)
    compiled = session.compiled
    state = dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
    resources, sources = [], []
    for slot, array in zip(compiled.inputs, inputs):
        assert slot.tensor is not None
        resource = session.buffer(slot.tensor.total_size, dml.D3D12_HEAP_TYPE_DEFAULT, state)
        view = slot.tensor.view(resource.memory)
        np.copyto(view, array)
        resources.append(resource)
        sources.append(view)
    outputs = [
        session.buffer(slot.tensor.total_size, dml.D3D12_HEAP_TYPE_DEFAULT, state)
        for slot in compiled.outputs
        if slot.tensor is not None
    ]
    targets = [
        slot.tensor.view(output.memory)
        for slot, output in zip(compiled.outputs, outputs)
        if slot.tensor is not None
    ]
    session.initialize(resources)
    session.execute()
    session.allocator.Reset()
    session.commands.Reset(session.allocator)
    session.dispatch(resources, outputs, None)
    session.commands.Close()
    fence = session.d3d12.CreateFence(0)
    queue, lists = session.queue, [session.commands]
    value = 0

    def execute() -> None:
        nonlocal value
        value += 1
        queue.ExecuteCommandLists(lists)
        queue.Signal(fence, value)

    return Recorded(execute, sources, targets)
