"""Decodes D3D12_RESOURCE_BARRIER structs and checks the rules that do not depend on a resource's current state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..abi.arguments import enumerator, flags, invalid
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE,
    D3D12_MESSAGE_ID,
    D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMMAND_LIST_TYPE,
    D3D12_MESSAGE_ID_RESOURCE_BARRIER_MISSING_BIND_FLAGS,
    D3D12_MESSAGE_ID_RESOURCE_BARRIER_NULL_POINTER,
    D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY,
    D3D12_RESOURCE_BARRIER_FLAG_END_ONLY,
    D3D12_RESOURCE_BARRIER_FLAGS,
    D3D12_RESOURCE_BARRIER_TYPE,
    D3D12_RESOURCE_BARRIER_TYPE_ALIASING,
    D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATES,
)
from ..api.d3d12_structs import D3D12_RESOURCE_BARRIER
from ..runtime.buffer import Buffer
from ..runtime.recording import AliasingBarrier, Barrier, TransitionBarrier, UAVBarrier
from ..sync_validation.resource_states import state_name
from .buffer_states import beyond_list, combined_write_state, missing_flag, texture_state
from .d3d12_constants import D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES
from .resource import ID3D12Resource, ResourceBuffer

if TYPE_CHECKING:
    from .device_child import ParentDevice

ALLOW_UNORDERED_ACCESS: Final = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
BEGIN_ONLY: Final = D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY
END_ONLY: Final = D3D12_RESOURCE_BARRIER_FLAG_END_ONLY


class Problem(NamedTuple):
    id: D3D12_MESSAGE_ID
    text: str


def _buffer(handle: int | None, name: str, device: ParentDevice) -> ResourceBuffer | None:
    """The buffer of a handle, None for null. Raises ``E_INVALIDARG`` if it is not a live resource of ``device``."""
    if not handle:
        return None
    resource = ID3D12Resource.from_handle(handle)
    if resource is None:
        raise invalid(f"{name} is not an ID3D12Resource that is alive")
    if resource.device is not device:
        raise invalid(f"{name} belongs to another device")
    return resource.buffer


def decode(
    desc: D3D12_RESOURCE_BARRIER, name: str, device: ParentDevice, list_type: D3D12_COMMAND_LIST_TYPE
) -> Barrier | Problem:
    """The barrier that ``desc`` describes, or the problem that makes it invalid in a command list of ``list_type``.

    Raises ``DMLError`` for a struct that is not a barrier at all: an unknown type or flag, a dangling pointer, another
    device's resource.
    """
    kind = enumerator(desc.Type, D3D12_RESOURCE_BARRIER_TYPE, f"{name}.Type")
    split = flags(desc.Flags, D3D12_RESOURCE_BARRIER_FLAGS, f"{name}.Flags")
    if kind == D3D12_RESOURCE_BARRIER_TYPE_TRANSITION:
        return _transition(desc.Transition, f"{name}.Transition", split, device, list_type)
    if kind == D3D12_RESOURCE_BARRIER_TYPE_ALIASING:
        aliasing = desc.Aliasing
        return AliasingBarrier(
            _buffer(aliasing.pResourceBefore, f"{name}.Aliasing.pResourceBefore", device),
            _buffer(aliasing.pResourceAfter, f"{name}.Aliasing.pResourceAfter", device),
        )
    buffer = _buffer(desc.UAV.pResource, f"{name}.UAV.pResource", device)
    if buffer is not None and not buffer.allows_unordered_access:
        return Problem(
            D3D12_MESSAGE_ID_RESOURCE_BARRIER_MISSING_BIND_FLAGS,
            f"{name}.UAV.pResource: {buffer} was created without {ALLOW_UNORDERED_ACCESS.name}",
        )
    if beyond_list(D3D12_RESOURCE_STATE_UNORDERED_ACCESS, list_type):
        return Problem(
            D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMMAND_LIST_TYPE,
            f"{name} is a UAV barrier, which a {list_type.name} list cannot record",
        )
    return UAVBarrier(buffer)


def transitioned_twice(barriers: Sequence[Barrier]) -> str | None:
    """A message about the first buffer that one ResourceBarrier transitions several times; None if there is none. Each
    transition may be right, since they apply in order, but one would do (d3d12 "Using resource barriers")."""
    first: dict[Buffer, int] = {}
    for index, barrier in enumerate(barriers):
        if not isinstance(barrier, TransitionBarrier):
            continue
        earlier = first.setdefault(barrier.buffer, index)
        if earlier != index:
            return f"barriers[{earlier}] and barriers[{index}] are transitions of {barrier.buffer}; one call needs one"
    return None


def _transition(
    desc: Any,
    name: str,
    split: D3D12_RESOURCE_BARRIER_FLAGS,
    device: ParentDevice,
    list_type: D3D12_COMMAND_LIST_TYPE,
) -> TransitionBarrier | Problem:
    before = flags(desc.StateBefore, D3D12_RESOURCE_STATES, f"{name}.StateBefore")
    after = flags(desc.StateAfter, D3D12_RESOURCE_STATES, f"{name}.StateAfter")
    buffer = _buffer(desc.pResource, f"{name}.pResource", device)
    if buffer is None:
        return Problem(D3D12_MESSAGE_ID_RESOURCE_BARRIER_NULL_POINTER, f"{name}.pResource is null")
    subresource = desc.Subresource
    problems = _transition_problems(buffer, subresource, before, after, split, name, list_type)
    return next(problems, TransitionBarrier(buffer, subresource, before, after, split))


def _transition_problems(
    buffer: ResourceBuffer,
    subresource: int,
    before: D3D12_RESOURCE_STATES,
    after: D3D12_RESOURCE_STATES,
    split: D3D12_RESOURCE_BARRIER_FLAGS,
    name: str,
    list_type: D3D12_COMMAND_LIST_TYPE,
) -> Iterator[Problem]:
    ids = D3D12_MESSAGE_ID
    if subresource not in (0, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES):
        yield Problem(
            ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_SUBRESOURCE,
            f"{name}.Subresource must be 0 or all subresources for a buffer, not {subresource}",
        )
    if split == BEGIN_ONLY | END_ONLY:
        yield Problem(
            ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_FLAG,
            f"{name}: a barrier cannot be both {BEGIN_ONLY.name} and {END_ONLY.name}",
        )
    if before == after:
        yield Problem(
            ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_MATCHING_STATES,
            f"{name}: StateBefore and StateAfter are the same",
        )
    if buffer.has_fixed_state:
        yield Problem(
            ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_HEAP,
            f"{name}.pResource: {buffer} stays in one state, as in every {buffer.heap_type.name} heap",
        )
    for field, states in (("StateBefore", before), ("StateAfter", after)):
        yield from _state_problems(states, buffer, f"{name}.{field}")
        beyond = beyond_list(states, list_type)
        if beyond:
            yield Problem(
                ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMMAND_LIST_TYPE,
                f"{name}.{field} has {state_name(beyond)}, which a {list_type.name} list cannot use",
            )


def _state_problems(states: D3D12_RESOURCE_STATES, buffer: ResourceBuffer, name: str) -> Iterator[Problem]:
    ids = D3D12_MESSAGE_ID
    combined = combined_write_state(states)
    if combined:
        yield Problem(ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMBINATION, f"{name} {combined}")
    problem = texture_state(states) or missing_flag(states, buffer.flags)
    if problem:
        yield Problem(ids.D3D12_MESSAGE_ID_RESOURCE_BARRIER_MISSING_BIND_FLAGS, f"{name} {problem}")
