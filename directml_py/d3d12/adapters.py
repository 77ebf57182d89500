"""The adapters that DXGI and DXCore enumerate and that devices are created on."""

from __future__ import annotations

import os
import weakref
from functools import cache
from typing import Any, Final, NamedTuple

from ..abi.arguments import invalid
from ..abi.physical_memory import physical_memory
from ..api.d3d12_structs import LUID
from ..runtime.allocation import Allocation

# No vendor has it: PCI vendor IDs have 16 bits. A real vendor's, or WARP's, would trigger the workarounds that programs
# have for its drivers.
VENDOR_ID: Final = 0x444D4C
DRIVER_VERSION: Final = (1, 0, 0, 0)
# Assumed where the system does not report its memory.
_DEFAULT_MEMORY: Final = 8 << 30


class Adapter(NamedTuple):
    """``number`` identifies the adapter: it is the device ID and part of the LUID."""

    description: str
    number: int
    is_software: bool

    @property
    def luid(self) -> LUID:
        # The same in all processes, which share the machine's adapters.
        return LUID(VENDOR_ID, self.number)


# For programs that look for hardware: they skip software adapters and fail if nothing else is left.
HARDWARE: Final = Adapter("directml-py", 1, False)
# The same machine under another name, for programs that ask for WARP and check that they got it.
SOFTWARE: Final = Adapter("directml-py (software)", 2, True)

# The number of enumerated adapters, for programs that skip the first.
COUNT_VARIABLE: Final = "DIRECTML_PY_ADAPTERS"
_MOST: Final = 16


def enumerated_adapters() -> tuple[Adapter, ...]:
    """The hardware adapters that DXGI and DXCore enumerate: one, so that no program takes a machine for two GPUs, or
    ``DIRECTML_PY_ADAPTERS``. Raises ``E_INVALIDARG`` if that is not a number from 1 to 16."""
    return _adapters(os.environ.get(COUNT_VARIABLE, "") or "1")


@cache
def _adapters(count: str) -> tuple[Adapter, ...]:
    if not count.isdecimal() or not 1 <= int(count) <= _MOST:
        raise invalid(f"{COUNT_VARIABLE} must be a number from 1 to {_MOST}, not {count!r}")
    others = (
        Adapter(f"{HARDWARE.description} ({position})", SOFTWARE.number + position - 1, False)
        for position in range(2, int(count) + 1)
    )
    return (HARDWARE, *others)


class AdapterObject:
    """Base class of the DXGI and DXCore adapters, which ``D3D12CreateDevice`` accepts."""

    adapter: Adapter


def adapter_of(value: Any) -> Adapter:
    """The adapter that an argument of ``D3D12CreateDevice`` selects; None selects the first."""
    if value is None:
        return HARDWARE
    if not isinstance(value, AdapterObject):
        raise TypeError(
            f"adapter must be an IDXGIAdapter, an IDXCoreAdapter or None, not {type(value).__name__}"
        )
    return value.adapter


def adapter_with(luid: LUID) -> Adapter | None:
    """The adapter with the given LUID, or None. As on Windows, the software adapter is found though not enumerated."""
    every = (*enumerated_adapters(), SOFTWARE)
    return next((adapter for adapter in every if bytes(adapter.luid) == bytes(luid)), None)


def driver_version() -> int:
    """The driver version as a 64-bit integer: four 16-bit parts, the first one highest, as in DXGI's LARGE_INTEGER."""
    version = 0
    for part in DRIVER_VERSION:
        version = version << 16 | part
    return version


class AdapterMemory(NamedTuple):
    """Memory sizes in bytes: half of the machine's memory is dedicated to the adapter, the other half shared."""

    dedicated: int
    shared: int


def memory() -> AdapterMemory:
    half = (physical_memory() or _DEFAULT_MEMORY) // 2
    return AdapterMemory(half, half)


_allocations: weakref.WeakSet[Allocation] = weakref.WeakSet()


def count_in(allocation: Allocation) -> None:
    """Include ``allocation`` in ``used_memory`` for as long as it lives."""
    _allocations.add(allocation)


def used_memory() -> int:
    """Bytes allocated for all heaps and resources of this process."""
    return sum(allocation.bytes.nbytes for allocation in list(_allocations))
