"""Our side of a contest: an operator over arrays, recorded once and executed repeatedly."""

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


def strides_of(array: Any) -> list[int]:
    """The strides of an array in elements."""
    return [stride // array.itemsize for stride in array.strides]


def tensor(array: Any) -> dml.DML_TENSOR_DESC:
    """The desc of a tensor with the memory layout of ``array``."""
    return dml.tensor_desc(ELEMENT[array.dtype], list(array.shape), strides_of(array))


def output_like(array: Any, sizes: Sequence[int]) -> dml.DML_TENSOR_DESC:
    """The desc of a packed tensor of ``array``'s type."""
    return dml.tensor_desc(ELEMENT[array.dtype], list(sizes))


def scalar(kind: Any, number: float) -> dml.DML_SCALAR_UNION:
    """``number`` as an element of type ``kind``."""
    return dml.DML_SCALAR_UNION.from_buffer_copy(np.array(number, kind).tobytes().ljust(8, b"\0"))


class Recorded(NamedTuple):
    """``execute`` runs a recorded dispatch and signals a fence; ``inputs`` and ``outputs`` are views of its buffers, so
    that peers use the same memory. ``session`` keeps the recorded objects alive."""

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
    """A dispatch of ``desc`` over copies of ``inputs``, one per present tensor, recorded once."""
    session = opened(debug)
    return replayed(session, session.compile(desc), inputs, debug)


def replayed(session: Session, compiled: Any, inputs: Sequence[Any], debug: bool = False) -> Recorded:
    """The same for a compiled operator on the session's device; ``inputs`` does not contain owned inputs."""
    arrays = iter(inputs)
    tensors = [slot.tensor for slot in compiled.inputs]
    results = [slot.tensor for slot in compiled.outputs]
    sources = [None if tensor is None else session.upload(next(arrays), tensor) for tensor in tensors]
    targets = [None if tensor is None else session.buffer(tensor.total_size) for tensor in results]
    session.dispatch(compiled, sources, targets, session.initialize(compiled, sources))
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
            # The debug layer accepts a list again only after a wait has shown that it ran.
            fence.SetEventOnCompletion(value, None)

    execute()
    session.dml.removal.check()

    def views(tensors: Sequence[Any], buffers: Sequence[Any]) -> list[Any]:
        return [
            tensor.view(buffer.memory)
            for tensor, buffer in zip(tensors, buffers)
            if tensor is not None and not tensor.is_owned_by_dml
        ]

    return Recorded(execute, views(tensors, sources), views(results, targets), session)
