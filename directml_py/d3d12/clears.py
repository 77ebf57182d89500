"""ClearUnorderedAccessViewUint and -Float: their validation at record time, and the recorded command."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from ..abi.arguments import child, invalid, is_series, uint
from ..abi.lifetime import Lifetime
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate, struct_at
from ..abi.rules import Rule
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE,
    D3D12_COMMAND_LIST_TYPE_COPY,
    D3D12_MESSAGE_ID,
    D3D12_MESSAGE_ID_CLEARUNORDEREDACCESSVIEW_INCOMPATIBLE_WITH_STRUCTURED_BUFFERS,
    D3D12_MESSAGE_ID_CLEARUNORDEREDACCESSVIEW_INVALID_RESOURCE_PTR,
    D3D12_MESSAGE_ID_INVALID_DESCRIPTOR_HANDLE,
    D3D12_MESSAGE_ID_UNKNOWN,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
)
from ..api.descriptor_handles import D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_GPU_DESCRIPTOR_HANDLE
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind, Command
from ..sync_validation.sync_rules import CLEAR_DESCRIPTOR, CLEAR_RANGE
from .descriptors import ID3D12DescriptorHeap
from .device_child import ParentDevice
from .formats import Format
from .resource import ID3D12Resource
from .views import UnorderedAccessView

CHANNELS: Final = 4
HANDLE: Final = D3D12_MESSAGE_ID_INVALID_DESCRIPTOR_HANDLE


class ClearingList(Protocol):
    """What a clear depends on of the list that it is recorded into."""

    device: ParentDevice
    type: D3D12_COMMAND_LIST_TYPE
    descriptor_heaps: tuple[ID3D12DescriptorHeap, ...]


class Refused(Exception):
    """Raised for a clear that cannot be recorded and makes the list invalid."""

    def __init__(self, text: str, id: D3D12_MESSAGE_ID = D3D12_MESSAGE_ID_UNKNOWN) -> None:
        super().__init__(text)
        self.id = id


class ClearView(Command):
    """A recorded clear. The GPU reads the descriptor in the shader-visible heap at execution time."""

    is_dispatch = True

    def __init__(
        self,
        title: str,
        view: UnorderedAccessView,
        slot: tuple[ID3D12DescriptorHeap, int],
        values: npt.NDArray[Any],
    ) -> None:
        assert view.range is not None
        assert view.format is not None
        self.title = title
        self.range: BufferRange = view.range
        self._view = view
        heap, self._index = slot
        self._heap = weakref.ref(heap)
        self._heap_life = heap.life
        self.format: Format = view.format
        # All four arguments, though the format may have fewer channels.
        self.values = values
        bits = values.dtype.kind == "u"
        self._element = self.format.from_bits(values) if bits else self.format.from_floats(values)
        self.is_clamped = not bits and self.format.exceeds(values)

    def execute(self) -> None:
        self.range.bytes.view(self._element.dtype).reshape(-1, self._element.size)[:] = self._element

    def accesses(self) -> Iterable[Access]:
        return (Access(self.range, AccessKind.WRITE, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, "the view"),)

    def lives(self) -> Iterable[Lifetime]:
        return (self.range.buffer, self._heap_life)

    def overwritten_descriptor(self) -> str | None:
        """What happened to the descriptor that it was recorded with, if another one is in its place."""
        heap = self._heap()
        if heap is None or heap.read(self._index) == self._view:
            return None
        writer = heap.writer(self._index)
        return f"{self._index} of {heap} was written since it was recorded" + (writer and f", by {writer}")


def check_clear(command: ClearView) -> Iterator[tuple[Rule, str]]:
    """What is wrong with a command that is about to run."""
    descriptor = command.overwritten_descriptor()
    if descriptor is not None:
        yield CLEAR_DESCRIPTOR, f"{command.title}: descriptor {descriptor}"
    if command.is_clamped:
        yield CLEAR_RANGE, f"{command.title}: Values has values outside the range of the view's format"


# The type of the values by the method.
DTYPES: dict[str, np.dtype[Any]] = {
    "ClearUnorderedAccessViewUint": np.dtype(np.uint32),
    "ClearUnorderedAccessViewFloat": np.dtype(np.float32),
}


def clear(
    commands: ClearingList,
    title: str,
    gpu_handle: Any,
    cpu_handle: Any,
    resource: Any,
    values: Any,
    rect_count: Any,
    rects: Any,
) -> ClearView:
    """The command of the method ``title``. Raises ``Refused`` if the call makes the list invalid."""
    dtype = DTYPES[title]
    child(resource, ID3D12Resource, "resource", commands.device)
    channels = _values(values, dtype)
    gpu = struct_at(gpu_handle, D3D12_GPU_DESCRIPTOR_HANDLE, "viewGPUHandleInCurrentHeap").ptr
    cpu = struct_at(cpu_handle, D3D12_CPU_DESCRIPTOR_HANDLE, "viewCPUHandle").ptr
    if commands.type == D3D12_COMMAND_LIST_TYPE_COPY:
        raise Refused("a copy command list cannot use unordered access views")
    if uint(rect_count, "numRects") or rects is not None:
        raise Refused("numRects must be 0 for a buffer: rectangles are not emulated")
    cpu_view, _ = _view(
        commands, cpu, "viewCPUHandle", lambda heap: heap.has_cpu_handle(cpu) and not heap.shader_visible
    )
    view, slot = _view(
        commands,
        gpu,
        "viewGPUHandleInCurrentHeap",
        lambda heap: heap in commands.descriptor_heaps and not heap.has_cpu_handle(gpu),
    )
    if cpu_view != view:
        raise Refused("viewGPUHandleInCurrentHeap and viewCPUHandle name different views", HANDLE)
    if view.range is None or view.range.buffer is not resource.buffer:
        raise Refused(
            f"the view is not of resource, which is {resource}",
            D3D12_MESSAGE_ID_CLEARUNORDEREDACCESSVIEW_INVALID_RESOURCE_PTR,
        )
    if view.format is None:
        raise Refused(
            "the view is of a structured buffer; it must be raw or typed",
            D3D12_MESSAGE_ID_CLEARUNORDEREDACCESSVIEW_INCOMPATIBLE_WITH_STRUCTURED_BUFFERS,
        )
    if dtype.kind != "u" and not view.format.takes_floats:
        raise Refused(f"the view has elements of {view.format.kind}; they must be FLOAT, UNORM or SNORM")
    return ClearView(title, view, slot, channels)


def _values(values: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The four channel values, from a sequence or an address."""
    if is_series(values) or isinstance(values, np.ndarray):
        if len(values) != CHANNELS:
            raise invalid(f"values must hold {CHANNELS} values, not {len(values)}")
        try:
            return np.array(list(values), dtype)
        except (OverflowError, ValueError) as error:
            raise invalid(f"values must be of type {dtype}: {error}") from None
    try:
        data = read(locate(values, "values").address, CHANNELS * dtype.itemsize)
    except MemoryFault as fault:
        raise invalid(f"values: {fault}") from None
    return np.frombuffer(data, dtype)


def _view(
    commands: ClearingList, pointer: int, name: str, fits: Callable[[ID3D12DescriptorHeap], bool]
) -> tuple[UnorderedAccessView, tuple[ID3D12DescriptorHeap, int]]:
    location = commands.device.find_descriptors(pointer)
    if location is None or not fits(location[0]):
        wanted = {
            "viewCPUHandle": "CPU handle of a heap that is not shader-visible",
            "viewGPUHandleInCurrentHeap": "GPU handle of a heap that SetDescriptorHeaps set",
        }[name]
        raise Refused(f"{name} is 0x{pointer:X}, which is not a {wanted}", HANDLE)
    heap, index = location
    view = heap.read(index)
    if not isinstance(view, UnorderedAccessView):
        raise Refused(f"{name} is descriptor {index} of {heap}, which holds no unordered access view", HANDLE)
    return view, location
