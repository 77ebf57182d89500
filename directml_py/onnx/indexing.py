"""Gathers, scatters, and operators that produce indices."""

from __future__ import annotations

import math

import numpy as np

from ..api.enums import (
    DML_REDUCE_FUNCTION_MAX,
    DML_REDUCE_FUNCTION_MIN,
    DML_REDUCE_FUNCTION_MULTIPLY,
    DML_REDUCE_FUNCTION_SUM,
)
from ..descs.data_types import data_type_of
from ..descs.tensor_size import packed_strides
from ..graph import Expression
from .empty_tensors import OF_NOTHING
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
    return whole, axis, np.flatnonzero(condition.reshape(-1)[: whole[axis]])


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
    """The indices may be fewer than the elements along other axes, where those from 0 on are chosen from."""
    axis = node.axis(len(node.shape()), 0)
    part = cornered(node, node.moved(0), _block(node, axis))
    return node.graph.gather_elements(part, node.tensor(1), axis=axis)


def _block(node: OnnxNode, axis: int) -> Sizes:
    """The sizes of the indices, but all elements of the axis."""
    shape, sizes = node.shape(), node.shape(1)
    wrong = len(sizes) != len(shape)
    if wrong or any(
        size > have for dimension, (size, have) in enumerate(zip(sizes, shape)) if dimension != axis
    ):
        raise Refusal(f"has sizes {list(sizes)}, which exceed {list(shape)}", "input indices")
    return (*sizes[:axis], shape[axis], *sizes[axis + 1 :])


def cornered(node: OnnxNode, x: Expression, sizes: Sizes) -> Expression:
    """A view of the first elements of ``x``, which is packed, along each axis."""
    if sizes == x.desc.sizes:
        return x
    return node.graph.reinterpret(x, sizes=sizes, strides=packed_strides(x.desc.sizes))


def replaced(node: OnnxNode, x: Expression, part: Expression) -> Expression:
    """``x`` with ``part`` in place of its first elements along each axis."""
    for axis, (size, whole) in enumerate(zip(part.desc.sizes, x.desc.sizes)):
        if size < whole:
            sizes = (*x.desc.sizes[:axis], whole - size, *part.desc.sizes[axis + 1 :])
            offsets = [size if dimension == axis else 0 for dimension in range(len(sizes))]
            rest = node.graph.slice(x, offsets=offsets, sizes=sizes, strides=[1] * len(sizes))
            part = node.graph.join([part, rest], axis=axis)
    return part


@outputs("GatherND")
def gathered_nd(node: OnnxNode) -> Rows:
    """ONNX infers no sizes for a scalar."""
    shape, indices, batch = node.shape(0), node.shape(1), node.get("batch_dims", 0)
    if not indices or not 0 <= batch < len(indices) or not 0 <= indices[-1] <= len(shape) - batch:
        raise Refusal(f"has sizes {list(indices)} for an input of {list(shape)}", "input indices")
    return [(node.input().dtype, (*indices[:-1], *shape[batch + indices[-1] :]))]


@operator("GatherND")
def gather_nd(node: OnnxNode) -> Results:
    shape, indices = node.shape(0), node.shape(1)
    if not indices[-1]:
        raise Refusal(f"has sizes {list(indices)}, which index nothing", "input indices")
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
    """The updates may be fewer than the elements along other axes, where those from 0 on are replaced."""
    axis, sizes = node.axis(len(node.shape()), 0), node.shape(1)
    if node.shape(2) != sizes:
        raise Refusal(
            f"has sizes {list(node.shape(2))}; those of the indices are {list(sizes)}", "input updates"
        )
    block = _block(node, axis)
    if node.get("reduction", "none") == "none":
        x = node.moved(0)
        part = cornered(node, x, block)
        return replaced(node, x, node.graph.scatter(part, node.tensor(1), node.moved(2), axis=axis))
    x = node.tensor(0)
    part = cornered(node, x, block)
    part = part if part is x else node.packed(part)
    outer, inner = math.prod(sizes[:axis]), math.prod(sizes[axis + 1 :])
    reduced = accumulated(
        node,
        node.graph.reinterpret(part, sizes=(outer, block[axis], inner)),
        positions(node, (outer, sizes[axis], inner), block[axis]),
        node.tensor(2, (outer, sizes[axis], inner)),
    )
    return replaced(node, x, node.graph.reinterpret(reduced, sizes=block))


def positions(node: OnnxNode, sizes: Sizes, count: int) -> Expression:
    """The indices, from 0 on: negative ones count from the end of ``count`` elements."""
    indices = node.input(1)
    if indices.array is not None:
        return node.constant(indices.array.reshape(sizes) % count)
    x = node.tensor(1, sizes)
    return node.graph.modulus_floor(x, node.scalar(count, x))


