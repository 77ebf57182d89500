"""Normalizations, their gradients, and BATCH_NORMALIZATION_TRAINING."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .activation import fused
from .library import Bound, OfLargest, ulps
from .onnx_node import run
from .record import ROUNDED_SUMS, Record, Reference, Twins, Values


def batch_normalization(desc: Any, x: Any, *statistics: Any) -> Any:
    """ONNX's, every element a channel of its own."""
    mean, variance, scale, bias = (np.broadcast_to(one, x.shape).ravel() for one in statistics)
    (result,) = run(
        "BatchNormalization", [x.reshape(1, -1), scale, bias, mean, variance], epsilon=desc.Epsilon
    )
    return fused(desc, result.reshape(x.shape))


def as_rows(x: Any, axes: Sequence[int]) -> Any:
    """A matrix, whose rows are what ``axes`` span."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return x.transpose(*kept, *axes).reshape(-1, math.prod(x.shape[axis] for axis in axes))


def from_rows(rows: Any, axes: Sequence[int], sizes: Sequence[int]) -> Any:
    """The array whose rows a matrix has; its last dimension may have become 1."""
    kept = [axis for axis in range(len(sizes)) if axis not in axes]
    inner = [sizes[axis] if rows.shape[1] > 1 else 1 for axis in axes]
    return rows.reshape([sizes[axis] for axis in kept] + inner).transpose(np.argsort([*kept, *axes]))


def as_kept(desc: Any, statistic: float) -> float:
    """Statistics of FLOAT16 tensors are rounded to FLOAT16."""
    if desc.InputTensor.dtype != np.float16:
        return statistic
    return float(np.float16(np.float32(statistic)))


def normalized_row(desc: Any, row: list[float], uses_mean: bool, uses_variance: bool) -> list[float]:
    """Step by step; the variance of a single element is the element, as in Microsoft's library."""
    mean = as_kept(desc, math.fsum(row) / len(row)) if uses_mean else 0.0
    centered = [one - mean for one in row]
    if not uses_variance:
        return centered
    variance = math.fsum(one * one for one in centered) / len(row)
    variance = row[0] if len(row) == 1 and uses_mean else variance
    squared = as_kept(desc, variance) + desc.Epsilon
    return [one / math.sqrt(squared) if squared > 0 else math.nan for one in centered]


def normalized_rows(desc: Any, rows: Any, uses_mean: bool, uses_variance: bool) -> Any:
    """ONNX's LayerNormalization, or ONNX Runtime's of root mean squares, where they are the same."""
    ones, epsilon = np.ones(rows.shape[1]), desc.Epsilon
    if not uses_variance or desc.InputTensor.dtype == np.float16 or rows.shape[1] == 1:
        return np.array([normalized_row(desc, row, uses_mean, uses_variance) for row in rows.tolist()])
    if uses_mean:
        return run("LayerNormalization", [rows, ones, 0 * ones], axis=-1, epsilon=epsilon)[0]
    return run("SimplifiedLayerNormalization", [rows, ones], axis=-1, epsilon=epsilon)[0]


def mean_variance_normalization(desc: Any, x: Any, scale: Any, bias: Any) -> Any:
    names = desc.struct.index
    axes = desc.Axes if "Axes" in names else [1, 2, 3] if desc.CrossChannel else [2, 3]
    uses_mean = desc.UseMean if "UseMean" in names else True
    uses_variance = desc.UseVariance if "UseVariance" in names else desc.NormalizeVariance
    rows = normalized_rows(desc, as_rows(x, axes), uses_mean, uses_variance)
    result = from_rows(rows, axes, x.shape)
    result = result if scale is None else result * scale
    return fused(desc, result if bias is None else result + bias)


def lp_normalization(desc: Any, x: Any) -> Any:
    """Microsoft's library adds Epsilon to the square of the norm."""
    result = np.empty(x.shape)
    rows = np.moveaxis(x, desc.Axis, -1)
    for place in np.ndindex(rows.shape[:-1]):
        total = as_kept(desc, math.fsum(abs(one) ** desc.P for one in rows[place].tolist()))
        squared = total * total if desc.P == 1 else total
        np.moveaxis(result, desc.Axis, -1)[place] = rows[place] / np.sqrt(squared + desc.Epsilon)
    return result


def region_axes(desc: Any) -> list[int]:
    return [1] if desc.CrossChannel else [2, 3]


def regions(desc: Any) -> Any:
    """A row for each element of a channel's column or of a plane: 1 for those in its neighbourhood, by ONNX."""
    sizes = [desc.InputTensor.sizes[axis] for axis in region_axes(desc)]
    before, behind = math.floor((desc.LocalSize - 1) / 2), math.ceil((desc.LocalSize - 1) / 2)
    places = list(np.ndindex(*sizes))
    return np.array(
        [
            [float(all(-before <= b - a <= behind for a, b in zip(one, other))) for other in places]
            for one in places
        ]
    )


def local_response(desc: Any, x: Any) -> Any:
    axes = region_axes(desc)
    rows = as_rows(x, axes)
    base = desc.Bias + desc.Alpha / desc.LocalSize * (np.square(rows) @ regions(desc).T)
    return from_rows(rows / base**desc.Beta, axes, x.shape)


def local_response_gradient(desc: Any, x: Any, gradient: Any) -> Any:
    """Products with the Jacobian, but with Microsoft's library's mirrored neighbourhoods."""
    axes = region_axes(desc)
    inside, eye = regions(desc), np.eye(regions(desc).shape[0])
    factor = desc.Alpha / desc.LocalSize
    result = []
    for row, incoming in zip(as_rows(x, axes), as_rows(gradient, axes)):
        base = desc.Bias + factor * (inside @ np.square(row))
        own = eye * base[:, np.newaxis] ** -desc.Beta
        through = np.outer(-desc.Beta * row * base ** (-desc.Beta - 1), 2 * factor * row) * inside.T
        result.append(incoming @ (own + through))
    return from_rows(np.array(result), axes, x.shape)


