"""Reductions, arg reductions, top k and cumulative sums."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..api.enums import (
    DML_AXIS_DIRECTION_DECREASING,
    DML_AXIS_DIRECTION_INCREASING,
    DML_IS_INFINITY_MODE_EITHER,
    DML_REDUCE_FUNCTION,
    DML_REDUCE_FUNCTION_AVERAGE,
    DML_REDUCE_FUNCTION_L1,
    DML_REDUCE_FUNCTION_L2,
    DML_REDUCE_FUNCTION_LOG_SUM,
    DML_REDUCE_FUNCTION_LOG_SUM_EXP,
    DML_REDUCE_FUNCTION_MAX,
    DML_REDUCE_FUNCTION_MIN,
    DML_REDUCE_FUNCTION_MULTIPLY,
    DML_REDUCE_FUNCTION_SUM,
    DML_REDUCE_FUNCTION_SUM_SQUARE,
)
from ..graph import Expression
from .movement import counted
from .node import OnnxNode
from .translators import Results, Translator, operator, rows

REDUCTIONS = {
    "ReduceL1": DML_REDUCE_FUNCTION_L1,
    "ReduceL2": DML_REDUCE_FUNCTION_L2,
    "ReduceLogSum": DML_REDUCE_FUNCTION_LOG_SUM,
    "ReduceLogSumExp": DML_REDUCE_FUNCTION_LOG_SUM_EXP,
    "ReduceMax": DML_REDUCE_FUNCTION_MAX,
    "ReduceMean": DML_REDUCE_FUNCTION_AVERAGE,
    "ReduceMin": DML_REDUCE_FUNCTION_MIN,
    "ReduceProd": DML_REDUCE_FUNCTION_MULTIPLY,
    "ReduceSum": DML_REDUCE_FUNCTION_SUM,
    "ReduceSumSquare": DML_REDUCE_FUNCTION_SUM_SQUARE,
}
# What REDUCE computes for floats alone.
OF_FLOATS = {
    DML_REDUCE_FUNCTION_AVERAGE,
    DML_REDUCE_FUNCTION_L2,
    DML_REDUCE_FUNCTION_LOG_SUM,
    DML_REDUCE_FUNCTION_LOG_SUM_EXP,
}
EXTREMES = {"ArgMax": "argmax", "ArgMin": "argmin"}


def chosen_axes(node: OnnxNode, axes: Sequence[int] | None, rank: int) -> list[int]:
    """The axes counted from 0; all if none are given."""
    if not axes:
        return list(range(rank))
    return sorted(set(counted(axes, rank)))


def reduction(function: DML_REDUCE_FUNCTION) -> Translator:
    def translate(node: OnnxNode) -> Results:
        axes = node.numbers(1, "axes")
        if not axes and node.get("noop_with_empty_axes", 0):
            # The function of each element still applies: a dimension of 1 is reduced.
            x, where = node.tensor(sizes=(node.input().size, 1)), [1]
        else:
            x = node.tensor()
            where = chosen_axes(node, axes, len(x.desc.sizes))
        return reduced(node, x, function, where)

    return translate


def reduced(node: OnnxNode, x: Expression, function: DML_REDUCE_FUNCTION, axes: list[int]) -> Expression:
    """REDUCE; means of integers are quotients of integers, and their roots and logarithms truncated floats."""
    dtype = node.input().dtype
    if function == DML_REDUCE_FUNCTION_LOG_SUM_EXP and dtype.kind == "f" and not node.as_provider:
        return _around_largest(node, x, axes)
    if dtype.kind == "f" or function not in OF_FLOATS:
        return node.graph.reduce(x, function=function, axes=axes, output_data_type=x.desc.data_type)
    if function == DML_REDUCE_FUNCTION_AVERAGE:
        total = reduced(node, x, DML_REDUCE_FUNCTION_SUM, axes)
        count = math.prod(x.desc.sizes[axis] for axis in axes)
        return node.graph.divide(total, node.scalar(count, total))
    if function == DML_REDUCE_FUNCTION_LOG_SUM_EXP:
        return _largest_and_count(node, x, axes)
    wide = node.cast(x, np.float32)
    result = node.graph.reduce(wide, function=function, axes=axes, output_data_type=wide.desc.data_type)
    return node.cast(result, dtype)


def _around_largest(node: OnnxNode, x: Expression, axes: list[int]) -> Expression:
    """ReduceLogSumExp of floats whose exponentials may be infinite: that of the differences from the largest one."""
    graph, kind = node.graph, x.desc.data_type
    largest = graph.reduce(x, function=DML_REDUCE_FUNCTION_MAX, axes=axes, output_data_type=kind)
    is_infinite = graph.is_infinity(
        largest, infinity_mode=DML_IS_INFINITY_MODE_EITHER, output_data_type=np.uint8
    )
    largest = graph.if_(is_infinite, node.scalar(0, largest), largest)
    rest = graph.subtract(x, node.spread(largest, largest.desc.sizes, x.desc.sizes))
    function = DML_REDUCE_FUNCTION_LOG_SUM_EXP
    return graph.add(largest, graph.reduce(rest, function=function, axes=axes, output_data_type=kind))


def _largest_and_count(node: OnnxNode, x: Expression, axes: list[int]) -> Expression:
    """ReduceLogSumExp of integers as ONNX Runtime computes it: the largest one, and the logarithm of how often it is
    there, since it truncates the exponentials of the differences."""
    graph, kind = node.graph, x.desc.data_type
    largest = graph.reduce(x, function=DML_REDUCE_FUNCTION_MAX, axes=axes, output_data_type=kind)
    whole = node.spread(largest, largest.desc.sizes, x.desc.sizes)
    is_largest = node.cast(graph.logical_equals(x, whole, output_data_type=np.uint8), np.float32)
    count = graph.reduce(is_largest, function=DML_REDUCE_FUNCTION_SUM, axes=axes, output_data_type=np.float32)
    return graph.add(largest, node.cast(graph.log(count), node.input().dtype))


def extreme(function: str) -> Translator:
    def translate(node: OnnxNode) -> Results:
        x = node.tensor()
        last = node.get("select_last_index", 0)
        indices: Expression = getattr(node.graph, function)(
            x,
            axes=[node.axis(len(node.shape()), 0)],
            axis_direction=DML_AXIS_DIRECTION_DECREASING if last else DML_AXIS_DIRECTION_INCREASING,
            output_data_type=np.int64,
        )
        return indices

    return translate


rows(REDUCTIONS, reduction)
rows(EXTREMES, extreme)


@operator("TopK")
def top_k(node: OnnxNode) -> Results:
    shape = node.shape()
    count = node.numbers(1, "K") if "k" not in node.attributes else [node.get("k")]
    assert count is not None
    largest = node.get("largest", 1)
    values, indices = node.graph.top_k1(
        node.tensor(),
        axis=node.axis(len(shape), -1),
        k=int(count[0]),
        axis_direction=DML_AXIS_DIRECTION_DECREASING if largest else DML_AXIS_DIRECTION_INCREASING,
        output_data_type=node.index_type,
    )
    return values, node.cast(indices, np.int64)


@operator("CumSum")
def cumulative_sum(node: OnnxNode) -> Results:
    return node.graph.cumulative_summation(
        node.tensor(),
        axis=_axis(node),
        axis_direction=_direction(node),
        has_exclusive_sum=bool(node.get("exclusive", 0)),
    )


@operator("CumProd")
def cumulative_product(node: OnnxNode) -> Results:
    return node.graph.cumulative_product(
        node.tensor(),
        axis=_axis(node),
        axis_direction=_direction(node),
        has_exclusive_product=bool(node.get("exclusive", 0)),
    )


def _axis(node: OnnxNode) -> int:
    rank = len(node.shape())
    return int(node.known(1, "axis").reshape(-1)[0]) % max(rank, 1)


def _direction(node: OnnxNode) -> int:
    return DML_AXIS_DIRECTION_DECREASING if node.get("reverse", 0) else DML_AXIS_DIRECTION_INCREASING
