"""``IDMLOperator`` and ``IDMLCompiledOperator``."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..api.d3d12_enums import D3D12_HEAP_TYPE
from ..api.enums import DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE, DML_EXECUTION_FLAGS
from ..api.iids import IID_IDMLCompiledOperator, IID_IDMLOperator
from ..api.structs import DML_BINDING_PROPERTIES
from ..d3d12.d3d12_constants import UINT_MAX
from ..d3d12.resource import BufferRange
from ..d3d12.sync_validation.access import Access, AccessKind
from ..descs.format import summary
from ..descs.operator_desc import OperatorDesc, Record, TensorSlot
from ..descs.tensor import TensorDesc
from ..kernels.launch import launch_in_order
from ..late import lazy
from ..validation.report import Report
from .binding_aliasing import (
    IN_PLACE,
    IN_PLACE_TOTAL,
    IN_PLACE_UNLISTED,
    OUTPUTS,
    SCRATCH,
    are_identical,
    overlap,
)
from .binding_point import NO_VIEWS, PERSISTENT, TEMPORARY, BindingPoint, Bound, Views
from .bindings import UPLOAD, Need, bindable_heaps
from .debug_checks import check_operator
from .dispatchable import DebugCheck, IDMLDispatchable, Run
from .dml_object import IDMLDeviceChild
from .long_dispatch import is_long
from .poison import poisoned
from .program import Bytes, DispatchProgram
from .tensor_accesses import resource_access, results_access, tensor_access

if TYPE_CHECKING:
    from .dml_device import IDMLDevice

TENSOR_ALIGNMENT = 16
PACKED_ALIGNMENT = 64
_NUMBERS = count(1)


class IDMLOperator(IDMLDeviceChild):
    """A validated operator, which must be compiled before it can be dispatched (nn-directml-idmloperator)."""

    IID = IID_IDMLOperator
    _additions_ = ("desc",)

    def __init__(self, device: IDMLDevice, desc: OperatorDesc) -> None:
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


class IDMLCompiledOperator(IDMLDispatchable):
    """An operator ready to run (nn-directml-idmlcompiledoperator).

    The persistent resource holds the inputs flagged OWNED_BY_DML, one after the other: those that the kernel prepacks,
    in the packed layout, at multiples of 64 bytes; the others as their tensor descs lay them out, at multiples of 16
    bytes or of their own alignment.
    """

    IID = IID_IDMLCompiledOperator

    def __init__(
        self,
        device: IDMLDevice,
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
        self.persistent: BufferRange | None = None
        self.persistent_content: Any = None
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

    @property
    def temporary_size(self) -> int:
        return self.device.profile.temporary_size(align(self.program.temporary_size, 4))

    def GetBindingProperties(self) -> DML_BINDING_PROPERTIES:
        return DML_BINDING_PROPERTIES(self.descriptor_count, self.temporary_size, self.persistent_size)

    def input_views(self, records: Sequence[Record], report: Report) -> dict[BindingPoint, BufferRange]:
        return self.tensor_views("input", records, self.input_needs, report)

    def describe_count(self, kind: str, count: int) -> str:
        return f"the operator has {count} {kind}s, absent optional ones among them"

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
        if kinds == {"output"}:
            report.add(OUTPUTS, other.slot.name, text)
        elif kinds == {"input", "output"}:
            source, target = (one.slot, other.slot) if one.slot.kind == "input" else (other.slot, one.slot)
            if not self.program.works_in_place(source.position, target.position):
                why = self.program.why_not_in_place(source.position, target.position)
                report.add(IN_PLACE, other.slot.name, f"{text}; {why}")
            elif not are_identical(first, second):
                report.add(IN_PLACE, other.slot.name, f"{text}; to work in place both must be the same bytes")
            elif not self.program.is_in_place_listed(source.position, target.position):
                listed = f"{text}; no page says that {self.title} works in place of it"
                report.add(IN_PLACE_UNLISTED, other.slot.name, listed)
            else:
                self._check_layouts(source, target, other.slot.name, text, report)
        elif "temporary" in kinds or kinds == {"persistent", "output"}:
            report.add(SCRATCH, other.slot.name, f"{text}; they must not overlap")

    def _check_layouts(
        self, source: BindingPoint, target: BindingPoint, path: str, text: str, report: Report
    ) -> None:
        """Check that each element of the output takes the place of the input's element at the same coordinates."""
        (read, _, source_tensor), (written, _, target_tensor) = map(self._tensor_slot, (source, target))
        assert source_tensor is not None
        assert target_tensor is not None
        text = f"{text}; to work in place {read}, which is {source_tensor}, must have the"
        if not source_tensor.lies_like(target_tensor):
            report.add(
                IN_PLACE, path, f"{text} element size, sizes and strides of {written}, {target_tensor}"
            )
        elif source_tensor.total_size != target_tensor.total_size:
            report.add(IN_PLACE_TOTAL, path, f"{text} total size of {written}, {target_tensor}")

    def _written(self, bound: Bound) -> BufferRange:
        """The range that an output may write: its tensor's TotalTensorSizeInBytes."""
        tensor = self._tensor_slot(bound.slot).tensor
        return bound.view if tensor is None else bound.view._replace(size=tensor.total_size)

    def initialize(self, inputs: Sequence[BufferRange | None], persistent: BufferRange | None) -> None:
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
                persistent.bytes[start : start + size] = source.bytes[:size]
            else:
                packing.store(tensor.view(source.bytes), persistent.bytes[start : start + packing.size])
        self.initialized = True
        if (self.removal.debug or self.removal.strict) and persistent is not None:
            self.persistent = persistent
            self.persistent_content = persistent.bytes[: self.persistent_size].copy()

    def input_bytes(self, views: Views) -> list[Bytes | None]:
        """The memory of each input, in the persistent resource if owned; None if absent."""
        persistent = views.get(PERSISTENT)
        memory: list[Bytes | None] = []
        for index in range(len(self.inputs)):
            start = self.owned.get(index)
            if start is None:
                memory.append(_bytes(views.get(BindingPoint("input", index))))
            else:
                assert persistent is not None
                memory.append(persistent.bytes[start:])
        return memory

    def _overwritten(self, views: Views) -> list[int]:
        """The inputs of which a copy must be read, since an output takes their memory."""
        inputs, outputs = (
            [(slot.position, view) for slot, view in views.items() if slot.kind == kind and view is not None]
            for kind in ("input", "output")
        )
        return [
            position
            for position, read in inputs
            if any(
                read.overlaps(written) and not self.program.is_in_place_listed(position, output)
                for output, written in outputs
            )
        ]

    def prepare(self, views: Views) -> Run:
        inputs, copies = self.input_bytes(views), list[Run]()
        for index in self._overwritten(views):
            source = inputs[index]
            assert source is not None
            inputs[index] = copy = np.empty_like(source)
            copies.append(partial(np.copyto, copy, source))
        run = self.program.bind(
            inputs,
            [_bytes(views.get(BindingPoint("output", index))) for index in range(len(self.outputs))],
            _bytes(views.get(TEMPORARY)),
            self.removal.notify if self.removal.debug else None,
        )
        if copies:
            run = launch_in_order([*copies, run])
        if not self.device.profile.undefined:
            return run
        bound = [Bound(slot, view) for slot, view in views.items() if view is not None]
        written = [self._written(binding) for binding in bound if binding.slot.kind == "output"]
        read = [binding.view for binding in bound if binding.slot.kind == "input"]
        return poisoned(run, written, read, self.scratch(views))

    def debug_check(self) -> DebugCheck:
        this = weakref.ref(self)

        def check(views: Views, title: str, report: Report) -> None:
            op = this()
            if op is not None:
                check_operator(op, views, title, report)

        return check


def _bytes(view: BufferRange | None) -> Bytes | None:
    return None if view is None else view.bytes
