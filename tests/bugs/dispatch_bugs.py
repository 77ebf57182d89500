"""Bugs in what is recorded, bound and waited for, with every desc right."""

from __future__ import annotations

import threading
from unittest import mock

import numpy as np

import directml_py as dml

from ..dml.helpers import identity, join, log_sum_exp, tensor
from ..hazards.hazard import COPY_DEST, COPY_SOURCE, READBACK, UNORDERED_ACCESS, UPLOAD, binding
from .bug import bug


@bug(
    "no UAV barrier between a write and the dispatch that reads it",
    "D3D12-UAVBarrier-missing",
    repair="the barrier",
)
def a_missing_barrier(bench, wrong):
    op, middle = bench.ready(identity()), bench.buffer(16, name="middle")
    bench.dispatch(op, [bench.buffer(16)], [middle])
    if not wrong:
        bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(middle)])
    bench.dispatch(op, [middle], [bench.buffer(16)])
    bench.execute()


@bug("an output copied without a transition", "D3D12-ResourceState-mismatch", repair="both states")
def a_missing_transition(bench, wrong):
    op, result = bench.ready(identity()), bench.buffer(16, name="result")
    bench.dispatch(op, [bench.buffer(16)], [result])
    if not wrong:
        bench.transition(result, UNORDERED_ACCESS, COPY_SOURCE)
    bench.commands.CopyResource(bench.buffer(16, READBACK), result)
    bench.execute()


@bug(
    "a transition from a state that the buffer is not in", "D3D12-ResourceBarrier-before", repair="the state"
)
def a_wrong_state_before(bench, wrong):
    result = bench.buffer(16, name="result")
    bench.commands.CopyResource(result, bench.buffer(16, UPLOAD))
    bench.transition(result, UNORDERED_ACCESS if wrong else COPY_DEST, COPY_SOURCE)
    bench.execute()


@bug("results read before the fence", "D3D12-Readback-read-in-flight", repair="the wait")
def a_forgotten_wait(bench, wrong):
    source, target = bench.buffer(16), bench.buffer(16, READBACK, name="results")
    bench.commands.CopyResource(target, source)
    bench.commands.Close()
    bench.queue.ExecuteCommandLists([bench.commands])
    if not wrong:
        bench.wait()
    target.Map()
    target.Unmap()
    bench.wait()


@bug("the copy from the upload buffer left out", "D3D12-Contents-unwritten", repair="the input")
def an_upload_left_out(bench, wrong):
    bench.minds_zeros()
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    if not wrong:
        bench.fill(x, np.zeros(4, np.float32))
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@bug("no ExecuteCommandLists, or no copy to the readback buffer", "D3D12-Contents-unwritten")
def an_execution_left_out(bench, wrong):
    bench.minds_zeros()
    source, target = bench.holding(0, 0, 0, 0), bench.buffer(16, READBACK, name="results")
    bench.commands.CopyResource(target, source)
    if not wrong:
        bench.execute()
    target.Map()
    target.Unmap()


@bug(
    "a fence that nothing signals",
    "D3D12-Fence-endless-wait",
    repair="the fence, its value and the value awaited",
)
def a_signal_forgotten(bench, wrong):
    fence = bench.d3d12.CreateFence(0)
    fence.SetName("fence")
    done = threading.Event()
    if not wrong:
        bench.queue.Signal(fence, 1)
    fence.SetEventOnCompletion(1, done)
    with mock.patch.object(threading, "enumerate", return_value=[threading.current_thread()]):
        done.wait()


@bug(
    "an upload buffer released before its copy ran",
    "D3D12-Object-released",
    repair="the object and its user",
)
def an_upload_not_waited_for(bench, wrong):
    upload = bench.buffer(16, UPLOAD, name="upload")
    bench.commands.CopyResource(bench.buffer(16), upload)
    bench.commands.Close()
    bench.queue.ExecuteCommandLists([bench.commands])
    if wrong:
        bench.kept = [kept for kept in bench.kept if kept is not upload]
        del upload
    bench.wait()


@bug("an allocator reset while its commands are in flight", "COMMAND_ALLOCATOR_SYNC", repair="the wait")
def a_reset_in_flight(bench, wrong):
    bench.commands.CopyResource(bench.buffer(16), bench.buffer(16))
    bench.commands.Close()
    bench.queue.ExecuteCommandLists([bench.commands])
    if not wrong:
        bench.wait()
    bench.allocator.Reset()
    bench.wait()


@bug("an operator that was never initialized", "DML-RecordDispatch-initialized", repair="the initializer")
def a_forgotten_initialization(bench, wrong):
    op = bench.keep(bench.compile(identity()))
    if not wrong:
        bench.initialize(op)
    bench.dispatch(op, [bench.buffer(16)], [bench.buffer(16)])
    bench.execute()


