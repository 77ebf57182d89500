"""An operator's program run on arrays, without buffers, bindings and barriers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .d3d12.allocation import CACHE_LINE, Allocation
from .d3d12.buffer_pool import Bytes
from .d3d12.interruptible import StillRunning, run_interruptibly, still_running
from .descs.operator_desc import TensorSlot
from .descs.tensor import TensorDesc
from .dml.dispatchable import Run
from .dml.long_dispatch import is_long
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
        self._idle: list[BoundProgram] = []

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays. ``arrays`` agree with the inputs."""
        if not self._is_small:
            return _run(self._program, arrays)
        idle = self._idle
        try:
            bound = idle.pop()
        except IndexError:
            bound = BoundProgram(self._program, _tensors(self.inputs), _tensors(self._program.outputs))
        bound.clear()
        results = bound.run(arrays)
        if len(idle) < IDLE:
            idle.append(bound)
        return results


class BoundProgram:
    """A program bound to memory of its own, which one thread at a time runs.

    ``inputs`` and ``outputs`` are the tensors that arrays are stored to and loaded from. ``constants`` are the arrays
    of the inputs from ``first`` on, each of which is copied or packed as soon as it is taken.
    """

    def __init__(
        self,
        program: DispatchProgram,
        inputs: Sequence[TensorDesc | None],
        outputs: Sequence[TensorDesc | None],
        first: int | None = None,
        constants: Iterable[Array] = (),
    ) -> None:
        read, written, temporary = _memory(inputs[:first]), _memory(outputs), _temporary(program)
        self._stores = list(map(_storing, inputs, read))
        self._loads = list(map(_loading, outputs, written))
        self._written = [memory for memory in (*written, temporary) if memory is not None]
        if first is not None:
            read += _kept(program, inputs, first, constants)
        self._call = _bound(program, read, written, temporary)
        self._interrupted: StillRunning | None = None

    def clear(self) -> None:
        """Results that an operator leaves undefined will be zeros, and not those of the last run."""
        for memory in self._written:
            memory.fill(0)

    def run(self, arrays: Iterable[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays. ``arrays`` agree with the inputs that are not constant."""
        if self._interrupted is not None:
            self._interrupted.join()
            self._interrupted = None
        for store, array in zip(self._stores, arrays):
            if store is not None:
                store(array)
        try:
            self._call()
        except BaseException as error:
            self._interrupted = still_running(error)
            raise
        return [None if load is None else load() for load in self._loads]


def _kept(
    program: DispatchProgram, inputs: Sequence[TensorDesc | None], first: int, constants: Iterable[Array]
) -> list[Bytes | None]:
    """The memory of the constant inputs, with their contents."""
    layouts = [(tensor, program.packed.get(index)) for index, tensor in enumerate(inputs[first:], first)]
    sizes = [
        0 if tensor is None else tensor.total_size if packing is None else packing.size
        for tensor, packing in layouts
    ]
    ends = list(accumulate(-(-size // CACHE_LINE) * CACHE_LINE for size in sizes))
    block = Allocation(ends[-1] if ends else 0, is_zeroed=False).bytes
    kept = list[Bytes | None]()
    for array, (tensor, packing), size, start in zip(constants, layouts, sizes, [0, *ends]):
        if tensor is None:
            kept.append(None)
            continue
        memory = block[start : start + size]
        kept.append(memory)
        if packing is None:
            tensor.store(memory, array)
        else:
            packing.store(
                array if array.shape == tensor.sizes else np.broadcast_to(array, tensor.sizes), memory
            )
    return kept


def _tensors(slots: Sequence[TensorSlot]) -> list[TensorDesc | None]:
    return [slot.tensor for slot in slots]


def _bound(
    program: DispatchProgram,
    inputs: Sequence[Bytes | None],
    outputs: Sequence[Bytes | None],
    temporary: Bytes | None,
) -> Run:
    run = program.bind(inputs, outputs, temporary)
    return partial(run_interruptibly, run) if is_long(program.operators) else run


def _size(program: DispatchProgram) -> int:
    """The bytes of all tensors, and the temporary ones."""
    slots = (*program.inputs, *program.outputs)
    return program.temporary_size + sum(slot.tensor.total_size for slot in slots if slot.tensor is not None)


def _memory(tensors: Sequence[TensorDesc | None]) -> list[Bytes | None]:
    return [None if tensor is None else Allocation(tensor.total_size).bytes for tensor in tensors]


def _temporary(program: DispatchProgram) -> Bytes | None:
    return Allocation(program.temporary_size).bytes if program.temporary_size else None


def _storing(tensor: TensorDesc | None, memory: Bytes | None) -> Callable[[Any], None] | None:
    """The function that writes an array to the tensor in ``memory``; None for an absent tensor."""
    if tensor is None or memory is None:
        return None
    return (
        partial(tensor.store, memory) if tensor.is_nibbles else partial(tensor.view(memory).__setitem__, ...)
    )


def _loading(tensor: TensorDesc | None, memory: Bytes | None) -> Callable[[], Array] | None:
    """The function that copies the tensor out of ``memory``; None for an absent tensor."""
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
    outputs = _memory(_tensors(program.outputs))
    _bound(program, inputs, outputs, _temporary(program))()
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