# How an element and its updates are reduced, first the updates to one; for booleans, which are 0 or 1.
REDUCTIONS = {
    "add": ("ReduceSum", DML_REDUCE_FUNCTION_SUM, "add"),
    "max": ("ReduceMax", DML_REDUCE_FUNCTION_MAX, "max"),
    "min": ("ReduceMin", DML_REDUCE_FUNCTION_MIN, "min"),
    "mul": ("ReduceProd", DML_REDUCE_FUNCTION_MULTIPLY, "multiply"),
}
OF_BOOLEANS = {"add": "max", "mul": "min"}
# The most elements of a tensor with each update at each place.
MOST_COMPARED = 1 << 26


def accumulated(node: OnnxNode, x: Expression, indices: Expression, updates: Expression) -> Expression:
    """``x`` of sizes (batch, elements, rest), where each element is reduced with the updates for it.

    ``updates`` have sizes (batch, count, rest), and ``indices`` too, or 1 for the rest. SCATTER overwrites, so all
    updates are compared with all elements.
    """
    graph, dtype = node.graph, node.input().dtype
    (batch, elements, rest), count = x.desc.sizes, updates.desc.sizes[1]
    whole = (batch, count, elements, rest)
    if math.prod(whole) > MOST_COMPARED:
        raise Refusal(
            f"compares {count} updates with {elements} places, which is too much", "attribute reduction"
        )
    word = node.choice("reduction", "none", {one: one for one in REDUCTIONS})
    if dtype == np.float64:
        raise Refusal(
            f"is {word}, which no operator supports for elements of 64-bit floats", "attribute reduction"
        )
    name, function, combine = REDUCTIONS[OF_BOOLEANS.get(word, word) if dtype == np.bool_ else word]
    if dtype.kind in "iu" and dtype.itemsize < 4:
        x, updates = (node.cast(tensor, np.int32) for tensor in (x, updates))
    kind = data_type_of(x.desc.data_type).dtype
    every = np.arange(elements).reshape(1, 1, elements, 1)
    chosen = graph.logical_equals(
        node.spread(indices, (batch, count, 1, indices.desc.sizes[2]), whole),
        node.spread(node.constant(every, data_type_of(indices.desc.data_type).dtype), every.shape, whole),
        output_data_type=np.uint8,
    )
    neutral = node.constant(np.full(1, OF_NOTHING[name](kind)), kind)
    candidates = graph.if_(
        chosen, node.spread(updates, (batch, count, 1, rest), whole), node.spread(neutral, (1,), whole)
    )
    reduced = graph.reduce(candidates, function=function, axes=[1], output_data_type=x.desc.data_type)
    updated = graph.reinterpret(reduced, sizes=(batch, elements, rest))
    return node.cast(getattr(graph, combine)(x, updated), np.uint8 if dtype == np.bool_ else dtype)


@operator("ScatterND")
def scatter_nd(node: OnnxNode) -> Results:
    if node.get("reduction", "none") != "none":
        return _accumulated_nd(node)
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


def _accumulated_nd(node: OnnxNode) -> Expression:
    """The dimensions that are indexed are merged into one."""
    shape, indices = node.shape(), node.input(1)
    depth = indices.shape[-1]
    count, rest = math.prod(indices.shape[:-1]), math.prod(shape[depth:])
    sizes, strides = np.array(shape[:depth]), np.array(packed_strides(shape[:depth]))
    if indices.array is not None:
        flat = (indices.array.reshape(count, depth) % sizes) @ strides
        linear_indices = node.constant(flat.reshape(1, count, 1), np.int64)
    else:
        x = node.tensor(1, (count, depth))
        factors = [
            node.spread(node.constant(row, np.int64), (depth,), (count, depth)) for row in (sizes, strides)
        ]
        products = node.graph.multiply(node.graph.modulus_floor(x, factors[0]), factors[1])
        total = node.graph.reduce(
            products, function=DML_REDUCE_FUNCTION_SUM, axes=[1], output_data_type=x.desc.data_type
        )
        linear_indices = node.graph.reinterpret(total, sizes=(1, count, 1))
    x = node.tensor(0, (1, math.prod(shape[:depth]), rest))
    reduced = accumulated(node, x, linear_indices, node.tensor(2, (1, count, rest)))
    return node.graph.reinterpret(reduced, sizes=shape)


@outputs("OneHot")
def marked(node: OnnxNode) -> Rows:
    """ONNX infers no sizes for a depth of FLOAT16."""
    depth, shape = node.input(1).array, node.shape(0)
    axis = node.axis(len(shape) + 1, -1)
    if depth is None:
        return [None]
    return [(node.input(2).dtype, (*shape[:axis], int(depth.reshape(-1)[0]), *shape[axis:]))]


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
