"""``IDMLOperator`` and ``IDMLCompiledOperator``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..abi.lazy import lazy
from ..api.enums import DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE, DML_EXECUTION_FLAGS
from ..api.iids import IID_IDMLCompiledOperator, IID_IDMLOperator
from ..api.structs import DML_BINDING_PROPERTIES
from ..d3d12.resource import BufferRange
from ..descs.tensor import TensorDesc
from ..descs.values import OperatorDesc
from .bindings import UPLOAD, Need, bindable_heaps
from .objects import IDMLDeviceChild, IDMLDispatchable
from .program import Bytes, Program

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


# The page of DML_BUFFER_BINDING asks for a multiple of 16 or of the tensor's own alignment, that of
# DML_BUFFER_TENSOR_DESC for both.
def tensor_need(tensor: TensorDesc, level: int) -> Need:
    return Need(tensor.total_size, max(TENSOR_ALIGNMENT, tensor.alignment), bindable_heaps(level))


class IDMLCompiledOperator(IDMLDispatchable):
    """An operator ready to run (nn-directml-idmlcompiledoperator).

    The persistent resource holds the inputs flagged OWNED_BY_DML, one behind the other, each as its tensor desc
    lays it out and at a multiple of 16 bytes or of its own alignment.
    """

    IID = IID_IDMLCompiledOperator

    def __init__(
        self,
        device: IDMLDevice,
        flags: DML_EXECUTION_FLAGS,
        program: Program,
        op: IDMLOperator | None = None,
    ) -> None:
        super().__init__(device)
        # As documented, a compiled operator keeps its operator, and a compiled graph none.
        self.op = op
        self.flags = flags
        self.program = program
        self.initialized = False
        self.persistent: BufferRange | None = None
        self.persistent_content: Any = None
        self.inputs = program.inputs
        self.outputs = program.outputs
        # Where each owned input begins in the persistent resource, in bytes.
        self.owned: dict[int, int] = {}
        end = 0
        for index, slot in enumerate(self.inputs):
            if slot.tensor is not None and slot.tensor.is_owned_by_dml:
                start = align(end, max(TENSOR_ALIGNMENT, slot.tensor.alignment))
                self.owned[index] = start
                end = start + slot.tensor.total_size
        self.persistent_size = end

    @property
    def volatile(self) -> bool:
        return bool(self.flags & DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE)

    def is_owned(self, index: int) -> bool:
        """Whether input ``index`` is copied at initialization rather than bound at execution."""
        return index in self.owned

    @lazy
    def input_needs(self) -> tuple[Need | None, ...]:
        """What each input must be bound to at execution; None where nothing may be bound."""
        return tuple(
            None if slot.tensor is None or index in self.owned else self._need(slot.tensor)
            for index, slot in enumerate(self.inputs)
        )

    @lazy
    def owned_needs(self) -> tuple[Need | None, ...]:
        """What each input must be bound to at initialization; None where nothing may be bound."""
        return tuple(
            self._owned_need(slot.tensor) if index in self.owned and slot.tensor is not None else None
            for index, slot in enumerate(self.inputs)
        )

    def _need(self, tensor: TensorDesc) -> Need:
        return tensor_need(tensor, self.device.feature_level)

    def _owned_need(self, tensor: TensorDesc) -> Need:
        need = self._need(tensor)
        return need._replace(heap_types=(*need.heap_types, UPLOAD))

    @lazy
    def output_needs(self) -> tuple[Need | None, ...]:
        return tuple(None if slot.tensor is None else self._need(slot.tensor) for slot in self.outputs)

    @property
    def temporary_size(self) -> int:
        return align(self.program.temporary_size, 4)

    def GetBindingProperties(self) -> DML_BINDING_PROPERTIES:
        bound = [need for need in (*self.input_needs, *self.output_needs) if need is not None]
        count = len(bound) + bool(self.temporary_size) + bool(self.persistent_size)
        return DML_BINDING_PROPERTIES(count, self.temporary_size, self.persistent_size)

    def initialize(self, inputs: Sequence[BufferRange | None], persistent: BufferRange | None) -> None:
        """Copy the owned inputs into the persistent resource."""
        for index, start in self.owned.items():
            source, tensor = inputs[index], self.inputs[index].tensor
            assert source is not None
            assert persistent is not None
            assert tensor is not None
            size = tensor.total_size
            persistent.bytes[start : start + size] = source.bytes[:size]
        self.initialized = True
        if self.removal.debug and persistent is not None:
            self.persistent = persistent
            self.persistent_content = persistent.bytes[: self.persistent_size].copy()

    def input_bytes(
        self, inputs: Sequence[BufferRange | None], persistent: BufferRange | None
    ) -> list[Bytes | None]:
        """The memory of each input, that of owned ones in the persistent resource; None if absent."""
        found: list[Bytes | None] = []
        for index, view in enumerate(inputs):
            start = self.owned.get(index)
            if start is not None:
                assert persistent is not None
                found.append(persistent.bytes[start:])
            else:
                found.append(None if view is None else view.bytes)
        return found

    def prepare(self, bound: Bound) -> Callable[[], None]:
        """A call that runs the program over the bound memory."""
        return self.program.bind(
            self.input_bytes(bound.inputs, bound.persistent),
            [None if view is None else view.bytes for view in bound.outputs],
            None if bound.temporary is None else bound.temporary.bytes,
        )
