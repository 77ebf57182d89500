"""UPSAMPLE_2D, RESAMPLE and its gradients: the pages' formula as Microsoft's library implements it, tap by tap.
ONNX Runtime is compared in test_resampling."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import directml_py as dml

from .library import SAME_BITS, OfLargest
from .record import ANY, Record, Values, of_interpolation

HALF_PIXELS = (0.5, -0.5)


def attributes_of(desc: Any, axis: int) -> tuple[float, float, float]:
    """Scale, input offset and output offset of a dimension."""
    if desc.name == "UPSAMPLE_2D":
        scales = (*(1,) * (desc.InputTensor.dimension_count - 2), desc.ScaleSize.Height, desc.ScaleSize.Width)
        return scales[axis], *HALF_PIXELS
    if desc.name == "RESAMPLE":
        return desc.Scales[axis], *HALF_PIXELS
    offsets = desc.InputPixelOffsets[axis], desc.OutputPixelOffsets[axis]
    return desc.Scales[axis], *(reversed(offsets) if is_gradient(desc) else offsets)


def is_gradient(desc: Any) -> bool:
    return desc.name.startswith("RESAMPLE_GRAD")


def rounded(desc: Any, place: float) -> int:
    if "RoundingDirection" not in desc.struct.index:
        is_whole = desc.inputs[0].tensor.dtype.kind != "f"
        return math.floor(place if is_whole else place + 0.5)
    up = desc.RoundingDirection == dml.DML_AXIS_DIRECTION_INCREASING
    return math.ceil(place) if up else math.floor(place)


def is_nearest(desc: Any) -> bool:
    return bool(desc.InterpolationMode == dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR)


def taps(desc: Any, axis: int, count: int, size: int) -> Iterator[tuple[int, int, float]]:
    """The taps: element, result and weight."""
    scale, input_offset, output_offset = attributes_of(desc, axis)
    last = size - 1
    for result in range(count):
        quotient = float(np.float32(result - output_offset) / np.float32(scale))
        place = (0.0 if math.isnan(quotient) else quotient) - input_offset
        if is_nearest(desc):
            yield result, min(max(rounded(desc, min(max(place, -1.0), size)), 0), last), 1.0
        elif getattr(desc, "Antialiased", False) and scale and 1 / scale > 2:
            around = range(math.floor(place - 1 / scale), math.ceil(place + 1 / scale) + 1)
            weights = [max(0.0, 1 - abs(one - place) * scale) for one in around]
            for one, weight in zip(around, weights):
                yield result, min(max(one, 0), last), weight / sum(weights)
        else:
            # The base clamps offsets to [0, 1], except in gradients.
            least = input_offset if is_gradient(desc) else min(max(input_offset, 0.0), 1.0)
            base = math.floor((0.0 if math.isnan(quotient) else quotient) - least)
            first, second = (min(max(one, 0), last) for one in (base, base + 1))
            share = 0.0 if first == second else place - base
            yield result, first, 1 - share
            yield result, second, share


def resampled(desc: Any, x: Any) -> Any:
    sizes = desc.OutputTensor.sizes
    whole = x.dtype == object
    for axis, (count, size) in enumerate(zip(sizes, desc.InputTensor.sizes)):
        every = list(taps(desc, axis, count, size))
        if is_nearest(desc):
            x = np.take(x, [element for _, element, _ in every], axis)
        else:
            x = added(x.astype(np.float64), axis, count, every)
    if whole and not is_nearest(desc):
        x = np.trunc(x.astype(np.float32)).astype(np.int64).astype(object)
    return x


def gradient(desc: Any, x: Any) -> Any:
    """The transposed taps."""
    sizes = desc.OutputGradientTensor.sizes
    for axis, (count, size) in enumerate(zip(desc.InputGradientTensor.sizes, sizes)):
        every = [(element, result, weight) for result, element, weight in taps(desc, axis, count, size)]
        x = added(x, axis, size, every)
    return x


def added(x: Any, axis: int, count: int, every: list[tuple[int, int, float]]) -> Any:
    """Elements of weight 0 are not read."""
    source = np.moveaxis(x, axis, 0)
    sums = np.zeros((count, *source.shape[1:]))
    for result, element, weight in every:
        if weight:
            sums[result] += weight * source[element]
    return np.moveaxis(sums, 0, axis)


def values(desc: Any) -> Values:
    return ANY if is_nearest(desc) else Values(infinite=True)


RESAMPLED = Record(resampled, values, 40, of_interpolation, library=OfLargest(2))
GRADIENT = Record(gradient, Values(infinite=True), 40, of_interpolation, library=OfLargest(2))
RECORDS = {
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2"), RESAMPLED),
    "RESAMPLE3": RESAMPLED._replace(samples=80, library=SAME_BITS),
    "UPSAMPLE_2D": RESAMPLED._replace(library=SAME_BITS),
    # In the training family, but computed alike.
    **dict.fromkeys(("RESAMPLE_GRAD", "RESAMPLE_GRAD1"), GRADIENT),
}
