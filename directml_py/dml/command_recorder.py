"""``IDMLCommandRecorder``, and the command that it records."""

from __future__ import annotations

from typing import Any

from ..abi.arguments import instance
from ..abi.rules import rule
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE_COMPUTE,
    D3D12_COMMAND_LIST_TYPE_DIRECT,
)
from ..api.iids import IID_IDMLCommandRecorder
from ..d3d12 import ID3D12GraphicsCommandList
from ..validation.report import Report
from .binding_point import DescriptorRange, Views
from .binding_table import IDMLBindingTable, Prepared
from .device_removal import same_device, void_method
from .dispatch_command import RecordedDispatch
from .dispatchable import IDMLDispatchable, Run
from .dml_object import SAME_DEVICE, IDMLDeviceChild

DIRECT = D3D12_COMMAND_LIST_TYPE_DIRECT
ALLOWED_TYPES = (DIRECT, D3D12_COMMAND_LIST_TYPE_COMPUTE)

PAGE = "nf-directml-idmlcommandrecorder-recorddispatch"
LIST_OPEN = rule("DML-RecordDispatch-list-open", "The command list is open", PAGE)
LIST_TYPE = rule("DML-RecordDispatch-list-type", "The command list is of type DIRECT or COMPUTE", PAGE)
LIST_DEVICE = rule(
    "DML-RecordDispatch-list-device", "The command list belongs to the device's Direct3D 12 device", PAGE
)
TABLE = rule("DML-RecordDispatch-table", "The binding table was made for the dispatchable", PAGE)
HEAP = rule(
    "DML-RecordDispatch-descriptor-heap",
    "The heap of the table's GPU descriptors is set on the command list",
    PAGE,
)


class IDMLCommandRecorder(IDMLDeviceChild):
    """Records dispatches into command lists (nn-directml-idmlcommandrecorder)."""

    IID = IID_IDMLCommandRecorder

    @void_method
    def RecordDispatch(self, commandList: Any, dispatchable: Any, bindings: Any) -> None:
        """Record the execution of a compiled operator or an initializer with the memory bound by ``bindings``.

        Errors remove the device. Raises ``TypeError`` for objects of other types.
        """
        report = self.removal.new_report()
        instance(commandList, ID3D12GraphicsCommandList, "commandList")
        same_device(IDMLDispatchable, dispatchable, "dispatchable", self.device, report, SAME_DEVICE)
        same_device(IDMLBindingTable, bindings, "bindings", self.device, report, SAME_DEVICE)
        if not bindings.one_thread.is_free():
            bindings.one_thread.report("bindings", report)
        self._check_list(commandList, report)
        command = None
        if not report.errors:
            with bindings.one_thread:
                command = self._command(commandList, dispatchable, bindings, report)
        if command is not None and not report.errors:
            commandList.record(command)
        if report.diagnostics:
            self.removal.remove("RecordDispatch failed:", report)

    def record_again(self, commandList: Any, dispatchable: Any, bindings: Any) -> bool:
        """Record a dispatch that the operator keeps for the bindings, as RecordDispatch does; False if it keeps none,
        or if anything is to be reported, which is left to RecordDispatch."""
        device = self.device
        if (
            not isinstance(bindings, IDMLBindingTable)
            or not isinstance(commandList, ID3D12GraphicsCommandList)
            or bindings.device is not device
            or commandList.device is not device.d3d12_device
            or commandList.type not in ALLOWED_TYPES
            or not commandList.open
            or not bindings.one_thread.is_free()
        ):
            return False
        desc, prepared = bindings.desc, bindings.prepared_again(dispatchable)
        if desc is None or prepared is None or desc.gpu.heap not in commandList.descriptor_heaps:
            return False
        if self.removal.alive():
            commandList.record(_command_of(prepared, dispatchable, bindings, desc.gpu))
        return True

    def _check_list(self, commandList: ID3D12GraphicsCommandList, report: Report) -> None:
        if commandList.type is not DIRECT and commandList.type not in ALLOWED_TYPES:
            names = " or ".join(kind.name for kind in ALLOWED_TYPES)
            report.add(LIST_TYPE, "commandList", f"is of type {commandList.type.name}; it must be {names}")
        if commandList.device is not self.device.d3d12_device:
            report.add(LIST_DEVICE, "commandList", "belongs to another Direct3D 12 device")
        if not commandList.open:
            report.add(LIST_OPEN, "commandList", "is closed; reset it before recording")

    def _command(
        self,
        commandList: ID3D12GraphicsCommandList,
        dispatchable: IDMLDispatchable,
        bindings: IDMLBindingTable,
        report: Report,
    ) -> RecordedDispatch | None:
        desc = bindings.desc
        if desc is None or desc.dispatchable is not dispatchable:
            report.add(
                TABLE, "bindings", "was created or reset for a dispatchable other than the one to dispatch"
            )
            return None
        bindings.follow(report)
        if desc.gpu.heap not in commandList.descriptor_heaps:
            report.add(
                HEAP,
                "commandList",
                "has no descriptor heap set"
                if not commandList.descriptor_heaps
                else "has a descriptor heap set other than the one that the table's GPUDescriptorHandle points into",
            )
        if dispatchable.volatile:
            return _new_command(dispatchable, bindings, desc.gpu, None, None)
        prepared = bindings.prepared(dispatchable, report)
        if prepared is None:
            return None
        return _command_of(prepared, dispatchable, bindings, desc.gpu)


def _command_of(
    prepared: Prepared, dispatchable: IDMLDispatchable, bindings: IDMLBindingTable, gpu: DescriptorRange
) -> RecordedDispatch:
    command = prepared.command
    if command is None:
        command = _new_command(dispatchable, bindings, gpu, prepared.views, prepared.run)
        if not command.is_watched:
            prepared.command = command
    return command


def _new_command(
    dispatchable: IDMLDispatchable,
    bindings: IDMLBindingTable,
    gpu: DescriptorRange,
    views: Views | None,
    run: Run | None,
) -> RecordedDispatch:
    command = RecordedDispatch(dispatchable, gpu, bindings.needs, views, run)
    validator = dispatchable.device.d3d12_device.sync_validator
    if validator is not None:
        sites = ("table bound", bindings.bound_at), ("created", dispatchable.made_at)
        validator.follows(command, sites)
    return command
