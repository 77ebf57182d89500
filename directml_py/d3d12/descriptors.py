"""``ID3D12DescriptorHeap``: an array of descriptors, addressed by CPU and GPU handles."""

from __future__ import annotations

import bisect
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from ..abi.arguments import enumerator, flags, integer, invalid
from ..abi.locks import renew_after_fork
from ..api.d3d12_enums import (
    D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    D3D12_DESCRIPTOR_HEAP_FLAGS,
    D3D12_DESCRIPTOR_HEAP_TYPE,
    D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
    D3D12_DESCRIPTOR_HEAP_TYPE_DSV,
    D3D12_DESCRIPTOR_HEAP_TYPE_RTV,
    D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER,
    D3D12_MESSAGE_CATEGORY_STATE_GETTING,
    D3D12_MESSAGE_ID_DESCRIPTOR_HEAP_NOT_SHADER_VISIBLE,
    D3D12_MESSAGE_SEVERITY_ERROR,
)
from ..api.d3d12_structs import D3D12_DESCRIPTOR_HEAP_DESC
from ..api.descriptor_handles import D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_GPU_DESCRIPTOR_HANDLE
from ..api.iids import IID_ID3D12DescriptorHeap
from ..runtime.allocation import CPU_DESCRIPTORS, GPU_DESCRIPTORS
from ..text.plural import counted_words
from .buffer_rules import check_node_mask
from .d3d12_constants import (
    D3D12_MAX_SHADER_VISIBLE_DESCRIPTOR_HEAP_SIZE_TIER_2,
    D3D12_MAX_SHADER_VISIBLE_SAMPLER_HEAP_SIZE,
)
from .device_child import ID3D12Pageable, ParentDevice, short

CBV_SRV_UAV: Final = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
SAMPLER: Final = D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER
SHADER_VISIBLE: Final = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE

# Bytes from one handle to the next. Arbitrary values: programs must query them.
INCREMENTS: Final = {
    CBV_SRV_UAV: 32,
    SAMPLER: 16,
    D3D12_DESCRIPTOR_HEAP_TYPE_RTV: 32,
    D3D12_DESCRIPTOR_HEAP_TYPE_DSV: 8,
}

# The types that can be shader-visible, with the maximum number of descriptors.
SHADER_VISIBLE_LIMITS: Final = {
    CBV_SRV_UAV: D3D12_MAX_SHADER_VISIBLE_DESCRIPTOR_HEAP_SIZE_TIER_2,
    SAMPLER: D3D12_MAX_SHADER_VISIBLE_SAMPLER_HEAP_SIZE,
}


def heap_type(value: Any, name: str) -> D3D12_DESCRIPTOR_HEAP_TYPE:
    kind = enumerator(value, D3D12_DESCRIPTOR_HEAP_TYPE, name)
    if kind not in INCREMENTS:
        raise invalid(f"{name} must be a type of descriptor heaps, not {kind.name}")
    return kind


def check_descriptor_heap_desc(desc: D3D12_DESCRIPTOR_HEAP_DESC, name: str) -> None:
    kind = heap_type(desc.Type, f"{name}.Type")
    visible = flags(desc.Flags, D3D12_DESCRIPTOR_HEAP_FLAGS, f"{name}.Flags") & SHADER_VISIBLE
    check_node_mask(desc.NodeMask, f"{name}.NodeMask")
    if not desc.NumDescriptors:
        raise invalid(f"{name}.NumDescriptors must not be 0")
    if not visible:
        return
    limit = SHADER_VISIBLE_LIMITS.get(kind)
    if limit is None:
        raise invalid(f"{name}.Flags must not have {SHADER_VISIBLE.name} for {kind.name}")
    if desc.NumDescriptors > limit:
        raise invalid(f"{name}.NumDescriptors must be at most {limit} in a shader-visible heap")


