"""CONVOLUTION and the pools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import directml_py as dml

from .activation import fused
from .onnx_node import run
from .row import DYADIC, Row, Values


def convolution(desc: Any, x: Any, weights: Any, bias: Any) -> Any:
    """ONNX's Conv or ConvTranspose, of FLOAT32: sums of the inputs' products are exact.

    The output padding is not ONNX's, which shows what a window brings there: it is zeros.
    """
    spatial = range(2, x.ndim)
    if desc.Mode == dml.DML_CONVOLUTION_MODE_CONVOLUTION:
        weights = np.flip(weights, tuple(spatial))
    backward = desc.Direction == dml.DML_CONVOLUTION_DIRECTION_BACKWARD
    # Backwards the end is cut off below, where an output may have more elements than follow from its padding.
    end = (0,) * len(spatial) if backward else desc.EndPadding
    (whole,) = run(
        "ConvTranspose" if backward else "Conv",
        [x.astype(np.float32), np.ascontiguousarray(weights, np.float32)],
        strides=desc.Strides,
        dilations=desc.Dilations,
        pads=(*desc.StartPadding, *end),
        group=desc.GroupCount,
    )
    result = np.zeros(desc.OutputTensor.sizes)
    inner = [size - more for size, more in zip(desc.OutputTensor.sizes[2:], desc.OutputPadding)]
    place = tuple(slice(min(size, other)) for size, other in zip(inner, whole.shape[2:]))
    result[(..., *place)] = whole[(..., *place)]
    return fused(desc, result if bias is None else result + bias)


class Seen:
    """What one step of a pool's window sees: ``place`` is the step's, ``inside`` the coordinates of elements, and
    ``padding`` how many places of padding that the desc names are among the rest."""

    def __init__(self, desc: Any, place: tuple[int, ...]) -> None:
        self.place = place
        self.inside: list[tuple[int, ...]] = []
        self.padding = 0
        dilations = desc.Dilations if "Dilations" in desc.struct.index else (1,) * len(place)
        sizes = desc.InputTensor.sizes[2:]
        for tap in np.ndindex(desc.WindowSize):
            terms = zip(place, desc.Strides, tap, dilations, desc.StartPadding)
            at = tuple(step * stride + one * dilation - start for step, stride, one, dilation, start in terms)
            if all(0 <= one < size for one, size in zip(at, sizes)):
                self.inside.append(at)
            elif all(one < size + end for one, size, end in zip(at, sizes, desc.EndPadding)):
                self.padding += 1


def steps(desc: Any) -> Iterator[Seen]:
    for place in np.ndindex(desc.OutputTensor.sizes[2:]):
        yield Seen(desc, place)


def average_pooling(desc: Any, x: Any) -> Any:
    """The mean of nothing is NaN."""
    result = np.empty(desc.OutputTensor.sizes)
    for seen in steps(desc):
        total = sum((x[(..., *at)] for at in seen.inside), np.zeros(x.shape[:2]))
        count = len(seen.inside) + (seen.padding if desc.IncludePadding else 0)
        result[(..., *seen.place)] = total / count if count else np.nan
    return result


def max_pooling(desc: Any, x: Any) -> Any:
    """The index is of the first of equal elements, in the whole input. The largest of nothing is the least."""
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(desc.InputTensor.dtype).min
    largest = np.full(desc.OutputTensor.sizes, least, x.dtype)
    indices = np.zeros(largest.shape, object)
    numbers = np.arange(x.size).reshape(x.shape)
    for seen in steps(desc):
        for channel in np.ndindex(x.shape[:2]):
            best = max(seen.inside, key=lambda at, plane=x[channel]: plane[at], default=None)
            if best is not None:
                largest[(*channel, *seen.place)] = x[(*channel, *best)]
                indices[(*channel, *seen.place)] = int(numbers[(*channel, *best)])
    has_indices = "OutputIndicesTensor" in desc.struct.index
    return [largest, indices if desc.OutputIndicesTensor is not None else None] if has_indices else largest


TIED = Values(-1, 1, step=0.25)
ROWS = {
    "CONVOLUTION": Row(convolution, DYADIC, samples=72),
    "AVERAGE_POOLING": Row(average_pooling, DYADIC),
    "AVERAGE_POOLING1": Row(average_pooling, DYADIC),
    "MAX_POOLING": Row(max_pooling, TIED),
    "MAX_POOLING1": Row(max_pooling, TIED),
    "MAX_POOLING2": Row(max_pooling, TIED),
}
