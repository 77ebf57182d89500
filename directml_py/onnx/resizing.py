"""Resize and Upsample.

RESAMPLE2 computes what it computes as ONNX Runtime does; all else is a gather of the elements that each result depends
on, along one axis after the other, times their weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..api.enums import (
    DML_AXIS_DIRECTION_DECREASING,
    DML_AXIS_DIRECTION_INCREASING,
    DML_INTERPOLATION_MODE_LINEAR,
    DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR,
    DML_REDUCE_FUNCTION_SUM,
)
from ..graph import Expression
from .errors import Refusal
from .movement import counted
from .node import OnnxNode
from .translators import Results, operator, outputs
from .values import Array, Sizes

MODES = {word: word for word in ("nearest", "linear", "cubic")} | {"bilinear": "linear"}
# RESAMPLE2's dimensions, and the largest difference of coordinates that makes none in results.
MOST, CLOSE = 4, 1e-5
RESAMPLED = (np.float32, np.float16, np.int8, np.uint8)


@dataclass(frozen=True)
class Axis:
    """An axis that is resized from ``old`` to ``new`` elements; ``start`` and ``end`` are its region of interest."""

    old: int
    new: int
    scale: np.float32
    start: np.float32
    end: np.float32


# Coordinates of the input for those of results, in FLOAT32 as ONNX Runtime computes them.
def _half_pixel(x: Array, axis: Axis) -> Array:
    coordinates: Array = (x + np.float32(0.5)) / axis.scale - np.float32(0.5)
    return coordinates


def _pytorch_half_pixel(x: Array, axis: Axis) -> Array:
    return _half_pixel(x, axis) if axis.new > 1 else np.zeros_like(x)


def _symmetric(x: Array, axis: Axis) -> Array:
    adjustment = np.float32(axis.new) / (axis.scale * np.float32(axis.old))
    centre = np.float32(axis.old) / np.float32(2) * (np.float32(1) - adjustment)
    coordinates: Array = np.float64(centre) + (x + 0.5) / np.float64(axis.scale) - 0.5
    return coordinates


def _aligned(x: Array, axis: Axis) -> Array:
    coordinates: Array = x * np.float32(axis.old - 1) / np.float32(max(1, axis.new - 1))
    return coordinates


def _cropped(x: Array, axis: Axis) -> Array:
    last = np.float32(axis.old - 1)
    if axis.new == 1:
        return np.full_like(x, 0.5 * (axis.start + axis.end) * last)
    coordinates: Array = axis.start * last + x * (axis.end - axis.start) * last / np.float32(axis.new - 1)
    return coordinates


COORDINATES: dict[str, Callable[[Array, Axis], Array]] = {
    "asymmetric": lambda x, axis: x / axis.scale,
    "half_pixel": _half_pixel,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "tf_half_pixel_for_nn": lambda x, axis: (x + np.float32(0.5)) / axis.scale,
    "align_corners": _aligned,
    "half_pixel_symmetric": _symmetric,
    "tf_crop_and_resize": _cropped,
}
CROP = "tf_crop_and_resize"
# RESAMPLE2's offsets of output and input for these coordinates.
OFFSETS = {"half_pixel": (-0.5, 0.5), "pytorch_half_pixel": (-0.5, 0.5), "tf_half_pixel_for_nn": (-0.5, 0.0)}
# The rounding of coordinates, and for RESAMPLE2 its direction and what is added to the input's offset.
ROUNDING: dict[str, tuple[Callable[[Array], Array], int, float]] = {
    "round_prefer_floor": (lambda x: np.ceil(x - 0.5), DML_AXIS_DIRECTION_INCREASING, 0.5),
    "round_prefer_ceil": (lambda x: np.floor(x + 0.5), DML_AXIS_DIRECTION_DECREASING, -0.5),
    "floor": (np.floor, DML_AXIS_DIRECTION_DECREASING, 0.0),
    "ceil": (np.ceil, DML_AXIS_DIRECTION_INCREASING, 0.0),
}


@dataclass(frozen=True)
class Neighbours:
    """The elements that each result along an axis depends on, and their weights (None: the only element is the result);
    both have a row for each result. ``outside`` says which results lie outside of the input."""

    indices: Array
    weights: Array | None
    outside: Array


def is_filtered(node: OnnxNode) -> bool:
    """Whether ONNX's filter avoids aliases; nothing does so for the nearest element."""
    return bool(node.get("antialias", 0)) and not node.as_provider


