"""CPU copies between a program's memory and a buffer, without mapping it."""

from __future__ import annotations

from typing import Any

from ..abi.arguments import invalid
from ..abi.memory import MemoryFault, read, write
from ..abi.pointers import locate, struct_at
from ..api.d3d12_structs import D3D12_BOX


def box_extent(box: Any, width: int, name: str) -> tuple[int, int]:
    """Offset and size in bytes of a D3D12_BOX in a buffer; the whole buffer for None, size 0 for an empty box."""
    if box is None:
        return 0, width
    bounds = struct_at(box, D3D12_BOX, name)
    if bounds.left >= bounds.right or bounds.top >= bounds.bottom or bounds.front >= bounds.back:
        return 0, 0
    if (bounds.top, bounds.bottom, bounds.front, bounds.back) != (0, 1, 0, 1):
        raise invalid(
            f"{name} must go from top 0 to bottom 1 and from front 0 to back 1 in a buffer, not from "
            f"{bounds.top} to {bounds.bottom} and from {bounds.front} to {bounds.back}"
        )
    if bounds.right > width:
        raise invalid(f"{name}.right is {bounds.right}, but the buffer has {width} bytes")
    return bounds.left, bounds.right - bounds.left


def bytes_from(source: Any, size: int, name: str) -> bytes:
    """``size`` bytes from an object with the buffer protocol or an address."""
    view = _buffer(source, size, name, False)
    if view is not None:
        return bytes(view[:size])
    try:
        return read(_address(source, name), size)
    except MemoryFault as fault:
        raise invalid(f"{name}: {fault}") from None


def bytes_to(target: Any, data: bytes, name: str) -> None:
    """Store ``data`` in an object with a writable buffer or at an address."""
    view = _buffer(target, len(data), name, True)
    if view is not None:
        view[: len(data)] = data
        return
    try:
        write(_address(target, name), data)
    except MemoryFault as fault:
        raise invalid(f"{name} cannot be written: {fault}") from None


def _buffer(value: Any, size: int, name: str, writable: bool) -> memoryview | None:
    try:
        view = memoryview(value)
    except TypeError:
        return None
    if not view.c_contiguous or (writable and view.readonly):
        raise TypeError(f"{name} must be contiguous{' and writable' if writable else ''}")
    if view.nbytes < size:
        raise invalid(f"{name} has {view.nbytes} bytes, but {size} are copied")
    return view.cast("B")


def _address(value: Any, name: str) -> int:
    address = locate(value, name).address
    if not address:
        raise invalid(f"{name} is null")
    return address
