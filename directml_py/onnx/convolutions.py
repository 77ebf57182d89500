"""Convolutions."""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np

from ..api.enums import (
    DML_CONVOLUTION_DIRECTION_BACKWARD,
    DML_CONVOLUTION_DIRECTION_FORWARD,
    DML_CONVOLUTION_MODE_CROSS_CORRELATION,
)
from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import Sizes
from .window_attributes import WindowAttributes, cropped, explicit, split, window_of


def bias_of(node: OnnxNode, index: int) -> Expression | None:
    """A bias per channel, as a tensor with the input's dimensions."""
    if not node.has(index):
        return None
    return node.tensor(index, per_channel(node, math.prod(node.shape(index))))


def per_channel(node: OnnxNode, count: int) -> tuple[int, ...]:
    return (1, count, *(1,) * (len(node.shape()) - 2))


def convolved_sizes(node: OnnxNode, shape: Sizes, filters: Sizes) -> Sizes:
    """The sizes of a convolution of a tensor of ``shape``, channels first."""
    if len(shape) < 3 or len(filters) != len(shape):
        raise Refusal(f"have sizes {list(filters)} for an input of {list(shape)}", "input W")
    window = window_of(node, shape[2:], filters[2:])
    spatial = (
        (size + start + end - extent) // stride + 1
        for size, start, end, extent, stride in zip(
            shape[2:], window.start, window.end, window.extents, window.strides
        )
    )
    return (shape[0], filters[0], *spatial)


@operator("Conv")
def convolution(node: OnnxNode) -> Results:
    activation, node.activation = node.activation, None
    x, _, window = cropped(node, window_of(node, node.shape()[2:], node.shape(1)[2:]))
    return node.graph.convolution(
        x,
        node.tensor(1),
        bias_of(node, 2),
        mode=DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        direction=DML_CONVOLUTION_DIRECTION_FORWARD,
        output_padding=[0] * len(window.kernel),
        group_count=node.get("group", 1),
        fused_activation=activation,
        **window.convolution(),
    )


@operator("NhwcConv", domain=MICROSOFT)
def channels_last_convolution(node: OnnxNode) -> Results:
    """Channels come last in the input, the filters and the output; the former two are viewed in NCHW order without a
    copy."""
    activation, node.activation = node.activation, None
    shapes = [node.shape(index) for index in (0, 1)]
    rank = len(shapes[0])
    order = (0, rank - 1, *range(1, rank - 1))
    x, shape, window = cropped(node, window_of(node, shapes[0][1:-1], shapes[1][1:-1]), first=1)
    y = node.graph.convolution(
        node.reordered(x, shape, order),
        node.reordered(node.tensor(1), shapes[1], order),
        node.tensor(2, per_channel(node, math.prod(node.shape(2)))) if node.has(2) else None,
        mode=DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        direction=DML_CONVOLUTION_DIRECTION_FORWARD,
        output_padding=[0] * len(window.kernel),
        group_count=node.get("group", 1),
        fused_activation=activation,
        **window.convolution(),
    )
    return node.transposed(y, y.desc.sizes, (0, *range(2, rank), 1))


@operator("ConvTranspose")
def transposed_convolution(node: OnnxNode) -> Results:
    return transposed(node, transposed_window(node), bias_of(node, 2))


@outputs("ConvTransposeWithDynamicPads", domain=MICROSOFT)
def with_known_pads(node: OnnxNode) -> Rows:
    part = copy(node)
    if node.has(2):
        part.attributes = {**node.attributes, "pads": node.numbers(2, "Pads")}
    window, extra = transposed_window(part)
    sizes = (
        stride * (size - 1) + extent - start - end + more
        for size, stride, extent, start, end, more in zip(
            node.shape()[2:], window.strides, window.extents, window.start, window.end, extra
        )
    )
    channels = node.shape(1)[1] * node.get("group", 1)
    return [(node.input().dtype, (node.shape()[0], channels, *sizes))]


@operator("ConvTransposeWithDynamicPads", domain=MICROSOFT)
def with_dynamic_pads(node: OnnxNode) -> Results:
    if node.has(2):
        node.attributes["pads"] = node.numbers(2, "Pads")
    return transposed(node, transposed_window(node), bias_of(node, 3))


