"""``IDMLOperatorInitializer``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ..abi.arguments import counted
from ..abi.lifetime import Lifetime
from ..abi.rules import rule
from ..api.iids import IID_IDMLOperatorInitializer
from ..api.structs import DML_BINDING_PROPERTIES
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind
from ..text.plural import counted_words
from ..validation.report import Report
from .binding_aliasing import (
    INITIALIZER,
    INITIALIZER_OVERLAP,
    OUTPUTS,
    SCRATCH,
    UNDEFINED,
    overlap,
    overlapping,
)
from .binding_point import NO_VIEWS, TEMPORARY, BindingPoint, Bound, Views
from .bindings import BUFFER_ARRAY, NONE, TYPE, Binding, Need, buffer_view
from .compiled_operator import IDMLCompiledOperator
from .debug_checks import check_initializer
from .device_removal import hresult_method, same_device
from .dispatchable import COUNTS, NOT_BINDABLE, DebugCheck, IDMLDispatchable, Run
from .dml_object import SAME_DEVICE, OneThread, OwnerDevice, one_thread
from .profiles import poisoned
from .separation import Separation
from .tensor_accesses import resource_access, tensor_access

Operators: TypeAlias = "Sequence[IDMLCompiledOperator | None]"

COUNT = rule(
    "DML-OperatorInitializer-count",
    "operatorCount is the number of operators given",
    "nf-directml-idmldevice-createoperatorinitializer",
)
IN_FLIGHT = rule(
    "DML-OperatorInitializer-in-flight",
    "An initializer is not reset before its recorded dispatches have executed",
    "nf-directml-idmloperatorinitializer-reset",
    debug=True,
)
ONE_THREAD = rule(
    "DML-OperatorInitializer-thread",
    "No thread resets an initializer while another thread does",
    "nf-directml-idmloperatorinitializer-reset",
)
NOT_NEEDED = rule(
    "DML-BindPersistentResource-initializer",
    "An initializer takes persistent resources as outputs; BindPersistentResource is never called for it",
    "dml-binding",
)


def read_operators(device: OwnerDevice, first: Any, second: Any, method: str) -> list[IDMLCompiledOperator]:
    """The compiled operators of ``(operatorCount, operators)`` or of ``(operators)`` alone."""
    operators = [] if first is None else counted(first, second, "operatorCount", "operators", COUNT)
    report = Report()
    for index, op in enumerate(operators):
        same_device(IDMLCompiledOperator, op, f"operators[{index}]", device, report, SAME_DEVICE)
    device.removal.fail(f"{method} failed:", report)
    return operators


class IDMLOperatorInitializer(IDMLDispatchable):
    """Initializes compiled operators: fills their persistent resources (nn-directml-idmloperatorinitializer)."""

    IID = IID_IDMLOperatorInitializer
    title = "an operator initializer"
    takes_separate_resources = True

    def __init__(self, device: OwnerDevice, operators: list[IDMLCompiledOperator]) -> None:
        super().__init__(device)
        self._take(operators)
        self._resets = 0
        self.one_thread = OneThread(ONE_THREAD)

    def _about(self) -> str:
        return f"of {counted_words(len(self.operators), 'operator')}"

    @hresult_method
    @one_thread
    def Reset(self, operatorCount: Any = 0, operators: Any = None) -> None:
        """Replace the operators, as ``(count, operators)`` or ``(operators)``; without any, dispatching is a no-op."""
        self._take(read_operators(self.device, operatorCount, operators, "Reset"))
        self._resets += 1

    def _take(self, operators: list[IDMLCompiledOperator]) -> None:
        self.operators = tuple(operators)
        self._needs: Mapping[BindingPoint, Need] | None = None

    @property
    def used_lives(self) -> Iterable[Lifetime]:
        return [op.life for op in self.operators]

    @property
    def is_resettable(self) -> bool:
        return True

    def _recorded_operators(self) -> Callable[[], Operators]:
        """A snapshot of the operators for a dispatch: under the debug layer it holds weak references, and released
        operators are None."""
        operators = self.operators
        if self.device.d3d12_device.sync_validator is None:
            return lambda: operators
        references = [weakref.ref(op) for op in operators]
        return lambda: [reference() for reference in references]

    def report_reset(self) -> None:
        """Report that the initializer was reset before a recorded dispatch executed, which runs as recorded."""
        report = Report()
        report.add(
            IN_FLIGHT,
            self.dispatch_title,
            "executes after Reset gave the initializer operators other than those it was recorded with",
        )
        self.removal.report(report)

    @property
    def revision(self) -> int:
        return self._resets

    @property
    def needs(self) -> Mapping[BindingPoint, Need]:
        if self._needs is None:
            self._needs = self._all_needs()
        return self._needs

    def _all_needs(self) -> Mapping[BindingPoint, Need]:
        needs = {
            BindingPoint("input", index, part): need
            for index, op in enumerate(self.operators)
            for part, need in enumerate(op.owned_needs)
        }
        needs.update((BindingPoint("output", index), need) for index, need in enumerate(self.output_needs))
        needs[TEMPORARY] = self.resource_need(self.temporary_size)
        return {slot: need for slot, need in needs.items() if need is not None}

    @property
    def output_needs(self) -> Sequence[Need | None]:
        return [self.resource_need(op.persistent_size) for op in self.operators]

    @property
    def temporary_size(self) -> int:
        return self.device.profile.temporary_size(0) if self.operators else 0

    @property
    def descriptor_count(self) -> int:
        """At least one, so that a heap and a table can always be created for the initializer; none on a device that
        needs none."""
        return max(1, super().descriptor_count) if self.has_descriptors else 0

    def GetBindingProperties(self) -> DML_BINDING_PROPERTIES:
        return DML_BINDING_PROPERTIES(self.descriptor_count, self.temporary_size, 0)

    def input_views(self, records: Sequence[Binding], report: Report) -> dict[BindingPoint, BufferRange]:
        if not self.is_count("input", len(records), len(self.operators), report):
            return {}
        return {
            slot: view
            for index, record in enumerate(records)
            for slot, view in self._operator_views(index, record, report)
        }

    def _operator_views(
        self, index: int, record: Binding, report: Report
    ) -> Iterator[tuple[BindingPoint, BufferRange]]:
        """The owned inputs of one operator."""
        op, path = self.operators[index], f"bindings[{index}]"
        if record.Type == NONE:
            for part, need in enumerate(op.owned_needs):
                if need is not None:
                    self.report_required(BindingPoint("input", index, part), need, path, report)
            return
        if record.Type != BUFFER_ARRAY:
            report.add(
                TYPE,
                f"{path}.Type",
                "is DML_BINDING_TYPE_BUFFER; an initializer's inputs are DML_BINDING_TYPE_BUFFER_ARRAY",
            )
            return
        if report.errors and record.Desc is None:
            return
        ranges = (record.Desc.Bindings if record.Desc is not None else None) or ()
        if len(ranges) != len(op.inputs):
            report.add(
                COUNTS["input"],
                f"{path}.BindingCount",
                f"is {len(ranges)}; the operator has {counted_words(len(op.inputs), 'input')}",
            )
            return
        for part, (item, need) in enumerate(zip(ranges, op.owned_needs)):
            slot, where = BindingPoint("input", index, part), f"{path}.Bindings[{part}]"
            if need is not None:
                view = buffer_view(item, need, where, self.device.d3d12_device, report)
                if view is not None:
                    yield slot, view
                elif not any(diagnostic.path.startswith(where) for diagnostic in report.diagnostics):
                    self.report_required(slot, need, where, report)
            elif item is not None and item.Buffer is not None:
                report.add(NOT_BINDABLE[slot.kind], where, f"names a buffer, but {self.why_unbound(slot)}")

    def describe_count(self, kind: str, count: int) -> str:
        return f"the initializer has {count} operators"

    def why_unbound(self, slot: BindingPoint) -> str:
        if slot.kind == "output":
            return f"operators[{slot.position}] has a PersistentResourceSize of 0"
        return f"{self.operators[slot.position].inputs[slot.part].path} is not OWNED_BY_DML"

    def check_unneeded(self, kind: str, is_bound: bool, report: Report) -> None:
        if kind == "persistent":
            bound = "a persistent resource" if is_bound else "nothing"
            text = f"names {bound}, but an initializer has persistent resources as outputs; use BindOutputs"
            report.add(NOT_NEEDED, "binding", text)
        else:
            super().check_unneeded(kind, is_bound, report)

    def describe(self, slot: BindingPoint) -> str:
        if slot.kind == "temporary":
            return slot.name
        if slot.kind == "output":
            return f"the persistent resource of operators[{slot.position}]"
        return f"operators[{slot.position}].{self.operators[slot.position].inputs[slot.part].path}"

    def accesses(self, slot: BindingPoint, view: BufferRange, views: Views = NO_VIEWS) -> Iterator[Access]:
        if slot.kind == "temporary":
            yield resource_access(view, self.temporary_size, AccessKind.SCRATCH, slot.name)
            return
        op, name = self.operators[slot.position], self.describe(slot)
        if slot.kind == "output":
            yield resource_access(view, op.persistent_size, AccessKind.WRITE, name)
            return
        tensor = op.inputs[slot.part].tensor
        assert tensor is not None
        yield tensor_access(tensor, view, 0, AccessKind.READ, name)

    def check_pair(self, one: Bound, other: Bound, report: Report) -> None:
        kinds = {one.slot.kind, other.slot.kind}
        path = other.slot.name
        if not one.view.overlaps(other.view):
            if kinds == {"input", "output"}:
                report.add(INITIALIZER, path, f"lies in the resource of {one.slot.name}; they must differ")
            return
        text = f"{overlap(other.view, one.slot, one.view)}, {UNDEFINED}; they must not overlap"
        if "temporary" in kinds:
            report.add(SCRATCH, path, text)
        elif kinds == {"output"}:
            report.add(OUTPUTS, path, text)
        elif kinds == {"input", "output"}:
            report.add(INITIALIZER_OVERLAP, path, text)

    def prepare(self, views: Views) -> Run:
        operators = self._recorded_operators()
        separation, memory = Separation(), {slot: view.bytes for slot, view in views.items() if view}
        for slot in {one.slot for one, other in overlapping(views) if one.slot.kind == "input"}:
            memory[slot] = separation.copy(memory[slot])
        work = [
            (
                [memory.get(BindingPoint("input", index, part)) for part in range(len(op.inputs))],
                views.get(BindingPoint("output", index)),
            )
            for index, op in enumerate(self.operators)
        ]
        this, resets = weakref.ref(self), self._resets

        def initialize() -> None:
            initializer = this()
            if initializer is not None and initializer._resets != resets:
                initializer.report_reset()
            for op, (inputs, persistent) in zip(operators(), work):
                if op is not None:
                    op.initialize(inputs, persistent)

        run = separation.around(initialize)
        if not self.device.profile.undefined:
            return run
        sizes = [(persistent, op.persistent_size) for op, (_, persistent) in zip(self.operators, work)]
        written = [view._replace(size=size) for view, size in sizes if view is not None]
        read = [view for slot, view in views.items() if slot.kind == "input" and view is not None]
        return poisoned(run, written, read, self.scratch(views))

    def debug_check(self) -> DebugCheck:
        operators = self._recorded_operators()
        return lambda views, title, report: check_initializer(operators(), title, report)
