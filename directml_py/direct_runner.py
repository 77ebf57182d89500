"""``DirectRunner``: a program that runs on arrays without devices, queues and resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .descs.operator_desc import TensorSlot
from .descs.tensor import TensorDesc
from .garbage_collector import paused
from .kernels.move import move
from .kernels.native_arrays import Run
from .late import loading
from .operators.operator import WeightLayout
from .operators.program import DispatchProgram, OperatorProgram, is_long
from .runtime.allocation import CACHE_LINE, Allocation, Bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    from .runtime.interruptible import StillRunning

Array: TypeAlias = "npt.NDArray[Any]"
Tensors: TypeAlias = Sequence[TensorDesc | None]

# Up to this many bytes for all tensors together, copying arrays into memory that an operator is bound to takes less
# time than binding it to the arrays.
SMALL = 1 << 15
# From this many bytes of an array on, copying it in several threads pays.
LARGE = 1 << 20
# Bound programs that are kept: several threads may run one operator.
IDLE = 2


def tensors(slots: Sequence[TensorSlot]) -> list[TensorDesc | None]:
    return [slot.tensor for slot in slots]


class DirectRunner:
    """A program that runs on arrays. The other arguments are those of ``Runner``."""

    def __init__(
        self,
        program: DispatchProgram,
        inputs: Tensors | None = None,
        outputs: Tensors | None = None,
        constant: Sequence[int] = (),
        contents: Callable[[], Iterable[Array | None]] = tuple,
    ) -> None:
        self.program = program
        self.inputs = tensors(program.inputs) if inputs is None else inputs
        self.outputs = tensors(program.outputs) if outputs is None else outputs
        self._constant = constant
        self._contents = contents
        # Binding a graph takes longer than copies; binding an operator does not, unless it is small.
        is_graph = not isinstance(program, OperatorProgram)
        self._is_bound = is_graph or bool(constant) or _is_small(program)
        # Programs that no thread is running.
        self._idle: list[BoundProgram] = []

    def prepare(self) -> None:
        """Take the constants now, which are not needed any more unless several threads run."""
        if self._is_bound:
            self._idle.append(self._bound())

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays. ``arrays`` agree with the inputs; those of constant ones are ignored."""
        if not self._is_bound:
            return _run_in_place(self.program, arrays)
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
            return BoundProgram(self.program, self.inputs, self.outputs, self._constant, self._contents())


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
        is_zeroed = _shows_memory(program)
        read = [
            kept[index] if index in kept else _memory(tensor, packed.get(index), is_zeroed)
            for index, tensor in enumerate(inputs)
        ]
        written = [_memory(tensor, None, is_zeroed) for tensor in outputs]
        temporary = _temporary(program)
        self._stores = [
            None if index in kept else _storing(tensor, memory, packed.get(index))
            for index, (tensor, memory) in enumerate(zip(inputs, read))
        ]
        self._loads = list(map(_loading, outputs, written))
        # Inputs and results that take long to copy, which threads share.
        self._large_stores = _large_views(
            inputs,
            [None if index in kept or index in packed else memory for index, memory in enumerate(read)],
        )
        self._large_loads = _large_views(outputs, written)
        for index, view in self._large_loads.items():
            self._loads[index] = partial(np.empty, view.shape, view.dtype)
        # Results that an operator leaves undefined will be zeros, and not those of the last run.
        undefined = (*written, temporary) if program.results else ()
        self._cleared = [memory for memory in undefined if memory is not None]
        self._call = _bound(program, read, written, temporary)
        self._interrupted: StillRunning | None = None

    def run(self, arrays: Sequence[Array | None]) -> list[Array | None]:
        """The outputs, in new arrays."""
        if self._interrupted is not None:
            self._interrupted.join()
            self._interrupted = None
        for memory in self._cleared:
            memory.fill(0)
        moved = self._move_large(arrays)
        for index, (store, array) in enumerate(zip(self._stores, arrays)):
            if store is not None and index not in moved:
                store(array)
        try:
            self._call()
        except BaseException as error:
            with loading:
                from .runtime.interruptible import still_running
            self._interrupted = still_running(error)
            raise
        results: list[Any] = [None if load is None else load() for load in self._loads]
        if self._large_loads:
            move([(results[index], view) for index, view in self._large_loads.items()])()
        return results

    def _move_large(self, arrays: Sequence[Array | None]) -> dict[int, tuple[Array, Array]]:
        """Stores the large arrays that are neither converted nor broadcast; by position, the pairs that were copied."""
        pairs: dict[int, tuple[Array, Array]] = {}
        for index, view in self._large_stores.items():
            array = arrays[index]
            if array is None or not array.flags.aligned:
                continue
            if (array.shape, array.dtype) == (view.shape, view.dtype):
                pairs[index] = view, array
        if pairs:
            move(list(pairs.values()))()
        return pairs