def transposed_window(node: OnnxNode) -> tuple[WindowAttributes, list[int]]:
    """The window, and the elements of the output beyond those that the padding leaves."""
    sizes = node.shape()[2:]
    if len(node.shape(1)) != len(node.shape()):
        raise Refusal(f"has sizes {list(node.shape(1))}; it must have {len(node.shape())} of them", "input W")
    window = explicit(node, len(sizes), node.shape(1)[2:])
    word, wanted = node.get("auto_pad", "NOTSET"), node.get("output_shape")
    extra = list(node.get("output_padding") or [0] * len(sizes))
    whole = [
        stride * (size - 1) + extent + more
        for size, stride, extent, more in zip(sizes, window.strides, window.extents, extra)
    ]
    if not wanted and word.startswith("SAME"):
        wanted = [min(all_, size * stride) for all_, size, stride in zip(whole, sizes, window.strides)]
    if wanted:
        totals = [size - want for size, want in zip(whole, list(wanted)[-len(sizes) :])]
        window = window._replace(**split([max(0, total) for total in totals], word))
        extra = [more + max(0, -total) for more, total in zip(extra, totals)]
    # An output that is longer at its end is one with less padding there, as long as there is padding.
    taken = [min(more, max(0, end)) for more, end in zip(extra, window.end)]
    window = window._replace(end=[end - less for end, less in zip(window.end, taken)])
    return window, [more - less for more, less in zip(extra, taken)]


@outputs("ConvTranspose")
def transposed_outputs(node: OnnxNode) -> list[tuple[np.dtype[Any], Sizes]]:
    window, extra = transposed_window(node)
    sizes = [
        stride * (size - 1) + extent + more - start - end
        for size, stride, extent, more, start, end in zip(
            node.shape()[2:], window.strides, window.extents, extra, window.start, window.end
        )
    ]
    return [(node.input().dtype, (node.shape()[0], node.shape(1)[1] * node.get("group", 1), *sizes))]


def transposed(
    node: OnnxNode, plan: tuple[WindowAttributes, list[int]], bias: Expression | None
) -> Expression:
    activation, node.activation = node.activation, None
    window, extra = plan
    settings: dict[str, Any] = {
        "mode": DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        "direction": DML_CONVOLUTION_DIRECTION_BACKWARD,
        "output_padding": extra,
        "group_count": node.get("group", 1),
        **window.convolution(),
    }
    x, filters = node.tensor(0), node.tensor(1)
    if bias is None or not any(extra):
        return node.graph.convolution(x, filters, bias, fused_activation=activation, **settings)
    # OutputPadding has no bias.
    sums = node.graph.convolution(x, filters, **settings)
    spread = node.spread(bias, bias.desc.sizes, sums.desc.sizes)
    if activation is None:
        return node.graph.add(sums, spread)
    return node.graph.element_wise_add1(sums, spread, fused_activation=activation)


@operator("ConvInteger")
def integer_convolution(node: OnnxNode) -> Results:
    x, _, window = cropped(node, window_of(node, node.shape()[2:], node.shape(1)[2:]))
    return node.graph.convolution_integer(
        x,
        node.tensor(1),
        zero_point(node, 2),
        zero_point(node, 3, filters=True),
        group_count=node.get("group", 1),
        output_data_type=node.inferred[node.outputs[0]][0],
        **window.convolution(),
    )


def zero_point(node: OnnxNode, index: int, filters: bool = False) -> Expression | None:
    """A single zero point, or for filters one per output channel."""
    if not node.has(index):
        return None
    count = math.prod(node.shape(index))
    if count > 1 and not filters:
        raise Refusal(f"has {count} elements; the input has one zero point", f"input {index}")
    return node.tensor(index, per_channel(node, count))


@operator("QLinearConv")
def quantized_convolution(node: OnnxNode) -> Results:
    window = window_of(node, node.shape()[2:], node.shape(3)[2:])
    scale, zero = _scale(node, 4), zero_point(node, 5, filters=True)
    assert zero is not None
    sizes = tuple(map(max, scale.desc.sizes, zero.desc.sizes))
    return node.graph.quantized_linear_convolution(
        node.tensor(0),
        _scale(node, 1),
        node.tensor(3),
        node.repeated(scale, sizes),
        _scale(node, 6),
        zero_point(node, 2),
        node.repeated(zero, sizes),
        bias_of(node, 8),
        zero_point(node, 7),
        group_count=node.get("group", 1),
        output_data_type=node.input(7).dtype,
        **window.convolution(),
    )


def _scale(node: OnnxNode, index: int) -> Expression:
    return node.tensor(index, per_channel(node, math.prod(node.shape(index))))
