"""Replays commands that need Direct3D alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..api.d3d12_enums import (
    D3D12_BUFFER_UAV_FLAG_NONE,
    D3D12_BUFFER_UAV_FLAG_RAW,
    D3D12_DESCRIPTOR_HEAP_FLAG_NONE,
    D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
    D3D12_QUERY_HEAP_TYPE_TIMESTAMP,
    D3D12_QUERY_TYPE_TIMESTAMP,
    D3D12_UAV_DIMENSION_BUFFER,
    DXGI_FORMAT,
)
from ..api.d3d12_structs import (
    D3D12_BUFFER_UAV,
    D3D12_DESCRIPTOR_HEAP_DESC,
    D3D12_QUERY_HEAP_DESC,
    D3D12_UNORDERED_ACCESS_VIEW_DESC,
    D3D12_WRITEBUFFERIMMEDIATE_PARAMETER,
)
from ..d3d12 import (
    ID3D12GraphicsCommandList,
    ID3D12GraphicsCommandList2,
    ID3D12QueryHeap,
    ID3D12Resource,
)
from ..d3d12.formats import RAW
from ..d3d12.queries import RESULT_SIZE
from ..dml import IDMLDevice
from ..session import Session
from . import event_types as e

VIEWS = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV


class ReplayRange(NamedTuple):
    """Bytes of a resource that the replay created."""

    resource: ID3D12Resource
    start: int
    size: int


class Simple:
    """Executes clears, immediate writes and timestamp queries, whose results differ from run to run."""

    def __init__(self, device: IDMLDevice) -> None:
        self.session = Session(device)
        self._heaps: dict[int, ID3D12QueryHeap] = {}

    def clear(self, view: ReplayRange, event: e.ClearEvent) -> None:
        format, device = event.format, self.session.d3d12
        flags = D3D12_BUFFER_UAV_FLAG_RAW if format == RAW else D3D12_BUFFER_UAV_FLAG_NONE
        desc = D3D12_UNORDERED_ACCESS_VIEW_DESC(DXGI_FORMAT[format.name], D3D12_UAV_DIMENSION_BUFFER)
        first_element, count = view.start // format.size, view.size // format.size
        desc.Buffer = D3D12_BUFFER_UAV(FirstElement=first_element, NumElements=count, Flags=flags)
        heaps = [
            device.CreateDescriptorHeap(D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 1, visible))
            for visible in (D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, D3D12_DESCRIPTOR_HEAP_FLAG_NONE)
        ]
        for heap in heaps:
            device.CreateUnorderedAccessView(
                view.resource, None, desc, heap.GetCPUDescriptorHandleForHeapStart()
            )
        bits = np.array(event.values, np.uint32)
        values = bits if event.call.endswith("Uint") else bits.view(np.float32)

        def record(commands: ID3D12GraphicsCommandList) -> None:
            commands.SetDescriptorHeaps(heaps[:1])
            getattr(commands, event.call)(
                heaps[0].GetGPUDescriptorHandleForHeapStart(),
                heaps[1].GetCPUDescriptorHandleForHeapStart(),
                view.resource,
                values,
            )

        self.session.run(record)

    def write(self, destinations: Sequence[ReplayRange], event: e.WriteImmediateEvent) -> None:
        params = [
            D3D12_WRITEBUFFERIMMEDIATE_PARAMETER(
                destination.resource.GetGPUVirtualAddress() + destination.start, value
            )
            for destination, value in zip(destinations, event.values)
        ]

        def record(commands: ID3D12GraphicsCommandList) -> None:
            assert isinstance(commands, ID3D12GraphicsCommandList2)
            commands.WriteBufferImmediate(params)

        self.session.run(record)

    def _heap(self, heap: e.QueryHeap) -> ID3D12QueryHeap:
        if heap.number not in self._heaps:
            desc = D3D12_QUERY_HEAP_DESC(D3D12_QUERY_HEAP_TYPE_TIMESTAMP, heap.count)
            self._heaps[heap.number] = self.session.d3d12.CreateQueryHeap(desc)
        return self._heaps[heap.number]

    def end_query(self, event: e.EndQueryEvent) -> None:
        heap = self._heap(event.heap)
        self.session.run(lambda commands: commands.EndQuery(heap, D3D12_QUERY_TYPE_TIMESTAMP, event.query))

    def resolve(self, destination: ReplayRange, event: e.ResolveQueryEvent) -> None:
        heap, count = self._heap(event.heap), destination.size // RESULT_SIZE
        kind, start = D3D12_QUERY_TYPE_TIMESTAMP, event.start
        self.session.run(
            lambda commands: commands.ResolveQueryData(
                heap, kind, start, count, destination.resource, destination.start
            )
        )
