"""What a compiled operator runs: one operator, or a whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..descs.tensor import TensorDesc
from ..descs.values import OperatorDesc, TensorSlot
from ..kernels.binding import Run
from ..operators import kernel_of, operator_of
from ..operators.operator import Kernel
from ..validation.report import Report

Bytes = npt.NDArray[np.uint8]


class Program(Protocol):
    """The tensors that are bound from outside, and how to run over their bytes.

    ``in_place``: an output may be bound to the memory of an input. ``temporary_size`` is in bytes. ``unused`` are the
    inputs that nothing reads, and that may be bound all the same.
    """

    title: str
    in_place: bool
    inputs: tuple[TensorSlot, ...]
    outputs: tuple[TensorSlot, ...]
    temporary_size: int
    unused: frozenset[int]

    def bind(
        self, inputs: Sequence[Bytes | None], outputs: Sequence[Bytes | None], temporary: Bytes | None
    ) -> Run:
        """A call that runs over these bytes; all views are made here, once. Absent tensors are None."""

    def inspect(self, inputs: Sequence[Bytes | None], report: Report) -> None:
        """Report what the values of the inputs break."""


class Nibbles:
    """A tensor of 4-bit elements over its bytes, as the array of bytes that a kernel reads or writes in its place."""

    def __init__(self, tensor: TensorDesc, memory: Bytes) -> None:
        self._tensor = tensor
        self._memory = memory
        self.array = np.zeros(tensor.sizes, tensor.dtype)

    def unpack(self) -> None:
        self.array[...] = self._tensor.view(self._memory)

    def pack(self) -> None:
        self._tensor.store(self._memory, self.array)


def bound_call(kernel: Kernel, inputs: Sequence[Any], outputs: Sequence[Any], scratch: Bytes) -> Run:
    """A kernel over arrays, ``Nibbles`` and None: those are unpacked before it runs, and packed after it."""
    call = kernel.bind(list(map(array_of, inputs)), list(map(array_of, outputs)), scratch)
    packed = [one for one in inputs if isinstance(one, Nibbles)]
    unpacked = [one for one in outputs if isinstance(one, Nibbles)]
    if not packed and not unpacked:
        return call

    def run() -> None:
        for one in packed:
            one.unpack()
        call()
        for one in unpacked:
            one.pack()

    return run


def array_of(view: Any) -> Any:
    return view.array if isinstance(view, Nibbles) else view


def view_of(tensor: TensorDesc, memory: Bytes) -> Any:
    """A tensor over its bytes, as ``bound_call`` takes it."""
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

    unused: frozenset[int] = frozenset()

    def __init__(self, desc: OperatorDesc) -> None:
        self.title = desc.schema.type_name
        self.in_place = desc.schema.in_place
        self.inputs = desc.inputs
        self.outputs = desc.outputs
        self._desc = desc
        self._kernel = kernel_of(desc)
        self.temporary_size = self._kernel.scratch

    def bind(
        self, inputs: Sequence[Bytes | None], outputs: Sequence[Bytes | None], temporary: Bytes | None
    ) -> Run:
        scratch = NO_BYTES if temporary is None else temporary
        return bound_call(self._kernel, views(self.inputs, inputs), views(self.outputs, outputs), scratch)

    def inspect(self, inputs: Sequence[Bytes | None], report: Report) -> None:
        arrays = [
            None if slot.tensor is None or part is None else slot.tensor.view(part)
            for slot, part in zip(self.inputs, inputs)
        ]
        operator_of(self._desc.name).inspect(self._desc, arrays, report)
