"""``ID3D12Resource``: buffers and byte ranges of buffers."""

from __future__ import annotations

import ctypes
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..abi.arguments import integer, invalid, uint, unsigned
from ..abi.call_site import caller
from ..abi.lifetime import Lifetime
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_HEAP_FLAG_SHARED,
    D3D12_HEAP_FLAGS,
    D3D12_HEAP_TYPE,
    D3D12_HEAP_TYPE_READBACK,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
    D3D12_MESSAGE_ID_MAP_INVALIDHEAP,
    D3D12_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED,
    D3D12_MESSAGE_ID_UNMAP_RANGE_NOT_EMPTY,
    D3D12_MESSAGE_SEVERITY_ERROR,
    D3D12_MESSAGE_SEVERITY_INFO,
    D3D12_MESSAGE_SEVERITY_WARNING,
    D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
    D3D12_RESOURCE_FLAGS,
    D3D12_RESOURCE_STATES,
)
from ..api.d3d12_structs import (
    D3D12_HEAP_PROPERTIES,
    D3D12_RANGE,
    D3D12_RESOURCE_DESC,
    D3D12_RESOURCE_DESC1,
)
from ..api.iids import IID_ID3D12Resource, IID_ID3D12Resource1, IID_ID3D12Resource2
from ..runtime.allocation import Allocation, Bytes
from ..runtime.buffer import Buffer, BufferRange
from ..text.plural import counted_words
from .buffer_rules import FIXED_STATES, cpu_accessible
from .d3d12_constants import D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
from .device_child import ID3D12Pageable, ParentDevice, short
from .memory_protocols import MemoryProtocols
from .subresource_copies import box_extent, bytes_from, bytes_to

if TYPE_CHECKING:
    import numpy.typing as npt


class Placement(NamedTuple):
    """The memory of a resource, and the properties of its heap.

    ``heap`` is the lifetime of the heap, which a placed resource does not extend; None for a committed resource, and
    for a ``reserved`` one, which has memory of its own whatever its tiles are mapped to.
    """

    allocation: Allocation
    offset: int
    properties: D3D12_HEAP_PROPERTIES
    flags: D3D12_HEAP_FLAGS
    heap: Lifetime | None = None
    reserved: bool = False


class ResourceBuffer(Buffer):
    """A resource's memory, with the properties that Direct3D 12 gives it."""

    __slots__ = ("allows_unordered_access", "created_at", "flags", "heap_type")

    def __init__(
        self, desc: D3D12_RESOURCE_DESC, placement: Placement, initial_state: D3D12_RESOURCE_STATES
    ) -> None:
        super().__init__("ID3D12Resource", placement.allocation, placement.offset, desc.Width, placement.heap)
        # Where the program created it, under the debug layer.
        self.created_at = ""
        self.flags = D3D12_RESOURCE_FLAGS(desc.Flags)
        self.allows_unordered_access = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS in self.flags
        self.heap_type = D3D12_HEAP_TYPE(placement.properties.Type)
        self.initial_state = initial_state
        self.has_fixed_state = self.heap_type in FIXED_STATES
        self.is_host_visible = cpu_accessible(placement.properties)
        self.is_read_back = self.heap_type == D3D12_HEAP_TYPE_READBACK
        self.is_shared = bool(placement.flags & D3D12_HEAP_FLAG_SHARED)

    @property
    def about(self) -> str:
        return f"{counted_words(self.width, 'byte')}, {short(self.heap_type)} heap"

    def __str__(self) -> str:
        """Without a name, what else tells it from others."""
        if self.name:
            return super().__str__()
        return f"{self.kind} ({self.about}{self.created_at and f', created at {self.created_at}'})"


