"""The rules of Direct3D 12 that the debug layer checks while commands execute."""

from __future__ import annotations

from ...abi.rules import rule

BARRIERS = "using-resource-barriers-to-synchronize-resource-states-in-direct3d-12"

UAV_BARRIER = rule(
    "D3D12-UAVBarrier-missing",
    "A UAV barrier or a transition stands between two dispatches of one ExecuteCommandLists that share bytes which one "
    "of them writes",
    "dml-barriers",
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
RELEASED = rule(
    "D3D12-Object-released",
    "What commands in flight use is not released before they have run",
    "dml-resource-lifetime",
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
UNDEFINED = rule(
    "D3D12-Contents-undefined",
    "A dispatch reads elements that something has written",
    "nf-d3d12-createcommittedresource",
    debug=True,
)