def statistics_axes(tensor: Any) -> list[int]:
    return [axis for axis, size in enumerate(tensor.sizes) if size == 1]


def batch_training(desc: Any, x: Any, scale: Any, bias: Any, more: Any) -> Any:
    """ONNX's in training mode, which outputs the statistics of the batch for momentum 0."""
    axes = statistics_axes(desc.ScaleTensor)
    rows = as_rows(x, axes)
    ones = np.ones(rows.shape[0])
    if desc.InputTensor.dtype == np.float16:
        return batch_training_of_halves(desc, x, rows, scale, bias, more)
    normalized, mean, variance = run(
        "BatchNormalization",
        [np.ascontiguousarray(rows.T), ones, 0 * ones, 0 * ones, ones],
        ["float64"] * 3,
        epsilon=desc.Epsilon,
        momentum=0.0,
        training_mode=1,
    )
    result = from_rows(normalized.T, axes, x.shape) * scale + bias
    of_rows = [one.reshape(scale.shape) for one in (mean, variance)]
    return [fused(desc, result if more is None else result + more), *of_rows]


def batch_training_of_halves(desc: Any, x: Any, rows: Any, scale: Any, bias: Any, more: Any) -> Any:
    """Mean and variance are used as rounded for output."""
    mean, variance = np.empty(scale.shape), np.empty(scale.shape)
    for place, row in enumerate(rows.tolist()):
        mean.flat[place] = average = as_kept(desc, math.fsum(row) / len(row))
        variance.flat[place] = as_kept(desc, math.fsum((one - average) ** 2 for one in row) / len(row))
    result = (x - mean) / np.sqrt(variance + desc.Epsilon) * scale + bias
    return [fused(desc, result if more is None else result + more), mean, variance]


def each_statistic(desc: Any, *arrays: Any) -> Iterator[tuple[Any, ...]]:
    """The elements that share a mean, and their statistics, as lists and numbers."""
    axes = statistics_axes(desc.MeanTensor)
    full, single = arrays[:2], arrays[2:]
    rows = [as_rows(one, axes).tolist() for one in full]
    yield from zip(*rows, *(one.ravel().tolist() for one in single))


def gradients(of_input: Callable[..., list[float]]) -> Callable[..., Any]:
    """The page's formulas, sum by sum; ``of_input`` is that of OutputGradient, of the input less MeanTensor."""

    def reference(desc: Any, *arrays: Any) -> Any:
        axes = statistics_axes(desc.MeanTensor)
        results, scales, biases = [], [], []
        for x, gradient, mean, variance, scale in each_statistic(desc, *arrays):
            root = math.sqrt(variance + desc.Epsilon)
            results.append(of_input([one - mean for one in x], gradient, root, scale))
            scales.append(math.fsum(g * (one - mean) / root for one, g in zip(x, gradient)))
            biases.append(math.fsum(gradient))
        small = [np.array(one).reshape(desc.MeanTensor.sizes) for one in (scales, biases)]
        return [from_rows(np.array(results), axes, arrays[0].shape), *small]

    return reference


def through_constants(centered: list[float], gradient: list[float], root: float, scale: float) -> list[float]:
    return [one * (scale / root) for one in gradient]


def through_statistics(
    centered: list[float], gradient: list[float], root: float, scale: float
) -> list[float]:
    count = len(centered)
    mean_gradient = math.fsum(gradient) / count
    coefficient = math.fsum(g * one for one, g in zip(centered, gradient)) / count
    return [
        scale / root * (g - mean_gradient - one * coefficient / root**2) for one, g in zip(centered, gradient)
    ]


PLAIN, VARIANCES = Values(), {"VarianceTensor": Values(0, 4)}


def of_sums(reference: Reference, library: Bound | int, values: Any = PLAIN, samples: int = 24) -> Record:
    bound = OfLargest(library) if isinstance(library, int) else library
    return Record(reference, values, samples, ROUNDED_SUMS, library=bound)


RECORDS = {
    "BATCH_NORMALIZATION": of_sums(batch_normalization, 1, VARIANCES, 48)._replace(
        # The kernel computes in FLOAT32 where that is safe.
        twins=Twins(largest=2)
    ),
    "BATCH_NORMALIZATION_GRAD": of_sums(gradients(through_constants), 3, VARIANCES),
    "BATCH_NORMALIZATION_TRAINING": of_sums(batch_training, 1, samples=48),
    "BATCH_NORMALIZATION_TRAINING_GRAD": of_sums(gradients(through_statistics), 2, VARIANCES),
    # A power of the sum of squares, of moderate exponents.
    "LOCAL_RESPONSE_NORMALIZATION": of_sums(local_response, ulps(16))._replace(
        # The kernel's power has an error of its own before the result is rounded.
        twins=Twins(dyadic=True, ulps=1)
    ),
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": of_sums(local_response_gradient, 2),
    "LP_NORMALIZATION": of_sums(lp_normalization, ulps(2)),
    "MEAN_VARIANCE_NORMALIZATION": of_sums(mean_variance_normalization, 1, samples=48),
    "MEAN_VARIANCE_NORMALIZATION1": of_sums(mean_variance_normalization, 1, samples=48),
    "MEAN_VARIANCE_NORMALIZATION2": of_sums(mean_variance_normalization, 0, samples=72),
}
