"""The combinations of D3D12_RESOURCE_STATES that are valid for a buffer."""

from __future__ import annotations

from functools import lru_cache

from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE,
    D3D12_COMMAND_LIST_TYPE_COMPUTE,
    D3D12_COMMAND_LIST_TYPE_COPY,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_COPY_SOURCE,
    D3D12_RESOURCE_STATE_DEPTH_READ,
    D3D12_RESOURCE_STATE_DEPTH_WRITE,
    D3D12_RESOURCE_STATE_GENERIC_READ,
    D3D12_RESOURCE_STATE_INDIRECT_ARGUMENT,
    D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE,
    D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE,
    D3D12_RESOURCE_STATE_RENDER_TARGET,
    D3D12_RESOURCE_STATE_RESOLVE_DEST,
    D3D12_RESOURCE_STATE_RESOLVE_SOURCE,
    D3D12_RESOURCE_STATE_SHADING_RATE_SOURCE,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_VERTEX_AND_CONSTANT_BUFFER,
    D3D12_RESOURCE_STATES,
)
from ..sync_validation.resource_states import WRITE_STATES

GENERIC_READ = D3D12_RESOURCE_STATE_GENERIC_READ
COPY_DEST = D3D12_RESOURCE_STATE_COPY_DEST

# The states besides COMMON that a list of each type can transition a buffer into or out of; a DIRECT list can do all
# (d3d12 "Executing and synchronizing command lists" and D3D12_RESOURCE_STATES).
COPY_STATES = D3D12_RESOURCE_STATE_COPY_DEST | D3D12_RESOURCE_STATE_COPY_SOURCE
STATES_OF_LISTS: dict[D3D12_COMMAND_LIST_TYPE, D3D12_RESOURCE_STATES] = {
    D3D12_COMMAND_LIST_TYPE_COPY: COPY_STATES,
    D3D12_COMMAND_LIST_TYPE_COMPUTE: (
        COPY_STATES
        | D3D12_RESOURCE_STATE_VERTEX_AND_CONSTANT_BUFFER
        | D3D12_RESOURCE_STATE_UNORDERED_ACCESS
        | D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE
        | D3D12_RESOURCE_STATE_INDIRECT_ARGUMENT
        | D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE
    ),
}

REQUIRED_FLAGS = {
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS: (D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
}

# Combinations of states whose rules are remembered: operations on enumerations take longer than the rest of a barrier.
REMEMBERED = 256
TEXTURE_STATES = (
    D3D12_RESOURCE_STATE_RENDER_TARGET,
    D3D12_RESOURCE_STATE_DEPTH_WRITE,
    D3D12_RESOURCE_STATE_DEPTH_READ,
    D3D12_RESOURCE_STATE_RESOLVE_DEST,
    D3D12_RESOURCE_STATE_RESOLVE_SOURCE,
    D3D12_RESOURCE_STATE_SHADING_RATE_SOURCE,
)


@lru_cache(REMEMBERED)
def texture_state(states: D3D12_RESOURCE_STATES) -> str | None:
    for state in TEXTURE_STATES:
        if states & state:
            return f"has {state.name}, which is for textures"
    return None


@lru_cache(REMEMBERED)
def combined_write_state(states: D3D12_RESOURCE_STATES) -> str | None:
    for state in WRITE_STATES:
        if states & state and states != state:
            return f"combines {state.name} with other states; a write state must stand alone"
    return None


@lru_cache(REMEMBERED)
def missing_flag(states: D3D12_RESOURCE_STATES, flags: int) -> str | None:
    for state, flag in REQUIRED_FLAGS.items():
        if states & state and not flags & flag:
            return f"is {state.name}, which needs {flag.name}"
    return None


@lru_cache(REMEMBERED)
def beyond_list(states: D3D12_RESOURCE_STATES, list_type: D3D12_COMMAND_LIST_TYPE) -> D3D12_RESOURCE_STATES:
    """The part of ``states`` that a command list of this type cannot use."""
    allowed = STATES_OF_LISTS.get(list_type)
    return D3D12_RESOURCE_STATES(0) if allowed is None else states & ~allowed


def state_problem(states: D3D12_RESOURCE_STATES, flags: int) -> str | None:
    """Why a buffer with these D3D12_RESOURCE_FLAGS cannot be in ``states``; None if it can."""
    if not states:
        return None
    return texture_state(states) or combined_write_state(states) or missing_flag(states, flags)
