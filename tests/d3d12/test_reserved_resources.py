"""Reserved resources: memory of their own, and mappings of tiles that are checked.

The rules are those of nf-d3d12-id3d12commandqueue-updatetilemappings.
"""

from __future__ import annotations

import ctypes

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s

TILE = 65536
NULL, SKIP, REUSE = (
    e.D3D12_TILE_RANGE_FLAG_NULL,
    e.D3D12_TILE_RANGE_FLAG_SKIP,
    e.D3D12_TILE_RANGE_FLAG_REUSE_SINGLE_TILE,
)


def reserved(device, tiles):
    desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(tiles * TILE - 10, e.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
    return device.CreateReservedResource(desc, e.D3D12_RESOURCE_STATE_COMMON, None)


@pytest.fixture
def resource(bench):
    return reserved(bench.device, 4)


@pytest.fixture
def heap(bench):
    return bench.device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(3 * TILE, e.D3D12_HEAP_TYPE_DEFAULT))


def at(tile, **others):
    return s.D3D12_TILED_RESOURCE_COORDINATE(X=tile, **others)


def size(tiles, **others):
    return s.D3D12_TILE_REGION_SIZE(NumTiles=tiles, **others)


def refused(call, *arguments):
    with pytest.raises(DMLError) as caught:
        call(*arguments)
    assert caught.value.hresult == E_INVALIDARG
    return str(caught.value)


def test_it_is_a_buffer_of_zeros_without_a_heap(bench, resource):
    bench.list.CopyBufferRegion(resource, TILE, bench.filled(range(8)), 0, 8)
    target = bench.buffer(16, e.D3D12_HEAP_TYPE_READBACK)
    bench.list.ResourceBarrier(
        [
            d3d12.CD3DX12_RESOURCE_BARRIER.Transition(
                resource, e.D3D12_RESOURCE_STATE_COPY_DEST, e.D3D12_RESOURCE_STATE_COPY_SOURCE
            )
        ]
    )
    bench.list.CopyBufferRegion(target, 0, resource, TILE - 8, 16)
    bench.execute()
    assert target.array().tolist() == [0] * 8 + list(range(8))
    assert "no heap" in refused(resource.GetHeapProperties)
    newer = bench.device.CreateReservedResource1(resource.GetDesc(), 0, None, None)
    assert newer.GetDesc().Width == resource.GetDesc().Width


def test_descs_are_checked(bench):
    refused(bench.device.CreateReservedResource, d3d12.CD3DX12_RESOURCE_DESC.Buffer(0), 0)


def test_mappings_that_fit(bench, resource, heap):
    update = bench.queue.UpdateTileMappings
    update(resource, 1, None, None, heap, 1, [REUSE], [2], None)
    update(resource, 1, None, None, None, 1, [NULL], None, None)
    update(resource, 1, [at(1)], None, heap, 1, None, [2], [1])
    update(resource, 2, [at(0), at(3)], [size(2), size(1)], heap, 2, [0, SKIP], [1, 9], [2, 1], 1)
    box = size(2, UseBox=True, Width=2, Height=1, Depth=1)
    update(resource, 1, [at(2)], [box], heap, 1, None, (ctypes.c_uint32 * 1)(1), (ctypes.c_uint32 * 1)(2))
    bench.queue.CopyTileMappings(resource, at(0), reserved(bench.device, 9), at(5), size(4))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, None, None, 1, None, [0], [1]), "numResourceRegions must not be 0"),
        ((1, None, None, 0, None, [0], [1]), "numRanges must not be 0"),
        ((2, None, None, 1, None, [0], [1]), "resourceRegionStartCoordinates is null"),
        ((1, [at(4)], None, 1, None, [0], [1]), "has 4 tiles"),
        ((1, [at(0, Y=1)], None, 1, None, [0], [1]), "Y, Z and Subresource"),
        ((1, [at(0, Subresource=1)], None, 1, None, [0], [1]), "Y, Z and Subresource"),
        (
            (1, [at(0)], [size(2, UseBox=True, Width=1, Height=1, Depth=1)], 1, None, [0], [2]),
            "NumTiles is 2",
        ),
        ((1, [at(0)], None, 1, None, [3], [1]), "but the heap has 3 tiles"),
        ((1, [at(0)], [size(2)], 1, None, [2], [2]), "but the heap has 3 tiles"),
        ((1, [at(0)], [size(2)], 1, None, [0], [1]), "the ranges have 1 tiles, but the regions have 2"),
        ((1, [at(0)], None, 1, [NULL | SKIP], [0], [1]), "more than one flag"),
        ((1, [at(0)], None, 1, [8], [0], [1]), "rangeFlags"),
        ((1, [at(0)], None, 1, None, None, [1]), "heapRangeStartOffsets is null"),
        ((1, [at(0)], [size(2)], 2, None, [0, 1], None), "rangeTileCounts is null"),
        ((1, [at(0)], [size(2)], 2, None, [0], [1, 1]), "heapRangeStartOffsets holds 1"),
        ((1, [at(0)], None, 1, None, 8, [1]), "heapRangeStartOffsets"),
    ],
)
def test_mappings_that_do_not(bench, resource, heap, arguments, message):
    regions, starts, sizes, *ranges = arguments
    call = bench.queue.UpdateTileMappings
    assert message in refused(call, resource, regions, starts, sizes, heap, *ranges)


def test_who_takes_part(bench, resource, heap):
    update, copy = bench.queue.UpdateTileMappings, bench.queue.CopyTileMappings
    others = d3d12.D3D12CreateDevice()
    assert "not a reserved resource" in refused(
        update, bench.buffer(TILE), 1, None, None, heap, 1, None, [0], None
    )
    assert "another device" in refused(update, reserved(others, 1), 1, None, None, heap, 1, None, [0], None)
    with pytest.raises(TypeError, match="heap"):
        update(resource, 1, [at(0)], None, None, 1, None, [0], None)
    assert "not a reserved resource" in refused(copy, resource, at(0), bench.buffer(TILE), at(0), size(1))
    assert "srcRegionStartCoordinate.X" in refused(
        copy, resource, at(0), reserved(bench.device, 2), at(1), size(2)
    )
    assert "flags" in refused(copy, resource, at(0), resource, at(1), size(1), 2)
