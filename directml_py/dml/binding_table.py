"""``IDMLBindingTable``: which memory a dispatchable uses, as descriptors in a heap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..api.iids import IID_IDMLBindingTable
from ..d3d12.resource import BufferRange
from ..descs.values import Record
from ..validation.report import Report
from ..validation.rule import Severity, rule
from .bindings import (
    BUFFER_ARRAY,
    NONE,
    TYPE,
    Need,
    bindable_heaps,
    buffer_view,
    read_binding,
    read_bindings,
    single_view,
)
from .compiled_operator import RESOURCE_ALIGNMENT, IDMLCompiledOperator
from .initializer import IDMLOperatorInitializer
from .objects import IDMLDeviceChild, IDMLDispatchable
from .removal import hresult_method, void_method
from .table_desc import SIZE, TableDesc, read_table_desc

if TYPE_CHECKING:
    from .device import IDMLDevice

INPUT_COUNT = rule(
    "DML-BindInputs-count",
    "As many bindings as the dispatchable has inputs, absent optional ones included",
    "nf-directml-idmlbindingtable-bindinputs",
)
OUTPUT_COUNT = rule(
    "DML-BindOutputs-count",
    "As many bindings as the dispatchable has outputs, absent optional ones included",
    "nf-directml-idmlbindingtable-bindoutputs",
)
NOT_BINDABLE = rule(
    "DML-BindInputs-owned",
    "A tensor flagged OWNED_BY_DML is bound at initialization alone, any other at execution alone, an absent one never",
    "ne-directml-dml_tensor_flags",
)
EMPTY_TABLE = rule(
    "DML-BindingTable-empty",
    "Resources are bound to a table that belongs to a dispatchable",
    "nf-directml-idmldevice-createbindingtable",
)
NOT_NEEDED = rule(
    "DML-BindPersistentResource-initializer",
    "An initializer takes persistent resources as outputs, not as a persistent resource",
    "dml-binding",
)
# The pages say that nothing need be bound where the size is 0, not that nothing may: hence no errors.
UNNEEDED = {
    kind: rule(
        f"DML-Bind{kind.capitalize()}Resource-unneeded",
        f"No {kind} resource is bound where {kind.capitalize()}ResourceSize is 0",
        f"nf-directml-idmlbindingtable-bind{kind}resource",
        Severity.WARNING,
        debug=True,
    )
    for kind in ("temporary", "persistent")
}


class Slot(NamedTuple):
    """A place in a table: which kind of binding, and which one of them."""

    kind: str
    position: int
    part: int = 0


Views = Mapping[Slot, BufferRange | None]


class IDMLBindingTable(IDMLDeviceChild):
    """The memory bound for one dispatchable (nn-directml-idmlbindingtable). Not thread safe.

    Binding writes descriptors into the range that the table was given: one per bound tensor, the inputs first,
    then the outputs, the temporary and the persistent resource.
    """

    IID = IID_IDMLBindingTable

    def __init__(self, device: IDMLDevice, desc: Any) -> None:
        super().__init__(device)
        self._take(read_table_desc(device, desc, "CreateBindingTable"))

    def _take(self, desc: TableDesc | None) -> None:
        self.desc = desc
        self.views: dict[Slot, BufferRange] = {}
        self.needs = {} if desc is None else needs_of(desc.dispatchable)

    @property
    def places(self) -> dict[Slot, int]:
        """Which descriptor of the table's range belongs to each slot."""
        return {slot: place for place, slot in enumerate(self.needs)}

    def follow(self, report: Report) -> bool:
        """After the Reset of an initializer: forget what was bound for operators with other needs.

        Returns whether the table has room for what is to be bound now.
        """
        if self.desc is None:
            return False
        needs = needs_of(self.desc.dispatchable)
        if needs != self.needs:
            self.views, self.needs = {}, needs
        fits = len(needs) <= self.desc.size
        if not fits:
            report.add(
                SIZE,
                "SizeInDescriptors",
                f"is {self.desc.size}; since the initializer was reset, {len(needs)} descriptors are needed",
            )
        return fits

    @property
    def dispatchable(self) -> IDMLDispatchable | None:
        return None if self.desc is None else self.desc.dispatchable

    @hresult_method
    def Reset(self, desc: Any = None) -> None:
        """Forget all bindings and take a new DML_BINDING_TABLE_DESC; None makes the table empty.

        Raises ``DMLError`` ``E_INVALIDARG`` as CreateBindingTable does, and then changes nothing.
        """
        self._take(read_table_desc(self.device, desc, "Reset"))

    @void_method
    def BindInputs(self, bindingCount: Any, bindings: Any = None) -> None:
        """``(count, bindings)`` or ``(bindings)``: one binding per input; (0, None) unbinds all.

        For an initializer: one BUFFER_ARRAY (or NONE) per operator, with one range per input of the operator.
        """
        report = Report()
        records = read_bindings(bindingCount, bindings, report)
        found = self._bind_inputs(records, report) if self._ready("BindInputs", report) else {}
        self._finish("BindInputs", "input", found, report)

    @void_method
    def BindOutputs(self, bindingCount: Any, bindings: Any = None) -> None:
        """``(count, bindings)`` or ``(bindings)``: one binding per output; (0, None) unbinds all.

        For an initializer: the persistent resource of each operator, NONE where it needs none.
        """
        report = Report()
        records = read_bindings(bindingCount, bindings, report)
        found = self._bind_outputs(records, report) if self._ready("BindOutputs", report) else {}
        self._finish("BindOutputs", "output", found, report)

    @void_method
    def BindTemporaryResource(self, binding: Any = None) -> None:
        """Bind scratch memory of at least TemporaryResourceSize bytes at a multiple of 256; None unbinds."""
        self._bind_single("BindTemporaryResource", "temporary", binding)

    @void_method
    def BindPersistentResource(self, binding: Any = None) -> None:
        """Bind what the initializer filled, at least PersistentResourceSize bytes; None unbinds."""
        self._bind_single("BindPersistentResource", "persistent", binding)

    def _ready(self, method: str, report: Report) -> bool:
        if self.desc is None:
            report.add(EMPTY_TABLE, method, "needs a table that was created or reset for a dispatchable")
        return self.follow(report)

    def _bind_inputs(self, records: list[Record] | None, report: Report) -> dict[Slot, BufferRange]:
        dispatchable = self.dispatchable
        if records is None:
            return {}
        if isinstance(dispatchable, IDMLCompiledOperator):
            return self._bind_tensors("input", records, dispatchable.input_needs, INPUT_COUNT, report)
        assert isinstance(dispatchable, IDMLOperatorInitializer)
        return self._bind_initializer_inputs(records, dispatchable, report)

    def _bind_outputs(self, records: list[Record] | None, report: Report) -> dict[Slot, BufferRange]:
        dispatchable = self.dispatchable
        if records is None:
            return {}
        if isinstance(dispatchable, IDMLCompiledOperator):
            needs: Sequence[Need | None] = dispatchable.output_needs
        else:
            assert isinstance(dispatchable, IDMLOperatorInitializer)
            needs = [resource_need(op.persistent_size, op) for op in dispatchable.operators]
        return self._bind_tensors("output", records, needs, OUTPUT_COUNT, report)

    def _bind_tensors(
        self, kind: str, records: list[Record], needs: Sequence[Need | None], count_rule: Any, report: Report
    ) -> dict[Slot, BufferRange]:
        if len(records) != len(needs):
            report.add(count_rule, "bindingCount", f"is {len(records)}; {self._expected(kind, len(needs))}")
            return {}
        found = {}
        for index, (record, need) in enumerate(zip(records, needs)):
            path = f"bindings[{index}]"
            if need is None:
                if not (kind == "input" and self._is_unused(index)):
                    self._must_be_unbound(kind, index, record, path, report)
                continue
            view = single_view(record, need, path, self.device.d3d12_device, report)
            if view is not None:
                found[Slot(kind, index)] = view
        return found

    def _bind_initializer_inputs(
        self, records: list[Record], initializer: IDMLOperatorInitializer, report: Report
    ) -> dict[Slot, BufferRange]:
        operators = initializer.operators
        if len(records) != len(operators):
            report.add(
                INPUT_COUNT,
                "bindingCount",
                f"is {len(records)}; the initializer has {len(operators)} operators",
            )
            return {}
        found = {}
        for index, (record, op) in enumerate(zip(records, operators)):
            path = f"bindings[{index}]"
            if record.Type == NONE:
                continue
            if record.Type != BUFFER_ARRAY:
                report.add(
                    TYPE,
                    f"{path}.Type",
                    "is DML_BINDING_TYPE_BUFFER; an initializer's inputs are DML_BINDING_TYPE_BUFFER_ARRAY",
                )
                continue
            ranges = record.Desc.Bindings if record.Desc is not None else ()
            if not ranges:
                continue
            if len(ranges) != len(op.inputs):
                report.add(
                    INPUT_COUNT,
                    f"{path}.BindingCount",
                    f"is {len(ranges)}; the operator has {len(op.inputs)} inputs",
                )
                continue
            for part, (item, need) in enumerate(zip(ranges, op.owned_needs)):
                where = f"{path}.Bindings[{part}]"
                if need is None:
                    if item is not None and item.Buffer is not None:
                        report.add(
                            NOT_BINDABLE,
                            where,
                            f"names a buffer, but {op.inputs[part].path} is not OWNED_BY_DML",
                        )
                    continue
                view = buffer_view(item, need, where, self.device.d3d12_device, report)
                if view is not None:
                    found[Slot("input", index, part)] = view
        return found

    def _is_unused(self, index: int) -> bool:
        dispatchable = self.dispatchable
        return isinstance(dispatchable, IDMLCompiledOperator) and index in dispatchable.program.unused

    def _expected(self, kind: str, count: int) -> str:
        if isinstance(self.dispatchable, IDMLOperatorInitializer):
            return f"the initializer has {count} operators"
        return f"the operator has {count} {kind}s, absent optional ones among them"

    def _must_be_unbound(self, kind: str, index: int, record: Record, path: str, report: Report) -> None:
        if record.Type == NONE or record.Desc is None:
            return
        if record.Type == BUFFER_ARRAY or record.Desc.Buffer is not None:
            report.add(
                NOT_BINDABLE, path, f"names a buffer, but {self._why_unbound(kind, index)}; bind nothing"
            )

    def _why_unbound(self, kind: str, index: int) -> str:
        dispatchable = self.dispatchable
        if not isinstance(dispatchable, IDMLCompiledOperator):
            return f"operators[{index}] has a PersistentResourceSize of 0"
        slot = (dispatchable.inputs if kind == "input" else dispatchable.outputs)[index]
        if slot.tensor is None:
            return f"{slot.path} is absent"
        return f"{slot.path} is OWNED_BY_DML, so that it is bound at initialization"

    def _bind_single(self, method: str, kind: str, binding: Any) -> None:
        report = Report()
        record = read_binding(binding, report)
        found = {}
        if self._ready(method, report) and not report.diagnostics:
            assert self.desc is not None
            properties = self.desc.dispatchable.GetBindingProperties()
            size = getattr(properties, f"{kind.capitalize()}ResourceSize")
            need = Need(size, RESOURCE_ALIGNMENT, bindable_heaps(self.device.feature_level))
            view = single_view(record, need, "binding", self.device.d3d12_device, report)
            if view is not None and not size:
                self._report_unneeded(kind, report)
            # Memory that is bound without need has no descriptor: nothing will touch it.
            if view is not None and size:
                found[Slot(kind, 0)] = view
        self._finish(method, kind, found, report)

    def _report_unneeded(self, kind: str, report: Report) -> None:
        if kind == "persistent" and isinstance(self.dispatchable, IDMLOperatorInitializer):
            text = "names a persistent resource, but an initializer has them as outputs; use BindOutputs"
            report.add(NOT_NEEDED, "binding", text)
        elif kind == "persistent" or not self._operators_need_temporary():
            size = f"{kind.capitalize()}ResourceSize"
            report.add(
                UNNEEDED[kind], "binding", f"names a {kind} resource, but {size} is 0; null would do as well"
            )

    def _operators_need_temporary(self) -> bool:
        """Programs written after HelloDirectML make one temporary resource, as large as the larger of the sizes that
        the initializer and the operator ask for, and may bind it to both."""
        dispatchable = self.dispatchable
        return isinstance(dispatchable, IDMLOperatorInitializer) and any(
            op.temporary_size for op in dispatchable.operators
        )

    def _finish(self, method: str, kind: str, found: dict[Slot, BufferRange], report: Report) -> None:
        """Write the descriptors, or remove the device and leave the bindings as they were."""
        if not report.errors and self.desc is not None:
            for slot in [slot for slot in self.views if slot.kind == kind]:
                del self.views[slot]
            self.views.update(found)
            for slot, place in self.places.items():
                if slot.kind == kind:
                    self.desc.cpu.write(place, self.views.get(slot))
        self.removal.remove(f"{method} failed:", report)


