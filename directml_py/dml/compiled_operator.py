"""``IDMLOperator`` and ``IDMLCompiledOperator``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..api.enums import DML_EXECUTION_FLAGS
from ..api.iids import IID_IDMLCompiledOperator, IID_IDMLOperator
from ..api.lazy import lazy
from ..api.structs import DML_BINDING_PROPERTIES
from ..d3d12.resource import BufferRange
from ..descs.tensor import TensorDesc
from ..descs.values import OperatorDesc, TensorSlot
from ..operators import Operator
from .bindings import UPLOAD, Need
from .objects import IDMLDeviceChild, IDMLDispatchable

if TYPE_CHECKING:
    from .device import IDMLDevice

TENSOR_ALIGNMENT = 16
RESOURCE_ALIGNMENT = 256


class IDMLOperator(IDMLDeviceChild):
    """An operator that was checked; it cannot be dispatched before it is compiled (nn-directml-idmloperator)."""

    IID = IID_IDMLOperator

    def __init__(self, device: IDMLDevice, desc: OperatorDesc) -> None:
        super().__init__(device)
        self.desc = desc


class Bound(NamedTuple):
    """All that one dispatch of a compiled operator reads and writes; absent tensors are None."""

    inputs: Sequence[BufferRange | None]
    outputs: Sequence[BufferRange | None]
    temporary: BufferRange | None
    persistent: BufferRange | None


def align(size: int, alignment: int) -> int:
    return (size + alignment - 1) // alignment * alignment


def tensor_need(tensor: TensorDesc) -> Need:
    return Need(tensor.total_size, max(TENSOR_ALIGNMENT, tensor.alignment))


class IDMLCompiledOperator(IDMLDispatchable):
    """An operator ready to run (nn-directml-idmlcompiledoperator).

    The persistent resource holds the inputs flagged OWNED_BY_DML, one behind the other, each as its tensor desc
    lays it out and at a multiple of 16 bytes or of its own alignment.
    """

    IID = IID_IDMLCompiledOperator

    def __init__(self, op: IDMLOperator, flags: DML_EXECUTION_FLAGS, implementation: Operator) -> None:
        super().__init__(op.device)
        self.op = op
        self.flags = flags
        self.initialized = False
        self.persistent: BufferRange | None = None
        self.persistent_content: Any = None
        desc = op.desc
        self.inputs: tuple[TensorSlot, ...] = desc.inputs
        self.outputs: tuple[TensorSlot, ...] = desc.outputs
        self.scratch_size = implementation.scratch(desc)
        self._kernel = implementation.kernel(desc)
        self._owned: dict[int, int] = {}
        end = 0
        for index, slot in enumerate(self.inputs):
            if slot.tensor is not None and slot.tensor.is_owned_by_dml:
                start = align(end, max(TENSOR_ALIGNMENT, slot.tensor.alignment))
                self._owned[index] = start
                end = start + slot.tensor.total_size
        self.persistent_size = end

    @property
    def volatile(self) -> bool:
        return bool(self.flags & DML_EXECUTION_FLAGS.DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE)

    def is_owned(self, index: int) -> bool:
        """Whether input ``index`` is copied at initialization rather than bound at execution."""
        return index in self._owned

    @lazy
    def input_needs(self) -> tuple[Need | None, ...]:
        """What each input must be bound to at execution; None where nothing may be bound."""
        return tuple(
            None if slot.tensor is None or index in self._owned else tensor_need(slot.tensor)
            for index, slot in enumerate(self.inputs)
        )

    @lazy
    def owned_needs(self) -> tuple[Need | None, ...]:
        """What each input must be bound to at initialization; None where nothing may be bound."""
        return tuple(
            self._owned_need(slot.tensor) if index in self._owned and slot.tensor is not None else None
            for index, slot in enumerate(self.inputs)
        )

    @staticmethod
    def _owned_need(tensor: TensorDesc) -> Need:
        need = tensor_need(tensor)
        return need._replace(heap_types=(*need.heap_types, UPLOAD))

    @lazy
    def output_needs(self) -> tuple[Need | None, ...]:
        return tuple(None if slot.tensor is None else tensor_need(slot.tensor) for slot in self.outputs)

    @property
    def owned(self) -> Mapping[int, int]:
        """Where each owned input begins in the persistent resource, in bytes."""
        return self._owned

    @property
    def temporary_size(self) -> int:
        return align(self.scratch_size, 4)

    def GetBindingProperties(self) -> DML_BINDING_PROPERTIES:
        bound = [need for need in (*self.input_needs, *self.output_needs) if need is not None]
        count = len(bound) + bool(self.temporary_size) + bool(self.persistent_size)
        return DML_BINDING_PROPERTIES(count, self.temporary_size, self.persistent_size)

    def initialize(self, inputs: Sequence[BufferRange | None], persistent: BufferRange | None) -> None:
        """Copy the owned inputs into the persistent resource."""
        for index, start in self._owned.items():
            source, tensor = inputs[index], self.inputs[index].tensor
            assert source is not None
            assert persistent is not None
            assert tensor is not None
            size = tensor.total_size
            persistent.bytes[start : start + size] = source.bytes[:size]
        self.initialized = True
        self.persistent = persistent
        if self.removal.debug and persistent is not None:
            self.persistent_content = persistent.bytes[: self.persistent_size].copy()

    def input_views(self, inputs: Sequence[BufferRange | None], persistent: BufferRange | None) -> list[Any]:
        """The input tensors over the bound memory, owned ones in the persistent resource; None if absent."""
        views: list[Any] = []
        for index, (slot, view) in enumerate(zip(self.inputs, inputs)):
            start = self._owned.get(index)
            if slot.tensor is None:
                views.append(None)
            elif start is not None:
                assert persistent is not None
                views.append(slot.tensor.view(persistent.bytes[start:]))
            else:
                assert view is not None
                views.append(slot.tensor.view(view.bytes))
        return views

    def prepare(self, bound: Bound) -> Callable[[], None]:
        """A call that runs the kernel over the bound memory; all views are made here, once."""
        inputs = self.input_views(bound.inputs, bound.persistent)
        outputs = [
            None if slot.tensor is None or view is None else slot.tensor.view(view.bytes)
            for slot, view in zip(self.outputs, bound.outputs)
        ]
        kernel = self._kernel
        if not self.scratch_size:
            return lambda: kernel(inputs, outputs)
        assert bound.temporary is not None
        scratch = bound.temporary.bytes
        return lambda: kernel(inputs, outputs, scratch)