class ID3D12DescriptorHeap(ID3D12Pageable):
    """An array of ``NumDescriptors`` descriptors. A descriptor is any object, None until one is written."""

    IID = IID_ID3D12DescriptorHeap

    def __init__(self, device: ParentDevice, desc: D3D12_DESCRIPTOR_HEAP_DESC) -> None:
        super().__init__(device)
        self._desc = desc
        self.type = D3D12_DESCRIPTOR_HEAP_TYPE(desc.Type)
        self.increment = INCREMENTS[self.type]
        self.size: int = desc.NumDescriptors
        self.shader_visible = bool(desc.Flags & SHADER_VISIBLE)
        self._slots: dict[int, Any] = {}
        self._writers: dict[int, str] = {}
        extent = self.size * self.increment
        self.cpu_start = CPU_DESCRIPTORS.take(extent)
        self.gpu_start = GPU_DESCRIPTORS.take(extent) if self.shader_visible else 0

    def _about(self) -> str:
        visible = ", shader visible" if self.shader_visible else ""
        return f"{counted_words(self.size, 'descriptor')}, {short(self.type)}{visible}"

    def GetDesc(self) -> D3D12_DESCRIPTOR_HEAP_DESC:
        return D3D12_DESCRIPTOR_HEAP_DESC.from_buffer_copy(self._desc)

    def GetCPUDescriptorHandleForHeapStart(self) -> D3D12_CPU_DESCRIPTOR_HANDLE:
        return D3D12_CPU_DESCRIPTOR_HANDLE(ptr=self.cpu_start)

    def GetGPUDescriptorHandleForHeapStart(self) -> D3D12_GPU_DESCRIPTOR_HANDLE:
        """The first GPU handle. A null handle, and a debug layer error, for a heap that is not shader-visible."""
        if not self.shader_visible:
            self.device.report(
                D3D12_MESSAGE_SEVERITY_ERROR,
                D3D12_MESSAGE_CATEGORY_STATE_GETTING,
                D3D12_MESSAGE_ID_DESCRIPTOR_HEAP_NOT_SHADER_VISIBLE,
                f"GetGPUDescriptorHandleForHeapStart: {self} is not {SHADER_VISIBLE.name}",
            )
        return D3D12_GPU_DESCRIPTOR_HANDLE(ptr=self.gpu_start)

    def has_cpu_handle(self, ptr: int) -> bool:
        """Whether ``ptr``, a handle of this heap, is a CPU handle."""
        return 0 <= ptr - self.cpu_start < self.size * self.increment

    def read(self, index: int) -> Any:
        """The descriptor at ``index``; None if none was written."""
        return self._slots.get(self._index(index))

    def write(self, index: int, descriptor: Any, writer: str = "") -> None:
        """Under the debug layer ``writer`` is the program's call that writes the descriptor."""
        number = self._index(index)
        self._slots[number] = descriptor
        if writer or self._writers:
            self._writers[number] = writer

    def writer(self, index: int) -> str:
        """The call that has written a descriptor, as far as it is known."""
        return self._writers.get(index, "")

    def write_all(self, index: int, descriptors: Sequence[Any], writer: str = "") -> None:
        """Write consecutive descriptors, which lie inside the heap."""
        indices = range(index, index + len(descriptors))
        self._slots.update(zip(indices, descriptors))
        if writer or self._writers:
            self._writers.update(dict.fromkeys(indices, writer))

    def _index(self, index: int) -> int:
        if type(index) is int and 0 <= index < self.size:
            return index
        number = integer(index, "index")
        if not 0 <= number < self.size:
            raise invalid(f"index is {number}, but the heap has {self.size} descriptors")
        return number


class DescriptorIndex:
    """Address index of a device's descriptor heaps. CPU and GPU handles come from disjoint ranges, so that one lookup
    serves both. Heaps are held weakly."""

    def __init__(self) -> None:
        # Reentrant: a finalizer or a signal handler of the program may interrupt the thread that holds it, and finds
        # the address of a heap only where it finds the heap.
        self._lock = threading.RLock()
        renew_after_fork(self, "_lock")
        self._starts: list[int] = []
        self._heaps: dict[int, weakref.ref[ID3D12DescriptorHeap]] = {}
        # Start addresses of destroyed heaps. The thread that drops the last reference may hold the lock, so removal is
        # deferred to the next ``add``.
        self._dead: deque[int] = deque()

    def add(self, heap: ID3D12DescriptorHeap) -> None:
        with self._lock:
            self._forget_dead()
            for start in (heap.cpu_start, heap.gpu_start):
                if start:
                    self._heaps[start] = weakref.ref(heap, partial(_note_dead, self._dead, start))
                    bisect.insort(self._starts, start)

    def _forget_dead(self) -> None:
        while self._dead:
            start = self._dead.popleft()
            del self._starts[bisect.bisect_left(self._starts, start)]
            del self._heaps[start]

    def find(self, ptr: int) -> tuple[ID3D12DescriptorHeap, int] | None:
        """The live heap and index of the descriptor with the handle ``ptr``, or None."""
        with self._lock:
            position = bisect.bisect_right(self._starts, ptr) - 1
            if position < 0:
                return None
            start = self._starts[position]
            heap = self._heaps[start]()
        if heap is None:
            return None
        index, remainder = divmod(ptr - start, heap.increment)
        return (heap, index) if not remainder and index < heap.size else None


def _note_dead(dead: deque[int], start: int, _: object) -> None:
    dead.append(start)
