"""The combinations of D3D12_RESOURCE_STATES that are valid for a buffer."""

from __future__ import annotations

from ..api.d3d12_enums import (
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_DEPTH_READ,
    D3D12_RESOURCE_STATE_DEPTH_WRITE,
    D3D12_RESOURCE_STATE_GENERIC_READ,
    D3D12_RESOURCE_STATE_RENDER_TARGET,
    D3D12_RESOURCE_STATE_RESOLVE_DEST,
    D3D12_RESOURCE_STATE_RESOLVE_SOURCE,
    D3D12_RESOURCE_STATE_SHADING_RATE_SOURCE,
    D3D12_RESOURCE_STATE_STREAM_OUT,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_VIDEO_DECODE_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_PROCESS_WRITE,
    D3D12_RESOURCE_STATES,
)

GENERIC_READ = D3D12_RESOURCE_STATE_GENERIC_READ
COPY_DEST = D3D12_RESOURCE_STATE_COPY_DEST

# A write state excludes every other state (d3d12 "Using resource barriers").
WRITE_STATES = (
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_STREAM_OUT,
    D3D12_RESOURCE_STATE_VIDEO_DECODE_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_PROCESS_WRITE,
    D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE,
)

REQUIRED_FLAGS = {
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS: (D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
}

TEXTURE_STATES = (
    D3D12_RESOURCE_STATE_RENDER_TARGET,
    D3D12_RESOURCE_STATE_DEPTH_WRITE,
    D3D12_RESOURCE_STATE_DEPTH_READ,
    D3D12_RESOURCE_STATE_RESOLVE_DEST,
    D3D12_RESOURCE_STATE_RESOLVE_SOURCE,
    D3D12_RESOURCE_STATE_SHADING_RATE_SOURCE,
)


def texture_state(states: D3D12_RESOURCE_STATES) -> str | None:
    for state in TEXTURE_STATES:
        if states & state:
            return f"has {state.name}, which is for textures"
    return None


def combined_write_state(states: D3D12_RESOURCE_STATES) -> str | None:
    for state in WRITE_STATES:
        if states & state and states != state:
            return f"combines {state.name} with other states; a write state must stand alone"
    return None


def missing_flag(states: D3D12_RESOURCE_STATES, flags: int) -> str | None:
    for state, flag in REQUIRED_FLAGS.items():
        if states & state and not flags & flag:
            return f"is {state.name}, which needs {flag.name}"
    return None


def state_problem(states: D3D12_RESOURCE_STATES, flags: int) -> str | None:
    """Why a buffer with these D3D12_RESOURCE_FLAGS cannot be in ``states``; None if it can."""
    return texture_state(states) or combined_write_state(states) or missing_flag(states, flags)
