"""Buffer pool: reuses the memory of released buffers for new ones of the same size. The page faults of fresh memory
cost more than many operators do, most of all in a virtual machine."""

from __future__ import annotations

import weakref
from collections import deque

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

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
