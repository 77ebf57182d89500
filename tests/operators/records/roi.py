"""Regions of interest, sample by sample at exact coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np

import directml_py as dml

from .library import OfLargest
from .onnx_node import run
from .record import ROUNDED_SUMS, Record, Values, of_interpolation

HALF = Fraction(1, 2)
Tap = tuple[int, float]


# A coordinate of a sample: None if out of bounds.
Sample = Fraction | None


def samples(desc: Any, axis: str, corners: Any, size: int, steps: int) -> list[list[Sample]]:
    """Those of each step of a region along one axis, by the formula of ROI_ALIGN1, and for corners and at -1 by what
    Microsoft's library was found to compute."""
    scale = np.float32(getattr(desc, f"SpatialScale{axis}"))
    first, second = corners.astype(np.float32) * scale
    extent = second - first
    count = ceil(abs(extent) / np.float32(steps))
    count = min(max(count, desc.MinimumSamplesPerOutput), desc.MaximumSamplesPerOutput)
    total = steps * count
    given = {name: getattr(desc, name, None) for name in ("InputPixelOffset", "OutputPixelOffset")}
    inner, outer = (
        Fraction(default if one is None else one) for one, default in zip(given.values(), (HALF, -HALF))
    )
    places: list[Sample] = []
    to_corners = getattr(desc, "AlignRegionsToCorners", False)
    most = size - 1 if to_corners else size
    for number in range(total):
        share = (number - outer) / (max(total - 1, 1) if to_corners else total)
        place = Fraction(float(first)) + share * Fraction(float(extent)) - inner
        is_inside = (place >= 0 if to_corners else place > -1) and place <= most
        places.append(place if is_inside else None)
    return [places[step * count : (step + 1) * count] for step in range(steps)]


def taps(desc: Any, place: Fraction, size: int) -> list[Tap]:
    """The elements and weights of a sample."""
    if desc.InterpolationMode == dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR:
        return [(min(max(floor(place + HALF), 0), size - 1), 1.0)]
    place = min(max(place, Fraction(0)), Fraction(size - 1))
    low = floor(place)
    return [(low, float(1 - (place - low))), (ceil(place), float(place - low))]


class Point:
    """A sample of an element of the output."""

    def __init__(self, desc: Any, sizes: Any, y: Sample, x: Sample) -> None:
        self.desc, self.sizes, self.y, self.x = desc, sizes, y, x
        self.taps: list[tuple[int, int, float]] = []
        if y is not None and x is not None:
            both = (taps(desc, place, size) for place, size in zip((y, x), sizes))
            self.taps = [(row, column, tall * wide) for (row, tall), (column, wide) in product(*both)]

    def value(self, plane: Any) -> float:
        return sum((plane[row, column] * weight for row, column, weight in self.taps), 0.0)

    def slopes(self, plane: Any) -> tuple[float, float]:
        """imageGradX and imageGradY, by the pseudo-code of ROI_ALIGN_GRAD; coordinates are clamped to the image."""
        if self.y is None or self.x is None:
            return 0.0, 0.0
        y, x = (min(max(place, Fraction(0)), size - 1) for place, size in zip((self.y, self.x), self.sizes))
        top, bottom, left, right = floor(y), ceil(y), floor(x), ceil(x)
        y_lerp, x_lerp = float(y - top), float(x - left)
        along_y = (1 - x_lerp) * (plane[bottom, left] - plane[top, left])
        along_y += x_lerp * (plane[bottom, right] - plane[top, right])
        along_x = (1 - y_lerp) * (plane[top, right] - plane[top, left])
        along_x += y_lerp * (plane[bottom, right] - plane[bottom, left])
        return along_x, along_y


def sampled(
    desc: Any, regions: Any, sizes: Any, steps: Any
) -> Iterator[tuple[tuple[int, int, int], list[Point]]]:
    """Region, row and column of each element of the output, and its samples, row by row."""
    for number, region in enumerate(regions.reshape(-1, 4)):
        rows = samples(desc, "Y", region[1::2], sizes[0], steps[0])
        columns = samples(desc, "X", region[::2], sizes[1], steps[1])
        for (row, above), (column, beside) in product(enumerate(rows), enumerate(columns)):
            yield (number, row, column), [Point(desc, sizes, y, x) for y, x in product(above, beside)]


