"""Buffers and byte ranges of buffers."""

from __future__ import annotations

import threading
import weakref
from typing import Generic, NamedTuple, Protocol, TypeVar

from ..abi.lifetime import Lifetime
from ..abi.locks import renew_after_fork
from .allocation import Allocation, Bytes

T = TypeVar("T")


class Dependent(Protocol):
    def let_go_of_memory(self) -> None:
        """Drop what refers to the memory of buffers. May be called in any thread."""


class Buffer(Lifetime):
    """A part of an allocation, which recorded commands still refer to after its object is released.

    ``heap`` is the lifetime of the heap that it was placed in, which it does not extend; None for a buffer with memory
    of its own. ``initial_state`` and ``has_fixed_state`` are for barriers: the states are those of the API.
    """

    __slots__ = (
        "address",
        "allocation",
        "dependents",
        "gpu_address",
        "has_fixed_state",
        "heap",
        "initial_state",
        "is_host_visible",
        "is_read_back",
        "is_shared",
        "maps",
        "memory",
        "offset",
        "width",
    )

    def __init__(
        self, kind: str, allocation: Allocation, offset: int, width: int, heap: Lifetime | None = None
    ) -> None:
        super().__init__(kind)
        self.allocation = allocation
        self.offset = offset
        self.width = width
        self.heap = heap
        self.gpu_address = allocation.gpu_address + offset
        self.address = allocation.address + offset
        self.memory: Bytes = allocation.bytes[offset : offset + width]
        # Whether the CPU may access its memory, and other devices.
        self.is_host_visible = False
        # Whether the CPU only reads it: a READBACK heap.
        self.is_read_back = False
        self.is_shared = False
        self.initial_state = 0
        self.has_fixed_state = False
        # The offset and size that may be read through each outstanding map; 0 bytes if the map has already reported a
        # hazard. A BufferRange would keep a buffer alive that is released while it is mapped.
        self.maps: list[tuple[int, int]] = []
        # Objects that keep something which refers to the memory.
        self.dependents: weakref.WeakSet[Dependent] | None = None

    def add_dependent(self, dependent: Dependent) -> None:
        """Have ``dependent`` let the memory go when the resource is released, even if it already is."""
        if self.dependents is None:
            self.dependents = weakref.WeakSet()
        self.dependents.add(dependent)
        if self.released:
            dependent.let_go_of_memory()

    def release(self) -> None:
        super().release()
        for dependent in self.dependents or ():
            dependent.let_go_of_memory()

    @property
    def whole(self) -> BufferRange:
        return BufferRange(self, 0, self.width)

    def range_problem(self, offset: int, size: int) -> str | None:
        """Why ``size`` bytes at ``offset`` are not within the buffer; None if they are."""
        if offset + size <= self.width:
            return None
        return f"needs bytes {offset} to {offset + size}, but {self} has {self.width} bytes"


class BufferRange(NamedTuple):
    """Bytes ``offset`` to ``offset + size`` of a buffer; whoever creates it checks the bounds."""

    buffer: Buffer
    offset: int
    size: int

    @property
    def bytes(self) -> Bytes:
        return self.buffer.memory[self.offset : self.offset + self.size]

    @property
    def gpu_address(self) -> int:
        return self.buffer.gpu_address + self.offset

    @property
    def address(self) -> int:
        """Where the bytes are in this process."""
        return self.buffer.address + self.offset

    @property
    def words(self) -> str:
        return f"bytes {self.offset} to {self.offset + self.size}"

    def overlaps(self, other: BufferRange) -> bool:
        """Whether both share memory, including through different resources of one heap."""
        if self.buffer.allocation is not other.buffer.allocation:
            return False
        start, other_start = self.gpu_address, other.gpu_address
        return max(start, other_start) < min(start + self.size, other_start + other.size)


class Living(Generic[T]):
    """A weak ordered set: live items in insertion order."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        renew_after_fork(self, "_lock")
        self._all: weakref.WeakKeyDictionary[T, None] = weakref.WeakKeyDictionary()

    def add(self, item: T) -> None:
        with self._lock:
            self._all[item] = None

    def living(self) -> list[T]:
        with self._lock:
            return list(self._all)


class Buffers(Living[Buffer]):
    """The buffers of one device."""

    def at(self, address: int, size: int) -> Buffer | None:
        """The buffer that contains ``size`` bytes at a GPU virtual address; the newest one of several that alias."""
        for buffer in reversed(self.living()):
            start = buffer.whole.gpu_address
            if start <= address and address + size <= start + buffer.width and not buffer.released:
                return buffer
        return None
