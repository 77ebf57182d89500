"""Gathers, scatters, and operators that produce indices."""

from __future__ import annotations

import math

import numpy as np

from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .translators import Results, Rows, operator, outputs
from .values import Array, Sizes


@operator("Gather")
def gather(node: OnnxNode) -> Results:
    shape = node.shape()
    indices = node.tensor(1, (1, 1, math.prod(node.shape(1))))
    return gathered(node, shape, node.axis(len(shape), 0), indices)


def gathered(node: OnnxNode, shape: Sizes, axis: int, indices: Expression) -> Expression:
    """Blocks along an axis of the input, viewed as ``shape``: the dimensions before and after the axis are merged."""
    sizes = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    return node.graph.gather(node.moved(0, sizes), indices, axis=1, index_dimensions=1)


def chosen_by_condition(node: OnnxNode) -> tuple[Sizes, int, Array]:
    """The sizes of the input of a Compress, the axis, and the positions of what is left."""
    condition = node.known(1, "condition")
    whole = node.shape() if "axis" in node.attributes else (node.input().size,)
    axis = node.axis(len(whole), 0)
    return whole, axis, np.flatnonzero(condition[: whole[axis]])


@outputs("Compress")
def compressed(node: OnnxNode) -> Rows:
    whole, axis, chosen = chosen_by_condition(node)
    return [(node.input().dtype, (*whole[:axis], len(chosen), *whole[axis + 1 :]))]


@operator("Compress")
def compress(node: OnnxNode) -> Results:
    """A gather, once the condition is known."""
    whole, axis, chosen = chosen_by_condition(node)
    return gathered(node, whole, axis, node.constant(chosen.reshape(1, 1, -1), np.uint32))


@operator("GatherElements")
def gather_elements(node: OnnxNode) -> Results:
    axis = node.axis(len(node.shape()), 0)
    return node.graph.gather_elements(node.moved(0), node.tensor(1), axis=axis)


@outputs("GatherND")
def gathered_nd(node: OnnxNode) -> Rows:
    """ONNX infers no sizes for a scalar."""
    shape, indices, batch = node.shape(0), node.shape(1), node.get("batch_dims", 0)
    if not indices or not 0 <= batch < len(indices) or not 1 <= indices[-1] <= len(shape) - batch:
        raise Refusal(f"has sizes {list(indices)} for an input of {list(shape)}", "input indices")
    return [(node.input().dtype, (*indices[:-1], *shape[batch + indices[-1] :]))]


@operator("GatherND")
def gather_nd(node: OnnxNode) -> Results:
    shape, indices = node.shape(0), node.shape(1)
    batch = node.get("batch_dims", 0)
    rank = max(len(shape), len(indices), len(shape) + len(indices) - indices[-1] - 1 - batch)
    return node.graph.gather_nd1(
        node.moved(0, padded(shape, rank)),
        node.tensor(1, padded(indices, rank)),
        input_dimension_count=len(shape),
        indices_dimension_count=len(indices),
        batch_dimension_count=batch,
    )


def padded(shape: Sizes, rank: int) -> Sizes:
    return (1,) * (rank - len(shape)) + shape


@operator("Scatter", "ScatterElements")
def scatter(node: OnnxNode) -> Results:
    node.only("reduction", "none", "DirectML's SCATTER overwrites elements")
    axis = node.axis(len(node.shape()), 0)
    return node.graph.scatter(node.moved(0), node.tensor(1), node.moved(2), axis=axis)


@operator("ScatterND")
def scatter_nd(node: OnnxNode) -> Results:
    node.only("reduction", "none", "DirectML's SCATTER_ND overwrites elements")
    shapes = [node.shape(index) for index in range(3)]
    rank = max(map(len, shapes))
    x, updates = (node.moved(index, padded(shapes[index], rank)) for index in (0, 2))
    return node.graph.scatter_nd(
        x,
        node.tensor(1, padded(shapes[1], rank)),
        updates,
        input_dimension_count=len(shapes[0]),
        indices_dimension_count=len(shapes[1]),
    )


@operator("OneHot")
def one_hot(node: OnnxNode) -> Results:
    """ONE_HOT takes integer indices, with a dimension of 1 at the axis; negative ones count from the end."""
    depth = int(node.known(1, "depth").reshape(-1)[0])
    shape = node.shape(0)
    axis = node.axis(len(shape) + 1, -1)
    sizes = (*shape[:axis], 1, *shape[axis:])
    indices = node.tensor(0, sizes)
    if node.input(0).dtype.kind == "f":
        indices = node.cast(indices, np.int64)
    values = node.moved(2, (*(1,) * len(shape), 2))
    return node.graph.one_hot(indices, values, axis=axis, output_length=depth)
