"""``ID3D12GraphicsCommandList2::WriteBufferImmediate``: writes of 32-bit immediate values to buffers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..abi.arguments import counted, enumerator, invalid, is_series
from ..abi.lifetime import Lifetime
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate
from ..api.d3d12_enums import (
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_MESSAGE_ID,
    D3D12_MESSAGE_ID_WRITEBUFFERIMMEDIATE_INVALID_ALIGNMENT,
    D3D12_MESSAGE_ID_WRITEBUFFERIMMEDIATE_INVALID_DEST,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_WRITEBUFFERIMMEDIATE_MODE,
)
from ..api.d3d12_structs import D3D12_WRITEBUFFERIMMEDIATE_PARAMETER
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind, Command
from .resource import ResourceBuffer

if TYPE_CHECKING:
    from .device_child import ParentDevice

SIZE = 4


class WriteImmediate(Command):
    """A recorded WriteBufferImmediate call. Commands run one after another, so all modes are equivalent: the preceding
    commands have both begun and ended."""

    title = "WriteBufferImmediate"

    def __init__(self, writes: tuple[tuple[BufferRange, int], ...]) -> None:
        # The destination of each value, four bytes.
        self.writes = writes

    def execute(self) -> None:
        for part, value in self.writes:
            part.bytes.view(np.uint32)[0] = value

    def accesses(self) -> Iterable[Access]:
        return tuple(
            Access(part, AccessKind.WRITE, D3D12_RESOURCE_STATE_COPY_DEST, f"params[{index}].Dest")
            for index, (part, _) in enumerate(self.writes)
        )

    def lives(self) -> Iterable[Lifetime]:
        return tuple(part.buffer for part, _ in self.writes)


def check_modes(count: int, modes: Any) -> None:
    """Check ``modes``: a sequence, an address, or None for DEFAULT. Raises ``E_INVALIDARG`` for an unknown mode."""
    if modes is None:
        return
    if is_series(modes):
        values = counted(count, modes, "count", "modes")
    else:
        try:
            values = list(memoryview(read(locate(modes, "modes").address, 4 * count)).cast("i"))
        except MemoryFault as fault:
            raise invalid(f"modes: {fault}") from None
    for index, value in enumerate(values):
        enumerator(value, D3D12_WRITEBUFFERIMMEDIATE_MODE, f"modes[{index}]")


def destination(
    device: ParentDevice, param: D3D12_WRITEBUFFERIMMEDIATE_PARAMETER, name: str
) -> BufferRange | tuple[D3D12_MESSAGE_ID, str]:
    """The four destination bytes of ``param``, or the message ID and text of the error."""
    address = param.Dest
    if address % SIZE:
        text = f"{name}.Dest is 0x{address:X}; it must be a multiple of {SIZE}"
        return D3D12_MESSAGE_ID_WRITEBUFFERIMMEDIATE_INVALID_ALIGNMENT, text
    buffer = device.buffers.at(address, SIZE)
    if buffer is None:
        text = f"{name}.Dest is 0x{address:X}, where no buffer of this device has {SIZE} bytes"
        return D3D12_MESSAGE_ID_WRITEBUFFERIMMEDIATE_INVALID_DEST, text
    assert isinstance(buffer, ResourceBuffer)
    if buffer.heap_type == D3D12_HEAP_TYPE_UPLOAD:
        text = f"{name}.Dest is in {buffer}, which must not be in a heap of type {buffer.heap_type.name}"
        return D3D12_MESSAGE_ID_WRITEBUFFERIMMEDIATE_INVALID_DEST, text
    return BufferRange(buffer, address - buffer.whole.gpu_address, SIZE)
