"""Our side: an operator over arrays, recorded once and executed again and again, as a program would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml
from directml_py.session import Session

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
    buffers, for peers to work on the same memory. ``session`` keeps alive what was recorded."""

    execute: Callable[[], None]
    inputs: list[Any]
    outputs: list[Any]
    session: Session


def opened(debug: bool = False) -> Session:
    """A session on devices of its own, with or without the debug layers."""
    switch = dml.D3D12GetDebugInterface()
    if debug:
        switch.EnableDebugLayer()
    d3d12 = dml.D3D12CreateDevice()
    switch.DisableDebugLayer()
    flags = dml.DML_CREATE_DEVICE_FLAG_DEBUG if debug else dml.DML_CREATE_DEVICE_FLAG_NONE
    return Session(dml.DMLCreateDevice(d3d12, flags))


def recorded(desc: Any, inputs: Sequence[Any], debug: bool = False) -> Recorded:
    """A dispatch of ``desc`` over copies of ``inputs``, recorded once."""
    session = opened(debug)
    compiled = session.compile(desc)
    tensors = [slot.tensor for slot in compiled.inputs if slot.tensor is not None]
    results = [slot.tensor for slot in compiled.outputs if slot.tensor is not None]
    sources = [session.upload(array, tensor) for tensor, array in zip(tensors, inputs)]
    targets = [session.buffer(tensor.total_size) for tensor in results]
    session.initialize(compiled)
    session.dispatch(compiled, sources, targets)
    session.commands.Close()
    fence = session.d3d12.CreateFence(0)
    queue, lists = session.queue, [session.commands]
    value = 0

    def execute() -> None:
        nonlocal value
        value += 1
        queue.ExecuteCommandLists(lists)
        queue.Signal(fence, value)
        if debug:
            # The debug layer takes a list again only when somebody has seen that it ran.
            fence.SetEventOnCompletion(value, None)

    return Recorded(
        execute,
        [tensor.view(source.memory) for tensor, source in zip(tensors, sources)],
        [tensor.view(target.memory) for tensor, target in zip(results, targets)],
        session,
    )
