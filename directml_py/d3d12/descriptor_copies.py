"""``CopyDescriptors``: ranges of descriptors, and copying from some to others."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..abi.arguments import is_series, uint
from ..abi.hresult import DMLError
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate, struct_at
from ..abi.rules import rule, violation
from ..abi.wintypes import UINT
from ..api.d3d12_structs import D3D12_CPU_DESCRIPTOR_HANDLE
from .descriptors import ID3D12DescriptorHeap, heap_type

if TYPE_CHECKING:
    from .device import ID3D12Device

RANGES = rule(
    "D3D12-CopyDescriptors-ranges",
    "Descriptors are copied between ranges of CPU handles that lie in heaps of the given type and have one size in all",
    "nf-d3d12-id3d12device-copydescriptors",
)
SOURCE = rule(
    "D3D12-CopyDescriptors-source",
    "Descriptors are copied from heaps that are not shader-visible",
    "nf-d3d12-id3d12device-copydescriptors",
)
# Before a count that nobody gave an array for is followed.
MAX_RANGES = 1 << 20


class HandleRange(NamedTuple):
    """``size`` descriptors of a heap from ``start`` on."""

    heap: ID3D12DescriptorHeap
    start: int
    size: int

    def descriptors(self) -> Iterator[tuple[ID3D12DescriptorHeap, int]]:
        return ((self.heap, index) for index in range(self.start, self.start + self.size))


class Ranges(NamedTuple):
    """One side of a copy (``src`` or ``dest``) as the caller gives it; sizes of None are all 1."""

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


def copy_descriptors(device: ID3D12Device, destination: Ranges, source: Ranges, kind: Any) -> None:
    """Raises ``DMLError`` ``E_INVALIDARG`` and copies nothing if a rule is broken."""
    wanted = heap_type(kind, "descriptorHeapsType")
    into = _ranges(device, destination)
    out_of = _ranges(device, source)
    for given, ranges in ((destination, into), (source, out_of)):
        for index, part in enumerate(ranges):
            if part.heap.type != wanted:
                text = f"is in a heap of {part.heap.type.name}; descriptorHeapsType is {wanted.name}"
                raise violation(RANGES, f"{given.starts_name}[{index}]", text)
    for index, part in enumerate(out_of):
        if part.heap.shader_visible:
            text = "is in a shader-visible heap, which the CPU cannot read"
            raise violation(SOURCE, f"{source.starts_name}[{index}]", text)
    there, here = (sum(part.size for part in ranges) for ranges in (into, out_of))
    if there != here:
        text = f"make {here} descriptors; the destination ranges make {there}"
        raise violation(RANGES, source.sizes_name, text)
    descriptors = [heap.read(index) for part in out_of for heap, index in part.descriptors()]
    for (heap, index), descriptor in zip(
        (place for part in into for place in part.descriptors()), descriptors
    ):
        heap.write(index, descriptor)


def _ranges(device: ID3D12Device, given: Ranges) -> list[HandleRange]:
    count = uint(given.count, f"num{given.side.capitalize()}DescriptorRanges")
    starts = _items(given.starts, count, given.starts_name)
    sizes = [1] * count if given.sizes is None else _sizes(given.sizes, count, given.sizes_name)
    ranges = []
    for index, (start, size) in enumerate(zip(starts, sizes)):
        name = f"{given.starts_name}[{index}]"
        ranges.append(_range(device, struct_at(start, D3D12_CPU_DESCRIPTOR_HANDLE, name).ptr, size, name))
    return ranges


def _items(value: Any, count: int, name: str) -> list[Any]:
    """The first ``count`` handles of a sequence, of a single handle, or behind a pointer."""
    if is_series(value) or isinstance(value, D3D12_CPU_DESCRIPTOR_HANDLE):
        items = list(value) if is_series(value) else [value]
        if count > len(items):
            raise violation(RANGES, name, f"has {len(items)} handles; {count} are to be copied")
        return items[:count]
    start = 0 if value is None else locate(value, name).address
    if count > MAX_RANGES:
        raise violation(RANGES, name, f"is said to have {count} handles, more than there can be")
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


def _range(device: ID3D12Device, pointer: int, size: int, name: str) -> HandleRange:
    place = device.find_descriptors(pointer)
    if place is None or not place[0].has_cpu_handle(pointer):
        raise violation(RANGES, name, f"is 0x{pointer:X}, which is no CPU handle of a heap of this device")
    heap, start = place
    if start + size > heap.size:
        text = f"starts {size} descriptors at descriptor {start} of a heap of {heap.size}"
        raise violation(RANGES, name, text)
    return HandleRange(heap, start, size)


def report_instead(device: ID3D12Device, error: DMLError) -> None:
    """Where the debug layer is on, it says what is wrong, and raises only if it breaks on errors."""
    if device.info_queue is None:
        raise error
    for diagnostic in error.diagnostics:
        device.report_diagnostic(diagnostic)
    if not error.diagnostics:
        raise error
