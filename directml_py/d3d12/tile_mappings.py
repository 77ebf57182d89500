"""Validation of the tile mappings of reserved resources.

Mappings are validated and change nothing: a reserved resource has memory of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ..abi.arguments import child, flags, invalid, is_series, uint
from ..abi.counted_structs import MAX_ELEMENTS, structs_at
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate, struct_at
from ..api.d3d12_enums import (
    D3D12_TILE_MAPPING_FLAGS,
    D3D12_TILE_RANGE_FLAG_NONE,
    D3D12_TILE_RANGE_FLAG_NULL,
    D3D12_TILE_RANGE_FLAG_REUSE_SINGLE_TILE,
    D3D12_TILE_RANGE_FLAG_SKIP,
    D3D12_TILE_RANGE_FLAGS,
)
from ..api.d3d12_structs import D3D12_TILE_REGION_SIZE, D3D12_TILED_RESOURCE_COORDINATE
from .heap import ID3D12Heap
from .resource import ID3D12Resource

TILE: Final = 0x10000

_UNMAPPED: Final = (D3D12_TILE_RANGE_FLAG_NULL, D3D12_TILE_RANGE_FLAG_SKIP)
_RANGE_KINDS: Final = (
    D3D12_TILE_RANGE_FLAG_NONE,
    *_UNMAPPED,
    D3D12_TILE_RANGE_FLAG_REUSE_SINGLE_TILE,
)


class Regions(NamedTuple):
    """The regions of the resource, as in C."""

    count: Any
    starts: Any
    sizes: Any


class Ranges(NamedTuple):
    """The ranges of the heap, as in C."""

    heap: Any
    count: Any
    flags: Any
    offsets: Any
    counts: Any


def tiles_of(width: int) -> int:
    return -(-width // TILE)


def check_update(device: Any, resource: Any, regions: Regions, ranges: Ranges, mapping_flags: Any) -> None:
    """Raises ``E_INVALIDARG`` for an invalid update (nf-d3d12-id3d12commandqueue-updatetilemappings)."""
    flags(mapping_flags, D3D12_TILE_MAPPING_FLAGS, "flags")
    tiles = _region_tiles(_reserved(resource, "resource", device), regions)
    mapped = _range_tiles(device, ranges, tiles)
    if mapped != tiles:
        raise invalid(f"the ranges have {mapped} tiles, but the regions have {tiles}")


def check_copy(
    device: Any, target: tuple[Any, Any], source: tuple[Any, Any], size: Any, mapping_flags: Any
) -> None:
    """Raises ``E_INVALIDARG`` for an invalid copy (nf-d3d12-id3d12commandqueue-copytilemappings)."""
    flags(mapping_flags, D3D12_TILE_MAPPING_FLAGS, "flags")
    region = struct_at(size, D3D12_TILE_REGION_SIZE, "regionSize")
    for (resource, start), prefix in ((target, "dst"), (source, "src")):
        buffer = _reserved(resource, f"{prefix}Resource", device)
        name = f"{prefix}RegionStartCoordinate"
        _region(buffer, struct_at(start, D3D12_TILED_RESOURCE_COORDINATE, name), region, (name, "regionSize"))


def _reserved(resource: Any, name: str, device: Any) -> ID3D12Resource:
    buffer = child(resource, ID3D12Resource, name, device)
    if not buffer.placement.reserved:
        raise invalid(f"{name}: {buffer} is not a reserved resource")
    return buffer


def _region_tiles(resource: ID3D12Resource, regions: Regions) -> int:
    """The total number of tiles of the regions, which must be inside of the resource."""
    count = uint(regions.count, "numResourceRegions")
    if not count:
        raise invalid("numResourceRegions must not be 0")
    names = "resourceRegionStartCoordinates", "resourceRegionSizes"
    if regions.starts is None:
        if count > 1:
            raise invalid(f"{names[0]} is null, but numResourceRegions is {count}")
        starts = [D3D12_TILED_RESOURCE_COORDINATE()]
    else:
        kind: Any = D3D12_TILED_RESOURCE_COORDINATE
        starts = structs_at(count, regions.starts, kind, "numResourceRegions", names[0])
    if regions.sizes is not None:
        sizes = structs_at(count, regions.sizes, D3D12_TILE_REGION_SIZE, "numResourceRegions", names[1])
    else:
        # Without sizes a region is one tile, and without coordinates the whole resource.
        whole = tiles_of(resource.width) if regions.starts is None else 1
        sizes = [D3D12_TILE_REGION_SIZE(NumTiles=whole) for _ in starts]
    pairs = enumerate(zip(starts, sizes))
    return sum(_region(resource, *pair, (f"{names[0]}[{i}]", f"{names[1]}[{i}]")) for i, pair in pairs)


def _region(
    resource: ID3D12Resource,
    start: D3D12_TILED_RESOURCE_COORDINATE,
    size: D3D12_TILE_REGION_SIZE,
    names: tuple[str, str],
) -> int:
    """The number of tiles of a region, which must be inside of the resource."""
    start_name, size_name = names
    if start.Y or start.Z or start.Subresource:
        raise invalid(f"{start_name}: Y, Z and Subresource must be 0 in a buffer")
    if size.UseBox and size.Width * size.Height * size.Depth != size.NumTiles:
        raise invalid(f"{size_name}.NumTiles is {size.NumTiles}, which is not Width * Height * Depth")
    tiles = tiles_of(resource.width)
    if start.X + size.NumTiles > tiles:
        raise invalid(
            f"{start_name}.X + {size_name}.NumTiles is {start.X + size.NumTiles}, but {resource} has {tiles} tiles"
        )
    return int(size.NumTiles)


def _range_tiles(device: Any, ranges: Ranges, tiles: int) -> int:
    """The total number of tiles of the ranges, which must be inside of the heap."""
    count = uint(ranges.count, "numRanges")
    if not count:
        raise invalid("numRanges must not be 0")
    kinds = _numbers(count, ranges.flags, "rangeFlags") or [0] * count
    counts = _numbers(count, ranges.counts, "rangeTileCounts")
    if counts is None:
        if count > 1:
            raise invalid(f"rangeTileCounts is null, but numRanges is {count}")
        counts = [tiles]
    offsets = _numbers(count, ranges.offsets, "heapRangeStartOffsets")
    for index in range(count):
        kind = flags(kinds[index], D3D12_TILE_RANGE_FLAGS, f"rangeFlags[{index}]")
        if kind not in _RANGE_KINDS:
            raise invalid(f"rangeFlags[{index}] has more than one flag: 0x{int(kind):X}")
        if kind not in _UNMAPPED:
            length = 1 if kind == D3D12_TILE_RANGE_FLAG_REUSE_SINGLE_TILE else counts[index]
            _check_range(device, ranges.heap, offsets, index, length)
    return sum(counts)


def _check_range(device: Any, heap: Any, offsets: Sequence[int] | None, index: int, length: int) -> None:
    owner = child(heap, ID3D12Heap, "heap", device)
    if offsets is None:
        raise invalid("heapRangeStartOffsets is null, but a range is mapped to the heap")
    tiles = owner.GetDesc().SizeInBytes // TILE
    if offsets[index] + length > tiles:
        raise invalid(
            f"heapRangeStartOffsets[{index}] + its tiles is {offsets[index] + length}, but the heap has {tiles} tiles"
        )


def _numbers(count: int, values: Any, name: str) -> list[int] | None:
    """``count`` UINTs from a sequence or an address; None for null."""
    if values is None:
        return None
    if is_series(values):
        if len(values) < count:
            raise invalid(f"{name} holds {len(values)} values, but there are {count} ranges")
        return [uint(value, f"{name}[{index}]") for index, value in enumerate(values[:count])]
    if count > MAX_ELEMENTS:
        raise invalid(f"numRanges is {count}; more than {MAX_ELEMENTS} are not read")
    try:
        return list(memoryview(read(locate(values, name).address, 4 * count)).cast("I"))
    except MemoryFault as fault:
        raise invalid(f"{name}: {fault}") from None
