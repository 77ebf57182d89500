"""An operator's program run on arrays, without buffers, bindings and barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .d3d12.allocation import Allocation
from .d3d12.buffer_pool import Bytes
from .descs.operator_desc import TensorSlot
from .descs.tensor import TensorDesc
from .dml.program import DispatchProgram

Array: TypeAlias = npt.NDArray[Any]

# Up to this many bytes for all tensors together, copying arrays into memory that the program is bound to takes less
# time than binding it to the arrays.
SMALL = 1 << 15
# Bound programs that are kept: several threads may run one operator.
IDLE = 2


class Evaluation:
    """Equivalent to ``Session.evaluate`` of the operator that ``program`` belongs to."""

    def __init__(self, program: DispatchProgram) -> None:
        self.inputs = program.inputs
        self._program = program
        self._is_small = not program.packed and _size(program) <= SMALL
        # Programs that no thread is running.
        self._idle: list[_BoundProgram] = []

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays. ``arrays`` agree with the inputs."""
        if not self._is_small:
            return _run(self._program, arrays)
        idle = self._idle
        try:
            bound = idle.pop()
        except IndexError:
            bound = _BoundProgram(self._program)
        results = bound.run(arrays)
        if len(idle) < IDLE:
            idle.append(bound)
        return results


class _BoundProgram:
    """A program bound to memory of its own."""

    def __init__(self, program: DispatchProgram) -> None:
        inputs, outputs = _memory(program.inputs), _memory(program.outputs)
        temporary = _temporary(program)
        self._stores = list(map(_storing, program.inputs, inputs))
        self._loads = list(map(_loading, program.outputs, outputs))
        # Results that an operator leaves undefined are zeros every time.
        self._written = [memory for memory in (*outputs, temporary) if memory is not None]
        self._call = program.bind(inputs, outputs, temporary)

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        for store, array in zip(self._stores, arrays):
            if store is not None:
                store(array)
        for memory in self._written:
            memory.fill(0)
        self._call()
        return [None if load is None else load() for load in self._loads]


def _size(program: DispatchProgram) -> int:
    """The bytes of all tensors, and the temporary ones."""
    slots = (*program.inputs, *program.outputs)
    return program.temporary_size + sum(slot.tensor.total_size for slot in slots if slot.tensor is not None)


def _memory(slots: Sequence[TensorSlot]) -> list[Bytes | None]:
    return [None if slot.tensor is None else Allocation(slot.tensor.total_size).bytes for slot in slots]


def _temporary(program: DispatchProgram) -> Bytes | None:
    return Allocation(program.temporary_size).bytes if program.temporary_size else None


def _storing(slot: TensorSlot, memory: Bytes | None) -> Callable[[Any], None] | None:
    """The function that writes an array to the tensor in ``memory``; None for an absent tensor."""
    tensor = slot.tensor
    if tensor is None or memory is None:
        return None
    return partial(tensor.store, memory) if tensor.is_nibbles else partial(np.copyto, tensor.view(memory))


def _loading(slot: TensorSlot, memory: Bytes | None) -> Callable[[], Array] | None:
    """The function that copies the tensor out of ``memory``; None for an absent tensor."""
    tensor = slot.tensor
    if tensor is None or memory is None:
        return None
    return partial(tensor.load, memory) if tensor.is_nibbles else tensor.view(memory).copy


def _run(program: DispatchProgram, arrays: Sequence[Array | None]) -> list[Array | None]:
    """Binds the program to the arrays themselves where their layouts permit."""
    inputs = [
        None if array is None or slot.tensor is None else _laid_out(slot.tensor, array)
        for slot, array in zip(program.inputs, arrays)
    ]
    for position, packing in program.packed.items():
        memory, array = Allocation(packing.size).bytes, arrays[position]
        assert array is not None
        packing.store(array, memory)
        inputs[position] = memory
    outputs = _memory(program.outputs)
    program.bind(inputs, outputs, _temporary(program))()
    return [
        None if slot.tensor is None or memory is None else _elements(slot.tensor, memory)
        for slot, memory in zip(program.outputs, outputs)
    ]


def _laid_out(tensor: TensorDesc, array: Array) -> Bytes:
    """The bytes of ``array`` in the tensor's layout, without a copy if it has that layout."""
    if _is_plain(tensor) and array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8)
    memory = Allocation(tensor.total_size).bytes
    tensor.store(memory, array)
    return memory


def _elements(tensor: TensorDesc, memory: Bytes) -> Array:
    """The elements in exclusively owned ``memory``, without a copy if the tensor fills it."""
    return tensor.view(memory) if _is_plain(tensor) else tensor.load(memory)


def _is_plain(tensor: TensorDesc) -> bool:
    """Whether the tensor has the layout of a contiguous NumPy array."""
    return tensor.is_packed and tensor.element_bits >= 8