def align(desc: Any, x: Any, regions: Any, batches: Any) -> Any:
    result = np.empty(desc.OutputTensor.sizes)
    is_maximum = desc.ReductionFunction == dml.DML_REDUCE_FUNCTION_MAX
    for (region, row, column), points in sampled(desc, regions, x.shape[2:], result.shape[2:]):
        batch = min(batches.ravel()[region], len(x) - 1)
        for channel, plane in enumerate(x[batch]):
            values = [
                point.value(plane) if point.taps else float(desc.OutOfBoundsInputValue) for point in points
            ]
            result[region, channel, row, column] = max(values) if is_maximum else sum(values) / len(values)
    return result


def align_gradient(desc: Any, x: Any, incoming: Any, regions: Any, batches: Any) -> Any:
    wanted = desc.OutputGradientTensor, desc.OutputROIGradientTensor
    sizes = (desc.OutputGradientTensor if x is None else desc.InputTensor).sizes
    of_image, of_regions = np.zeros(sizes), np.zeros((len(incoming), 4))
    is_maximum = desc.ReductionFunction == dml.DML_REDUCE_FUNCTION_MAX
    for (region, row, column), points in sampled(desc, regions, sizes[2:], incoming.shape[2:]):
        batch = batches.ravel()[region]
        for channel in range(sizes[1]):
            count = 1 if is_maximum else len(points)
            gradient = incoming[region, channel, row, column] / count
            plane = None if x is None else x[min(batch, len(x) - 1), channel]
            # A sample out of bounds, which is 0, may be the largest: its gradient is lost.
            chosen = points
            if is_maximum:
                chosen = sorted(points, key=lambda point, of=plane: -np.float32(point.value(of)))[:1]
            for point in chosen:
                for at_row, at_column, weight in point.taps:
                    if batch < sizes[0]:
                        of_image[batch, channel, at_row, at_column] += gradient * weight
                if wanted[1] is not None:
                    along_x, along_y = (gradient * slope for slope in point.slopes(plane))
                    of_regions[region] += [
                        along_x * (sizes[3] - column),
                        along_y * (sizes[2] - row),
                        along_x * column,
                        along_y * row,
                    ]
    results = of_image, of_regions.reshape(regions.shape)
    return [None if tensor is None else result for tensor, result in zip(wanted, results)]


def pooling(desc: Any, x: Any, regions: Any) -> Any:
    """ONNX's MaxRoiPool, which needs batches that there are; those of the row's values are clamped. It rounds halves
    away from 0, and so is given corners that are whole numbers."""
    regions = regions.reshape(-1, 5).astype(np.float32)
    regions[:, 0] = np.clip(np.trunc(regions[:, 0]), 0, len(x) - 1)
    regions[:, 1:] = np.rint(regions[:, 1:] * np.float32(desc.SpatialScale))
    size = desc.PooledSize
    return run(
        "MaxRoiPool",
        [x.astype(np.float32), regions],
        pooled_shape=(size.Height, size.Width),
        spatial_scale=1.0,
    )[0].astype(np.float64)


def values(desc: Any) -> dict[str, Values]:
    """Values whose sums are exact, as multiples of an eighth: sums that cancel could not be compared.

    Corners that are multiples of a quarter often give coordinates of elements, or halfway between two. One batch index
    is out of range.
    """
    image = desc.OutputGradientTensor if desc.inputs[0].tensor is None else desc.inputs[0].tensor
    linear = desc.InterpolationMode == dml.DML_INTERPOLATION_MODE_LINEAR
    positive = Values(0.25, 4.0)
    tied = Values(0.25, 1.0, step=0.25)
    is_maximum = desc.ReductionFunction == dml.DML_REDUCE_FUNCTION_MAX
    pixels = (tied if is_maximum else positive) if linear else Values(-1.0, 1.0, step=0.125)
    side = max(image.sizes[2:])
    return {
        "InputTensor": pixels,
        "InputGradientTensor": positive,
        "ROITensor": Values(-2.0, side + 2.0, step=0.25 if image.sizes[3] % 2 else 0.0),
        "BatchIndicesTensor": Values(0, image.sizes[0], limited=True),
    }


RECORDS = {
    "ROI_POOLING": Record(
        pooling,
        {"InputTensor": Values(), "ROITensor": Values(-2.0, 6.0, step=0.25)},
        samples=48,
        either_zero=True,
    ),
    "ROI_ALIGN": Record(align, values, 48, of_interpolation, either_zero=True, library=OfLargest(1)),
    "ROI_ALIGN1": Record(align, values, 72, of_interpolation, either_zero=True, library=OfLargest(1)),
    "ROI_ALIGN_GRAD": Record(align_gradient, values, 72, ROUNDED_SUMS, library=OfLargest(1)),
}
