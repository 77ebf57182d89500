"""Clears of unordered access views, and timestamps, among other commands."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import VIEWS, identity
from .hazard import COMMON, COPY_DEST, READBACK, UNORDERED_ACCESS, UPLOAD, hazard

BARRIER, STATE = "D3D12-UAVBarrier-missing", "D3D12-ResourceState-mismatch"
CLEAR = "ClearUnorderedAccessViewUint"


class View:
    """A view of a whole buffer, in a heap for the GPU that is set on the list, and in one for the CPU."""

    def __init__(self, bench, buffer, format=dml.DXGI_FORMAT_R32_UINT):
        self.bench, self.buffer = bench, buffer
        self.desc = dml.D3D12_UNORDERED_ACCESS_VIEW_DESC(format, dml.D3D12_UAV_DIMENSION_BUFFER)
        self.desc.Buffer = dml.D3D12_BUFFER_UAV(
            NumElements=buffer.width // (4 if "R32" in format.name else 1)
        )
        self.heaps = [
            bench.keep(bench.d3d12.CreateDescriptorHeap(dml.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 1, flags)))
            for flags in (1, 0)
        ]
        for heap in self.heaps:
            self.write(heap)

    def write(self, heap, buffer=None):
        handle = heap.GetCPUDescriptorHandleForHeapStart()
        self.bench.d3d12.CreateUnorderedAccessView(buffer or self.buffer, None, self.desc, handle)

    def clear(self, values=(0, 0, 0, 0), kind="Uint"):
        visible, hidden = self.heaps
        before = self.bench.commands.descriptor_heaps
        self.bench.commands.SetDescriptorHeaps([visible])
        record = getattr(self.bench.commands, f"ClearUnorderedAccessView{kind}")
        record(
            visible.GetGPUDescriptorHandleForHeapStart(),
            hidden.GetCPUDescriptorHandleForHeapStart(),
            self.buffer,
            list(values),
        )
        if before:
            self.bench.commands.SetDescriptorHeaps(list(before))


@hazard(BARRIER, "DML_OPERATOR_ELEMENT_WISE_IDENTITY", f"which {CLEAR} writes", "ID3D12Resource 'x'")
def dispatching_what_was_cleared(bench, wrong):
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    View(bench, x).clear()
    if not wrong:
        bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(x)])
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@hazard(BARRIER, f"{CLEAR} writes the view", "which the dispatch of DML_OPERATOR_ELEMENT_WISE_IDENTITY reads")
def clearing_what_a_dispatch_reads(bench, wrong):
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    bench.dispatch(op, [x], [bench.buffer(16)])
    if not wrong:
        bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(None)])
    View(bench, x).clear()
    bench.execute()


@hazard(STATE, f"{CLEAR}: the view needs ID3D12Resource 'x'", "is in D3D12_RESOURCE_STATE_COPY_DEST")
def clearing_what_was_copied_to(bench, wrong):
    x = bench.buffer(16, name="x")
    bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
    if not wrong:
        bench.transition(x, COPY_DEST, UNORDERED_ACCESS)
    View(bench, x).clear()
    bench.execute()


@hazard("D3D12-Contents-undefined", "InputTensor", "whose element {0,0,0,0}")
def reading_bytes_that_were_not_cleared(bench, wrong):
    op, x = bench.ready(identity()), bench.undefined(16)
    view = View(bench, x)
    if not wrong:
        view.clear()
        bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(x)])
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@hazard(
    "D3D12-ClearUAV-descriptor", f"{CLEAR}: descriptor 0", "was written since it was recorded", ways=["again"]
)
def a_descriptor_written_again(bench, wrong):
    view = View(bench, bench.buffer(16))
    view.clear()
    if not wrong:
        bench.execute()
    view.write(view.heaps[0], bench.buffer(16))
    bench.execute()


@hazard("D3D12-ClearUAV-range", "ClearUnorderedAccessViewFloat: Values has values outside")
def a_value_beyond_the_format(bench, wrong):
    view = View(bench, bench.buffer(16), dml.DXGI_FORMAT_R8_SNORM)
    view.clear([1.5 if wrong else -1.0, 9, 9, 9], "Float")
    bench.execute()


@hazard("D3D12-ClearUAV-range", "ClearUnorderedAccessViewFloat: Values has values outside")
def a_value_below_the_format(bench, wrong):
    view = View(bench, bench.buffer(16), dml.DXGI_FORMAT_R8_UNORM)
    view.clear([-0.25 if wrong else 1.0, 9, 9, 9], "Float")
    bench.execute()


def query_heap(bench):
    return bench.keep(
        bench.d3d12.CreateQueryHeap(dml.D3D12_QUERY_HEAP_DESC(dml.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2))
    )


@hazard("D3D12-Query-ended", "ResolveQueryData: query 1 was never ended")
def resolving_a_query_that_was_not_ended(bench, wrong):
    heap = query_heap(bench)
    for index in range(1 if wrong else 2):
        bench.commands.EndQuery(heap, dml.D3D12_QUERY_TYPE_TIMESTAMP, index)
    bench.commands.ResolveQueryData(heap, dml.D3D12_QUERY_TYPE_TIMESTAMP, 0, 2, bench.buffer(16, READBACK), 0)
    bench.execute()


@hazard(
    STATE, "ResolveQueryData: destinationBuffer needs ID3D12Resource 'x' in D3D12_RESOURCE_STATE_COPY_DEST"
)
def resolving_into_another_state(bench, wrong):
    heap, x = query_heap(bench), bench.buffer(16, name="x")
    bench.transition(x, COMMON, UNORDERED_ACCESS)
    if not wrong:
        bench.transition(x, UNORDERED_ACCESS, COPY_DEST)
    bench.commands.EndQuery(heap, dml.D3D12_QUERY_TYPE_TIMESTAMP, 0)
    bench.commands.ResolveQueryData(heap, dml.D3D12_QUERY_TYPE_TIMESTAMP, 0, 1, x, 0)
    bench.execute()
