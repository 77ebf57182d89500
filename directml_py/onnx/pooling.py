"""Pools."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..api.enums import DML_PADDING_MODE_CONSTANT
from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .translators import Results, operator, outputs
from .values import Sizes
from .window_attributes import WindowAttributes, cropped, window_of

# Pools take two or three spatial dimensions.
FEWEST = 4


def padded(shape: Sizes) -> Sizes:
    """``shape`` with a dimension of 1 inserted before its only spatial one."""
    return (*shape[:2], *(1,) * (FEWEST - len(shape)), *shape[2:])


def pool(
    node: OnnxNode, names: tuple[str, str], window: WindowAttributes, sizes: Sizes, **settings: Any
) -> Any:
    """The pool operator without dilations, or the one with them."""
    more = FEWEST - len(sizes)
    x, shape, window = cropped(node, window)
    attributes = {
        name: [0 if name.endswith("padding") else 1] * more + values for name, values in window.pool().items()
    }
    plain, dilated = names
    if set(window.dilations) == {1} and plain:
        del attributes["dilations"]
        dilated = plain
    x = node.graph.reinterpret(x, sizes=padded(shape))
    return getattr(node.graph, dilated)(x, output_sizes=padded(sizes), **attributes, **settings)


def averaged(node: OnnxNode, window: WindowAttributes, is_padded: bool, sizes: Sizes) -> Expression:
    names = "average_pooling", "average_pooling1"
    result: Expression = pool(node, names, window, sizes, include_padding=is_padded)
    return result


def norms(node: OnnxNode, window: WindowAttributes, sizes: Sizes) -> Expression:
    result: Expression = pool(node, ("lp_pooling", "lp_pooling1"), window, sizes, p=node.get("p", 2))
    return result


@operator("AveragePool")
def average(node: OnnxNode) -> Results:
    window = window_of(node, node.shape()[2:])
    return averaged(node, window, bool(node.get("count_include_pad", 0)), node.output_shape())


@operator("MaxPool")
def maximum(node: OnnxNode) -> Results:
    window = window_of(node, node.shape()[2:])
    if not node.wants(1):
        return pooled_maximum(node, window, node.output_shape())
    both = pool(
        node,
        ("", "max_pooling2"),
        window,
        node.output_shape(),
        output_indices=True,
        output_data_type=node.index_type,
    )
    indices = both.output_indices
    if node.get("storage_order", 0) or min((*window.start, *window.end)) < 0:
        indices = renumbered(node, window, indices)
    return [both.output, node.cast(indices, np.int64)]


def renumbered(node: OnnxNode, window: WindowAttributes, indices: Expression) -> Expression:
    """Places in the cropped input as those in the whole one; with ``storage_order`` its first spatial dimension varies
    fastest."""
    images, sizes = node.shape()[:2], node.shape()[2:]
    order = np.arange(math.prod(node.shape())).reshape((*images, *sizes))
    if node.get("storage_order", 0):
        axes = (0, 1, *range(len(sizes) + 1, 1, -1))
        order = order.reshape((*images, *sizes[::-1])).transpose(axes)
    kept = (
        slice(None),
        slice(None),
        *(
            slice(max(0, -start), size - max(0, -end))
            for size, start, end in zip(sizes, window.start, window.end)
        ),
    )
    table = node.constant(order[kept].reshape(1, 1, 1, -1), node.index_type)
    flat = node.graph.reinterpret(indices, sizes=(1, 1, 1, math.prod(indices.desc.sizes)))
    return node.graph.gather(table, flat, axis=3, index_dimensions=1)


def pooled_sizes(node: OnnxNode, sizes: Sizes, window: WindowAttributes) -> Sizes:
    """The number of windows over spatial ``sizes``.

    No window begins in the padding at the end, which ONNX's shape inference says from operator set 22 on.
    """
    counts = []
    for size, stride, extent, start, end in zip(
        sizes, window.strides, window.extents, window.start, window.end
    ):
        rest = size + start + end - extent
        # Rounded towards 0: a window may be larger than the padded input.
        count = int(rest / stride) + 1
        if node.get("ceil_mode", 0):
            count = -(-rest // stride) + 1
            count -= (count - 1) * stride >= size + start
        if count < 0:
            raise Refusal(f"is {window.kernel}, larger than the padded input", "attribute kernel_shape")
        counts.append(count)
    return tuple(counts)


@outputs("AveragePool", "LpPool", "MaxPool")
def pool_outputs(node: OnnxNode) -> list[tuple[np.dtype[Any], Sizes]]:
    shape = node.shape()
    sizes = (*shape[:2], *pooled_sizes(node, shape[2:], window_of(node, shape[2:])))
    return [(node.input().dtype, sizes), (np.dtype(np.int64), sizes)]


def pooled_maximum(node: OnnxNode, window: WindowAttributes, sizes: Sizes) -> Expression:
    result = pool(node, ("max_pooling", "max_pooling2"), window, sizes)
    return result if isinstance(result, Expression) else result.output


@operator("LpPool")
def norm(node: OnnxNode) -> Results:
    return norms(node, window_of(node, node.shape()[2:]), node.output_shape())


def window_over(sizes: Sizes) -> WindowAttributes:
    """One window over all spatial ``sizes``."""
    ones, zeros = [1] * len(sizes), [0] * len(sizes)
    return WindowAttributes(list(sizes), ones, ones, zeros, zeros)


def whole(node: OnnxNode) -> tuple[WindowAttributes, Sizes]:
    """One window over all spatial dimensions, and the sizes of its result."""
    window = window_over(node.shape()[2:])
    return window, (*node.shape()[:2], *window.strides)


@operator("GlobalAveragePool")
def global_average(node: OnnxNode) -> Results:
    window, sizes = whole(node)
    return averaged(node, window, False, sizes)


@operator("GlobalMaxPool")
def global_maximum(node: OnnxNode) -> Results:
    return pooled_maximum(node, *whole(node))


@operator("GlobalLpPool")
def global_norm(node: OnnxNode) -> Results:
    return norms(node, *whole(node))


def unpooled_sizes(node: OnnxNode) -> tuple[Sizes, Sizes]:
    """The smallest sizes that could have been pooled, to which indices refer, and those of the output."""
    shape = node.shape()
    window = window_of(node, shape[2:])
    least = [
        (size - 1) * stride + extent - start - end
        for size, stride, extent, start, end in zip(
            shape[2:], window.strides, window.extents, window.start, window.end
        )
    ]
    inferred = (*shape[:2], *least)
    wanted = tuple(node.numbers(2, "output_shape") or inferred)
    if len(wanted) != len(inferred):
        raise Refusal(f"has {len(wanted)} sizes, not {len(inferred)}", "input output_shape")
    return inferred, wanted


@outputs("MaxUnpool")
def unpool_outputs(node: OnnxNode) -> list[tuple[np.dtype[Any], Sizes]]:
    return [(node.input().dtype, unpooled_sizes(node)[1])]


@operator("MaxUnpool")
def unpool(node: OnnxNode) -> Results:
    """Indices refer to the smallest output that could have been pooled, which is cut, or padded with 0, at its ends."""
    shape = node.shape()
    inferred, wanted = unpooled_sizes(node)
    if len(shape) <= FEWEST:
        x, indices = node.tensor(0, padded(shape)), node.cast(node.tensor(1, padded(shape)), node.index_type)
        placed = node.graph.max_unpooling(x, indices, output_sizes=padded(inferred))
    else:
        flat = (1, 1, 1, math.prod(shape))
        x, indices = node.tensor(0, flat), node.tensor(1, flat)
        zero = node.constant(np.zeros(1, node.input().dtype))
        nothing = node.packed(node.spread(zero, (1,), (1, 1, 1, math.prod(inferred))))
        placed = node.graph.scatter(nothing, indices, x, axis=3)
    if wanted == inferred:
        return placed
    none, kept = [0] * len(shape), [*map(min, inferred, wanted)]
    whole = node.graph.reinterpret(placed, sizes=inferred)
    return node.graph.padding(
        node.graph.slice(whole, offsets=none, sizes=kept, strides=[1] * len(shape)),
        padding_mode=DML_PADDING_MODE_CONSTANT,
        padding_value=0.0,
        start_padding=none,
        end_padding=[want - size for want, size in zip(wanted, kept)],
    )
