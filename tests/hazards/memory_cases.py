"""Memory that the CPU and commands access: heaps of type CUSTOM, resources that share memory, and written ranges."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import identity
from .hazard import COMMON, READBACK, UPLOAD, hazard

READ, WRITTEN = "D3D12-Readback-read-in-flight", "D3D12-Upload-written-in-flight"
UNMAPPED, RANGE = "D3D12-Readback-unmap-in-flight", "D3D12-Unmap-written-range"
WRITE_BACK, WRITE_COMBINE = dml.D3D12_CPU_PAGE_PROPERTY_WRITE_BACK, dml.D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE
HEAPS = {"write-back": WRITE_BACK, "write-combine": WRITE_COMBINE, "UPLOAD": UPLOAD, "READBACK": READBACK}
ALLOW = dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS


def custom(bench, heap="write-back"):
    """The properties of a CUSTOM heap with a page property, or of one like a type."""
    if heap in ("UPLOAD", "READBACK"):
        return bench.d3d12.GetCustomHeapProperties(0, HEAPS[heap])
    kinds = dml.D3D12_HEAP_TYPE_CUSTOM, HEAPS[heap], dml.D3D12_MEMORY_POOL_L0
    return dml.D3D12_HEAP_PROPERTIES(*kinds, 1, 1)


def memory_in(bench, properties, name="memory", flags=dml.D3D12_HEAP_FLAG_NONE):
    desc = dml.CD3DX12_RESOURCE_DESC.Buffer(16, ALLOW)
    made = bench.keep(bench.d3d12.CreateCommittedResource(properties, flags, desc, COMMON))
    made.SetName(name)
    return made


def aliases(bench, properties, state=COMMON, flags=ALLOW):
    """Two resources in the same memory."""
    heap = bench.keep(bench.d3d12.CreateHeap(dml.CD3DX12_HEAP_DESC(1 << 16, properties)))
    desc, made = dml.CD3DX12_RESOURCE_DESC.Buffer(16, flags), []
    for name in ("memory", "alias"):
        made.append(bench.keep(bench.d3d12.CreatePlacedResource(heap, 0, desc, state)))
        made[-1].SetName(name)
    return made


def both(bench, way):
    """What commands access and what the CPU maps, two resources in the same memory if ``way`` says so."""
    if way == "aliasing":
        return aliases(bench, custom(bench))
    memory = memory_in(bench, custom(bench, way if way in HEAPS else "write-back"))
    return memory, memory


def accessing(bench, memory, writes, dispatched):
    """Submit a dispatch or a copy that reads or writes ``memory``."""
    other = bench.buffer(16)
    source, target = (other, memory) if writes else (memory, other)
    if dispatched:
        bench.dispatch(bench.ready(identity()), [source], [target])
    else:
        bench.commands.CopyResource(target, source)
    bench.submit(bench.commands)


@hazard(READ, "'memory' is read while commands that write its bytes 0 to 16", ways=list(HEAPS))
@hazard(
    READ, "write bytes 0 to 16 of ID3D12Resource 'memory', which shares", ways=["aliasing", "READBACK alias"]
)
def reading_custom_memory_too_early(bench, wrong):
    """What the CPU may read is decided by the page property, not by the type of the heap."""
    if wrong == "READBACK alias":
        state = dml.D3D12_RESOURCE_STATE_COPY_DEST
        memory, mapped = aliases(bench, dml.CD3DX12_HEAP_PROPERTIES(READBACK), state, 0)
    else:
        memory, mapped = both(bench, wrong)
    accessing(bench, memory, True, wrong in ("write-back", "aliasing"))
    if not wrong:
        bench.wait()
    mapped.Map(0, dml.D3D12_RANGE(0, 0))
    mapped.Map(0, dml.D3D12_RANGE(8, 12))
    bench.wait()


@hazard(
    WRITTEN, "'memory') was written by the CPU after the commands that read it", ways=[*HEAPS, "aliasing"]
)
def writing_what_commands_read(bench, wrong):
    memory, mapped = both(bench, wrong)
    pointer = mapped.Map()
    pointer[:] = 1
    accessing(bench, memory, False, wrong == "write-back")
    if not wrong:
        bench.wait()
    pointer[8] = 2
    bench.wait()


@hazard(
    WRITTEN, "'memory') was written by the CPU after the commands that write it", ways=[*HEAPS, "aliasing"]
)
@hazard(
    WRITTEN, "'memory') was written by the CPU after the commands that write it", ways=["a READBACK heap"]
)
def writing_what_commands_write(bench, wrong):
    """What was written last remains, and on a GPU either may be last."""
    memory, mapped = both(bench, wrong)
    if wrong == "a READBACK heap":
        memory = mapped = bench.buffer(16, READBACK, name="memory")
    pointer = mapped.Map()
    accessing(bench, memory, True, wrong == "write-back")
    if not wrong:
        bench.wait()
    pointer[8] = 2
    bench.wait()


@hazard(
    UNMAPPED, "'alias' was mapped before commands that write bytes 0 to 16 of ID3D12Resource 'memory', which"
)
def unmapping_what_shares_memory(bench, wrong):
    memory, mapped = aliases(bench, custom(bench))
    mapped.Map()
    accessing(bench, memory, True, True)
    if not wrong:
        bench.wait()
    mapped.Unmap()
    bench.wait()


@hazard(
    WRITTEN, "InputTensor (bytes 0 to 16 of ID3D12Resource 'first')", ways=["while two calls are pending"]
)
def memory_that_both_sides_write(bench, wrong):
    """On an adapter with unified memory, operators are bound to what the CPU fills and reads. What commands write in
    between, also for calls that are submitted before, is not written by the CPU."""
    op = bench.ready(identity(scale=2.0))
    first, second = (memory_in(bench, custom(bench), name) for name in ("first", "second"))
    x, y = (buffer.Map().view("float32") for buffer in (first, second))
    for number in range(3):
        x[:] = number
        for source, target in ((first, second), (second, first)):
            bench.dispatch(op, [source], [target])
            bench.submit(bench.commands)
            bench.commands.Reset(bench.keep(bench.new_allocator()), None)
            bench.commands.SetDescriptorHeaps([bench.heap])
        if wrong and number == 1:
            x[1] = 9
        bench.wait()
        assert wrong or (x.tolist(), y.tolist()) == ([4 * number] * 4, [2 * number] * 4)


@hazard(RANGE, "Unmap: bytes 4 to 8 of ID3D12Resource 'memory' were changed", ways=["empty"])
@hazard(RANGE, "Unmap: bytes 6 to 8 of ID3D12Resource 'memory' were changed", ways=["too small"])
def writing_more_than_Unmap_says(bench, wrong):
    memory = bench.buffer(16, UPLOAD, name="memory")
    memory.Map()[4:8] = 1
    memory.Unmap(0, dml.D3D12_RANGE(0, {"empty": 0, "too small": 6}.get(wrong, 8)))
    memory.Map()[:] = 2
    memory.Unmap()


@hazard(RANGE, "Unmap: bytes 5 to 12 of ID3D12Resource 'alias' were changed", ways=["neither"])
def maps_that_account_for_each_other(bench, wrong):
    """Bytes that commands write while they are mapped are not the CPU's, nor are those of WriteToSubresource."""
    memory, alias = aliases(bench, custom(bench))
    accessing(bench, memory, True, True)
    alias.Map(0, dml.D3D12_RANGE(0, 0))
    bench.wait()
    memory.WriteToSubresource(0, None, bytes(range(16)))
    alias.Unmap(0, dml.D3D12_RANGE(0, 0))
    pointer = alias.Map()
    memory.Map()
    pointer[5], pointer[11] = 7, 8
    memory.Unmap(0, dml.D3D12_RANGE(5, 5 if wrong else 12))
    alias.Unmap(0, dml.D3D12_RANGE(0, 0))
