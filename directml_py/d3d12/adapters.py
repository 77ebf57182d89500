"""The adapters that DXGI and DXCore enumerate and that devices are created on."""

from __future__ import annotations

import os
import weakref
from functools import cache
from typing import Any, Final, NamedTuple

from ..abi.arguments import invalid
from ..abi.physical_memory import physical_memory
from ..api.d3d12_enums import D3D_FEATURE_LEVEL
from ..api.d3d12_structs import LUID
from ..runtime.allocation import Allocation

# No vendor has it: PCI vendor IDs have 16 bits. A real vendor's, or WARP's, would trigger the workarounds that programs
# have for its drivers.
VENDOR_ID: Final = 0x444D4C
DRIVER_VERSION: Final = (1, 0, 0, 0)
# The feature levels of Direct3D 12: 11_0 and up, and the compute-only ones.
DEVICE_LEVELS: Final = tuple(
    level
    for level in D3D_FEATURE_LEVEL
    if level >= D3D_FEATURE_LEVEL.D3D_FEATURE_LEVEL_11_0
    or level <= D3D_FEATURE_LEVEL.D3D_FEATURE_LEVEL_1_0_CORE
)
MAX_FEATURE_LEVEL: Final = D3D_FEATURE_LEVEL.D3D_FEATURE_LEVEL_12_1
# Assumed where the system does not report its memory.
_DEFAULT_MEMORY: Final = 8 << 30


class Adapter(NamedTuple):
    """``number`` identifies the adapter: it is the device ID and part of the LUID. One without graphics is an NPU."""

    description: str
    number: int
    is_software: bool
    has_graphics: bool = True

    @property
    def luid(self) -> LUID:
        # The same in all processes, which share the machine's adapters.
        return LUID(VENDOR_ID, self.number)


# For programs that look for hardware: they skip software adapters and fail if nothing else is left.
HARDWARE: Final = Adapter("directml-py", 1, False)
# The same machine under another name, for programs that ask for WARP and check that they got it.
SOFTWARE: Final = Adapter("directml-py (software)", 2, True)

# The number of enumerated adapters, for programs that skip the first, or a list of their kinds.
COUNT_VARIABLE: Final = "DIRECTML_PY_ADAPTERS"
_MOST: Final = 16
GPU: Final = "gpu"
NPU: Final = "npu"


def enumerated_adapters() -> tuple[Adapter, ...]:
    """The hardware adapters that DXCore enumerates, and DXGI those with graphics: one, so that no program takes a
    machine for two GPUs, or ``DIRECTML_PY_ADAPTERS``: a number of GPUs, or ``gpu`` and ``npu`` in any order, as in
    ``gpu,npu``. Raises ``E_INVALIDARG`` for other values."""
    return _adapters(os.environ.get(COUNT_VARIABLE, "") or "1")


@cache
def _adapters(text: str) -> tuple[Adapter, ...]:
    kinds = [GPU] * int(text) if text.isdecimal() and int(text) <= _MOST else text.split(",")
    if not 1 <= len(kinds) <= _MOST or not {GPU, NPU}.issuperset(kinds):
        raise invalid(
            f"{COUNT_VARIABLE} must be a number from 1 to {_MOST} or a list of {GPU} and {NPU}, not {text!r}"
        )
    return tuple(_enumerated(position, kind) for position, kind in enumerate(kinds, 1))


def _enumerated(position: int, kind: str) -> Adapter:
    if position == 1 and kind == GPU:
        return HARDWARE
    words = [kind.upper()] * (kind == NPU) + [str(position)] * (position > 1)
    number = HARDWARE.number if position == 1 else SOFTWARE.number + position - 1
    return Adapter(f"{HARDWARE.description} ({' '.join(words)})", number, False, kind == GPU)


class AdapterObject:
    """Base class of the DXGI and DXCore adapters, which ``D3D12CreateDevice`` accepts."""

    adapter: Adapter


def adapter_of(value: Any) -> Adapter:
    """The adapter that an argument of ``D3D12CreateDevice`` selects; None selects the first with graphics."""
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
