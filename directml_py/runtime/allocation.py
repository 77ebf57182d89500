"""Memory and virtual address ranges of heaps, resources and descriptor heaps.

The memory of released buffers is reused for new ones of the same size: the page faults of fresh memory cost more than
many operators do, most of all in a virtual machine.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..abi.hresult import E_OUTOFMEMORY, DMLError
from ..abi.locks import renew_after_fork
from ..abi.physical_memory import physical_memory

if TYPE_CHECKING:
    import numpy.typing as npt

Bytes: TypeAlias = "npt.NDArray[np.uint8]"

# The C allocator reuses smaller blocks itself; larger ones are returned to the system rather than held back.
SIZES = range(1 << 18, (1 << 25) + 1)
# A network has as many: weights before and after they are packed, inputs, outputs, temporary and persistent resources.
IDLE = 6
# Bytes of all idle blocks.
MOST = 96 << 20


class Recycling:
    """Allocates memory, and keeps the most recently freed blocks.

    A block is freed when no array views it any more, which may happen within any statement of any thread: there is no
    lock, and every step leaves the deque consistent.
    """

    def __init__(self) -> None:
        self._idle: deque[Bytes] = deque(maxlen=IDLE)

    def memory(self, size: int, is_zeroed: bool = True) -> Bytes:
        """``size`` bytes, zeroed or as a freed block left them."""
        if size not in SIZES:
            return np.zeros(size, np.uint8)
        memory = self._pop_idle(size)
        if memory is None:
            memory = np.zeros(size, np.uint8)
        elif is_zeroed:
            memory.fill(0)
        # NumPy collapses the bases of views to the array that owns the memory. Through a memoryview that chain ends at
        # this array, so its finalizer runs when the last view is gone.
        block = np.frombuffer(memory.data, np.uint8)
        weakref.finalize(block, self._keep, memory).atexit = False
        return block

    def _keep(self, memory: Bytes) -> None:
        self._idle.append(memory)
        # A copy, unlike a tuple, allocates nothing while it iterates, so that no finalizer changes the deque meanwhile.
        while sum([block.size for block in self._idle.copy()]) > MOST:
            try:
                self._idle.popleft()
            except IndexError:
                return

    def _pop_idle(self, size: int) -> Bytes | None:
        for _ in range(IDLE):
            try:
                memory = self._idle.popleft()
            except IndexError:
                break
            if memory.size == size:
                return memory
            self._idle.append(memory)
        return None


RECYCLING = Recycling()

CACHE_LINE = 64
# Fills undefined bytes where they must not be zeros.
PATTERN = 0xCD
# Buffers begin at multiples of it.
PAGE = 0x10000


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


GPU_MEMORY = AddressSpace(0x1_0000_0000, PAGE)
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
        start: int = block.ctypes.data
        skip = -start % CACHE_LINE
        self.bytes: Bytes = block[skip : skip + size]
        self.address = start + skip
        self.gpu_address = GPU_MEMORY.take(size)
