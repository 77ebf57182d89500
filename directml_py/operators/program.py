"""Dispatch programs: the executable form of an operator or a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from math import isqrt, prod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..descs.operator_desc import OperatorDesc, TensorSlot
from ..descs.tensor import TensorDesc
from ..kernels.backend import backend
from ..kernels.native_arrays import Run
from ..validation.report import Report
from .operator import Kernel, Operator, WeightLayout, operator_of
from .validate import kernel_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..kernels.post_ops import PostOps

# The families of sums of products, whose number grows faster than the size of their tensors.
FAMILIES = frozenset(("matrix", "window", "quantized", "recurrent"))
# Some 30 ms on one core with AVX2 in the native kernels, which handle interrupts between operators; NumPy takes as long
# for fewer products where it has no BLAS. Another thread delays a dispatch by a fifth of a millisecond.
LONG = 1 << 29
LONG_IN_NUMPY = 1 << 26

Bytes: TypeAlias = "npt.NDArray[np.uint8]"
Notify: TypeAlias = Callable[[Report], None]
# Selects the kernel of an operator.
Kernels: TypeAlias = Callable[[OperatorDesc], Kernel]
Inspect: TypeAlias = Callable[[Sequence[Any]], None]


class Results(NamedTuple):
    """An ``output`` of an operator whose page leaves some results undefined, depending on its other outputs, whose
    ``positions`` are indices into a program's outputs, None if absent."""

    desc: OperatorDesc
    output: int
    positions: tuple[int | None, ...]


def are_all_defined(desc: OperatorDesc) -> bool:
    """Whether the page of an operator defines all results."""
    return type(operator_of(desc.name)).defined is Operator.defined


class DispatchProgram(Protocol):
    """The tensors that a program binds, and its execution over their bytes.

    ``temporary_size`` is in bytes. ``packed`` are the OWNED_BY_DML inputs that are passed prepacked. ``results`` are
    the outputs with undefined elements.
    """

    title: str
    inputs: tuple[TensorSlot, ...]
    outputs: tuple[TensorSlot, ...]
    temporary_size: int
    packed: Mapping[int, WeightLayout]
    results: Mapping[int, Results]

    @property
    def in_place(self) -> frozenset[int]:
        """The indices of inputs whose memory some output may be bound to, also where no page says so."""

    @property
    def operators(self) -> Iterable[OperatorDesc]:
        """The operators that it consists of."""

    @property
    def shows_temporary(self) -> bool:
        """Whether a result may depend on what was in temporary memory before."""

    def works_in_place(self, input: int, output: int) -> bool:
        """Whether ``output`` may be bound to the memory of ``input``."""

    def is_in_place_listed(self, input: int, output: int) -> bool:
        """Whether the operators' pages say so. If not, ``bind`` must be given a copy of the input."""

    def why_not_in_place(self, input: int, output: int) -> str:
        """Why it does not work in place, as the end of a sentence."""

    def bind(
        self,
        inputs: Sequence[Bytes | None],
        outputs: Sequence[Bytes | None],
        temporary: Bytes | None,
        notify: Notify | None = None,
    ) -> Run:
        """A call that runs over these bytes; all views are created here, once. Absent tensors are None.

        ``notify`` receives the violations by input values, from each operator before it runs.
        """


class Nibbles:
    """A tensor of 4-bit elements over its bytes, with the 8-bit array that a kernel reads or writes instead."""

    def __init__(self, tensor: TensorDesc, memory: Bytes) -> None:
        self._tensor = tensor
        self._memory = memory
        self.array = np.zeros(tensor.sizes, tensor.dtype)

    def unpack(self) -> None:
        self.array[...] = self._tensor.view(self._memory)

    def pack(self) -> None:
        self._tensor.store(self._memory, self.array)


def bound_call(
    kernel: Kernel,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    scratch: Bytes,
    inspect: Inspect | None = None,
    post_ops: PostOps = (),
) -> Run:
    """A kernel bound to arrays, ``Nibbles`` and None; ``Nibbles`` are unpacked before it runs and packed after it.

    ``inspect`` is called with the inputs before the kernel runs.
    """
    arrays = list(map(array_of, inputs))
    call = kernel.bind_with(arrays, list(map(array_of, outputs)), scratch, post_ops)
    packed = [array for array in inputs if isinstance(array, Nibbles)]
    unpacked = [array for array in outputs if isinstance(array, Nibbles)]
    if not packed and not unpacked and inspect is None:
        return call

    def run() -> None:
        for nibbles in packed:
            nibbles.unpack()
        if inspect is not None:
            inspect(arrays)
        call()
        for nibbles in unpacked:
            nibbles.pack()

    return run


