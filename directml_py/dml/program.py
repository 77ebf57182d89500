"""What a compiled operator runs: one operator, or a whole graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..descs.values import OperatorDesc, TensorSlot
from ..operators import Operator, kernel_of
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
    ) -> Callable[[], None]:
        """A call that runs over these bytes; all views are made here, once. Absent tensors are None."""

    def inspect(self, inputs: Sequence[Bytes | None], report: Report) -> None:
        """Report what the values of the inputs break."""


def views(slots: Sequence[TensorSlot], memory: Sequence[Bytes | None]) -> list[Any]:
    """The tensors over their bytes; None for absent ones."""
    return [
        None if slot.tensor is None or part is None else slot.tensor.view(part)
        for slot, part in zip(slots, memory)
    ]


class OperatorProgram:
    """A single operator."""

    unused: frozenset[int] = frozenset()

    def __init__(self, desc: OperatorDesc, implementation: Operator) -> None:
        self.title = desc.schema.type_name
        self.in_place = desc.schema.in_place
        self.inputs = desc.inputs
        self.outputs = desc.outputs
        self.temporary_size = implementation.scratch(desc)
        self._desc = desc
        self._implementation = implementation
        self._kernel = kernel_of(desc)

    def bind(
        self, inputs: Sequence[Bytes | None], outputs: Sequence[Bytes | None], temporary: Bytes | None
    ) -> Callable[[], None]:
        sources, targets = views(self.inputs, inputs), views(self.outputs, outputs)
        if not self.temporary_size:
            return self._kernel(sources, targets)
        return self._kernel(sources, targets, temporary)

    def inspect(self, inputs: Sequence[Bytes | None], report: Report) -> None:
        self._implementation.inspect(self._desc, views(self.inputs, inputs), report)
