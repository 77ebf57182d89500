"""Decodes and validates DML_BINDING_TABLE_DESC: a dispatchable and the descriptor ranges of its table."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from ..abi.interface import IUnknown
from ..abi.memory import MemoryFault, read_argument
from ..abi.pointers import locate
from ..abi.rules import rule
from ..api.d3d12_enums import D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
from ..descs.decode import decode_struct
from ..validation.decode_rules import FAULT_RULES, check_faults
from ..validation.report import Report
from .binding_point import DescriptorRange
from .dispatchable import IDMLDispatchable
from .dml_object import SAME_DEVICE, OwnerDevice

PAGE = "ns-directml-dml_binding_table_desc"
CBV_SRV_UAV = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
HANDLE = rule(
    "DML-BindingTable-handle",
    "Both handles point to a descriptor in a heap of the device",
    PAGE,
)
HEAP_TYPE = rule(
    "DML-BindingTable-heap-type",
    "The handles point into heaps of type CBV_SRV_UAV",
    "nf-directml-idmldevice-createbindingtable",
)
SHADER_VISIBLE = rule(
    "DML-BindingTable-shader-visible",
    "GPUDescriptorHandle points into a shader-visible heap",
    "nf-directml-idmldevice-createbindingtable",
)
SIZE = rule(
    "DML-BindingTable-size",
    "SizeInDescriptors is at least the dispatchable's RequiredDescriptorCount and lies inside the heap",
    PAGE,
)

# Dispatchable, CPUDescriptorHandle, GPUDescriptorHandle, SizeInDescriptors.
FIELDS = struct.Struct("=QQQI4x")


class TableDesc(NamedTuple):
    dispatchable: IDMLDispatchable
    cpu: DescriptorRange
    gpu: DescriptorRange
    size: int


def read_table_desc(device: OwnerDevice, value: Any, method: str) -> TableDesc | None:
    """The desc that ``value`` is or points to; None for null. Raises ``DMLError`` ``E_INVALIDARG``."""
    if value is None:
        return None
    report = Report()
    fields = _fields_at(value) if type(value) is int else None
    if fields is None:
        if locate(value, "desc").address == 0:
            return None
        record, faults = decode_struct(value, "DML_BINDING_TABLE_DESC")
        check_faults(faults, report)
        if record is not None and record.Dispatchable is not None:
            cpu, gpu = record.CPUDescriptorHandle.ptr, record.GPUDescriptorHandle.ptr
            fields = record.Dispatchable, cpu, gpu, record.SizeInDescriptors
    desc = None if fields is None else _kept(device, *fields) or _check(device, *fields, report)
    device.removal.fail(f"{method} failed:", report)
    return desc


def _fields_at(address: int) -> tuple[Any, int, int, int] | None:
    """The fields of a struct in C; None if there is a fault in it, of which decoding it tells."""
    try:
        handle, cpu, gpu, size = FIELDS.unpack(read_argument(address, FIELDS.size))
    except MemoryFault:
        return None
    dispatchable = IUnknown.from_handle(handle)
    return None if dispatchable is None else (dispatchable, cpu, gpu, size)


def _kept(device: OwnerDevice, dispatchable: Any, cpu: int, gpu: int, size: int) -> TableDesc | None:
    """The desc if an earlier one had the same fields, and there was nothing to report about it."""
    kept = dispatchable.kept if isinstance(dispatchable, IDMLDispatchable) else None
    if kept is None or dispatchable.device is not device:
        return None
    ranges = kept.ranges((cpu, gpu, size))
    return None if ranges is None else TableDesc(dispatchable, *ranges, size)


def _check(
    device: OwnerDevice, dispatchable: Any, cpu_handle: int, gpu_handle: int, size: int, report: Report
) -> TableDesc | None:
    if not isinstance(dispatchable, IDMLDispatchable):
        report.add(
            FAULT_RULES["interface"],
            "Dispatchable",
            f"is an {type(dispatchable).__name__}, not an IDMLDispatchable",
        )
        return None
    if dispatchable.device is not device:
        report.add(SAME_DEVICE, "Dispatchable", "belongs to another DirectML device")
        return None
    needed = dispatchable.descriptor_count
    if size < needed:
        report.add(
            SIZE, "SizeInDescriptors", f"is {size}; the dispatchable's RequiredDescriptorCount is {needed}"
        )
    cpu = _range(device, "CPUDescriptorHandle", cpu_handle, size, report)
    if cpu is not None and not cpu.shader_visible and not gpu_handle:
        report.add(
            SHADER_VISIBLE,
            "GPUDescriptorHandle",
            "is null; the heap must be created with D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE",
        )
        return None
    gpu = _range(device, "GPUDescriptorHandle", gpu_handle, size, report)
    if cpu is None or gpu is None:
        return None
    if dispatchable.kept is not None and not report.diagnostics:
        dispatchable.kept.keep_ranges((cpu_handle, gpu_handle, size), (cpu, gpu))
    return TableDesc(dispatchable, cpu, gpu, size)


def _range(device: OwnerDevice, name: str, pointer: int, size: int, report: Report) -> DescriptorRange | None:
    found = device.d3d12_device.find_descriptors(pointer)
    if found is None or found[0].has_cpu_handle(pointer) is not (name == "CPUDescriptorHandle"):
        report.add(HANDLE, name, f"is 0x{pointer:X}, which is not a descriptor in a heap of this device")
        return None
    heap, start = found
    if heap.type != CBV_SRV_UAV:
        report.add(HEAP_TYPE, name, f"points into a heap of {heap.type.name}; it must be {CBV_SRV_UAV.name}")
    if start + size > heap.size:
        report.add(
            SIZE,
            "SizeInDescriptors",
            f"is {size}; {name} points to descriptor {start} of a heap of {heap.size}",
        )
    return DescriptorRange(heap, start)