def needs_of(dispatchable: IDMLDispatchable) -> dict[Slot, Need]:
    """What must be bound for a dispatch, in the order of the descriptors."""
    needs: dict[Slot, Need | None] = {}
    if isinstance(dispatchable, IDMLCompiledOperator):
        needs.update((Slot("input", index), need) for index, need in enumerate(dispatchable.input_needs))
        needs.update((Slot("output", index), need) for index, need in enumerate(dispatchable.output_needs))
        needs[Slot("temporary", 0)] = resource_need(dispatchable.temporary_size, dispatchable)
        needs[Slot("persistent", 0)] = resource_need(dispatchable.persistent_size, dispatchable)
    else:
        assert isinstance(dispatchable, IDMLOperatorInitializer)
        for index, op in enumerate(dispatchable.operators):
            needs.update((Slot("input", index, part), need) for part, need in enumerate(op.owned_needs))
        for index, op in enumerate(dispatchable.operators):
            needs[Slot("output", index)] = resource_need(op.persistent_size, op)
    return {slot: need for slot, need in needs.items() if need is not None}


def resource_need(size: int, dispatchable: IDMLDispatchable) -> Need | None:
    """What a temporary or persistent resource of ``size`` bytes must be; None if there is none."""
    heaps = bindable_heaps(dispatchable.device.feature_level)
    return Need(size, RESOURCE_ALIGNMENT, heaps) if size else None
