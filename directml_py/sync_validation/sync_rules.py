"""The rules of Direct3D 12 that the debug layer checks while commands execute."""

from __future__ import annotations

from ..abi.rules import THIS_PACKAGE, Severity, rule

BARRIERS = "using-resource-barriers-to-synchronize-resource-states-in-direct3d-12"
PLACED = "nf-d3d12-id3d12device-createplacedresource"

UAV_BARRIER = rule(
    "D3D12-UAVBarrier-missing",
    "A UAV barrier or a transition separates two dispatches or clears of one ExecuteCommandLists that access the same "
    "bytes, if one of them writes",
    "dml-barriers",
    debug=True,
)
ALIASING_BARRIER = rule(
    "D3D12-AliasingBarrier-missing",
    "An aliasing barrier separates two commands of one ExecuteCommandLists that access the same bytes through "
    "different resources, if one of them writes",
    PLACED,
    debug=True,
)
ALIASING_CONTENTS = rule(
    "D3D12-AliasingBarrier-contents",
    "A dispatch reads only contents that were written since an aliasing barrier activated its resource, or one"
    " that shares its memory, as pResourceAfter",
    PLACED,
    debug=True,
)
ALIASING_INHERITED = rule(
    "D3D12-AliasingBarrier-inherited",
    "An aliasing barrier separates a write through one resource from a read through another one that shares its memory",
    # The page of CreatePlacedResource requires none between two ExecuteCommandLists calls, and buffers inherit the
    # contents of memory: nothing is undefined. A barrier that names no resource expresses that intent.
    "memory-aliasing-and-data-inheritance",
    Severity.WARNING,
    debug=True,
)
STATE = rule(
    "D3D12-ResourceState-mismatch",
    "A command's resources are in the states that it needs, or in COMMON, from which buffers are promoted",
    BARRIERS,
    debug=True,
)
BEFORE = rule(
    "D3D12-ResourceBarrier-before",
    "StateBefore of a transition is the state that the resource is in",
    BARRIERS,
    debug=True,
)
BEFORE_COMMON = rule(
    "D3D12-ResourceBarrier-before-common",
    "The first transition of a buffer in an ExecuteCommandLists is from COMMON, from its initial state, or "
    "from the state that the previous call left it in",
    BARRIERS,
    # Microsoft's own programs name the state that a buffer was in before it decayed, which makes no difference.
    Severity.WARNING,
    debug=True,
)
SPLIT_ACCESS = rule(
    "D3D12-ResourceState-split",
    "No command accesses a resource between the two halves of a split barrier",
    BARRIERS,
    debug=True,
)
SPLIT_HALVES = rule(
    "D3D12-ResourceBarrier-split",
    "The second half of a split barrier follows a first half of the same resource and states, with no other transition "
    "of the resource between them",
    BARRIERS,
    debug=True,
)
SPLIT_ACROSS = rule(
    "D3D12-ResourceBarrier-split-across",
    "Both halves of a split barrier are in one ExecuteCommandLists, since calls do not overlap",
    BARRIERS,
    Severity.WARNING,
    debug=True,
)
SPLIT_BEGUN = rule(
    "D3D12-ResourceBarrier-split-begun",
    "A split barrier that has begun is ended before the program ends",
    BARRIERS,
    Severity.WARNING,
    debug=True,
)
QUEUE_WAIT = rule(
    "D3D12-CommandQueue-wait",
    "If two queues access the same bytes and one of them writes, the later one waits for a fence of the other,"
    " or the CPU does before it submits to the later one",
    "user-mode-heap-synchronization",
    debug=True,
)
DEADLOCK = rule(
    "D3D12-CommandQueue-endless-wait",
    "A value that a queue waits for is signaled before the program ends",
    "user-mode-heap-synchronization",
    debug=True,
)
CPU_DEADLOCK = rule(
    "D3D12-Fence-endless-wait",
    "A value that the CPU begins to wait for is signaled by submitted work, or by another thread",
    "user-mode-heap-synchronization",
    # The threads that may still signal are not always known: a C program has threads of its own.
    Severity.WARNING,
    debug=True,
)
RELEASED = rule(
    "D3D12-Object-released",
    "Objects that commands in flight use are not released before the commands have run",
    "dml-resource-lifetime",
    debug=True,
)
EVICTED = rule(
    "D3D12-Object-resident",
    "Objects that commands in flight use are resident: MakeResident was called as often as Evict, for a placed "
    "resource on its heap",
    "nf-d3d12-id3d12device-evict",
    debug=True,
)
FENCE_BACKWARDS = rule(
    "D3D12-Fence-backwards",
    "A fence's value does not decrease: no signal sets a lower value than the current one",
    # No page forbids it. But a wait for the higher value succeeds or blocks depending on when it is made; usually two
    # queues signal one fence without a wait between them.
    THIS_PACKAGE,
    Severity.WARNING,
    debug=True,
)
UPLOAD_WRITTEN = rule(
    "D3D12-Upload-written-in-flight",
    "The CPU does not write memory between the submission and the end of commands that read or write it",
    "uploading-resources",
    debug=True,
)
READBACK_READ = rule(
    "D3D12-Readback-read-in-flight",
    "The CPU reads memory after the fence that covers the commands that write it",
    "readback-data-using-heaps",
    debug=True,
)
READBACK_UNMAP = rule(
    "D3D12-Readback-unmap-in-flight",
    "Memory that was mapped for reading is unmapped before commands that write it are submitted, or after the fence "
    "that covers them",
    # No page forbids it, and a program that read before submitting is correct. Usually a wait was forgotten; reads
    # through the pointer cannot be seen.
    "readback-data-using-heaps",
    Severity.WARNING,
    debug=True,
)
UNMAP_RANGE = rule(
    "D3D12-Unmap-written-range",
    "Bytes that the CPU changes while they are mapped are in the written range of an Unmap, which has all of them if "
    "it is null",
    "nf-d3d12-id3d12resource-unmap",
    debug=True,
)
UNDEFINED = rule(
    "D3D12-Contents-undefined",
    "A dispatch reads only elements that have been written, and the CPU reads no memory to which commands have copied "
    "only unwritten bytes",
    "nf-d3d12-createcommittedresource",
    debug=True,
)
UNWRITTEN = rule(
    "D3D12-Contents-unwritten",
    "A dispatch and the CPU read no memory of which nothing has written a single byte",
    # Committed buffers begin as zeros, which a program may mean. Usually a copy or ExecuteCommandLists was forgotten.
    THIS_PACKAGE,
    Severity.WARNING,
    debug=True,
)
CLEAR_DESCRIPTOR = rule(
    "D3D12-ClearUAV-descriptor",
    "The descriptors of a clear are not changed between its recording and the end of its execution",
    "nf-d3d12-id3d12graphicscommandlist-clearunorderedaccessviewuint",
    debug=True,
)
CLEAR_RANGE = rule(
    "D3D12-ClearUAV-range",
    "The values of a clear are within the range of a UNORM or SNORM format",
    "nf-d3d12-id3d12graphicscommandlist-clearunorderedaccessviewfloat",
    debug=True,
)
QUERY_ENDED = rule(
    "D3D12-Query-ended",
    "A query has ended before ResolveQueryData reads it",
    "nf-d3d12-id3d12graphicscommandlist-resolvequerydata",
    debug=True,
)
