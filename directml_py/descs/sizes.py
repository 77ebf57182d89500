"""How many bytes a tensor takes, in exact integers (the page "DirectML helper functions")."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ..abi.arguments import integer
from .data_types import data_type_of


def packed_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a tensor without padding, last dimension fastest."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def last_element_offset(sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """The offset, in elements, of the element with the highest coordinates."""
    if strides is None:
        return math.prod(sizes) - 1
    return sum((size - 1) * stride for size, stride in zip(sizes, strides))


def minimum_size(data_type: int, sizes: Sequence[int], strides: Sequence[int] | None) -> int:
    """The bytes that a buffer tensor needs at least, a multiple of 4; 0 for an unknown data
    type or a size of 0."""
    return 0 if 0 in sizes else bytes_for(data_type, last_element_offset(sizes, strides) + 1)


def bytes_for(data_type: int, elements: int) -> int:
    """The bytes of ``elements`` consecutive elements, rounded up to a multiple of 4."""
    return (elements * data_type_of(data_type).bits + 31) // 32 * 4


def unsigned_numbers(values: Iterable[int], name: str) -> list[int]:
    """``values`` as UINTs. Raises ``TypeError`` and ``ValueError`` naming ``name`` for what is none."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of integers, not {type(values).__name__}")
    return [unsigned_number(value, f"{name}[{index}]") for index, value in enumerate(values)]


def unsigned_number(value: int, name: str) -> int:
    number = integer(value, name)
    if not 0 <= number < 1 << 32:
        raise ValueError(f"{name} must be an unsigned 32-bit number, not {number}")
    return number


def DMLCalcBufferTensorSize(
    data_type: int, dimension_count: int, sizes: Sequence[int], strides: Sequence[int] | None = None
) -> int:
    """The minimum ``TotalTensorSizeInBytes`` of a tensor (the page "DirectML helper functions").

    ``sizes`` and ``strides`` are in elements; ``strides=None`` means packed. Returns bytes, rounded up to a
    multiple of 4, and 0 for an unknown data type or a size of 0. Unlike the C helper this one cannot overflow.
    Raises ``TypeError`` for what is no integer, ``ValueError`` for a number that is no UINT or if an array is
    shorter than ``dimension_count``.
    """
    count = unsigned_number(dimension_count, "dimension_count")
    own_sizes = _first(sizes, count, "sizes")
    own_strides = None if strides is None else _first(strides, count, "strides")
    return minimum_size(integer(data_type, "data_type"), own_sizes, own_strides)


def _first(values: Iterable[int], count: int, name: str) -> list[int]:
    numbers = unsigned_numbers(values, name)
    if len(numbers) < count:
        raise ValueError(f"{name} has {len(numbers)} elements; dimension_count is {count}")
    return numbers[:count]
