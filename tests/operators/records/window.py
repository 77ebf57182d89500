"""Convolutions, pools, unpooling and pool gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import directml_py as dml

from .activation import fused
from .library import POWER, OfLargest
from .onnx_node import run
from .record import DYADIC, ROUNDED_SUMS, Record, Values


def convolution(desc: Any, x: Any, weights: Any, bias: Any) -> Any:
    """ONNX's Conv or ConvTranspose, of FLOAT32: sums of the inputs' products are exact.

    The output padding is not ONNX's, which shows what a window brings there: it is zeros, without the bias.
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
    if bias is not None:
        result[(..., *map(slice, inner))] += bias
    return fused(desc, result)


def convolution_integer(desc: Any, x: Any, x_zero: Any, weights: Any, weights_zero: Any) -> Any:
    """ONNX's ConvInteger, which has one zero point for its filter and takes no groups here: a node for each feature."""
    result = np.empty(desc.OutputTensor.sizes, object)
    steps = tuple(slice(count) for count in result.shape[2:])
    depth, features = weights.shape[1], len(weights)
    for feature in range(features):
        first = feature * desc.GroupCount // features * depth
        zero = None if weights_zero is None else weights_zero.ravel()[feature % weights_zero.size]
        (whole,) = run(
            "ConvInteger",
            [
                x[:, first : first + depth].astype(desc.InputTensor.dtype),
                weights[feature : feature + 1].astype(desc.FilterTensor.dtype),
                None if x_zero is None else np.array(x_zero.item(), desc.InputTensor.dtype),
                None if zero is None else np.array(zero, desc.FilterTensor.dtype),
            ],
            ["int32"],
            strides=desc.Strides,
            dilations=desc.Dilations,
            pads=(*desc.StartPadding, *desc.EndPadding),
        )
        result[:, feature] = whole[(slice(None), 0, *steps)].astype(object)
    return result


class Seen:
    """What one step of a window sees of spatial ``sizes``: ``place`` is the step's, ``inside`` the coordinates of
    elements, and ``padding`` how many places of padding that the desc names are among the rest."""

    def __init__(self, desc: Any, place: tuple[int, ...], sizes: tuple[int, ...]) -> None:
        self.place = place
        self.inside: list[tuple[int, ...]] = []
        self.padding = 0
        dilations = desc.Dilations if "Dilations" in desc.struct.index else (1,) * len(place)
        for tap in np.ndindex(desc.WindowSize):
            terms = zip(place, desc.Strides, tap, dilations, desc.StartPadding)
            at = tuple(step * stride + one * dilation - start for step, stride, one, dilation, start in terms)
            if all(0 <= one < size for one, size in zip(at, sizes)):
                self.inside.append(at)
            elif all(one < size + end for one, size, end in zip(at, sizes, desc.EndPadding)):
                self.padding += 1

    def count(self, desc: Any) -> int:
        """The divisor of a mean."""
        return len(self.inside) + (self.padding if desc.IncludePadding else 0)


def steps(desc: Any, pooled: Any = None, image: Any = None) -> Iterator[Seen]:
    """The windows of every step of a pool, by its input and output."""
    image, pooled = image or desc.InputTensor, pooled or desc.OutputTensor
    for place in np.ndindex(pooled.sizes[2:]):
        yield Seen(desc, place, image.sizes[2:])


def average_pooling(desc: Any, x: Any) -> Any:
    """The mean of an empty window is NaN, and 0 with IncludePadding."""
    result = np.empty(desc.OutputTensor.sizes)
    for seen in steps(desc):
        total = sum((x[(..., *at)] for at in seen.inside), np.zeros(x.shape[:2]))
        count = seen.count(desc)
        result[(..., *seen.place)] = total / count if count else 0 if desc.IncludePadding else np.nan
    return result


def lp_pooling(desc: Any, x: Any) -> Any:
    """The formula of the page, of magnitudes."""
    result = np.empty(desc.OutputTensor.sizes)
    for seen in steps(desc):
        for channel in np.ndindex(x.shape[:2]):
            powers = (abs(float(x[(*channel, *at)])) ** desc.P for at in seen.inside)
            result[(*channel, *seen.place)] = math.fsum(powers) ** (1 / desc.P)
    return result


