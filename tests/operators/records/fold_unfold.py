"""FOLD and UNFOLD: the mapping between elements of the whole and of the columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .onnx_node import run

Place = tuple[int, ...]


def places(desc: Any, columns: Any, whole: Any) -> Iterator[tuple[Place, Place]]:
    """The coordinates in the whole of each element of the columns, without the padding, by the formula."""
    dimensions = range(desc.DimensionCount)
    blocks = [
        (
            whole.sizes[2 + d]
            + desc.StartPadding[d]
            + desc.EndPadding[d]
            - desc.Dilations[d] * (desc.WindowSizes[d] - 1)
            - 1
        )
        // desc.Strides[d]
        + 1
        for d in dimensions
    ]
    for place in np.ndindex(columns.sizes):
        batch, row, block = place[-3:]
        channel, element = divmod(row, math.prod(desc.WindowSizes))
        taps, steps = np.unravel_index(element, desc.WindowSizes), np.unravel_index(block, blocks)
        at = [
            int(steps[d]) * desc.Strides[d] + int(taps[d]) * desc.Dilations[d] - desc.StartPadding[d]
            for d in dimensions
        ]
        if all(0 <= index < size for index, size in zip(at, whole.sizes[2:])):
            yield place, (batch, channel, *at)


def unfold(desc: Any, x: Any) -> Any:
    columns = np.full(desc.OutputTensor.sizes, 0 if x.dtype == object else 0.0, x.dtype)
    for place, at in places(desc, desc.OutputTensor, desc.InputTensor):
        columns[place] = x[at]
    return columns


def fold(desc: Any, columns: Any) -> Any:
    """ONNX Runtime has Col2Im of FLOAT32 alone, in which the inputs and their sums are exact."""
    output = desc.OutputTensor
    if columns.dtype == object:
        whole = np.full(output.sizes, 0, object)
        for place, at in places(desc, desc.InputTensor, output):
            whole[at] += columns[place]
        return whole
    (result,) = run(
        "Col2Im",
        [
            columns.reshape(columns.shape[-3:]).astype(np.float32),
            np.array(output.sizes[2:], np.int64),
            np.array(desc.WindowSizes, np.int64),
        ],
        dilations=desc.Dilations,
        pads=(*desc.StartPadding, *desc.EndPadding),
        strides=desc.Strides,
    )
    return result.astype(np.float64)