@bug("a temporary resource sized for another operator", "DML-BufferBinding-size", repair="the size")
def a_small_temporary_resource(bench, wrong):
    op = bench.ready(log_sum_exp(64))
    size = op.GetBindingProperties().TemporaryResourceSize
    bench.dispatch(
        op, [bench.buffer(256)], [bench.buffer(4)], temporary=bench.buffer(size // 2 if wrong else size)
    )
    bench.execute()


@bug("no temporary resource at all", "DML-RecordDispatch-unbound", repair="what to bind")
def a_forgotten_temporary_resource(bench, wrong):
    op = bench.ready(log_sum_exp())
    table = bench.keep(
        bench.table(op, [bench.buffer(16)], [bench.buffer(4)], **({"temporary": None} if wrong else {}))
    )
    bench.record(op, table)
    bench.execute()


@bug("weights that DML owns, bound at execution too", "DML-BindInputs-owned", repair="what to bind instead")
def owned_weights_bound_again(bench, wrong):
    op = bench.keep(bench.compile(join(4, owned=[0])))
    weights = bench.buffer(16, name="weights")
    bench.initialize(op, [weights])
    bench.dispatch(op, [weights if wrong else None], [bench.buffer(16)], persistent=bench.persistent(op))
    bench.execute()


@bug(
    "bindings changed after the dispatch was recorded",
    "DML-RecordDispatch-descriptors",
    repair="the call that wrote it",
)
def late_binding(bench, wrong):
    op, other = bench.ready(identity()), bench.buffer(16)
    table = bench.dispatch(op, [bench.buffer(16)], [bench.buffer(16)])
    if not wrong:
        bench.execute()
    table.BindOutputs([binding(other)])
    bench.execute()


@bug(
    "two tables over the same descriptors: an offset not advanced",
    "DML-RecordDispatch-descriptors",
    repair="the call that wrote it",
)
def a_descriptor_offset(bench, wrong):
    op, desc = bench.ready(identity()), None
    for _ in range(2):
        if desc is None or not wrong:
            desc = bench.table_desc(op)
        table = bench.keep(bench.dml.CreateBindingTable(desc))
        table.BindInputs([binding(bench.buffer(16))])
        table.BindOutputs([binding(bench.buffer(16))])
        bench.record(op, table)
    bench.execute()


@bug("SetDescriptorHeaps forgotten on a new list", "DML-RecordDispatch-descriptor-heap", repair="the heap")
def a_forgotten_heap(bench, wrong):
    op, commands = bench.ready(identity()), bench.keep(bench.new_list())
    if not wrong:
        commands.SetDescriptorHeaps([bench.heap])
    bench.dispatch(op, [bench.buffer(16)], [bench.buffer(16)], commands)
    bench.submit(commands)
    bench.wait()


@bug(
    "a binding at an offset that is not a multiple of 16",
    "DML-BufferBinding-alignment",
    repair="the multiple",
)
def an_unaligned_offset(bench, wrong):
    op, packed = bench.ready(identity()), bench.buffer(64)
    bench.dispatch(op, [binding(packed, 4 if wrong else 16, 16)], [bench.buffer(16)])
    bench.execute()


@bug(
    "a buffer sized for packed elements, bound to a tensor with padded rows",
    "DML-BufferBinding-size",
    repair="the size",
)
def a_short_buffer(bench, wrong):
    x = tensor(1, 1, 2, 4, strides=[16, 16, 8, 1])
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, tensor(1, 1, 2, 4)))
    bench.dispatch(op, [bench.buffer(32 if wrong else 48)], [bench.buffer(32)])
    bench.execute()


@bug("an index past the end of the table", "DML-GATHER-index-range", repair="the range")
def an_index_out_of_range(bench, wrong):
    gather = dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor(1, 1, 3, 2),
        IndicesTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1, 1, 1, 2]),
        OutputTensor=tensor(1, 1, 2, 2),
        Axis=2,
        IndexDimensions=1,
    )
    op = bench.ready(gather)
    indices = bench.buffer(8, data=np.array([0, 3 if wrong else 2], np.uint32), name="indices")
    bench.dispatch(op, [bench.buffer(24), indices], [bench.buffer(16)])
    bench.execute()


@bug("memory that was never written", "D3D12-Contents-undefined")
def uninitialized_memory(bench, wrong):
    op = bench.ready(identity())
    bench.dispatch(op, [bench.undefined(16) if wrong else bench.buffer(16)], [bench.buffer(16)])
    bench.execute()


@bug("transposed in place", "DML-Binding-in-place", repair="the layout")
def in_place_with_another_layout(bench, wrong):
    x, y = tensor(1, 1, 3, 3), tensor(1, 1, 3, 3, strides=[9, 9, 1, 3])
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y))
    same = bench.buffer(36)
    bench.dispatch(op, [same], [bench.buffer(36) if wrong is False else same])
    bench.execute()
