"""Memory of buffers that are gone, for new ones of the same size: to touch memory for the first time costs more than
many an operator, in a virtual machine by far."""

from __future__ import annotations

import weakref
from collections import deque

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

# Less is the allocator's own business, and more is not kept from others.
SIZES = range(1 << 18, (1 << 25) + 1)
IDLE = 3


class Recycling:
    """Hands out zeros, and keeps the last few blocks that came back.

    A block comes back when no array looks at it any more, which may be within any statement of any thread: there is no
    lock, and each step leaves the blocks in order.
    """

    def __init__(self) -> None:
        self._idle: deque[Bytes] = deque(maxlen=IDLE)

    def zeros(self, size: int) -> Bytes:
        """``size`` bytes."""
        if size not in SIZES:
            return np.zeros(size, np.uint8)
        memory = self._taken(size)
        if memory is None:
            memory = np.zeros(size, np.uint8)
        else:
            memory.fill(0)
        # Arrays over this one refer to it, and not to the memory itself, since that is given as something else.
        lent = np.frombuffer(memory.data, np.uint8)
        weakref.finalize(lent, self._idle.append, memory).atexit = False
        return lent

    def _taken(self, size: int) -> Bytes | None:
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