def max_pooling(desc: Any, x: Any) -> Any:
    """The index is of the first of equal elements, in the whole input. The largest of nothing is the least, of floats
    that which is finite in FLOAT32, and so is that of NaN and -infinity; of INT16 it is 0."""
    of_floats, dtype = x.dtype.kind == "f", desc.InputTensor.dtype
    least = np.finfo(np.float32).min if of_floats else 0 if dtype == np.int16 else np.iinfo(dtype).min
    largest = np.full(desc.OutputTensor.sizes, least, x.dtype)
    indices = np.zeros(largest.shape, object)
    numbers = np.arange(x.size).reshape(x.shape)
    for seen in steps(desc):
        for channel in np.ndindex(x.shape[:2]):
            best = max(seen.inside, key=lambda at, plane=x[channel]: plane[at], default=None)
            if best is not None:
                largest[(*channel, *seen.place)] = x[(*channel, *best)]
                indices[(*channel, *seen.place)] = int(numbers[(*channel, *best)])
    if of_floats:
        largest = np.fmax(largest, least)
    has_indices = "OutputIndicesTensor" in desc.struct.index
    return [largest, indices if desc.OutputIndicesTensor is not None else None] if has_indices else largest


def max_unpooling(desc: Any, x: Any, indices: Any) -> Any:
    """In order, so that the last of several wins; indices out of range are skipped."""
    result = np.zeros(desc.OutputTensor.sizes, x.dtype)
    places = list(np.ndindex(result.shape))
    for value, index in zip(x.ravel(), indices.ravel()):
        if index < len(places):
            result[places[index]] = value
    return result


def few_outside(desc: Any) -> dict[str, Values]:
    """Indices, of which every other tensor has some out of range, and most have duplicates."""
    count = int(np.prod(desc.OutputTensor.sizes))
    more = 2 * (desc.InputTensor.sizes[3] % 2)
    return {"InputTensor": Values(), "IndicesTensor": Values(0, count - 1 + more, limited=True)}


def average_pooling_grad(desc: Any, gradients: Any) -> Any:
    """Each window's gradient is shared equally among the elements that it counts."""
    result = np.zeros(desc.OutputGradientTensor.sizes)
    for seen in steps(desc, desc.InputGradientTensor, desc.OutputGradientTensor):
        for at in seen.inside:
            result[(..., *at)] += gradients[(..., *seen.place)] / seen.count(desc)
    return result


def reaches(desc: Any, place: Any) -> list[Any]:
    """The coordinates of a window's elements along each dimension, also those outside."""
    terms = zip(place, desc.Strides, desc.StartPadding, desc.WindowSize, desc.Dilations)
    return [
        [step * stride - padding + tap * dilation for tap in range(size)]
        for step, stride, padding, size, dilation in terms
    ]


def max_pooling_grad(desc: Any, x: Any, gradients: Any) -> Any:
    """Each window's gradient goes to the first of its largest elements. In Microsoft's library that of a window without
    elements goes to the first element of the image if the window reaches over it."""
    result = np.zeros(x.shape)
    for seen in steps(desc, desc.InputGradientTensor):
        for channel in np.ndindex(x.shape[:2]):
            if seen.inside:
                best = max(seen.inside, key=lambda at, plane=x[channel]: plane[at])
                result[(*channel, *best)] += gradients[(*channel, *seen.place)]
            elif all(min(ends) <= 0 <= max(ends) for ends in reaches(desc, seen.place)):
                result[(*channel, *(0 for _ in seen.place))] += gradients[(*channel, *seen.place)]
    return result


TIED = Values(-1, 1, step=0.25)
RECORDS = {
    "CONVOLUTION": Record(
        convolution,
        DYADIC,
        samples=72,
        either_zero=True,
        # FLOAT16 is rounded before a bias is added backwards, and before the activation.
        library=OfLargest(1),
    ),
    "AVERAGE_POOLING": Record(average_pooling, DYADIC, either_zero=True),
    "AVERAGE_POOLING1": Record(average_pooling, DYADIC, either_zero=True),
    "AVERAGE_POOLING_GRAD": Record(average_pooling_grad, Values(0, 4), ulps={"float16": 1}, either_zero=True),
    "CONVOLUTION_INTEGER": Record(convolution_integer, samples=48),
    "LP_POOLING": Record(lp_pooling, samples=32, ulps=ROUNDED_SUMS, library=POWER),
    "LP_POOLING1": Record(lp_pooling, samples=32, ulps=ROUNDED_SUMS, library=POWER),
    "MAX_POOLING": Record(max_pooling, TIED, either_zero=True),
    "MAX_POOLING1": Record(max_pooling, TIED, either_zero=True),
    "MAX_POOLING2": Record(max_pooling, TIED, either_zero=True),
    "MAX_POOLING_GRAD": Record(
        max_pooling_grad, {"InputTensor": TIED, "InputGradientTensor": DYADIC}, either_zero=True
    ),
    "MAX_UNPOOLING": Record(max_unpooling, few_outside, samples=48),
}
