"""Binding points, the memory bound to them, and the descriptors of a table."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from ..d3d12 import ID3D12DescriptorHeap
from ..runtime.buffer import BufferRange


class BindingPoint(NamedTuple):
    """A binding point by kind and index.

    ``kind`` is ``input``, ``output``, ``temporary`` or ``persistent``. ``position`` is the index of the tensor; for an
    initializer it is that of the operator, and ``part`` that of the operator's input.
    """

    kind: str
    position: int = 0
    part: int = 0

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("input", "output")

    @property
    def name(self) -> str:
        """The name in messages, with the Bind methods' indices: ``inputs[1]``, ``the temporary resource``."""
        if not self.is_tensor:
            return f"the {self.kind} resource"
        part = f".Bindings[{self.part}]" if self.part else ""
        return f"{self.kind}s[{self.position}]{part}"


TEMPORARY = BindingPoint("temporary")
PERSISTENT = BindingPoint("persistent")


class Bound(NamedTuple):
    """A binding point with the range bound to it."""

    slot: BindingPoint
    view: BufferRange


Views: TypeAlias = Mapping[BindingPoint, BufferRange | None]
NO_VIEWS: Views = MappingProxyType({})


class DescriptorRange:
    """The descriptors of one heap from ``start``, with a weak reference to the heap, which the program owns."""

    def __init__(self, heap: ID3D12DescriptorHeap, start: int) -> None:
        self._heap = weakref.ref(heap)
        self.life = heap.life
        self.shader_visible = heap.shader_visible
        self.start = start

    @property
    def heap(self) -> ID3D12DescriptorHeap | None:
        """None if the heap was released."""
        return self._heap()

    def read(self, index: int) -> BufferRange | None:
        heap = self.heap
        view = None if heap is None else heap.read(self.start + index)
        return view if isinstance(view, BufferRange) else None

    def is_empty(self, index: int) -> bool:
        """Whether the heap is there and nothing is written at ``index``."""
        heap = self.heap
        return heap is not None and heap.read(self.start + index) is None

    def writer(self, index: int) -> str:
        """The call that has written a descriptor, as far as it is known."""
        heap = self.heap
        return "" if heap is None else heap.writer(self.start + index)


def do_overlap(ranges: Iterable[tuple[int, int]]) -> bool:
    """Whether any two ranges, of an address and a size, share bytes."""
    end = 0
    for start, size in sorted(ranges):
        if start < end:
            return True
        end = start + size
    return False
