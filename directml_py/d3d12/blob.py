"""``ID3DBlob``: a block of memory that functions return, and the bytes that others take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..abi.arguments import invalid, unsigned
from ..abi.interface import IUnknown
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate
from ..api.iids import IID_ID3DBlob
from ..text.plural import counted_words
from .memory_protocols import MemoryProtocols

if TYPE_CHECKING:
    import numpy.typing as npt

BYTES = (bytes, bytearray, memoryview, np.ndarray)


class ID3DBlob(MemoryProtocols, IUnknown):
    """Bytes that the caller may change; ``bytes(blob)`` copies them."""

    IID = IID_ID3DBlob
    _additions_ = ("array",)

    def __init__(self, content: bytes) -> None:
        self._content = np.frombuffer(bytearray(content), np.uint8)

    def _about(self) -> str:
        return counted_words(len(self._content), "byte")

    def __bytes__(self) -> bytes:
        return self._content.tobytes()

    def array(self, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[np.generic]:
        return self._content.view(dtype)

    def GetBufferPointer(self) -> npt.NDArray[np.uint8]:
        """The bytes, of type uint8, without a copy; C gets their address."""
        return self._content

    def GetBufferSize(self) -> int:
        return len(self._content)


def bytes_at(data: Any, size: int | None, name: str, size_name: str) -> bytes:
    """The bytes of an ``ID3DBlob``, of an object such as ``bytes``, or of ``size`` bytes at an address.

    Raises ``TypeError`` for anything else, ``E_INVALIDARG`` for none, unreadable and too few bytes.
    """
    count = None if size is None else unsigned(size, size_name)
    if isinstance(data, (ID3DBlob, *BYTES)):
        content = bytes(data)
        if count is not None and count > len(content):
            raise invalid(f"{size_name} is {count}, but {name} has {len(content)} bytes")
        return content[:count]
    address = locate(data, name).address
    if not address:
        raise invalid(f"{name} is null")
    if count is None:
        raise TypeError(f"{name} is an address; {size_name} must say how many bytes there are")
    try:
        return read(address, count)
    except (MemoryFault, MemoryError) as fault:
        raise invalid(f"{name}: {fault}") from None