def transformation(node: OnnxNode) -> str:
    """The name in ``COORDINATES`` of how coordinates are transformed."""
    word = str(
        node.get("coordinate_transformation_mode", "half_pixel" if node.version > 10 else "asymmetric")
    )
    if word not in COORDINATES:
        raise Refusal(f"is {word!r}", "attribute coordinate_transformation_mode")
    return word


def coordinates(node: OnnxNode, axis: Axis) -> Array:
    x = np.arange(axis.new, dtype=np.float32)
    return COORDINATES[transformation(node)](x, axis).astype(np.float32)


def rounding(node: OnnxNode, axis: Axis) -> tuple[Callable[[Array], Array], int, float]:
    if node.version < 11:
        return ROUNDING["ceil" if axis.scale < 1 else "floor"]
    word = node.get("nearest_mode", "round_prefer_floor")
    if word not in ROUNDING:
        raise Refusal(f"is {word!r}", "attribute nearest_mode")
    return ROUNDING[word]


def neighbours(node: OnnxNode, axis: Axis, mode: str) -> Neighbours:
    x, last = coordinates(node, axis), axis.old - 1
    outside = (x < 0) | (x > last)
    if mode == "nearest":
        indices = rounding(node, axis)[0](x)[:, None]
        return Neighbours(indices.clip(0, last).astype(np.int64), None, outside)
    if is_filtered(node):
        indices, weights = _filtered(node, x, axis, mode)
    elif mode == "linear":
        x = x.clip(0, last)
        indices = np.floor(x)[:, None] + np.arange(2)
        weights = _triangle(indices - x[:, None])
    else:
        indices = np.floor(x)[:, None] + np.arange(-1, 3)
        weights = _cubic(indices - x[:, None], node.get("cubic_coeff_a", -0.75))
    if node.get("exclude_outside", 0):
        weights = np.where((indices < 0) | (indices > last), 0, weights)
        weights = weights / weights.sum(1, keepdims=True)
    return Neighbours(indices.clip(0, last).astype(np.int64), weights.astype(np.float32), outside)


def _filtered(node: OnnxNode, x: Array, axis: Axis, mode: str) -> tuple[Array, Array]:
    """The elements under a filter that is as wide as the input's share of a result, which avoids aliases."""
    width = max(1.0, float(np.float32(1) / axis.scale))
    support = width * (2 if mode == "cubic" else 1)
    centre = (x + np.float32(0.5))[:, None]
    first = np.floor(centre - np.float32(support) + np.float32(0.5))
    after = np.floor(centre + np.float32(support) + np.float32(0.5))
    indices = first + np.arange(math.ceil(support) * 2 + 1)
    distances = (indices - centre + 0.5) / width
    weights = _cubic(distances, node.get("cubic_coeff_a", -0.75)) if mode == "cubic" else _triangle(distances)
    weights = np.where(indices < after, weights, 0)
    return indices, weights / weights.sum(1, keepdims=True)


def _triangle(distances: Array) -> Array:
    weights: Array = np.maximum(0, 1 - np.abs(distances))
    return weights


def _cubic(distances: Array, a: float) -> Array:
    """Keys' convolution."""
    x = np.abs(distances)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def axes_of(node: OnnxNode) -> list[Axis]:
    """How each axis is resized. Sizes follow from FLOAT scales by products in FLOAT, as in ONNX Runtime."""
    shape = node.shape()
    rank, one = len(shape), np.float32(1)
    axes = counted(node.get("axes") or range(rank), rank)
    starts, ends = [np.float32(0)] * rank, [one] * rank
    if node.get("coordinate_transformation_mode") == CROP and node.has(1):
        roi = node.known(1, "roi").reshape(-1).astype(np.float32)
        _check_count("roi", roi, 2 * len(axes))
        for position, axis in enumerate(axes):
            starts[axis], ends[axis] = roi[position], roi[position + len(axes)]
    scales, sizes = [one] * rank, list(shape)
    index = 1 if node.version < 11 else 2
    known_scales = node.get("scales")
    if known_scales is None and node.has(index) and node.input(index).size:
        known_scales = node.known(index, "scales")
    if known_scales is not None:
        numbers = np.asarray(known_scales, np.float32).reshape(-1)
        _check_count("scales", numbers, len(axes))
        if not (numbers > 0).all():
            raise Refusal(f"is {numbers.tolist()}; scales must be positive", "scales")
        for axis, scale in zip(axes, numbers):
            scales[axis], sizes[axis] = scale, int(scale * np.float32(shape[axis]))
    else:
        wanted = node.known(3, "sizes").reshape(-1)
        _check_count("sizes", wanted, len(axes))
        for axis, size in zip(axes, wanted):
            scales[axis] = np.float32(size) / np.float32(max(1, shape[axis]))
            sizes[axis] = int(size)
        _keep_ratio(node, axes, scales, sizes)
    return [Axis(*row) for row in zip(shape, sizes, scales, starts, ends)]


