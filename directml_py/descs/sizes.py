"""How many bytes a tensor takes, in exact integers (the page "DirectML helper functions")."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..api.enums import DML_TENSOR_DATA_TYPE

ELEMENT_BITS: dict[int, int] = {
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_FLOAT64: 64,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_FLOAT32: 32,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_FLOAT16: 16,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_UINT64: 64,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_UINT32: 32,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_UINT16: 16,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_UINT8: 8,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_UINT4: 4,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_INT64: 64,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_INT32: 32,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_INT16: 16,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_INT8: 8,
    DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_INT4: 4,
}


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
    bits = ELEMENT_BITS.get(data_type)
    if bits is None or 0 in sizes:
        return 0
    elements = last_element_offset(sizes, strides) + 1
    return (elements * bits + 31) // 32 * 4


def DMLCalcBufferTensorSize(
    data_type: int, dimension_count: int, sizes: Sequence[int], strides: Sequence[int] | None = None
) -> int:
    """The minimum ``TotalTensorSizeInBytes`` of a tensor (the page "DirectML helper functions").

    ``sizes`` and ``strides`` are in elements; ``strides=None`` means packed. Returns bytes, rounded up to a
    multiple of 4, and 0 for an unknown data type or a size of 0. Unlike the C helper this one cannot overflow. Raises
    ``ValueError`` if an array is shorter than ``dimension_count``.
    """
    own_sizes = [int(sizes[i]) for i in range(min(dimension_count, len(sizes)))]
    own_strides = (
        None if strides is None else [int(strides[i]) for i in range(min(dimension_count, len(strides)))]
    )
    for name, values in (("sizes", own_sizes), ("strides", own_strides)):
        if values is not None and len(values) < dimension_count:
            raise ValueError(f"{name} has {len(values)} elements; dimension_count is {dimension_count}")
    return minimum_size(data_type, own_sizes, own_strides)
