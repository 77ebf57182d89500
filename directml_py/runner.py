"""``Runner``: the one way in which compiled operators and graphs run on arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from .descs.operator_desc import TensorSlot
from .descs.tensor import TensorDesc
from .dml import IDMLCompiledOperator, IDMLDevice
from .dml.dispatchable import Run
from .dml.program import DispatchProgram, OperatorProgram, is_long
from .garbage_collector import paused
from .operators.operator import WeightLayout
from .runtime.allocation import CACHE_LINE, Allocation, Bytes
from .runtime.interruptible import StillRunning, run_interruptibly, still_running
from .session import RecordedRun, Session, owned_positions

Array: TypeAlias = npt.NDArray[Any]
Tensors: TypeAlias = Sequence[TensorDesc | None]

# Up to this many bytes for all tensors together, copying arrays into memory that an operator is bound to takes less
# time than binding it to the arrays.
SMALL = 1 << 15
# Bound programs that are kept: several threads may run one operator.
IDLE = 2


def tensors(slots: Sequence[TensorSlot]) -> list[TensorDesc | None]:
    return [slot.tensor for slot in slots]


class Runner:
    """A compiled operator or graph that runs on arrays.

    ``inputs`` and ``outputs`` are the tensors that arrays are stored to and loaded from, None for absent ones; by
    default the operator's own. The inputs at the positions ``constant`` are: ``contents`` returns their arrays, each of
    which is packed or uploaded, when the runner is prepared or first run, as soon as it is taken. Other inputs that
    DirectML owns may have other contents in each run; then ``recompile`` returns an operator that is not initialized.

    On a device that is observed, each run goes through the object model, so that debug layers, captures and profiles
    see what a program does; otherwise the operator's program runs directly on arrays, with the same result. Only
    elements that the operator leaves undefined differ. Several threads may run one that has no constants.
    """

    def __init__(
        self,
        operator: IDMLCompiledOperator,
        inputs: Tensors | None = None,
        outputs: Tensors | None = None,
        constant: Sequence[int] = (),
        contents: Callable[[], Iterable[Array | None]] = tuple,
        recompile: Callable[[], IDMLCompiledOperator] | None = None,
    ) -> None:
        self.operator = operator
        self.inputs = tensors(operator.inputs) if inputs is None else inputs
        self.outputs = tensors(operator.outputs) if outputs is None else outputs
        self._constant = constant
        self._contents = contents
        self._recompile = recompile
        self._owned_vary = any(
            tensor is not None and tensor.is_owned_by_dml and index not in constant
            for index, tensor in enumerate(self.inputs)
        )
        # Binding a graph takes longer than copies; binding an operator does not, unless it is small.
        is_graph = not isinstance(operator.program, OperatorProgram)
        self._is_bound = is_graph or bool(constant) or _is_small(operator.program)
        # Programs that no thread is running.
        self._idle: list[BoundProgram] = []

    def prepare(self) -> None:
        """Take the constants now, which are not needed any more unless several threads run."""
        if self.operator.device.is_observed:
            _ = self._recorded_once
        elif self._is_bound:
            self._idle.append(self._bound())

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays. ``arrays`` agree with the inputs; those of constant ones are ignored.

        Raises ``DMLError`` ``DXGI_ERROR_DEVICE_REMOVED`` if the device is removed, before or by the run.
        """
        if self.operator.device.is_observed:
            return self._recorded(arrays)
        if not self._is_bound:
            return _run_in_place(self.operator.program, arrays)
        idle = self._idle
        try:
            bound = idle.pop()
        except IndexError:
            bound = self._bound()
        results = bound.run(arrays)
        if len(idle) < IDLE:
            idle.append(bound)
        return results

    def _bound(self) -> BoundProgram:
        with paused():
            return BoundProgram(
                self.operator.program, self.inputs, self.outputs, self._constant, self._contents()
            )

    def _recorded(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        if not self._owned_vary:
            return self._recorded_once.run(arrays)
        if self._recompile is not None and self.operator.initialized and self.operator.persistent_size:
            self.operator = self._recompile()
        owned = owned_positions(self.inputs)
        contents = [arrays[index] for index in owned]
        return self._recording(owned, contents).run(arrays)

    @cached_property
    def _recorded_once(self) -> RecordedRun:
        return self._recording(self._constant, self._contents())

    def _recording(self, constant: Sequence[int], contents: Iterable[Array | None]) -> RecordedRun:
        session = Session(cast(IDMLDevice, self.operator.device))
        with paused():
            return RecordedRun(session, self.operator, self.inputs, self.outputs, constant, contents)


class BoundProgram:
    """A program bound to memory of its own, which one thread at a time runs."""

    def __init__(
        self,
        program: DispatchProgram,
        inputs: Tensors,
        outputs: Tensors,
        constant: Sequence[int],
        contents: Iterable[Array | None],
    ) -> None:
        packed = program.packed
        kept = _kept(program, inputs, constant, contents)
        read = [
            kept[index] if index in kept else _memory(tensor, packed.get(index))
            for index, tensor in enumerate(inputs)
        ]
        written, temporary = [_memory(tensor) for tensor in outputs], _temporary(program)
        self._stores = [
            None if index in kept else _storing(tensor, memory, packed.get(index))
            for index, (tensor, memory) in enumerate(zip(inputs, read))
        ]
        self._loads = list(map(_loading, outputs, written))
        # Results that an operator leaves undefined will be zeros, and not those of the last run.
        undefined = (*written, temporary) if program.results else ()
        self._cleared = [memory for memory in undefined if memory is not None]
        self._call = _bound(program, read, written, temporary)
        self._interrupted: StillRunning | None = None

    def run(self, arrays: Iterable[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays."""
        if self._interrupted is not None:
            self._interrupted.join()
            self._interrupted = None
        for memory in self._cleared:
            memory.fill(0)
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
    program: DispatchProgram, inputs: Tensors, constant: Sequence[int], contents: Iterable[Array | None]
) -> dict[int, Bytes | None]:
    """The memory of the constant inputs by their positions, with their contents."""
    layouts = [(inputs[index], program.packed.get(index)) for index in constant]
    sizes = [
        0 if tensor is None else tensor.total_size if packing is None else packing.size
        for tensor, packing in layouts
    ]
    ends = list(accumulate(-(-size // CACHE_LINE) * CACHE_LINE for size in sizes))
    block = Allocation(ends[-1] if ends else 0, is_zeroed=False).bytes
    kept: dict[int, Bytes | None] = dict.fromkeys(constant)
    for index, array, (tensor, packing), size, start in zip(constant, contents, layouts, sizes, [0, *ends]):
        if tensor is not None and array is not None:
            memory = kept[index] = block[start : start + size]
            _store(tensor, packing, memory, array)
    return kept


def _bound(
    program: DispatchProgram,
    inputs: Sequence[Bytes | None],
    outputs: Sequence[Bytes | None],
    temporary: Bytes | None,
) -> Run:
    run = program.bind(inputs, outputs, temporary)
    return partial(run_interruptibly, run) if is_long(program.operators) else run


def _is_small(program: DispatchProgram) -> bool:
    slots = (*program.inputs, *program.outputs)
    size = sum(slot.tensor.total_size for slot in slots if slot.tensor is not None)
    return not program.packed and program.temporary_size + size <= SMALL


def _memory(tensor: TensorDesc | None, packing: WeightLayout | None = None) -> Bytes | None:
    if tensor is None:
        return None
    return Allocation(tensor.total_size if packing is None else packing.size).bytes


def _temporary(program: DispatchProgram) -> Bytes | None:
    return Allocation(program.temporary_size).bytes if program.temporary_size else None


def _store(tensor: TensorDesc, packing: WeightLayout | None, memory: Bytes, array: Array) -> None:
    if packing is None:
        tensor.store(memory, array)
    else:
        packing.store(array if array.shape == tensor.sizes else np.broadcast_to(array, tensor.sizes), memory)


def _storing(
    tensor: TensorDesc | None, memory: Bytes | None, packing: WeightLayout | None
) -> Callable[[Any], None] | None:
    """The function that writes an array to the tensor in ``memory``; None for an absent tensor."""
    if tensor is None or memory is None:
        return None
    if packing is not None or tensor.is_nibbles:
        return partial(_store, tensor, packing, memory)
    return partial(tensor.view(memory).__setitem__, ...)


def _loading(tensor: TensorDesc | None, memory: Bytes | None) -> Callable[[], Array] | None:
    """The function that copies the tensor out of ``memory``; None for an absent tensor."""
    if tensor is None or memory is None:
        return None
    return partial(tensor.load, memory) if tensor.is_nibbles else tensor.view(memory).copy


def _run_in_place(program: DispatchProgram, arrays: Sequence[Array | None]) -> list[Array | None]:
    """Binds the program to the arrays themselves where their layouts permit."""
    inputs = [
        None if array is None or slot.tensor is None else _laid_out(slot.tensor, array)
        for slot, array in zip(program.inputs, arrays)
    ]
    for position, packing in program.packed.items():
        tensor, array = program.inputs[position].tensor, arrays[position]
        assert tensor is not None
        assert array is not None
        inputs[position] = memory = Allocation(packing.size).bytes
        _store(tensor, packing, memory, array)
    outputs = list(map(_memory, tensors(program.outputs)))
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
