"""Gathers and scatters, and operators that find indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..helpers import as_stored
from .onnx_node import plain, run
from .record import ANY, Record, Values


class Indices(NamedTuple):
    """Indices within dimensions of ``sizes``: of one dimension, or of one for each of the last coordinates.

    Negative ones are among those of signed types. They are ``distinct`` along an axis as long as there are others.
    """

    sizes: Sequence[int]
    distinct: int | None = None

    def draw(self, rng: np.random.Generator, tensor: Any) -> Any:
        # Elements that share memory may belong to different dimensions.
        sizes = min(self.sizes) if tensor.overlaps else np.array(self.sizes)
        if self.distinct is None:
            indices = rng.integers(0, np.broadcast_to(sizes, tensor.sizes))
        else:
            (size,) = self.sizes
            order = [rng.permutation(np.arange(tensor.sizes[self.distinct]) % size) for _ in range(100)]
            columns = np.moveaxis(np.empty(tensor.sizes, np.int64), self.distinct, -1)
            columns[...] = np.array(order)[rng.integers(0, len(order), columns.shape[:-1])]
            indices = np.moveaxis(columns, -1, self.distinct)
        if tensor.dtype.kind == "i":
            indices = np.where(rng.random(tensor.sizes) < 0.5, indices, indices - sizes)
        return as_stored(tensor, indices.astype(tensor.dtype))


def gather(desc: Any, x: Any, indices: Any) -> Any:
    """Leading dimensions of size 1 are added or dropped, which moves no element."""
    own = indices.shape[indices.ndim - desc.IndexDimensions :]
    indices = indices.astype(np.int64).reshape(own)
    (result,) = run("Gather", [plain(desc.inputs[0], x), indices], axis=desc.Axis)
    return result.reshape(desc.OutputTensor.sizes)


def gather_elements(desc: Any, x: Any, indices: Any) -> Any:
    return run("GatherElements", [plain(desc.inputs[0], x), indices.astype(np.int64)], axis=desc.Axis)[0]


def scatter(desc: Any, x: Any, indices: Any, updates: Any) -> Any:
    """On one thread ONNX Runtime writes in order, so that there, too, the last of equal indices wins."""
    x, updates = plain(desc.inputs[0], x), plain(desc.inputs[2], updates)
    return run("ScatterElements", [x, indices.astype(np.int64), updates], axis=desc.Axis)[0]


def last(array: Any, count: int) -> Any:
    return array.reshape(array.shape[array.ndim - count :])


def gather_nd(desc: Any, x: Any, indices: Any) -> Any:
    x = last(plain(desc.inputs[0], x), desc.InputDimensionCount)
    indices = last(indices.astype(np.int64), desc.IndicesDimensionCount)
    (result,) = run("GatherND", [x, indices], batch_dims=batches(desc))
    return result.reshape(desc.OutputTensor.sizes)


def scatter_nd(desc: Any, x: Any, indices: Any, updates: Any) -> Any:
    """In order, as ``scatter``."""
    x = last(plain(desc.inputs[0], x), desc.InputDimensionCount)
    indices = last(indices.astype(np.int64), desc.IndicesDimensionCount)
    rank = indices.ndim - 1 + x.ndim - indices.shape[-1]
    updates = plain(desc.inputs[2], updates)
    # Without any dimensions there is one element.
    updates = updates.reshape(updates.shape[updates.ndim - rank :])
    (result,) = run("ScatterND", [x, indices, updates])
    return result.reshape(desc.OutputTensor.sizes)


def batches(desc: Any) -> int:
    return desc.BatchDimensionCount if desc.name == "GATHER_ND1" else 0


def one_hot(desc: Any, indices: Any, values: Any) -> Any:
    """ONNX's 1 stands for the second value, the next along the fastest-varying dimension."""
    depth = np.array(desc.OutputTensor.sizes[desc.Axis], np.int64)
    # Indices beyond INT64 are out of range in any case. ONNX Runtime requires at least one dimension.
    indices = np.minimum(indices, 1 << 62).astype(np.int64)[np.newaxis]
    axis = desc.Axis + 1
    zero_one = np.array([0, 1], np.int64)
    (is_on,) = run("OneHot", [np.squeeze(indices, axis), depth, zero_one], ["int64"], axis=axis)
    # NumPy takes Python integers beyond INT64 only in arrays.
    off, on = values.ravel()[:1], values.ravel()[1:2]
    return np.where(is_on[0] == 1, on, off)


def nonzero(desc: Any, x: Any) -> Any:
    """Elements after the last coordinates are 0."""
    rows, width = desc.OutputCoordinatesTensor.sizes[-2:]
    (found,) = run("NonZero", [x.astype(np.float32 if x.dtype.kind == "f" else np.int64)], ["int64"])
    coordinates = np.zeros((rows, width), np.int64)
    coordinates[: found.shape[1]] = found.T[:, x.ndim - width :]
    return [
        np.full(desc.OutputCountTensor.sizes, found.shape[1]),
        coordinates.reshape(desc.OutputCoordinatesTensor.sizes),
    ]


def along_axis(desc: Any) -> dict[str, Any]:
    distinct = desc.Axis if desc.name == "SCATTER" else None
    indices = Indices([desc.InputTensor.sizes[desc.Axis]], distinct)
    return {"InputTensor": ANY, "IndicesTensor": indices, "UpdatesTensor": ANY}


def in_tuples(desc: Any) -> dict[str, Any]:
    first = desc.InputTensor.dimension_count - desc.InputDimensionCount + batches(desc)
    sizes = desc.InputTensor.sizes[first : first + desc.IndicesTensor.sizes[-1]]
    return {"InputTensor": ANY, "IndicesTensor": Indices(sizes), "UpdatesTensor": ANY}


def around_axis(desc: Any) -> dict[str, Values]:
    """Out of range too, where there is no one."""
    size = desc.OutputTensor.sizes[desc.Axis]
    return {"IndicesTensor": Values(-size - 2, size + 1, limited=True), "ValuesTensor": ANY}


RECORDS = {
    "GATHER": Record(gather, along_axis, samples=72),
    "GATHER_ELEMENTS": Record(gather_elements, along_axis, samples=72),
    "GATHER_ND": Record(gather_nd, in_tuples, samples=72),
    "GATHER_ND1": Record(gather_nd, in_tuples, samples=72),
    "SCATTER": Record(scatter, along_axis, samples=72),
    "SCATTER_ND": Record(scatter_nd, in_tuples, samples=72),
    "ONE_HOT": Record(one_hot, around_axis, samples=72),
    # Many floats are zeros of either sign, and every third integer.
    "NONZERO_COORDINATES": Record(nonzero, Values(-1.4, 1.4, step=1, special=True, limited=True), samples=72),
}
