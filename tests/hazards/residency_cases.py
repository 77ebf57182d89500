"""Residency changes of objects that own no memory."""

from __future__ import annotations

import directml_py as dml

from .hazard import COMMON, DEFAULT, hazard

OWNER = "D3D12-Residency-owner"


@hazard(
    OWNER,
    "Evict: objects[1] is ID3D12Resource 'placed', a placed resource",
    "ID3D12Heap 'memory'",
    ways=["Evict"],
)
@hazard(OWNER, "MakeResident: objects[1]", ways=["MakeResident"])
def a_placed_resource(bench, wrong):
    heap = bench.keep(
        bench.d3d12.CreateHeap(dml.CD3DX12_HEAP_DESC(1 << 16, dml.CD3DX12_HEAP_PROPERTIES(DEFAULT)))
    )
    heap.SetName("memory")
    placed = bench.keep(
        bench.d3d12.CreatePlacedResource(heap, 0, dml.CD3DX12_RESOURCE_DESC.Buffer(16), COMMON)
    )
    placed.SetName("placed")
    owners = [bench.buffer(16), heap]
    bench.d3d12.Evict([owners[0], placed if wrong == "Evict" else heap])
    bench.d3d12.MakeResident([owners[0], placed if wrong == "MakeResident" else heap])


@hazard(
    OWNER, "Evict: objects[0]", "neither a heap, a descriptor heap, a query heap nor a committed resource"
)
def an_allocator(bench, wrong):
    allocator = bench.keep(bench.d3d12.CreateCommandAllocator(dml.D3D12_COMMAND_LIST_TYPE_DIRECT))
    heap = bench.keep(
        bench.d3d12.CreateQueryHeap(
            dml.D3D12_QUERY_HEAP_DESC(Type=dml.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, Count=1)
        )
    )
    bench.d3d12.Evict([allocator if wrong else heap])
