"""Objects released, and memory accessed, while commands in flight use them."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import DEFAULT, DIRECT, identity, join, log_sum_exp, spans
from .hazard import READBACK, UPLOAD, binding, hazard

RELEASED = "D3D12-Object-released"


def drop(bench, *items):
    """Release objects that the bench keeps alive."""
    bench.kept = [kept for kept in bench.kept if not any(kept is item for item in items)]


def released(bench, wrong, item):
    """Release an object of the bench; correct programs hold it until the commands have run."""
    drop(bench, item)
    return None if wrong else item


@hazard(RELEASED, "ID3D12Resource 'source' was released before the copy ran", ways=["source"])
@hazard(RELEASED, "ID3D12Resource 'target' was released before the copy ran", ways=["target"])
def a_resource_of_a_copy(bench, wrong):
    found = {name: bench.buffer(16, name=name) for name in ("source", "target")}
    bench.commands.CopyResource(found["target"], found["source"])
    bench.commands.Close()
    bench.queue.ExecuteCommandLists([bench.commands])
    drop(bench, *found.values())
    found.pop(wrong, None)
    bench.wait()


@hazard(RELEASED, "ID3D12Resource 'input'", "DML_OPERATOR_ELEMENT_WISE_IDENTITY", ways=["input"])
@hazard(RELEASED, "ID3D12Resource 'output'", ways=["output"])
def a_resource_of_a_dispatch(bench, wrong):
    op = bench.ready(identity())
    found = {name: bench.buffer(16, name=name) for name in ("input", "output")}
    bench.dispatch(op, [found["input"]], [found["output"]])
    drop(bench, *found.values())
    found.pop(wrong, None)
    bench.execute()


@hazard(RELEASED, "'temporary'", ways=[True])
def the_temporary_resource(bench, wrong):
    op, temporary = bench.ready(log_sum_exp()), bench.buffer(256, name="temporary")
    bench.dispatch(op, [bench.buffer(16)], [bench.buffer(4)], temporary=temporary)
    temporary = released(bench, wrong, temporary)
    bench.execute()


@hazard(RELEASED, "'persistent'")
def the_persistent_resource(bench, wrong):
    op, persistent = bench.compile(join(4, owned=[0])), bench.buffer(256, name="persistent")
    bench.initialize(op, [bench.buffer(16)], persistent)
    bench.dispatch(op, [None], [bench.buffer(16)], persistent=persistent)
    persistent = released(bench, wrong, persistent)
    bench.execute()


@hazard(RELEASED, "ID3D12Resource 'x'")
def a_resource_of_a_barrier(bench, wrong):
    x = bench.buffer(16, name="x")
    bench.barrier(x)
    x = released(bench, wrong, x)
    bench.execute()


@hazard(RELEASED, "ID3D12Resource 'before'", ways=["before"])
@hazard(RELEASED, "ID3D12Resource 'after'", ways=["after"])
def a_resource_of_an_aliasing_barrier(bench, wrong):
    made = {name: bench.buffer(16, name=name) for name in ("before", "after")}
    bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.Aliasing(*made.values())])
    drop(bench, *made.values())
    made.pop(wrong, None)
    bench.execute()


@hazard(RELEASED, "ID3D12DescriptorHeap 'views'")
def a_descriptor_heap(bench, wrong):
    op, heap = bench.ready(identity()), bench.descriptors(8)
    heap.SetName("views")
    bench.commands.SetDescriptorHeaps([heap])
    cpu, gpu = heap.GetCPUDescriptorHandleForHeapStart(), heap.GetGPUDescriptorHandleForHeapStart()
    table = bench.dml.CreateBindingTable(dml.DML_BINDING_TABLE_DESC(op, cpu, gpu, 2))
    table.BindInputs([binding(bench.buffer(16))])
    table.BindOutputs([binding(bench.buffer(16))])
    bench.record(op, table)
    bench.commands.Close()
    bench.queue.ExecuteCommandLists([bench.commands])
    bench.commands.Reset(bench.new_allocator(), None)
    if wrong:
        del heap
    bench.wait()


@hazard(RELEASED, "IDMLCompiledOperator 'op'", "DML_OPERATOR_ELEMENT_WISE_IDENTITY 'op'")
def a_compiled_operator(bench, wrong):
    op = bench.ready(identity())
    op.SetName("op")
    table = bench.table(op, [bench.buffer(16)], [bench.buffer(16)])
    bench.record(op, table)
    del table
    op = released(bench, wrong, op)
    bench.execute()


@hazard(RELEASED, "IDMLOperatorInitializer 'init'")
def an_initializer(bench, wrong):
    op, persistent = bench.keep(bench.compile(join(4, owned=[0]))), bench.buffer(256)
    initializer = bench.dml.CreateOperatorInitializer([op])
    initializer.SetName("init")
    table = bench.table(initializer, [spans(bench.buffer(16))], [persistent])
    bench.record(initializer, table)
    del table
    if wrong:
        del initializer
    bench.execute()


@hazard(RELEASED, "IDMLCompiledOperator 'op'")
def an_operator_that_was_initialized(bench, wrong):
    """Found by a random program: the completed list of its initializer kept it alive."""
    op, persistent, recorded = bench.compile(join(4, owned=[0])), bench.buffer(256), bench.new_list()
    op.SetName("op")
    initializer = bench.dml.CreateOperatorInitializer([op])
    recorded.SetDescriptorHeaps([bench.heap])
    bench.record(
        initializer, bench.table(initializer, [spans(bench.buffer(16))], [persistent]), bench.keep(recorded)
    )
    bench.submit(recorded)
    bench.wait()
    del initializer
    bench.record(op, bench.table(op, [None], [bench.buffer(16)], persistent=persistent))
    op = released(bench, wrong, op)
    bench.execute()


@hazard(RELEASED, "ID3D12CommandAllocator 'memory'")
def a_command_allocator(bench, wrong):
    allocator = bench.d3d12.CreateCommandAllocator(DIRECT)
    allocator.SetName("memory")
    commands = bench.d3d12.CreateCommandList(0, DIRECT, allocator)
    commands.CopyResource(bench.buffer(16), bench.buffer(16))
    bench.submit(commands)
    if wrong:
        del allocator
    bench.wait()


@hazard("D3D12-Upload-written-in-flight", "'staging'", "bytes 16 to 32")
def writing_an_upload_buffer(bench, wrong):
    staging = bench.buffer(64, UPLOAD, name="staging")
    memory = staging.Map()
    bench.commands.CopyBufferRegion(bench.buffer(16), 0, staging, 16, 16)
    bench.submit(bench.commands)
    memory[:16] = memory[32:] = 9
    if not wrong:
        bench.wait()
    memory[20] = 7
    bench.wait()


@hazard("D3D12-Upload-written-in-flight", "InputTensors[0]", "'weights'")
def writing_what_an_initializer_reads(bench, wrong):
    op, persistent = bench.keep(bench.compile(join(4, owned=[0]))), bench.buffer(256)
    initializer = bench.keep(bench.dml.CreateOperatorInitializer([op]))
    weights = bench.buffer(16, UPLOAD, name="weights")
    bench.dispatch(initializer, [spans(weights)], [persistent])
    bench.submit(bench.commands)
    if not wrong:
        bench.wait()
    weights.Map()[:] = 1
    bench.wait()


def reading_back(bench):
    readback = bench.buffer(64, READBACK, name="result")
    bench.commands.CopyBufferRegion(readback, 16, bench.buffer(16), 0, 16)
    bench.submit(bench.commands)
    return readback


@hazard("D3D12-Readback-read-in-flight", "Map: ID3D12Resource 'result'", "bytes 16 to 32", ways=["Map"])
@hazard("D3D12-Readback-read-in-flight", "Map: ID3D12Resource 'result'", ways=["range"])
@hazard("D3D12-Readback-read-in-flight", "array: ID3D12Resource 'result'", ways=["array"])
def reading_before_the_wait(bench, wrong):
    """Bytes that the GPU is not writing may be read meanwhile."""
    readback = reading_back(bench)
    readback.Map(0, dml.D3D12_RANGE(0, 16))
    readback.Map(0, dml.D3D12_RANGE(8, 16))
    readback.Map(0, dml.D3D12_RANGE(32, 64))
    readback.Map(0, dml.D3D12_RANGE(0, 0))
    readback.array(offset=32)
    readback.array(shape=16)
    if wrong == "Map":
        readback.Map()
    elif wrong == "range":
        readback.Map(0, dml.D3D12_RANGE(31, 40))
    elif wrong == "array":
        readback.array(shape=17)
    bench.wait()
    readback.Map()
    readback.array()


@hazard(
    "D3D12-Readback-unmap-in-flight",
    "Unmap: ID3D12Resource 'result' was mapped before commands that write its bytes 16 to 32",
    ways=["no wait", "range"],
)
def mapped_before(bench, wrong):
    """Concerns only bytes that were mapped for reading before they are written."""
    readback = bench.buffer(64, READBACK, name="result")
    for read in [(0, 16), (32, 64), (0, 0), (31, 33) if wrong == "range" else (0, 64)]:
        readback.Map(0, dml.D3D12_RANGE(*read))
    bench.commands.CopyBufferRegion(readback, 16, bench.buffer(16), 0, 16)
    bench.submit(bench.commands)
    if wrong:
        readback.Unmap()
    bench.wait()
    readback.Map()
    readback.Unmap()
    if not wrong:
        readback.Unmap()
    for _ in range(3):
        readback.Unmap()
    assert not readback.mapped


@hazard("D3D12-Readback-read-in-flight", ways=["value 1", "another fence"])
def waiting_for_too_little(bench, wrong):
    fence, other = bench.d3d12.CreateFence(0), bench.signalled(2)
    bench.queue.Signal(fence, 1)
    readback = reading_back(bench)
    bench.queue.Signal(fence, 2)
    (other if wrong == "another fence" else fence).SetEventOnCompletion(1 if wrong == "value 1" else 2)
    readback.Map()


@hazard("D3D12-Readback-read-in-flight", ways=["polled once"])
def polling(bench, wrong):
    fence = bench.d3d12.CreateFence(0)
    bench.queue.Signal(fence, 1)
    readback = reading_back(bench)
    bench.queue.Signal(fence, 2)
    if wrong:
        assert fence.GetCompletedValue() == 1
    else:
        seen = [fence.GetCompletedValue() for _ in range(3)]
        assert seen == [1, 2, 2]
    readback.Map()


@hazard("D3D12-Readback-read-in-flight", ways=["first queue alone"])
def two_queues(bench, wrong):
    """The second queue waits for the first; the first one's signal does not cover the second one's work."""
    second = bench.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=DIRECT))
    middle, readback = bench.buffer(16), bench.buffer(16, READBACK)
    bench.commands.CopyResource(middle, bench.holding(1, 2, 3, 4))
    bench.submit(bench.commands)
    fence = bench.signalled(1)
    commands = bench.new_list()
    commands.CopyResource(readback, middle)
    commands.Close()
    second.Wait(fence, 1)
    second.ExecuteCommandLists([commands])
    done = bench.d3d12.CreateFence(0)
    second.Signal(done, 1)
    (fence if wrong else done).SetEventOnCompletion(1)
    found = readback.array("float32").tolist()
    assert (found == [1, 2, 3, 4]) == (not wrong)


IDENTITY = "the dispatch of DML_OPERATOR_ELEMENT_WISE_IDENTITY"
JOIN = "the dispatch of DML_OPERATOR_JOIN"
INITIALIZER = "the dispatch of an operator initializer"


@hazard("DML-RecordDispatch-initialized", path=IDENTITY)
def never_initialized(bench, wrong):
    """Operators without a persistent resource must be initialized too."""
    op = bench.compile(identity()) if wrong else bench.ready(identity())
    bench.dispatch(bench.keep(op), [bench.buffer(16)], [bench.buffer(16)])
    bench.execute()


@hazard("DML-OperatorInitializer-once", "operators[0]", path=INITIALIZER, ways=["another", "list again"])
@hazard("DML-OperatorInitializer-once", "operators[1]", path=INITIALIZER, ways=["itself"])
def initialized_twice(bench, wrong):
    op = bench.keep(bench.compile(identity()))
    for targets in ([op, op] if wrong == "itself" else [op], [op] if wrong == "another" else []):
        initializer = bench.keep(bench.dml.CreateOperatorInitializer(targets))
        bench.record(initializer, bench.keep(bench.table(initializer)))
        bench.barrier()
    bench.submit(bench.commands)
    bench.wait()
    if wrong == "list again":
        bench.queue.ExecuteCommandLists([bench.commands])
        bench.wait()


@hazard("DML-BindPersistentResource-same", "byte 256", "'first'", path=JOIN, ways=["another offset"])
@hazard("DML-BindPersistentResource-same", "'second'", "'first'", path=JOIN, ways=["a copy"])
def another_persistent_resource(bench, wrong):
    op, first, second = (
        bench.keep(bench.compile(join(4, owned=[0]))),
        *(bench.buffer(512, name=name) for name in ("first", "second")),
    )
    bench.initialize(op, [bench.holding(1, 2, 3, 4)], first)
    copy = lambda commands: commands.CopyResource(second, first)  # noqa: E731
    bench.run(copy)
    persistent = {"another offset": binding(first, 256), "a copy": second}.get(wrong, first)
    bench.dispatch(op, [None], [bench.buffer(16)], persistent=persistent)
    bench.execute()


@hazard("DML-BindPersistentResource-unchanged", path=JOIN)
def an_overwritten_persistent_resource(bench, wrong):
    """Bytes after the persistent resource in the same buffer may be written."""
    op, persistent = bench.keep(bench.compile(join(4, owned=[0]))), bench.buffer(256)
    bench.initialize(op, [bench.holding(1, 2, 3, 4)], persistent)
    bench.fill(persistent, b"\x07", 15 if wrong else 16)
    bench.dispatch(op, [None], [bench.buffer(16)], persistent=persistent)
    bench.execute()


@hazard("DML-OperatorInitializer-in-flight", path=INITIALIZER, ways=["before submission", "before the wait"])
def an_initializer_reset_in_flight(bench, wrong):
    op, other = (bench.keep(bench.compile(join(4, owned=[0]))) for _ in range(2))
    initializer = bench.keep(bench.dml.CreateOperatorInitializer([op]))
    bench.dispatch(initializer, [spans(bench.buffer(16))], [bench.buffer(256)])
    if wrong == "before submission":
        initializer.Reset([])
    bench.submit(bench.commands)
    if wrong == "before the wait":
        initializer.Reset([other, other])
    bench.wait()
    initializer.Reset([other])
    assert op.initialized
    assert not other.initialized


@hazard("DML-RecordDispatch-resident", "Evict", path=IDENTITY, ways=["operator", "twice"])
@hazard("DML-RecordDispatch-resident", "Evict", path=INITIALIZER, ways=["initializer"])
def an_evicted_dispatchable(bench, wrong):
    op = bench.keep(bench.compile(identity()))
    initializer = bench.keep(bench.dml.CreateOperatorInitializer([op]))
    if wrong == "initializer":
        bench.dml.Evict([initializer])
    bench.record(initializer, bench.keep(bench.table(initializer)))
    bench.execute()
    bench.dispatch(op, [bench.holding(1, 2, 3, 4)], [bench.buffer(16)])
    bench.dml.Evict([op])
    if wrong != "operator":
        bench.dml.MakeResident([op])
    if wrong == "twice":
        bench.dml.MakeResident([op])
        bench.dml.Evict(2, [op, op])
    bench.execute()


@hazard("DML-RecordDispatch-resident", "operators[1]", "Evict", path=INITIALIZER)
def an_evicted_operator_that_is_initialized(bench, wrong):
    ops = [bench.keep(bench.compile(identity())) for _ in range(2)]
    initializer = bench.keep(bench.dml.CreateOperatorInitializer(ops))
    bench.dml.Evict(ops)
    bench.dml.MakeResident(ops[:1] if wrong else ops)
    bench.record(initializer, bench.keep(bench.table(initializer)))
    bench.execute()


RESIDENT = "D3D12-Object-resident"


@hazard(RESIDENT, "ID3D12Resource 'source'", "the copy", ways=["resource", "twice"])
@hazard(RESIDENT, "ID3D12Heap 'memory', the heap of ID3D12Resource 'placed'", ways=["heap"])
def evicted_memory(bench, wrong):
    """At execution time, a placed resource is resident if its heap is."""
    heap = bench.keep(
        bench.d3d12.CreateHeap(dml.CD3DX12_HEAP_DESC(1 << 16, dml.CD3DX12_HEAP_PROPERTIES(DEFAULT)))
    )
    desc = dml.CD3DX12_RESOURCE_DESC.Buffer(16, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
    placed = bench.keep(bench.d3d12.CreatePlacedResource(heap, 0, desc, 0))
    heap.SetName("memory")
    placed.SetName("placed")
    source = bench.buffer(16, name="source")
    bench.commands.CopyResource(placed, source)
    bench.d3d12.Evict([source, heap])
    if wrong == "twice":
        bench.d3d12.MakeResident([source])
    bench.d3d12.MakeResident(2, [source, heap])
    if wrong == "resource":
        bench.d3d12.Evict(1, [source])
    elif wrong == "heap":
        bench.d3d12.Evict([heap])
    elif wrong == "twice":
        bench.d3d12.Evict(2, [source, source])
    bench.submit(bench.commands)
    bench.wait()


@hazard("D3D12-Object-resident", "ID3D12DescriptorHeap 'views'")
def an_evicted_descriptor_heap(bench, wrong):
    heap = bench.keep(bench.descriptors(4))
    heap.SetName("views")
    bench.commands.SetDescriptorHeaps([heap])
    if wrong:
        bench.d3d12.Evict([heap])
    bench.submit(bench.commands)
    bench.wait()


@hazard("D3D12-Fence-backwards", "ID3D12Fence 'turns' goes back from 5 to 4", ways=["queue", "CPU"])
def a_fence_that_goes_back(bench, wrong):
    """Signaling the same value again is valid."""
    fence = bench.keep(bench.d3d12.CreateFence(3))
    fence.SetName("turns")
    bench.queue.Signal(fence, 5)
    bench.queue.Signal(fence, 4 if wrong == "queue" else 5)
    bench.wait()
    fence.Signal(4 if wrong == "CPU" else 5)
    fence.GetCompletedValue()


@hazard(RELEASED, "ID3D12Heap 'memory', the heap of ID3D12Resource 'placed'")
def the_heap_of_a_placed_resource(bench, wrong):
    heap = bench.d3d12.CreateHeap(dml.CD3DX12_HEAP_DESC(1 << 16, dml.CD3DX12_HEAP_PROPERTIES(DEFAULT)))
    desc = dml.CD3DX12_RESOURCE_DESC.Buffer(16, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
    placed = bench.keep(bench.d3d12.CreatePlacedResource(heap, 0, desc, 0))
    heap.SetName("memory")
    placed.SetName("placed")
    bench.commands.CopyResource(placed, bench.buffer(16))
    bench.submit(bench.commands)
    if wrong:
        del heap
    bench.wait()


@hazard(RELEASED, "ID3D12CommandQueue 'second'")
def a_queue(bench, wrong):
    queue = bench.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=DIRECT))
    queue.SetName("second")
    fence = bench.keep(bench.d3d12.CreateFence(0))
    bench.commands.CopyResource(bench.buffer(16), bench.buffer(16))
    bench.commands.Close()
    queue.ExecuteCommandLists([bench.commands])
    queue.Signal(fence, 1)
    if wrong:
        del queue
    fence.SetEventOnCompletion(1)


@hazard(RELEASED, "ID3D12Fence 'turns'", "Signal", ways=["signal"])
@hazard(RELEASED, "ID3D12Fence 'turns'", "Wait", ways=["wait"])
def a_fence(bench, wrong):
    fence = bench.d3d12.CreateFence(1 if wrong == "wait" else 0)
    fence.SetName("turns")
    if wrong == "wait":
        bench.queue.Wait(fence, 1)
    else:
        bench.queue.Signal(fence, 1)
    if wrong:
        del fence
    bench.wait()
