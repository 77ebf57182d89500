"""Pools."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..api.enums import DML_PADDING_MODE_CONSTANT
from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .translators import Results, Rows, operator, outputs
from .values import Sizes
from .window_attributes import WindowAttributes, window_of

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
    own = {
        name: [0 if name.endswith("padding") else 1] * more + values for name, values in window.pool().items()
    }
    plain, dilated = names
    if set(window.dilations) == {1} and plain:
        del own["dilations"]
        dilated = plain
    x = node.tensor(sizes=padded(node.shape()))
    return getattr(node.graph, dilated)(x, output_sizes=padded(sizes), **own, **settings)


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
    node.only("storage_order", 0, "DirectML's indices are row-major")
    both = pool(
        node,
        ("", "max_pooling2"),
        window,
        node.output_shape(),
        output_indices=True,
        output_data_type=node.index_type,
    )
    return [both.output, node.cast(both.output_indices, np.int64)]


def pooled_maximum(node: OnnxNode, window: WindowAttributes, sizes: Sizes) -> Expression:
    result = pool(node, ("max_pooling", "max_pooling2"), window, sizes)
    return result if isinstance(result, Expression) else result.output


@operator("LpPool")
def norm(node: OnnxNode) -> Results:
    return norms(node, window_of(node, node.shape()[2:]), node.output_shape())


def whole(node: OnnxNode) -> tuple[WindowAttributes, Sizes]:
    """One window over all spatial dimensions, and the sizes of its result."""
    sizes = node.shape()[2:]
    ones, zeros = [1] * len(sizes), [0] * len(sizes)
    return WindowAttributes(list(sizes), ones, ones, zeros, zeros), (*node.shape()[:2], *ones)


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


@outputs("MaxUnpool")
def unpooled(node: OnnxNode) -> Rows:
    """ONNX infers no sizes from output_shape."""
    wanted = tuple(int(size) for size in node.known(2, "output_shape")) if node.has(2) else None
    return [None if wanted is None else (node.input().dtype, wanted)]


@operator("MaxUnpool")
def unpool(node: OnnxNode) -> Results:
    """Indices refer to the smallest output that could have been pooled; a larger output is padded with 0."""
    shape = node.shape()
    window = window_of(node, shape[2:])
    least = [
        (size - 1) * stride + extent - start - end
        for size, stride, extent, start, end in zip(
            shape[2:], window.strides, window.extents, window.start, window.end
        )
    ]
    inferred = (*shape[:2], *least)
    wanted = node.output_shape() if node.has(2) else inferred
    if len(wanted) != len(inferred):
        raise Refusal(f"is {list(wanted)}; it must have {len(inferred)} numbers", "input output_shape")
    surplus = [want - size for want, size in zip(wanted, inferred)]
    if min(surplus) < 0:
        raise Refusal(f"is {list(wanted)}, smaller than {list(inferred)}", "input output_shape")
    x, indices = node.tensor(0, padded(shape)), node.cast(node.tensor(1, padded(shape)), node.index_type)
    placed = node.graph.max_unpooling(x, indices, output_sizes=padded(inferred))
    if not any(surplus):
        return placed
    return node.graph.padding(
        node.graph.reinterpret(placed, sizes=inferred),
        padding_mode=DML_PADDING_MODE_CONSTANT,
        padding_value=0.0,
        start_padding=[0] * len(surplus),
        end_padding=surplus,
    )