def _check_count(name: str, numbers: Array, count: int) -> None:
    if numbers.size != count:
        raise Refusal(f"has {numbers.size} elements; it must have {count}", name)


def _keep_ratio(node: OnnxNode, axes: Sequence[int], scales: list[np.float32], sizes: list[int]) -> None:
    """One scale for all ``axes``, where ``keep_aspect_ratio_policy`` says so."""
    choose = node.choice(
        "keep_aspect_ratio_policy", "stretch", {"stretch": None, "not_larger": min, "not_smaller": max}
    )
    if choose is None:
        return
    scale = choose(scales[axis] for axis in axes)
    for axis in axes:
        scales[axis] = scale
        sizes[axis] = math.floor(float(scale * np.float32(node.shape()[axis])) + 0.5)


@outputs("Resize", "Upsample")
def resized_outputs(node: OnnxNode) -> list[tuple[np.dtype[Any], Sizes]]:
    return [(node.input().dtype, tuple(axis.new for axis in axes_of(node)))]


@operator("Resize", "Upsample")
def resize(node: OnnxNode) -> Results:
    axes = axes_of(node)
    mode = node.choice("mode", "nearest", MODES)
    if all(axis.old == axis.new for axis in axes):
        return node.input()
    # An axis whose scale is 1 is as it is, whatever the coordinates.
    changed = {index: neighbours(node, axis, mode) for index, axis in enumerate(axes) if axis.scale != 1}
    result = resampled(node, axes, changed, mode)
    if result is None:
        result = composed(node, changed, mode)
    return extrapolated(node, result, axes, changed)


def resampled(
    node: OnnxNode, axes: Sequence[Axis], changed: dict[int, Neighbours], mode: str
) -> Expression | None:
    """RESAMPLE2, or None if it would have another result. Of more than four axes, those that do not change are
    merged."""
    if mode == "cubic" or node.input().dtype not in RESAMPLED or is_filtered(node):
        return None
    groups: list[list[int]] = []
    for index in range(len(axes)):
        if len(axes) <= MOST or index in changed or not groups or groups[-1][0] in changed:
            groups.append([index])
        else:
            groups[-1].append(index)
    is_nearest = mode == "nearest"
    directions = {rounding(node, axes[index])[1] for index in changed} if is_nearest else {0}
    rows = [
        as_resample(node, axes[group[0]], changed[group[0]], mode)
        if group[0] in changed
        else unchanged(math.prod(axes[index].old for index in group))
        for group in groups
    ]
    found = [row for row in rows if row is not None]
    if len(found) < len(rows) or len(rows) > MOST or len(directions) > 1:
        return None
    old, new, scales, inputs, results = (list(column) for column in zip(*found))
    settings: dict[str, Any] = {
        "interpolation_mode": DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR
        if is_nearest
        else DML_INTERPOLATION_MODE_LINEAR,
        "rounding_direction": directions.pop() if is_nearest else DML_AXIS_DIRECTION_DECREASING,
        "scales": scales,
        "input_pixel_offsets": inputs,
        "output_pixel_offsets": results,
        "output_sizes": new,
    }
    x = node.tensor(sizes=[int(size) for size in old])
    if node.get("antialias", 0):
        return node.graph.resample3(x, antialiased=True, **settings)
    return node.graph.resample2(x, **settings)


Row: TypeAlias = "tuple[int, int, float, float, float]"


def unchanged(count: int) -> Row:
    return count, count, 1.0, 0.5, -0.5