def _large_views(tensors: Tensors, memories: Sequence[Bytes | None]) -> dict[int, Array]:
    """Views of the plain tensors by their positions, if together they are large."""
    views = {
        index: tensor.view(memory)
        for index, (tensor, memory) in enumerate(zip(tensors, memories))
        if tensor is not None and memory is not None and _is_plain(tensor)
    }
    return views if sum(view.nbytes for view in views.values()) >= LARGE else {}


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
    if not is_long(program.operators):
        return run
    # Imported on demand: what runs for long need not start fast.
    with loading:
        from .runtime.interruptible import run_interruptibly
    return partial(run_interruptibly, run)


def _is_small(program: DispatchProgram) -> bool:
    slots = (*program.inputs, *program.outputs)
    size = sum(slot.tensor.total_size for slot in slots if slot.tensor is not None)
    return not program.packed and program.temporary_size + size <= SMALL


def _shows_memory(program: DispatchProgram) -> bool:
    """Whether a result may show what was in memory before: one that an operator leaves undefined, or of a node that
    reads the bytes between the elements which another one wrote."""
    return bool(program.results) or not isinstance(program, OperatorProgram)


def _memory(tensor: TensorDesc | None, packing: WeightLayout | None, is_zeroed: bool) -> Bytes | None:
    if tensor is None:
        return None
    return Allocation(tensor.total_size if packing is None else packing.size, is_zeroed).bytes


def _temporary(program: DispatchProgram) -> Bytes | None:
    if not program.temporary_size:
        return None
    return Allocation(program.temporary_size, program.shows_temporary).bytes


def _store(tensor: TensorDesc, packing: WeightLayout | None, memory: Bytes, array: Array) -> None:
    if packing is not None:
        packing.store(array if array.shape == tensor.sizes else np.broadcast_to(array, tensor.sizes), memory)
    elif array.nbytes >= LARGE and _is_plain(tensor) and array.dtype == tensor.dtype:
        move([(tensor.view(memory), np.broadcast_to(array, tensor.sizes))])()
    else:
        tensor.store(memory, array)


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
        inputs[position] = memory = Allocation(packing.size, is_zeroed=False).bytes
        _store(tensor, packing, memory, array)
    is_zeroed = _shows_memory(program)
    outputs = [_memory(tensor, None, is_zeroed) for tensor in tensors(program.outputs)]
    _bound(program, inputs, outputs, _temporary(program))()
    return [
        None if slot.tensor is None or memory is None else _elements(slot.tensor, memory)
        for slot, memory in zip(program.outputs, outputs)
    ]


def _laid_out(tensor: TensorDesc, array: Array) -> Bytes:
    """The bytes of ``array`` in the tensor's layout, without a copy if it has that layout."""
    if _is_plain(tensor) and array.flags.c_contiguous:
        return array.reshape(-1).view(np.uint8)
    memory = Allocation(tensor.total_size, is_zeroed=False).bytes
    tensor.store(memory, array)
    return memory


def _elements(tensor: TensorDesc, memory: Bytes) -> Array:
    """The elements in exclusively owned ``memory``, without a copy if the tensor fills it."""
    return tensor.view(memory) if _is_plain(tensor) else tensor.load(memory)


def _is_plain(tensor: TensorDesc) -> bool:
    """Whether the tensor has the layout of a contiguous NumPy array."""
    return tensor.is_packed and tensor.element_bits >= 8
