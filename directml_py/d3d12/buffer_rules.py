"""Validation of heap properties, heap flags and buffer descs.

Each function raises one ``DMLError`` that lists every problem; messages use the parameter names of the
``ID3D12Device`` methods. Source: the pages of D3D12_RESOURCE_DESC, D3D12_HEAP_PROPERTIES, D3D12_HEAP_DESC,
D3D12_HEAP_FLAGS, D3D12_HEAP_TYPE and CreateCommittedResource.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Final

from ..abi.arguments import enumerator, flags, invalid, uint
from ..abi.hresult import E_NOTIMPL, DMLError
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_CPU_PAGE_PROPERTY,
    D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE,
    D3D12_CPU_PAGE_PROPERTY_UNKNOWN,
    D3D12_CPU_PAGE_PROPERTY_WRITE_BACK,
    D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE,
    D3D12_HEAP_FLAG_ALLOW_DISPLAY,
    D3D12_HEAP_FLAG_ALLOW_WRITE_WATCH,
    D3D12_HEAP_FLAG_DENY_BUFFERS,
    D3D12_HEAP_FLAG_DENY_NON_RT_DS_TEXTURES,
    D3D12_HEAP_FLAG_DENY_RT_DS_TEXTURES,
    D3D12_HEAP_FLAG_HARDWARE_PROTECTED,
    D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE,
    D3D12_HEAP_TYPE_CUSTOM,
    D3D12_HEAP_TYPE_DEFAULT,
    D3D12_HEAP_TYPE_READBACK,
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_MEMORY_POOL,
    D3D12_MEMORY_POOL_L0,
    D3D12_MEMORY_POOL_L1,
    D3D12_MEMORY_POOL_UNKNOWN,
    D3D12_RESOURCE_DIMENSION,
    D3D12_RESOURCE_DIMENSION_BUFFER,
    D3D12_RESOURCE_DIMENSION_UNKNOWN,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_STATES,
    D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
    DXGI_FORMAT_UNKNOWN,
)
from ..api.d3d12_structs import D3D12_HEAP_DESC, D3D12_HEAP_PROPERTIES, D3D12_RESOURCE_DESC
from .buffer_states import COPY_DEST, GENERIC_READ, state_problem
from .d3d12_constants import (
    D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT,
    D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
)

DEFAULT: Final = D3D12_HEAP_TYPE_DEFAULT
UPLOAD: Final = D3D12_HEAP_TYPE_UPLOAD
READBACK: Final = D3D12_HEAP_TYPE_READBACK
CUSTOM: Final = D3D12_HEAP_TYPE_CUSTOM

UNKNOWN_PAGES: Final = D3D12_CPU_PAGE_PROPERTY_UNKNOWN
NO_CPU_ACCESS: Final = D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE
UNKNOWN_POOL: Final = D3D12_MEMORY_POOL_UNKNOWN

ALLOW_UNORDERED_ACCESS: Final = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS

# What the abstracted heap types mean on a discrete adapter (GetCustomHeapProperties).
CUSTOM_EQUIVALENTS: Final = {
    DEFAULT: (NO_CPU_ACCESS, D3D12_MEMORY_POOL_L1),
    UPLOAD: (
        D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE,
        D3D12_MEMORY_POOL_L0,
    ),
    READBACK: (
        D3D12_CPU_PAGE_PROPERTY_WRITE_BACK,
        D3D12_MEMORY_POOL_L0,
    ),
}

# The only state in which a resource in such a heap can be created; it never leaves it.
FIXED_STATES: Final[dict[int, D3D12_RESOURCE_STATES]] = {UPLOAD: GENERIC_READ, READBACK: COPY_DEST}

_BUFFER_FIELDS: Final = (
    ("Height", 1),
    ("DepthOrArraySize", 1),
    ("MipLevels", 1),
    ("Format", DXGI_FORMAT_UNKNOWN),
    ("SampleDesc.Count", 1),
    ("SampleDesc.Quality", 0),
    ("Layout", D3D12_TEXTURE_LAYOUT_ROW_MAJOR),
)

_CLASS_FLAGS: Final = (
    D3D12_HEAP_FLAG_DENY_BUFFERS
    | D3D12_HEAP_FLAG_DENY_RT_DS_TEXTURES
    | D3D12_HEAP_FLAG_DENY_NON_RT_DS_TEXTURES
)
_UNSUPPORTED_FLAGS: Final = (
    D3D12_HEAP_FLAG_ALLOW_DISPLAY | D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER | D3D12_HEAP_FLAG_HARDWARE_PROTECTED
)


def _raise(problems: Iterable[str]) -> None:
    text = "; ".join(problems)
    if text:
        raise invalid(text)


def check_node_mask(mask: int, name: str) -> None:
    if mask not in (0, 1):
        raise invalid(f"{name} must be 0 or 1 on a device with one node, not {mask}")


def check_heap_properties(properties: D3D12_HEAP_PROPERTIES, name: str) -> None:
    kind = enumerator(properties.Type, D3D12_HEAP_TYPE, f"{name}.Type")
    pages = enumerator(properties.CPUPageProperty, D3D12_CPU_PAGE_PROPERTY, f"{name}.CPUPageProperty")
    pool = enumerator(properties.MemoryPoolPreference, D3D12_MEMORY_POOL, f"{name}.MemoryPoolPreference")
    problems = []
    for field, value, unknown in (
        ("CPUPageProperty", pages, UNKNOWN_PAGES),
        ("MemoryPoolPreference", pool, UNKNOWN_POOL),
    ):
        if kind == CUSTOM and value == unknown:
            problems.append(f"{name}.{field} must not be {unknown.name} in a custom heap")
        elif kind != CUSTOM and value != unknown:
            problems.append(f"{name}.{field} must be {unknown.name} unless {name}.Type is {CUSTOM.name}")
    if kind == CUSTOM and pool == D3D12_MEMORY_POOL_L1 and pages > NO_CPU_ACCESS:
        problems.append(f"{name}.CPUPageProperty must be {NO_CPU_ACCESS.name} in {pool.name}")
    for field in ("CreationNodeMask", "VisibleNodeMask"):
        if getattr(properties, field) not in (0, 1):
            problems.append(f"{name}.{field} must be 0 or 1 on a device with one node")
    _raise(problems)


def check_heap_flags(value: Any, properties: D3D12_HEAP_PROPERTIES, name: str) -> D3D12_HEAP_FLAGS:
    heap_flags = flags(value, D3D12_HEAP_FLAGS, name)
    if heap_flags & D3D12_HEAP_FLAG_ALLOW_WRITE_WATCH and properties.Type == DEFAULT:
        raise invalid(f"{name} must not have D3D12_HEAP_FLAG_ALLOW_WRITE_WATCH in a {DEFAULT.name} heap")
    if heap_flags & _UNSUPPORTED_FLAGS:
        raise DMLError(E_NOTIMPL, f"{name}: {heap_flags & _UNSUPPORTED_FLAGS!r} is not emulated")
    return heap_flags


def check_committed_flags(value: Any, properties: D3D12_HEAP_PROPERTIES, name: str) -> D3D12_HEAP_FLAGS:
    """Heap flags of a committed resource, which must not restrict the resource class: the resource determines it."""
    heap_flags = check_heap_flags(value, properties, name)
    if heap_flags & _CLASS_FLAGS:
        raise invalid(f"{name} must not have DENY_ or ALLOW_ONLY_ flags for a committed resource")
    return heap_flags


def check_heap_desc(desc: D3D12_HEAP_DESC, name: str) -> None:
    check_heap_properties(desc.Properties, f"{name}.Properties")
    heap_flags = check_heap_flags(desc.Flags, desc.Properties, f"{name}.Flags")
    problems = []
    if not desc.SizeInBytes:
        problems.append(f"{name}.SizeInBytes must not be 0")
    allowed = (
        0,
        D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
        D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT,
    )
    if desc.Alignment not in allowed:
        problems.append(f"{name}.Alignment must be 0, 64 KiB or 4 MiB, not {desc.Alignment}")
    if heap_flags & _CLASS_FLAGS == _CLASS_FLAGS:
        problems.append(f"{name}.Flags deny every class of resources")
    _raise(problems)


def check_buffer_desc(desc: D3D12_RESOURCE_DESC, name: str) -> None:
    """Raises ``E_NOTIMPL`` for a texture, ``E_INVALIDARG`` for an invalid buffer desc."""
    dimension = enumerator(desc.Dimension, D3D12_RESOURCE_DIMENSION, f"{name}.Dimension")
    if dimension == D3D12_RESOURCE_DIMENSION_UNKNOWN:
        raise invalid(f"{name}.Dimension must not be {dimension.name}")
    if dimension != D3D12_RESOURCE_DIMENSION_BUFFER:
        raise DMLError(E_NOTIMPL, f"{name}.Dimension is {dimension.name}; only buffers are emulated")
    problems = []
    if not desc.Width:
        problems.append(f"{name}.Width must not be 0")
    if desc.Alignment not in (0, D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT):
        problems.append(f"{name}.Alignment must be 0 or 64 KiB, not {desc.Alignment}")
    for field, required in _BUFFER_FIELDS:
        value = attrgetter(field)(desc)
        if value != required:
            required_text = getattr(required, "name", required)
            problems.append(f"{name}.{field} must be {required_text} for a buffer, not {value}")
    if desc.Flags & ~int(ALLOW_UNORDERED_ACCESS):
        problems.append(
            f"{name}.Flags may have {ALLOW_UNORDERED_ACCESS.name} only for a buffer, not 0x{desc.Flags:X}"
        )
    _raise(problems)


def check_placement(
    desc: D3D12_RESOURCE_DESC, properties: D3D12_HEAP_PROPERTIES, state: Any, names: tuple[str, str]
) -> D3D12_RESOURCE_STATES:
    """Check that a buffer with this desc and initial state can be placed in a heap of this type, and return the state.
    ``names`` are what messages call the desc and the state."""
    desc_name, state_name = names
    initial = flags(state, D3D12_RESOURCE_STATES, state_name)
    fixed = FIXED_STATES.get(properties.Type)
    problems = []
    if fixed is not None:
        heap = D3D12_HEAP_TYPE(properties.Type).name
        if initial != fixed:
            problems.append(f"{state_name} must be {fixed.name} in a heap of type {heap}")
        if desc.Flags & ALLOW_UNORDERED_ACCESS:
            problems.append(
                f"{desc_name}.Flags must not have {ALLOW_UNORDERED_ACCESS.name} in a heap of type {heap}"
            )
    else:
        problem = state_problem(initial, desc.Flags)
        if problem:
            problems.append(f"{state_name} {problem}")
    _raise(problems)
    return initial


def cpu_accessible(properties: D3D12_HEAP_PROPERTIES) -> bool:
    if properties.Type == CUSTOM:
        return bool(properties.CPUPageProperty != NO_CPU_ACCESS)
    return properties.Type in FIXED_STATES


def check_subresources(first: Any, count: Any) -> None:
    if uint(first, "firstSubresource") != 0 or uint(count, "numSubresources") != 1:
        raise invalid("firstSubresource must be 0 and numSubresources 1: a buffer has one subresource")


def read_buffer_desc(desc: Any, optimized_clear_value: Any) -> D3D12_RESOURCE_DESC:
    """The validated desc of a new buffer, which must have no optimized clear value."""
    buffer_desc = struct_at(desc, D3D12_RESOURCE_DESC, "desc")
    check_buffer_desc(buffer_desc, "desc")
    if optimized_clear_value is not None:
        raise invalid("optimizedClearValue must be None for a buffer")
    return buffer_desc
