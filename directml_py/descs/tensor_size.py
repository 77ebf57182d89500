"""Tensor sizes in bytes, in exact integers (the page "DirectML helper functions")."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from ..abi.arguments import integer, invalid
from ..abi.counted_structs import MAX_ELEMENTS
from ..abi.memory import MemoryFault, read
from ..abi.pointers import check_type, is_cdata, locate
from ..abi.wintypes import UINT
from ..text.plural import counted_words
from .data_types import DataTypeLike, data_type_number, data_type_of

# A const UINT*: pointers of ctypes and cffi have no static type for their target.
UINTs: TypeAlias = Sequence[int] | Any


def packed_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a packed tensor, last dimension fastest."""
    strides = []
    stride = 1
    for size in reversed(sizes):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def last_element_offset(sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """The offset, in elements, of the element with the highest coordinates."""
    if strides is None:
        return math.prod(sizes) - 1
    return sum((size - 1) * stride for size, stride in zip(sizes, strides))


def minimum_size(data_type: int, sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """The minimum bytes of a buffer tensor, a multiple of 4; 0 for an unknown data type or a size of 0."""
    return 0 if 0 in sizes else bytes_for(data_type, last_element_offset(sizes, strides) + 1)


def bytes_for(data_type: int, elements: int) -> int:
    """The bytes of ``elements`` consecutive elements, rounded up to a multiple of 4."""
    return (elements * data_type_of(data_type).bits + 31) // 32 * 4


def unsigned_numbers(values: Iterable[int], name: str) -> list[int]:
    """``values`` as UINTs. Raises ``TypeError`` and ``ValueError`` that name ``name`` for values that are not."""
    if isinstance(values, (str, bytes)) or not isinstance(values, (Iterable, ctypes.Array)):
        raise TypeError(f"{name} must be a sequence of integers, not {type(values).__name__}")
    numbers = list(values)
    if all(type(number) is int and 0 <= number < 1 << 32 for number in numbers):
        return numbers
    return [unsigned_number(value, f"{name}[{index}]") for index, value in enumerate(numbers)]


def unsigned_number(value: int, name: str) -> int:
    number = integer(value, name)
    if not 0 <= number < 1 << 32:
        raise ValueError(f"{name} must be an unsigned 32-bit number, not {number}")
    return number


def DMLCalcBufferTensorSize(
    data_type: DataTypeLike, dimension_count: int, sizes: UINTs, strides: UINTs | None = None
) -> int:
    """The minimum ``TotalTensorSizeInBytes`` of a tensor (the page "DirectML helper functions").

    ``sizes`` and ``strides`` are in elements: sequences, or pointers to ``dimension_count`` UINTs; ``strides`` None or
    null means packed. Returns bytes, rounded up to a multiple of 4, and 0 for an unknown data type or a size of 0.
    Unlike the C helper this one cannot overflow. Raises ``TypeError`` for values that are not integers, ``ValueError``
    for numbers that are not UINTs or if an array is shorter than ``dimension_count``, ``DMLError`` ``E_INVALIDARG`` for
    unreadable memory.
    """
    count = unsigned_number(dimension_count, "dimension_count")
    checked_sizes = _first(sizes, count, "sizes")
    if checked_sizes is None:
        raise TypeError("sizes must not be null")
    checked_strides = None if strides is None else _first(strides, count, "strides")
    return minimum_size(data_type_number(data_type, "data_type"), checked_sizes, checked_strides)


def _first(values: Any, count: int, name: str) -> list[int] | None:
    """The first ``count`` numbers; None for null."""
    if isinstance(values, (ctypes._Pointer, ctypes.c_void_p)) or is_cdata(values):
        location = locate(values, name)
        check_type(location, UINT, name)
        if not location.address:
            return None
        if count > MAX_ELEMENTS:
            raise ValueError(f"dimension_count is {count}; more than {MAX_ELEMENTS} are not read")
        try:
            data = read(location.address, count * ctypes.sizeof(UINT))
        except MemoryFault as fault:
            raise invalid(f"{name}: {fault}") from None
        return list((UINT * count).from_buffer_copy(data))
    numbers = unsigned_numbers(values, name)
    if len(numbers) < count:
        raise ValueError(f"{name} has {counted_words(len(numbers), 'element')}; dimension_count is {count}")
    return numbers[:count]
