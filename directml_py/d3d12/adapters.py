"""The adapters that DXGI and DXCore describe and that devices are created on."""

from __future__ import annotations

import weakref
from typing import Any, Final, NamedTuple

from ..api.d3d12_structs import LUID
from .allocation import Allocation, physical_memory

# No maker's: PCI has 16 bits for vendors. A real one, or that of WARP, would send programs the ways that they keep
# for its drivers.
VENDOR_ID: Final = 0x444D4C
DRIVER_VERSION: Final = (1, 0, 0, 0)
# For systems that do not tell.
_SOME_MEMORY: Final = 8 << 30


class Adapter(NamedTuple):
    """``number`` tells the adapters apart: it is the device ID and makes the LUID."""

    description: str
    number: int
    is_software: bool

    @property
    def luid(self) -> LUID:
        # Alike in all processes: they share the adapters of the machine.
        return LUID(VENDOR_ID, self.number)


# What programs take that look for hardware, for they skip software adapters and then give up.
HARDWARE: Final = Adapter("directml-py", 1, False)
# The same machine under another name, for programs that ask for WARP and check that they have it.
SOFTWARE: Final = Adapter("directml-py (software)", 2, True)

# As on Windows, both can be found by LUID. Only the first is listed, so that nobody takes them for two.
ADAPTERS: Final = (HARDWARE, SOFTWARE)


class AdapterObject:
    """What ``D3D12CreateDevice`` takes: base of the adapters of DXGI and DXCore."""

    adapter: Adapter


def adapter_of(value: Any) -> Adapter:
    """The adapter that the argument of ``D3D12CreateDevice`` means; None is the first."""
    if value is None:
        return HARDWARE
    if not isinstance(value, AdapterObject):
        raise TypeError(
            f"adapter must be an IDXGIAdapter, an IDXCoreAdapter or None, not {type(value).__name__}"
        )
    return value.adapter


def adapter_with(luid: LUID) -> Adapter | None:
    return next((adapter for adapter in ADAPTERS if bytes(adapter.luid) == bytes(luid)), None)


def driver_version() -> int:
    """Four numbers of 16 bits, the first highest, as in a LARGE_INTEGER of Windows."""
    version = 0
    for part in DRIVER_VERSION:
        version = version << 16 | part
    return version


class AdapterMemory(NamedTuple):
    """Bytes. The adapter has its own half of the machine's memory, and may share the other."""

    dedicated: int
    shared: int


def memory() -> AdapterMemory:
    half = (physical_memory() or _SOME_MEMORY) // 2
    return AdapterMemory(half, half)


_allocations: weakref.WeakSet[Allocation] = weakref.WeakSet()


def count_in(allocation: Allocation) -> None:
    """Let ``used_memory`` know of it for as long as it lives."""
    _allocations.add(allocation)


def used_memory() -> int:
    """Bytes of all heaps and resources of this process."""
    return sum(allocation.bytes.nbytes for allocation in list(_allocations))
