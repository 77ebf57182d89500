"""Memory and virtual address ranges of heaps, resources and descriptor heaps."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ..abi.hresult import E_OUTOFMEMORY, DMLError
from ..abi.locks import renew_after_fork
from ..abi.physical_memory import physical_memory
from .buffer_pool import RECYCLING, Bytes
from .d3d12_constants import D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT

if TYPE_CHECKING:
    from .sync_validation.happens_before import Uses
    from .sync_validation.host_memory import HostMemory
    from .sync_validation.shadow_memory import ShadowMemory

CACHE_LINE = 64
# Fills undefined bytes where they must not be zeros.
PATTERN = 0xCD


class AddressSpace:
    """Allocates virtual address ranges that are never dereferenced. Ranges are never adjacent and never reused, so that
    a stale or overrun address is detected instead of aliasing another object's memory."""

    def __init__(self, start: int, alignment: int) -> None:
        self._next = start
        self._alignment = alignment
        # Reentrant: a finalizer or a signal handler of the program may interrupt the thread that holds it.
        self._lock = threading.RLock()
        renew_after_fork(self, "_lock")

    def take(self, size: int) -> int:
        length = (-(-size // self._alignment) + 1) * self._alignment
        with self._lock:
            start = self._next
            self._next = start + length
        return start


GPU_MEMORY = AddressSpace(0x1_0000_0000, D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT)
CPU_DESCRIPTORS = AddressSpace(0x5_0000_0000_0000, 4096)
GPU_DESCRIPTORS = AddressSpace(0x6_0000_0000_0000, 4096)


class Allocation:
    """``size`` bytes, aligned to a cache line, with a GPU virtual address range of their own.

    Raises ``DMLError`` ``E_OUTOFMEMORY`` for more than the machine has.
    """

    def __init__(self, size: int, is_zeroed: bool = True) -> None:
        limit = physical_memory()
        try:
            # Systems that overcommit grant any amount and fail when it is touched, which cannot be caught.
            if limit is not None and size > limit:
                raise MemoryError
            block = RECYCLING.memory(size + CACHE_LINE, is_zeroed)
        except (MemoryError, ValueError, OverflowError):
            raise DMLError(E_OUTOFMEMORY, f"there is no memory for {size} bytes") from None
        skip = -block.ctypes.data % CACHE_LINE
        self.bytes: Bytes = block[skip : skip + size]
        # For the debug layer: how queues use it, by their numbers, and one of the others.
        self.uses: dict[int, Uses] = {}
        self.shadow: ShadowMemory | None = None
        self.host: HostMemory | None = None
        self.gpu_address = GPU_MEMORY.take(size)
