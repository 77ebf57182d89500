"""The rules of Direct3D 12 that the debug layer checks while commands execute."""

from __future__ import annotations

from ...abi.rules import OWN, Severity, rule

BARRIERS = "using-resource-barriers-to-synchronize-resource-states-in-direct3d-12"
PLACED = "nf-d3d12-id3d12device-createplacedresource"

UAV_BARRIER = rule(
    "D3D12-UAVBarrier-missing",
    "A UAV barrier or a transition stands between two dispatches or clears of one ExecuteCommandLists that share bytes "
    "which one of them writes",
    "dml-barriers",
    debug=True,
)
ALIASING_BARRIER = rule(
    "D3D12-AliasingBarrier-missing",
    "An aliasing barrier stands between two commands of one ExecuteCommandLists that share bytes, which one of them "
    "writes, through different resources",
    PLACED,
    debug=True,
)
ALIASING_CONTENTS = rule(
    "D3D12-AliasingBarrier-contents",
    "What a dispatch reads was written since an aliasing barrier activated its resource, or one that shares its "
    "memory, by naming it as pResourceAfter",
    PLACED,
    debug=True,
)
ALIASING_INHERITED = rule(
    "D3D12-AliasingBarrier-inherited",
    "An aliasing barrier stands between what one resource writes and another one reads of the memory that they share",
    # The page of CreatePlacedResource asks for none between two calls of ExecuteCommandLists, and buffers inherit what
    # is in memory: nothing is undefined. Yet whoever means that can say so with a barrier that names no resource.
    "memory-aliasing-and-data-inheritance",
    Severity.WARNING,
    debug=True,
)
STATE = rule(
    "D3D12-ResourceState-mismatch",
    "A command finds each of its resources in the state that it needs, or in COMMON, from which buffers are promoted",
    BARRIERS,
    debug=True,
)
BEFORE = rule(
    "D3D12-ResourceBarrier-before",
    "StateBefore of a transition is the state that the resource is in",
    BARRIERS,
    debug=True,
)
SPLIT_ACCESS = rule(
    "D3D12-ResourceState-split",
    "No command touches a resource between the two halves of a split barrier",
    BARRIERS,
    debug=True,
)
SPLIT_HALVES = rule(
    "D3D12-ResourceBarrier-split",
    "The second half of a split barrier follows a first half of the same resource and states, and no other transition "
    "of the resource stands between them",
    BARRIERS,
    debug=True,
)
QUEUE_WAIT = rule(
    "D3D12-CommandQueue-wait",
    "Queues that touch the same bytes, one of them writing, are put in order by a fence that the later one, or the CPU "
    "before it submits to that, waits for",
    "user-mode-heap-synchronization",
    debug=True,
)
ENDLESS_WAIT = rule(
    "D3D12-CommandQueue-endless-wait",
    "A value that a queue waits for is signaled before the program ends",
    "user-mode-heap-synchronization",
    debug=True,
)
ENDLESS_CPU_WAIT = rule(
    "D3D12-Fence-endless-wait",
    "A value that the CPU begins to wait for is signaled by what was submitted, or by another thread",
    "user-mode-heap-synchronization",
    # Who it is that may still signal is not always known: a program in C has threads of its own.
    Severity.WARNING,
    debug=True,
)
RELEASED = rule(
    "D3D12-Object-released",
    "What commands in flight use is not released before they have run",
    "dml-resource-lifetime",
    debug=True,
)
EVICTED = rule(
    "D3D12-Object-resident",
    "What commands in flight use is resident: MakeResident was called as often as Evict, for a placed resource of its "
    "heap",
    "nf-d3d12-id3d12device-evict",
    debug=True,
)
FENCE_BACKWARDS = rule(
    "D3D12-Fence-backwards",
    "A fence goes up: no signal sets a lower value than it has",
    # No page forbids it, and values may go back. Yet whoever waited for the higher value has, and whoever comes to wait
    # for it waits again: it is as a rule two queues that signal one fence without a wait between them.
    OWN,
    Severity.WARNING,
    debug=True,
)
UPLOAD_WRITTEN = rule(
    "D3D12-Upload-written-in-flight",
    "An UPLOAD buffer is not written between the submission and the end of commands that read it",
    "uploading-resources",
    debug=True,
)
READBACK_READ = rule(
    "D3D12-Readback-read-in-flight",
    "A READBACK buffer is read after the fence that covers the commands that write it",
    "readback-data-using-heaps",
    debug=True,
)
READBACK_UNMAP = rule(
    "D3D12-Readback-unmap-in-flight",
    "What was mapped to read a READBACK buffer is unmapped before commands that write it are submitted, or after the "
    "fence that covers them",
    # No page forbids it, and whoever read before he submitted is right. As a rule it is a wait that was forgotten: what
    # is read through a pointer nobody sees.
    "readback-data-using-heaps",
    Severity.WARNING,
    debug=True,
)
UNDEFINED = rule(
    "D3D12-Contents-undefined",
    "A dispatch reads elements that something has written, and the CPU in READBACK buffers not only copies of what "
    "nothing has",
    "nf-d3d12-createcommittedresource",
    debug=True,
)
CLEAR_DESCRIPTOR = rule(
    "D3D12-ClearUAV-descriptor",
    "The descriptors of a clear stay as they are from its recording until it has run",
    "nf-d3d12-id3d12graphicscommandlist-clearunorderedaccessviewuint",
    debug=True,
)
CLEAR_RANGE = rule(
    "D3D12-ClearUAV-range",
    "The values of a clear lie in the range of a UNORM or SNORM format",
    "nf-d3d12-id3d12graphicscommandlist-clearunorderedaccessviewfloat",
    debug=True,
)
QUERY_ENDED = rule(
    "D3D12-Query-ended",
    "A query was ended before ResolveQueryData reads it",
    "nf-d3d12-id3d12graphicscommandlist-resolvequerydata",
    debug=True,
)
