"""C's (count, array of structs) pairs, in every form that Python callers pass."""

from __future__ import annotations

import ctypes
from typing import Any

from .arguments import counted, invalid, is_series, uint
from .memory import MemoryFault, read_argument
from .pointers import S, check_type, locate, struct_at

# The documents set no limit on counts; a larger one is taken for garbage and its array is not read.
MAX_ELEMENTS = 1 << 16


def structs_at(count: Any, items: Any, kind: type[S], count_name: str, items_name: str) -> list[S]:
    """Private copies of the structs in ``(count, sequence)``, ``(count, pointer to the first)``, a sequence alone or a
    single struct.

    Raises ``TypeError`` for anything else, ``DMLError`` ``E_INVALIDARG`` for null or unreadable memory and for counts
    above 65536.
    """
    if type(items) is int and type(count) is int and 0 < count <= MAX_ELEMENTS:
        structs = _array_at(items, count, kind)
        if structs is not None:
            return structs
    if items is None or is_series(items):
        sequence = counted(count, items, count_name, items_name)
        return [struct_at(item, kind, f"{items_name}[{index}]") for index, item in enumerate(sequence)]
    number = uint(count, count_name)
    location = locate(items, items_name)
    check_type(location, kind, items_name)
    if number > 1 and isinstance(items, kind):
        raise invalid(f"{count_name} is {number}, but {items_name} is one {kind.__name__}")
    if number > MAX_ELEMENTS:
        raise invalid(f"{count_name} is {number}; more than {MAX_ELEMENTS} are not read")
    size = ctypes.sizeof(kind)
    return [
        struct_at(location.address + index * size, kind, f"{items_name}[{index}]") for index in range(number)
    ]


def _array_at(address: int, count: int, kind: type[S]) -> list[S] | None:
    """Copies of the structs of an array in C, which one read takes; None if some cannot be read."""
    size = ctypes.sizeof(kind)
    try:
        data = read_argument(address, count * size)
    except MemoryFault:
        return None
    return [kind.from_buffer_copy(data, start) for start in range(0, count * size, size)]