class ID3D12Resource(ID3D12Pageable, MemoryProtocols):
    """A committed or placed buffer.

    ``memory`` is all of its bytes as a writable array, for code that acts as the GPU; programs use ``Map`` or
    ``array``.
    """

    IID = IID_ID3D12Resource
    _additions_ = ("array", "memory")

    def __init__(
        self,
        device: ParentDevice,
        desc: D3D12_RESOURCE_DESC,
        placement: Placement,
        initial_state: D3D12_RESOURCE_STATES,
    ) -> None:
        self.buffer = ResourceBuffer(desc, placement, initial_state)
        super().__init__(device, self.buffer)
        if device.sync_validator is not None:
            self.buffer.created_at = caller()
        device.buffers.add(self.buffer)
        self._desc = D3D12_RESOURCE_DESC.from_buffer_copy(desc)
        self._desc.Alignment = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
        self.placement = placement
        self.initial_state = initial_state
        self.width = self.buffer.width
        self.flags = self.buffer.flags
        self.heap_type = self.buffer.heap_type
        self.memory = self.buffer.memory

    def _about(self) -> str:
        return f"buffer of {self.buffer.about}"

    def GetDesc(self) -> D3D12_RESOURCE_DESC:
        """A copy of the desc, with the default alignment in place of 0."""
        return D3D12_RESOURCE_DESC.from_buffer_copy(self._desc)

    def GetGPUVirtualAddress(self) -> int:
        return self.buffer.gpu_address

    def GetHeapProperties(self) -> tuple[D3D12_HEAP_PROPERTIES, D3D12_HEAP_FLAGS]:
        """``E_INVALIDARG`` for a reserved resource, which lies in no heap."""
        if self.placement.reserved:
            raise invalid(f"{self} is a reserved resource, which has no heap")
        copy = D3D12_HEAP_PROPERTIES.from_buffer_copy(self.placement.properties)
        return copy, self.placement.flags

    @property
    def cpu_accessible(self) -> bool:
        return self.buffer.is_host_visible

    @property
    def mapped(self) -> bool:
        """Whether it has an outstanding ``Map``."""
        return bool(self.buffer.maps)

    def Map(self, subresource: int = 0, readRange: Any = None) -> Bytes:
        """All bytes as a writable view, regardless of ``readRange`` (a D3D12_RANGE); calls nest.

        Raises ``E_INVALIDARG`` if the CPU has no access, and for a subresource or a range that does not exist.
        """
        self.device.check_alive()
        self._check_subresource(subresource)
        if not self.cpu_accessible:
            raise self.device.failure(
                D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
                D3D12_MESSAGE_ID_MAP_INVALIDHEAP,
                f"{self} cannot be mapped: the CPU has no access to a {self.heap_type.name} heap",
            )
        read = BufferRange(self.buffer, 0, self.width)
        if readRange is not None:
            read = self._range(readRange, "readRange")
        validator = self.device.sync_validator
        if validator is not None:
            read = validator.cpu_maps(read)
        self.buffer.maps.append((read.offset, read.size))
        return self.memory[:]

    def Unmap(self, subresource: int = 0, writtenRange: Any = None) -> None:
        self._check_subresource(subresource)
        written = None if writtenRange is None else self._range(writtenRange, "writtenRange")
        try:
            # One operation: another thread may end the last Map first.
            ended = BufferRange(self.buffer, *self.buffer.maps.pop())
        except IndexError:
            self.device.report(
                D3D12_MESSAGE_SEVERITY_ERROR,
                D3D12_MESSAGE_CATEGORY_EXECUTION,
                D3D12_MESSAGE_ID_RESOURCE_UNMAP_NOTMAPPED,
                f"Unmap: {self} is not mapped",
            )
            return
        # A null range also claims all bytes, but programs pass it when they do not know what was written.
        if written is not None and written.size and self.heap_type == D3D12_HEAP_TYPE_READBACK:
            self.device.report(
                D3D12_MESSAGE_SEVERITY_WARNING,
                D3D12_MESSAGE_CATEGORY_EXECUTION,
                D3D12_MESSAGE_ID_UNMAP_RANGE_NOT_EMPTY,
                f"Unmap: writtenRange is {written.words} of {self}; in a READBACK heap it must be empty, as no command "
                "reads what the CPU writes there",
            )
        validator = self.device.sync_validator
        if validator is not None:
            validator.cpu_unmaps(ended, self.buffer.whole if written is None else written)

    def WriteToSubresource(
        self, dstSubresource: int, dstBox: Any, srcData: Any, srcRowPitch: int = 0, srcDepthPitch: int = 0
    ) -> None:
        """Copy ``srcData``, an object with the buffer protocol or an address, to the bytes ``left`` to ``right`` of
        ``dstBox``, or to the whole buffer.

        The pitches are ignored, as a buffer has one row. Raises ``E_INVALIDARG`` on heaps without CPU access.
        """
        offset, size = self._box("dstSubresource", dstSubresource, dstBox, "dstBox")
        if size:
            data = bytes_from(srcData, size, "srcData")
            self.memory[offset : offset + size] = np.frombuffer(data, np.uint8)
            validator = self.device.sync_validator
            if validator is not None:
                validator.cpu_writes(BufferRange(self.buffer, offset, size))

    def ReadFromSubresource(
        self,
        dstData: Any,
        dstRowPitch: int = 0,
        dstDepthPitch: int = 0,
        srcSubresource: int = 0,
        srcBox: Any = None,
    ) -> None:
        """Copy bytes of the buffer to ``dstData``; see WriteToSubresource."""
        offset, size = self._box("srcSubresource", srcSubresource, srcBox, "srcBox")
        if size:
            self._check_read("ReadFromSubresource", BufferRange(self.buffer, offset, size))
            bytes_to(dstData, self.memory[offset : offset + size].tobytes(), "dstData")

    def _box(self, name: str, subresource: Any, box: Any, box_name: str) -> tuple[int, int]:
        self.device.check_alive()
        self._check_subresource(subresource, name)
        if not self.cpu_accessible:
            raise invalid(f"{self}: the CPU has no access to a {self.heap_type.name} heap")
        return box_extent(box, self.width, box_name)

    def _check_subresource(self, subresource: Any, name: str = "subresource") -> None:
        if uint(subresource, name):
            raise invalid(f"{name} must be 0 for a buffer, not {subresource}")

    def _range(self, value: Any, name: str) -> BufferRange:
        bounds = struct_at(value, D3D12_RANGE, name)
        # Documented: an end at or before the beginning denotes an empty range.
        if bounds.End <= bounds.Begin:
            return BufferRange(self.buffer, 0, 0)
        if bounds.End > self.width:
            raise invalid(f"{name}.End is {bounds.End}, but the buffer has {self.width} bytes")
        return BufferRange(self.buffer, bounds.Begin, bounds.End - bounds.Begin)

    def array(
        self, dtype: npt.DTypeLike = np.uint8, shape: Any = None, offset: int = 0
    ) -> npt.NDArray[np.generic]:
        """A view of the bytes from ``offset`` (in bytes) as ``dtype`` elements; never a copy.

        ``shape`` (in elements) is an int or a tuple; without it the view is 1-D and extends to the end of the buffer.
        It is read-only if the CPU has no access (DEFAULT heap), of which the debug layer informs, as Map would fail.
        """
        kind = np.dtype(dtype)
        if kind.hasobject or not kind.itemsize:
            raise TypeError(f"dtype must be numeric, not {kind}")
        start = unsigned(offset, "offset")
        if start > self.width:
            raise invalid(f"offset is {start}, but the buffer has {self.width} bytes")
        sizes = self._shape(shape, (self.width - start) // kind.itemsize)
        problem = self.buffer.range_problem(start, prod(sizes) * kind.itemsize)
        if problem:
            raise invalid(f"an array of shape {sizes} and type {kind} {problem}")
        if not self.cpu_accessible:
            self.device.report(
                D3D12_MESSAGE_SEVERITY_INFO,
                D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
                D3D12_MESSAGE_ID_MAP_INVALIDHEAP,
                f"array: {self} is in a {self.heap_type.name} heap, for which Map fails on Windows; there a program "
                "reads a copy in a READBACK heap",
            )
        self._check_read("array", BufferRange(self.buffer, start, prod(sizes) * kind.itemsize), is_view=True)
        view: npt.NDArray[np.generic] = np.ndarray(sizes, kind, buffer=self.memory, offset=start)
        if not self.cpu_accessible:
            view.flags.writeable = False
        return view

    def _check_read(self, call: str, read: BufferRange, *, is_view: bool = False) -> None:
        validator = self.device.sync_validator
        if validator is not None:
            validator.cpu_reads(call, read, is_view=is_view)

    @staticmethod
    def _shape(shape: Any, available: int) -> tuple[int, ...]:
        if shape is None:
            return (available,)
        sizes = (shape,) if hasattr(shape, "__index__") else tuple(shape)
        sizes = tuple(integer(size, f"shape[{axis}]") for axis, size in enumerate(sizes))
        if any(size < 0 for size in sizes):
            raise invalid(f"shape must not be negative: {sizes}")
        return sizes

    def range(self, offset: int = 0, size: int | None = None) -> BufferRange:
        """``size`` bytes at ``offset`` (to the end without ``size``). Raises ``E_INVALIDARG`` if out of bounds."""
        start = unsigned(offset, "offset")
        length = max(self.width - start, 0) if size is None else unsigned(size, "size")
        problem = self.buffer.range_problem(start, length)
        if problem:
            raise invalid(f"the range {problem}")
        return BufferRange(self.buffer, start, length)


class ID3D12Resource1(ID3D12Resource):
    """Adds protected resource sessions, which are not emulated."""

    IID = IID_ID3D12Resource1


class ID3D12Resource2(ID3D12Resource1):
    IID = IID_ID3D12Resource2

    def GetDesc1(self) -> D3D12_RESOURCE_DESC1:
        """As GetDesc; a buffer's SamplerFeedbackMipRegion is 0."""
        desc = D3D12_RESOURCE_DESC1()
        ctypes.memmove(ctypes.addressof(desc), bytes(self._desc), ctypes.sizeof(D3D12_RESOURCE_DESC))
        return desc
