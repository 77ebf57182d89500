"""``CopyDescriptors``: copies between ranges of descriptors, and their validation."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..abi.arguments import is_series, uint
from ..abi.hresult import DMLError
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate, struct_at
from ..abi.rules import Diagnostic, rule, violation
from ..abi.wintypes import UINT
from ..api.descriptor_handles import D3D12_CPU_DESCRIPTOR_HANDLE
from .descriptors import ID3D12DescriptorHeap, heap_type

if TYPE_CHECKING:
    from .device_child import ParentDevice

RANGES = rule(
    "D3D12-CopyDescriptors-ranges",
    "Descriptors are copied between ranges of CPU handles in heaps of the given type, with equal total sizes and "
    "without overlap",
    "nf-d3d12-id3d12device-copydescriptors",
)
SOURCE = rule(
    "D3D12-CopyDescriptors-source",
    "Descriptors are copied from heaps that are not shader-visible",
    "nf-d3d12-id3d12device-copydescriptors",
)
# Limits how far a count is trusted when the array is a bare pointer.
MAX_RANGES = 1 << 20


class HandleRange(NamedTuple):
    """``size`` descriptors of a heap, starting at index ``start``."""

    heap: ID3D12DescriptorHeap
    start: int
    size: int

    def descriptors(self) -> Iterator[tuple[ID3D12DescriptorHeap, int]]:
        return ((self.heap, index) for index in range(self.start, self.start + self.size))


class Ranges(NamedTuple):
    """One side of a copy (``src`` or ``dest``), as passed by the caller; if ``sizes`` is None, all sizes are 1."""

    side: str
    count: Any
    starts: Any
    sizes: Any

    @property
    def starts_name(self) -> str:
        return f"{self.side}DescriptorRangeStarts"

    @property
    def sizes_name(self) -> str:
        return f"{self.side}DescriptorRangeSizes"


def copy_descriptors(
    device: ParentDevice, destination: Ranges, source: Ranges, kind: Any
) -> Diagnostic | None:
    """Copy descriptors. Raises ``DMLError`` ``E_INVALIDARG`` and copies nothing if a rule is violated.

    An overlap of ranges is only returned, for the debug layer: the copy uses the previous contents of the source
    ranges.
    """
    required_type = heap_type(kind, "descriptorHeapsType")
    destination_ranges = _ranges(device, destination)
    source_ranges = _ranges(device, source)
    for arguments, ranges in ((destination, destination_ranges), (source, source_ranges)):
        for index, part in enumerate(ranges):
            if part.heap.type != required_type:
                text = f"is in a heap of {part.heap.type.name}; descriptorHeapsType is {required_type.name}"
                raise violation(RANGES, f"{arguments.starts_name}[{index}]", text)
    for index, part in enumerate(source_ranges):
        if part.heap.shader_visible:
            text = "is in a shader-visible heap, which the CPU cannot read"
            raise violation(SOURCE, f"{source.starts_name}[{index}]", text)
    destination_count, source_count = (
        sum(part.size for part in ranges) for ranges in (destination_ranges, source_ranges)
    )
    if destination_count != source_count:
        text = f"add up to {source_count} descriptors; the destination ranges to {destination_count}"
        raise violation(RANGES, source.sizes_name, text)
    descriptors = [heap.read(index) for part in source_ranges for heap, index in part.descriptors()]
    writer = device.writer("a copy of descriptors")
    for (heap, index), descriptor in zip(
        (slot for part in destination_ranges for slot in part.descriptors()), descriptors
    ):
        heap.write(index, descriptor, writer)
    if device.info_queue is None:
        return None
    return _overlap(destination, destination_ranges, source, source_ranges)


def _overlap(
    destination: Ranges, targets: list[HandleRange], source: Ranges, sources: list[HandleRange]
) -> Diagnostic | None:
    """The first destination range that shares a descriptor with an earlier one or with a source range."""
    taken = {slot: name for name, slot in _slots(source, sources)}
    for name, slot in _slots(destination, targets):
        other = taken.setdefault(slot, name)
        if other != name:
            text = f"{name} has descriptor {slot[1]} of {slot[0].life} in common with {other}"
            return RANGES.violated(text, name)
    return None


def _slots(
    arguments: Ranges, ranges: list[HandleRange]
) -> Iterator[tuple[str, tuple[ID3D12DescriptorHeap, int]]]:
    return (
        (f"{arguments.starts_name}[{index}]", slot)
        for index, part in enumerate(ranges)
        for slot in part.descriptors()
    )


def _ranges(device: ParentDevice, arguments: Ranges) -> list[HandleRange]:
    count = uint(arguments.count, f"num{arguments.side.capitalize()}DescriptorRanges")
    starts = _items(arguments.starts, count, arguments.starts_name)
    sizes = [1] * count if arguments.sizes is None else _sizes(arguments.sizes, count, arguments.sizes_name)
    ranges = []
    for index, (start, size) in enumerate(zip(starts, sizes)):
        name = f"{arguments.starts_name}[{index}]"
        ranges.append(_range(device, struct_at(start, D3D12_CPU_DESCRIPTOR_HANDLE, name).ptr, size, name))
    return ranges


def _items(value: Any, count: int, name: str) -> list[Any]:
    """The first ``count`` handles of a sequence, a single handle, or an array at an address."""
    if is_series(value) or isinstance(value, D3D12_CPU_DESCRIPTOR_HANDLE):
        items = list(value) if is_series(value) else [value]
        if count > len(items):
            raise violation(RANGES, name, f"has {len(items)} handles for {count} ranges")
        return items[:count]
    start = 0 if value is None else locate(value, name).address
    if count > MAX_RANGES:
        raise violation(RANGES, name, f"has a count of {count} handles, more than {MAX_RANGES}")
    return [start + index * ctypes.sizeof(D3D12_CPU_DESCRIPTOR_HANDLE) for index in range(count)]


def _sizes(value: Any, count: int, name: str) -> list[int]:
    if is_series(value):
        if count > len(value):
            raise violation(RANGES, name, f"has {len(value)} sizes for {count} ranges")
        return [uint(size, f"{name}[{index}]") for index, size in enumerate(value[:count])]
    try:
        data = read(locate(value, name).address, count * ctypes.sizeof(UINT))
    except MemoryFault as fault:
        raise violation(RANGES, name, str(fault)) from None
    return list(memoryview(data).cast("I"))


def _range(device: ParentDevice, pointer: int, size: int, name: str) -> HandleRange:
    slot = device.find_descriptors(pointer)
    if slot is None or not slot[0].has_cpu_handle(pointer):
        raise violation(RANGES, name, f"is 0x{pointer:X}, which is not a CPU handle in a heap of this device")
    heap, start = slot
    if start + size > heap.size:
        text = f"starts a range of {size} descriptors at descriptor {start} of a heap of {heap.size}"
        raise violation(RANGES, name, text)
    return HandleRange(heap, start, size)


def report_instead(device: ParentDevice, error: DMLError) -> None:
    """Under the debug layer, report the error as messages, which raise only if the info queue breaks on them."""
    if device.info_queue is None:
        raise error
    for diagnostic in error.diagnostics:
        device.report_diagnostic(diagnostic)
    if not error.diagnostics:
        raise error
