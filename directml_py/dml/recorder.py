"""``IDMLCommandRecorder``, and the command that it records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..api.arguments import instance
from ..api.d3d12_enums import D3D12_COMMAND_LIST_TYPE
from ..api.hresult import S_OK
from ..api.iids import IID_IDMLCommandRecorder
from ..d3d12 import ID3D12GraphicsCommandList
from ..d3d12.commands import Command
from ..d3d12.resource import BufferRange
from ..validation.report import Report
from ..validation.rule import rule
from .binding_table import IDMLBindingTable, Slot
from .bindings import Need, check_view
from .compiled_operator import Bound, IDMLCompiledOperator
from .hazards import check_hazards
from .initializer import BoundInitializer, IDMLOperatorInitializer
from .objects import SAME_DEVICE, IDMLDeviceChild, IDMLDispatchable
from .removal import same_device, void_method
from .table_desc import TableDesc

PAGE = "nf-directml-idmlcommandrecorder-recorddispatch"
LIST_OPEN = rule("DML-RecordDispatch-list-open", "The command list is open", PAGE)
LIST_TYPE = rule("DML-RecordDispatch-list-type", "The command list is of type DIRECT or COMPUTE", PAGE)
LIST_DEVICE = rule(
    "DML-RecordDispatch-list-device", "The command list belongs to the device's Direct3D 12 device", PAGE
)
TABLE = rule("DML-RecordDispatch-table", "The binding table was made for the dispatchable", PAGE)
# The page calls dispatching without bindings both an error and undefined behaviour; here it is an error.
UNBOUND = rule(
    "DML-RecordDispatch-unbound",
    "Everything the dispatchable needs is bound when it is recorded, or, with DESCRIPTORS_VOLATILE, when it executes",
    PAGE,
)

Views = Mapping[Slot, BufferRange | None]


class IDMLCommandRecorder(IDMLDeviceChild):
    """Records dispatches into command lists (nn-directml-idmlcommandrecorder)."""

    IID = IID_IDMLCommandRecorder

    @void_method
    def RecordDispatch(self, commandList: Any, dispatchable: Any, bindings: Any) -> None:
        """Record the execution of a compiled operator or an initializer with the memory that ``bindings`` binds.

        Wrong use removes the device. Raises ``TypeError`` for objects of other kinds.
        """
        report = Report()
        instance(commandList, ID3D12GraphicsCommandList, "commandList")
        same_device(IDMLDispatchable, dispatchable, "dispatchable", self.device, report, SAME_DEVICE)
        same_device(IDMLBindingTable, bindings, "bindings", self.device, report, SAME_DEVICE)
        self._check_list(commandList, report)
        command = None
        if not report.errors:
            command = self._command(dispatchable, bindings, report)
        if command is not None and not report.errors:
            commandList.record(command)
        self.removal.remove("RecordDispatch failed:", report)

    def _check_list(self, commandList: ID3D12GraphicsCommandList, report: Report) -> None:
        allowed = (
            D3D12_COMMAND_LIST_TYPE.D3D12_COMMAND_LIST_TYPE_DIRECT,
            D3D12_COMMAND_LIST_TYPE.D3D12_COMMAND_LIST_TYPE_COMPUTE,
        )
        if commandList.GetType() not in allowed:
            report.add(LIST_TYPE, "commandList", "is neither DIRECT nor COMPUTE")
        if commandList.device is not self.device.d3d12_device:
            report.add(LIST_DEVICE, "commandList", "belongs to another Direct3D 12 device")
        if not commandList.open:
            report.add(LIST_OPEN, "commandList", "is closed; reset it before recording")

    def _command(
        self, dispatchable: IDMLDispatchable, bindings: IDMLBindingTable, report: Report
    ) -> Dispatch | None:
        desc = bindings.desc
        if desc is None or desc.dispatchable is not dispatchable:
            report.add(
                TABLE, "bindings", "was made or reset for another dispatchable than the one to dispatch"
            )
            return None
        bindings.follow(report)
        if isinstance(dispatchable, IDMLCompiledOperator) and dispatchable.volatile:
            return Dispatch(dispatchable, desc, None, bindings.needs)
        views = {slot: bindings.views.get(slot) for slot in bindings.needs}
        run = prepare(dispatchable, views, report)
        return None if run is None else Dispatch(dispatchable, desc, run, {})


class Dispatch(Command):
    """A recorded dispatch; with DESCRIPTORS_VOLATILE its descriptors are read when it executes."""

    def __init__(
        self,
        dispatchable: IDMLDispatchable,
        table: TableDesc,
        run: Callable[[], None] | None,
        needs: Mapping[Slot, Need],
    ) -> None:
        self.dispatchable = dispatchable
        self.table = table
        self._run = run
        self._needs = needs

    def execute(self) -> None:
        if self._run is not None:
            self._run()
            return
        removal = self.dispatchable.removal
        if removal.reason != S_OK:
            return
        report = Report()
        views = {slot: self.table.gpu.read(place) for place, slot in enumerate(self._needs)}
        # Whoever wrote the descriptors since may have meant another dispatchable.
        for slot, view in views.items():
            if view is not None:
                check_view(view, self._needs[slot], describe(self.dispatchable, slot), report)
        run = None if report.errors else prepare(self.dispatchable, views, report)
        if run is not None and not report.errors:
            run()
        removal.remove("Executing a dispatch with late bindings failed:", report, at_call=False)


def prepare(dispatchable: IDMLDispatchable, views: Views, report: Report) -> Callable[[], None] | None:
    """The call that executes the dispatch, or None if something that it needs is unbound or overlaps."""
    for slot, view in views.items():
        if view is None:
            report.add(UNBOUND, describe(dispatchable, slot), "is not bound")
    check_hazards(dispatchable, views, report)
    if report.errors:
        return None
    if isinstance(dispatchable, IDMLCompiledOperator):
        return dispatchable.prepare(
            Bound(
                [views.get(Slot("input", index)) for index in range(len(dispatchable.inputs))],
                [views.get(Slot("output", index)) for index in range(len(dispatchable.outputs))],
                views.get(Slot("temporary", 0)),
                views.get(Slot("persistent", 0)),
            )
        )
    assert isinstance(dispatchable, IDMLOperatorInitializer)
    operators = dispatchable.operators
    inputs = [
        [views.get(Slot("input", index, part)) for part in range(len(op.inputs))]
        for index, op in enumerate(operators)
    ]
    outputs = [views.get(Slot("output", index)) for index in range(len(operators))]
    return dispatchable.prepare(BoundInitializer(inputs, outputs))


def describe(dispatchable: IDMLDispatchable, slot: Slot) -> str:
    """A slot by the name of the tensor or resource that belongs there."""
    if slot.kind in ("temporary", "persistent"):
        return f"the {slot.kind} resource"
    if isinstance(dispatchable, IDMLCompiledOperator):
        tensors = dispatchable.inputs if slot.kind == "input" else dispatchable.outputs
        return tensors[slot.position].path
    assert isinstance(dispatchable, IDMLOperatorInitializer)
    if slot.kind == "output":
        return f"the persistent resource of operators[{slot.position}]"
    return f"operators[{slot.position}].{dispatchable.operators[slot.position].inputs[slot.part].path}"