def as_resample(node: OnnxNode, axis: Axis, wanted: Neighbours, mode: str) -> Row | None:
    """Sizes, scale and offsets of RESAMPLE2 if it finds the same elements."""
    word = transformation(node)
    result_offset, input_offset = OFFSETS.get(word, (0.0, 0.0))
    scale = float(axis.scale)
    if word == "align_corners" and axis.old > 1 and axis.new > 1:
        scale = (axis.new - 1) / (axis.old - 1)
    elif word == "pytorch_half_pixel" and axis.new == 1:
        result_offset, input_offset = 0.0, 0.0
    elif word == "half_pixel_symmetric":
        # The output is centred: the rounding of its size is shared by both sides.
        centre = axis.old / 2 * (1 - axis.new / (scale * axis.old))
        result_offset, input_offset = -0.5 - centre * scale, 0.5
    elif word == CROP:
        return None
    _, direction, more = rounding(node, axis) if mode == "nearest" else (None, 0, 0.0)
    input_offset += more
    scale = float(np.float32(scale))
    x = ((np.arange(axis.new) - result_offset) / scale).astype(np.float32) - input_offset
    last = axis.old - 1
    if mode == "nearest":
        toward = np.ceil if direction == DML_AXIS_DIRECTION_INCREASING else np.floor
        is_same = np.array_equal(toward(x).clip(0, last), wanted.indices[:, 0])
    else:
        is_same = bool(np.allclose(x.clip(0, last), coordinates(node, axis).clip(0, last), atol=CLOSE))
    return (axis.old, axis.new, scale, input_offset, result_offset) if is_same else None


def composed(node: OnnxNode, changed: dict[int, Neighbours], mode: str) -> Expression:
    """A gather along each axis; interpolated in FLOAT32."""
    dtype, shape = node.input().dtype, list(node.shape())
    is_rounded = is_filtered(node) and dtype.kind in "iu"
    x = node.moved() if mode == "nearest" else node.cast(node.tensor(), np.float32)
    # ONNX Runtime begins with the last axis, and rounds integers after each if it filters them.
    for index in sorted(changed, reverse=True):
        indices, weights = changed[index].indices, changed[index].weights
        chosen = node.constant(indices.reshape(-1), np.uint32)
        sizes = (math.prod(shape[:index]), shape[index], math.prod(shape[index + 1 :]))
        x = node.graph.reinterpret(x, sizes=sizes)
        x = node.graph.gather(
            x, node.graph.reinterpret(chosen, sizes=(1, 1, indices.size)), axis=1, index_dimensions=1
        )
        shape[index] = len(indices)
        if weights is not None:
            x = _weighted(node, x, weights)
        if weights is not None and is_rounded:
            x = _whole(node, x, dtype)
    if mode != "nearest":
        x = node.cast(x, dtype)
    return node.graph.reinterpret(x, sizes=shape)


def _weighted(node: OnnxNode, x: Expression, weights: Array) -> Expression:
    """The sums of as many elements along the middle axis as ``weights`` has columns."""
    before, _, after = x.desc.sizes
    wide = (before, *weights.shape, after)
    shares = node.spread(node.constant(weights), (1, *weights.shape, 1), wide)
    x = node.graph.multiply(node.graph.reinterpret(x, sizes=wide), shares)
    kind = x.desc.data_type
    return node.graph.reduce(x, function=DML_REDUCE_FUNCTION_SUM, axes=[2], output_data_type=kind)


def _whole(node: OnnxNode, x: Expression, dtype: np.dtype[Any]) -> Expression:
    """``x`` rounded, and clipped to the range of a type of 8 bits."""
    x = node.graph.floor(x, scale_bias=(1.0, 0.5))
    limits = np.iinfo(dtype)
    return node.graph.clip(x, min=float(limits.min), max=float(limits.max)) if limits.bits == 8 else x


def extrapolated(
    node: OnnxNode, result: Expression, axes: Sequence[Axis], changed: dict[int, Neighbours]
) -> Expression:
    """``result`` with ``extrapolation_value`` where a region of interest lies outside of the input."""
    shape = tuple(axis.new for axis in axes)
    result = node.graph.reinterpret(result, sizes=shape)
    if node.get("coordinate_transformation_mode") != CROP:
        return result
    for index, neighbours in changed.items():
        if not neighbours.outside.any():
            continue
        sizes = tuple(len(neighbours.outside) if axis == index else 1 for axis in range(len(shape)))
        mask = node.spread(node.constant(neighbours.outside.astype(np.uint8)), sizes, shape)
        moved = node.movable(result)
        value = node.scalar(node.get("extrapolation_value", 0.0), moved)
        result = node.graph.reinterpret(node.graph.if_(mask, value, moved), result.desc.data_type)
    return result
