"""``IDMLOperator`` and ``IDMLCompiledOperator``."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import numpy as np

from ..abi.interface import IUnknown
from ..api.d3d12_enums import D3D12_HEAP_TYPE
from ..api.enums import DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE, DML_EXECUTION_FLAGS
from ..api.iids import IID_IDMLCompiledOperator, IID_IDMLOperator
from ..api.structs import DML_BINDING_PROPERTIES
from ..d3d12.d3d12_constants import UINT_MAX
from ..descs.operator_desc import OperatorDesc, TensorSlot, summary
from ..descs.tensor import TensorDesc
from ..late import lazy
from ..operators.program import NO_BYTES, Bytes, DispatchProgram, is_long
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind
from ..text.plural import counted_words
from ..validation.decode_rules import FAULT_RULES
from ..validation.report import Report
from .binding_aliasing import (
    IN_PLACE,
    IN_PLACE_TOTAL,
    IN_PLACE_UNLISTED,
    OUTPUTS,
    RANGES,
    SCRATCH,
    UNDEFINED,
    begin_alike,
    overlap,
    overlapping,
)
from .binding_point import NO_VIEWS, PERSISTENT, TEMPORARY, BindingPoint, Bound, Views
from .bindings import UPLOAD, Binding, Names, Need, bindable_heaps, plain_view
from .debug_checks import check_operator, remember_persistent
from .dispatchable import DebugCheck, IDMLDispatchable, Run, tensor_points
from .dml_object import SAME_DEVICE, IDMLDeviceChild, OwnerDevice
from .kept_bindings import KeptBindings
from .profiles import poisoned
from .separation import Separation
from .tensor_accesses import resource_access, results_access, share_elements, tensor_access

TENSOR_ALIGNMENT = 16
PACKED_ALIGNMENT = 64
_NUMBERS = count(1)


class IDMLOperator(IDMLDeviceChild):
    """A validated operator, which must be compiled before it can be dispatched (nn-directml-idmloperator)."""

    IID = IID_IDMLOperator
    _additions_ = ("desc",)

    def __init__(self, device: OwnerDevice, desc: OperatorDesc) -> None:
        super().__init__(device)
        self.desc = desc

    def _about(self) -> str:
        return summary(self.desc)


def align(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


# The page of DML_BUFFER_BINDING requires a multiple of 16 or of the tensor's own alignment, the page of
# DML_BUFFER_TENSOR_DESC a multiple of both.
def tensor_need(tensor: TensorDesc, heaps: tuple[D3D12_HEAP_TYPE, ...]) -> Need:
    return Need(tensor.total_size, max(TENSOR_ALIGNMENT, tensor.alignment), heaps)


def desc_of_operator(
    device: OwnerDevice, operator: IUnknown, path: str, report: Report
) -> OperatorDesc | None:
    """The desc of what must be an IDMLOperator of ``device``; None after reporting another object."""
    if not isinstance(operator, IDMLOperator):
        report.add(FAULT_RULES["interface"], path, f"is an {type(operator).__name__}, not an IDMLOperator")
        return None
    if operator.device is not device:
        report.add(SAME_DEVICE, path, "belongs to another DirectML device")
        return None
    return operator.desc


class IDMLCompiledOperator(IDMLDispatchable):
    """An operator ready to run (nn-directml-idmlcompiledoperator).

    The persistent resource holds the inputs flagged OWNED_BY_DML, one after the other: those that the kernel prepacks,
    in the packed layout, at multiples of 64 bytes; the others as their tensor descs lay them out, at multiples of 16
    bytes or of their own alignment.
    """

    IID = IID_IDMLCompiledOperator

    def __init__(
        self,
        device: OwnerDevice,
        flags: DML_EXECUTION_FLAGS,
        program: DispatchProgram,
        op: IDMLOperator | None = None,
    ) -> None:
        super().__init__(device)
        # As documented, a compiled operator holds a reference to its operator, and a compiled graph to none.
        self.op = op
        if op is not None:
            self.made_at = op.made_at
        self.flags = flags
        self.program = program
        self.initialized = False
        # Debug layers and strict devices check each dispatch.
        if device.d3d12_device.sync_validator is None and not self.removal.debug and not self.removal.strict:
            self.kept = KeptBindings()
        self.inputs = program.inputs
        self.outputs = program.outputs
        # The byte offset of each owned input in the persistent resource.
        self.owned: dict[int, int] = {}
        end = 0
        for index, slot in enumerate(self.inputs):
            if slot.tensor is not None and slot.tensor.is_owned_by_dml:
                packing = program.packed.get(index)
                # GuaranteedBaseOffsetAlignment is a promise about bindings; these offsets are the library's own.
                start = align(end, TENSOR_ALIGNMENT if packing is None else PACKED_ALIGNMENT)
                self.owned[index] = start
                end = start + (slot.tensor.total_size if packing is None else packing.size)
        self.owned_size = end
        self.persistent_size = device.profile.persistent_size(end)

    def _about(self) -> str:
        text = self.title if self.op is None else summary(self.op.desc)
        sizes = {"temporary": self.temporary_size, "persistent": self.persistent_size}
        memory = [f"{size:,} bytes of {kind} memory" for kind, size in sizes.items() if size]
        return "; ".join([text, *memory, "initialized" if self.initialized else "not initialized"])

    @property
    def title(self) -> str:
        return self.program.title

    @lazy
    def takes_long(self) -> bool:
        return is_long(self.program.operators)

    @lazy
    def volatile(self) -> bool:
        return bool(self.flags & DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE)

    @lazy
    def descriptor_count(self) -> int:
        return super().descriptor_count

    def is_owned(self, index: int) -> bool:
        """Whether input ``index`` is copied at initialization rather than bound at execution."""
        return index in self.owned

    @lazy
    def input_needs(self) -> tuple[Need | None, ...]:
        """The requirement on each input's binding at execution; None where nothing may be bound."""
        heaps = bindable_heaps(self.device.feature_level)
        return tuple(
            None if slot.tensor is None or index in self.owned else tensor_need(slot.tensor, heaps)
            for index, slot in enumerate(self.inputs)
        )

    @lazy
    def owned_needs(self) -> tuple[Need | None, ...]:
        """The requirement on each input's binding at initialization; None where nothing may be bound."""
        heaps = (*bindable_heaps(self.device.feature_level), UPLOAD)
        return tuple(
            tensor_need(slot.tensor, heaps) if index in self.owned and slot.tensor is not None else None
            for index, slot in enumerate(self.inputs)
        )

    @lazy
    def output_needs(self) -> tuple[Need | None, ...]:
        heaps = bindable_heaps(self.device.feature_level)
        return tuple(
            None if slot.tensor is None else tensor_need(slot.tensor, heaps) for slot in self.outputs
        )

    @lazy
    def needs(self) -> Mapping[BindingPoint, Need]:
        needs = {BindingPoint("input", index): need for index, need in enumerate(self.input_needs)}
        needs.update((BindingPoint("output", index), need) for index, need in enumerate(self.output_needs))
        needs[TEMPORARY] = self.resource_need(self.temporary_size)
        needs[PERSISTENT] = self.resource_need(self.persistent_size)
        return {slot: need for slot, need in needs.items() if need is not None}

    @lazy
    def descriptor_layout(self) -> Mapping[str, tuple[int, Sequence[BindingPoint]]]:
        return super().descriptor_layout

    @lazy
    def temporary_size(self) -> int:
        return self.device.profile.temporary_size(align(self.program.temporary_size, 4))

    @lazy
    def _properties(self) -> bytes:
        return bytes(DML_BINDING_PROPERTIES(self.descriptor_count, self.temporary_size, self.persistent_size))

    def GetBindingProperties(self) -> DML_BINDING_PROPERTIES:
        return DML_BINDING_PROPERTIES.from_buffer_copy(self._properties)

    def input_views(self, records: Sequence[Binding], report: Report) -> dict[BindingPoint, BufferRange]:
        return self.tensor_views("input", records, self.input_needs, report)

    def plain_views(self, kind: str, names: Names) -> dict[BindingPoint, BufferRange] | None:
        needs = self.input_needs if kind == "input" else self.output_needs
        if len(names) != len(needs):
            return None
        device, views = self.device.d3d12_device, {}
        for (slot, _), name, need in zip(tensor_points(kind, len(names)), names, needs):
            if name is None and need is None:
                continue
            view = None if name is None or need is None else plain_view(name, need, device)
            if view is None:
                return None
            views[slot] = view
        return views

    def describe_count(self, kind: str, count: int) -> str:
        return f"the operator has {counted_words(count, kind)}, absent optional ones among them"

    def _tensor_slot(self, slot: BindingPoint) -> TensorSlot:
        return (self.inputs if slot.kind == "input" else self.outputs)[slot.position]

    def why_unbound(self, slot: BindingPoint) -> str:
        path, _, tensor = self._tensor_slot(slot)
        if tensor is None:
            return f"{path} is absent" if self.op is not None else f"{path} is connected to nothing"
        return f"{path} is OWNED_BY_DML and is bound at initialization"

    def describe(self, slot: BindingPoint) -> str:
        return self._tensor_slot(slot).path if slot.is_tensor else slot.name

    def accesses(self, slot: BindingPoint, view: BufferRange, views: Views = NO_VIEWS) -> Iterator[Access]:
        if slot.kind == "temporary":
            yield resource_access(view, self.temporary_size, AccessKind.SCRATCH, slot.name)
        elif slot.kind == "persistent":
            for index, start in self.owned.items():
                path, _, tensor = self.inputs[index]
                assert tensor is not None
                yield tensor_access(tensor, view, start, AccessKind.READ, f"{path} in {slot.name}")
            if self.persistent_size > self.owned_size:
                tail = view._replace(offset=view.offset + self.owned_size)
                yield resource_access(
                    tail, self.persistent_size - self.owned_size, AccessKind.READ, slot.name
                )
        else:
            path, _, tensor = self._tensor_slot(slot)
            assert tensor is not None
            access = tensor_access(
                tensor, view, 0, AccessKind.READ if slot.kind == "input" else AccessKind.WRITE, path
            )
            results = self.program.results.get(slot.position) if slot.kind == "output" else None
            if results is not None:
                outputs = [views.get(BindingPoint("output", index)) for index in range(len(self.outputs))]
                outputs[slot.position] = view
                access = results_access(access, results, outputs)
            yield access

    def check_pair(self, one: Bound, other: Bound, report: Report) -> None:
        kinds = {one.slot.kind, other.slot.kind}
        # For two outputs the page compares the written ranges, for all other pairs the bound ranges.
        first, second = map(self._written, (one, other)) if kinds == {"output"} else (one.view, other.view)
        if not first.overlaps(second):
            return
        text = overlap(second, one.slot, first)
        if not kinds <= {"input", "output"}:
            if "temporary" in kinds or kinds == {"persistent", "output"}:
                report.add(SCRATCH, other.slot.name, f"{text}, {UNDEFINED}; they must not overlap")
        elif not self._share_elements(one, other):
            report.add(RANGES, other.slot.name, f"{text}; no element of one is an element of the other")
        elif kinds == {"output"}:
            report.add(OUTPUTS, other.slot.name, f"{text}, {UNDEFINED}")
        else:
            self._check_in_place(one, other, text, report)

    def _check_in_place(self, source: Bound, target: Bound, text: str, report: Report) -> None:
        """Check an input and an output that share elements."""
        path, positions = target.slot.name, (source.slot.position, target.slot.position)
        (read, _, source_tensor), (written, _, target_tensor) = map(
            self._tensor_slot, (source.slot, target.slot)
        )
        assert source_tensor is not None
        assert target_tensor is not None
        if not self.program.works_in_place(*positions):
            why = self.program.why_not_in_place(*positions)
            report.add(IN_PLACE, path, f"{text}, {UNDEFINED}; {why}")
        elif not begin_alike(source.view, target.view):
            why = "to work in place both must begin at the same byte"
            report.add(IN_PLACE, path, f"{text}, {UNDEFINED}; {why}")
        elif not self.program.is_in_place_listed(*positions):
            report.add(
                IN_PLACE_UNLISTED, path, f"{text}; no page says that {self.title} works in place of it"
            )
        elif source_tensor.total_size != target_tensor.total_size:
            why = f"to work in place {read}, which is {source_tensor}, must have the total size of {written}"
            report.add(IN_PLACE_TOTAL, path, f"{text}; {why}, {target_tensor}")
        elif source.view.size != target.view.size:
            report.add(IN_PLACE_TOTAL, path, f"{text}; to work in place both must be the same bytes")

    def _share_elements(self, one: Bound, other: Bound) -> bool:
        first, second = (self._tensor_slot(bound.slot).tensor for bound in (one, other))
        assert first is not None
        assert second is not None
        return share_elements(first, one.view, second, other.view)

    def _written(self, bound: Bound) -> BufferRange:
        """The range that an output may write: its tensor's TotalTensorSizeInBytes."""
        tensor = self._tensor_slot(bound.slot).tensor
        return bound.view if tensor is None else bound.view._replace(size=tensor.total_size)

    def initialize(self, inputs: Sequence[Bytes | None], persistent: BufferRange | None) -> None:
        """Copy or pack the owned inputs into the persistent resource. The rest of it is filled with a number unique to
        this operator."""
        if persistent is not None and self.persistent_size > self.owned_size:
            persistent.bytes[: self.persistent_size].view(np.uint32)[:] = next(_NUMBERS) % UINT_MAX
        for index, start in self.owned.items():
            source, tensor = inputs[index], self.inputs[index].tensor
            assert source is not None
            assert persistent is not None
            assert tensor is not None
            packing, size = self.program.packed.get(index), tensor.total_size
            if packing is None:
                persistent.bytes[start : start + size] = source[:size]
            else:
                packing.store(tensor.view(source), persistent.bytes[start : start + packing.size])
        self.initialized = True
        if (self.removal.debug or self.removal.strict) and persistent is not None:
            remember_persistent(self, persistent)

    def _memory(self, views: Views, separation: Separation) -> dict[BindingPoint, Bytes]:
        """The memory to use for each binding: the bound one, or a copy where another binding would change it."""
        memory = {slot: view.bytes for slot, view in views.items() if view is not None}
        apart: set[BindingPoint] = set()
        for one, other in overlapping(views):
            apart |= self._apart(one, other)
        # In the order of the bindings, which is that of the outputs' stores.
        for slot in [slot for slot in memory if slot in apart]:
            bound = memory[slot]
            if slot.kind == "temporary":
                memory[slot] = np.empty(self.temporary_size, np.uint8)
            elif slot.kind == "output":
                tensor = self._tensor_slot(slot).tensor
                assert tensor is not None
                memory[slot] = separation.output(tensor, bound)
            else:
                memory[slot] = separation.copy(bound)
        return memory

    def _apart(self, one: Bound, other: Bound) -> set[BindingPoint]:
        """The binding points of two overlapping ranges for which a dispatch must use other memory."""
        slots = {one.slot, other.slot}
        kinds = {slot.kind for slot in slots}
        if "temporary" in kinds:
            return {TEMPORARY}
        if kinds == {"persistent", "output"}:
            return {PERSISTENT}
        if kinds == {"output"}:
            return slots if self._share_elements(one, other) else set()
        if kinds == {"input", "output"}:
            listed = self.program.is_in_place_listed(one.slot.position, other.slot.position)
            return set() if listed and begin_alike(one.view, other.view) else {one.slot}
        return set()

    def _input_bytes(self, memory: Mapping[BindingPoint, Bytes]) -> list[Bytes | None]:
        """The memory of each input, in the persistent resource if owned; None if absent."""
        return [
            memory.get(BindingPoint("input", index))
            if index not in self.owned
            else memory[PERSISTENT][self.owned[index] :]
            for index in range(len(self.inputs))
        ]

    def prepare(self, views: Views) -> Run:
        separation = Separation()
        memory = self._memory(views, separation)
        run = separation.around(
            self.program.bind(
                self._input_bytes(memory),
                [memory.get(BindingPoint("output", index)) for index in range(len(self.outputs))],
                memory.get(TEMPORARY),
                self.removal.report if self.removal.debug else None,
            )
        )
        if not self.device.profile.undefined:
            return run
        bound = [Bound(slot, view) for slot, view in views.items() if view is not None]
        written = [self._written(binding) for binding in bound if binding.slot.kind == "output"]
        read = [binding.view for binding in bound if binding.slot.kind in ("input", "persistent")]
        return poisoned(run, written, read, memory.get(TEMPORARY, NO_BYTES)[: self.temporary_size])

    def takes_memory(self, views: Views) -> bool:
        # Copies of ranges that overlap, and 4-bit elements unpacked.
        return any(self._apart(one, other) for one, other in overlapping(views)) or any(
            slot.tensor is not None and slot.tensor.is_nibbles for slot in (*self.inputs, *self.outputs)
        )

    def debug_check(self) -> DebugCheck:
        this = weakref.ref(self)

        def check(views: Views, title: str, report: Report) -> None:
            op = this()
            if op is not None:
                check_operator(op, views, title, report)

        return check
