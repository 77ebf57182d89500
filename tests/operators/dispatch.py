"""One dispatch through the object model, with access to the memory around every tensor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import directml_py as dml
from directml_py.session import Session

FILL = 0xA5
OFFSET = 256
GUARD = 64


class Memory(NamedTuple):
    """A buffer after the dispatch: all its bytes, and where its tensor lies."""

    bytes: np.ndarray
    tensor: dml.TensorDesc

    @property
    def inside(self):
        """The tensor's TotalTensorSizeInBytes."""
        return self.bytes[OFFSET : OFFSET + self.tensor.total_size]

    @property
    def outside(self):
        return np.concatenate([self.bytes[:OFFSET], self.bytes[OFFSET + self.tensor.total_size :]])

    @property
    def array(self):
        return self.tensor.load(self.inside)


class Dispatch:
    """``desc`` executed on ``arrays``: every tensor in a buffer of its own, OFFSET bytes from its start.

    All bytes that hold no input element are FILL before.
    """

    def __init__(self, desc, arrays):
        session = Session()
        op = session.compile(desc)
        before = [surrounded(slot.tensor, array) for slot, array in zip(op.inputs, arrays)]
        inputs = [session.upload(memory) for memory in before]
        outputs = [session.upload(surrounded(slot.tensor)) for slot in op.outputs]
        session.initialize(op)
        session.dispatch(op, bound(op.inputs, inputs), bound(op.outputs, outputs))
        session.execute()
        assert session.dml.GetDeviceRemovedReason() == dml.S_OK
        self.before = before
        self.inputs = [Memory(session.read(buffer), slot.tensor) for slot, buffer in zip(op.inputs, inputs)]
        self.outputs = [
            Memory(session.read(buffer), slot.tensor) for slot, buffer in zip(op.outputs, outputs)
        ]


def surrounded(tensor, array=None):
    """The bytes of a buffer for ``tensor`` that holds ``array``."""
    memory = np.full(OFFSET + tensor.total_size + GUARD, FILL, np.uint8)
    if array is not None:
        tensor.store(memory[OFFSET : OFFSET + tensor.total_size], array)
    return memory


def bound(slots, buffers):
    """Bindings of the tensors inside their buffers."""
    return [
        dml.DML_BINDING_DESC(
            dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(buffer, OFFSET, slot.tensor.total_size)
        )
        for slot, buffer in zip(slots, buffers)
    ]