def inspector(desc: OperatorDesc, notify: Notify | None, where: str = "") -> Inspect | None:
    """The inspection of an operator's inputs, which reports to ``notify`` with paths that begin with ``where``; None
    if the operator accepts all values, or ``notify`` is None."""
    if notify is None:
        return None
    operator = operator_of(desc.name)
    if type(operator).inspect is Operator.inspect:
        return None
    return partial(_inspect, operator, desc, notify, where)


def _inspect(
    operator: Operator, desc: OperatorDesc, notify: Notify, where: str, inputs: Sequence[Any]
) -> None:
    report = Report(where)
    operator.inspect(desc, inputs, report)
    notify(report)


def array_of(view: Any) -> Any:
    return view.array if isinstance(view, Nibbles) else view


def view_of(tensor: TensorDesc, memory: Bytes) -> Any:
    """A tensor over its bytes, in the form that ``bound_call`` takes."""
    return Nibbles(tensor, memory) if tensor.is_nibbles else tensor.view(memory)


def views(slots: Sequence[TensorSlot], memory: Sequence[Bytes | None]) -> list[Any]:
    """The tensors over their bytes; None for absent ones."""
    return [
        None if slot.tensor is None or part is None else view_of(slot.tensor, part)
        for slot, part in zip(slots, memory)
    ]


NO_BYTES: Bytes = np.empty(0, np.uint8)


class OperatorProgram:
    """A single operator."""

    def __init__(self, desc: OperatorDesc, kernels: Kernels = kernel_of) -> None:
        self.title = desc.schema.type_name
        self._listed, unlisted = (
            frozenset(position for position, slot in enumerate(desc.inputs) if slot.field in fields)
            for fields in (desc.schema.in_place, desc.schema.in_place_unlisted)
        )
        self.in_place = self._listed | unlisted
        self.inputs = desc.inputs
        self.outputs = desc.outputs
        self.operators = (desc,)
        self._desc = desc
        kernel = kernels(desc)
        self._kernel = kernel if kernel.packed is None else kernel.packed.kernel
        self.packed: Mapping[int, WeightLayout] = {} if kernel.packed is None else kernel.packed.inputs
        self.temporary_size = self._kernel.scratch
        positions = tuple(range(len(self.outputs)))
        self.results: Mapping[int, Results] = (
            {} if are_all_defined(desc) else {index: Results(desc, index, positions) for index in positions}
        )
        self.shows_temporary = bool(self.results)

    def works_in_place(self, input: int, output: int) -> bool:
        return input in self.in_place and self._lie_alike(input, output)

    def is_in_place_listed(self, input: int, output: int) -> bool:
        return input in self._listed and self._lie_alike(input, output)

    def _lie_alike(self, input: int, output: int) -> bool:
        """Whether each element of the output takes the place of the input's element at the same coordinates."""
        read, written = self.inputs[input].tensor, self.outputs[output].tensor
        return read is not None and written is not None and read.lies_like(written)

    def why_not_in_place(self, input: int, output: int) -> str:
        if input in self.in_place:
            read, written = self.inputs[input], self.outputs[output]
            return (
                f"to work in place {read.path}, which is {read.tensor}, must have the element size, sizes and "
                f"strides of {written.path}, {written.tensor}"
            )
        fields = [self.inputs[position].path for position in sorted(self.in_place)]
        if not fields:
            return f"{self.title} does not work in place"
        return f"{self.title} works in place of {', '.join(fields)} only"

    def bind(
        self,
        inputs: Sequence[Bytes | None],
        outputs: Sequence[Bytes | None],
        temporary: Bytes | None,
        notify: Notify | None = None,
    ) -> Run:
        plain = [None if index in self.packed else array for index, array in enumerate(inputs)]
        arrays = views(self.inputs, plain)
        for position in self.packed:
            arrays[position] = inputs[position]
        return bound_call(
            self._kernel,
            arrays,
            views(self.outputs, outputs),
            # A profile may require more than the kernel's scratch, which must have its exact size.
            NO_BYTES if temporary is None else temporary[: self.temporary_size],
            inspector(self._desc, notify),
        )


def is_long(descs: Iterable[OperatorDesc]) -> bool:
    """Whether a keyboard interrupt should not wait for the end of a dispatch of these operators."""
    most = LONG_IN_NUMPY if backend.native is None else LONG
    return any(products(desc) > most for desc in descs)


@lru_cache(maxsize=1024)
def products(desc: OperatorDesc) -> int:
    """The approximate number of multiply-adds; exact for a product of two matrices, from their element counts MK, KN
    and MN. 0 for operators without sums of products."""
    if desc.schema.family not in FAMILIES:
        return 0
    exact = operator_of(desc.name).products(desc)
    if exact is not None:
        return exact
    tensors = [slot.tensor for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
    largest = sorted(prod(tensor.sizes) for tensor in tensors)[-3:]
    return isqrt(prod(largest)) if len(largest) == 3 else 0
