"""WebNN's reductions, softmax and normalizations, as graphs of DirectML's operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import directml_py as dml
from directml_py.graph.expression import Expression

from .lowering import (
    DATA_TYPES,
    OPERATORS,
    Lowered,
    Lowering,
    Operator,
    Shape,
    operator,
    packed_strides,
    shape_of,
)

REDUCTIONS = {
    "reduceL1": "L1",
    "reduceL2": "L2",
    "reduceLogSum": "LOG_SUM",
    "reduceLogSumExp": "LOG_SUM_EXP",
    "reduceMax": "MAX",
    "reduceMean": "AVERAGE",
    "reduceMin": "MIN",
    "reduceProduct": "MULTIPLY",
    "reduceSum": "SUM",
    "reduceSumSquare": "SUM_SQUARE",
}


def _with_axes(into: Lowering, x: Lowered, axes: Sequence[int]) -> tuple[Lowered, Sequence[int]]:
    """DirectML wants an axis: where there is none, one of size 1 after the others."""
    return (x, axes) if axes else (into.view(x, (*x.shape, 1)), [len(x.shape)])


def _reduction(function: str) -> Operator:
    def lowered(
        into: Lowering, x: Lowered, axes: list[int] | None = None, keep_dimensions: bool = False
    ) -> Lowered:
        chosen_axes = list(range(len(x.shape))) if axes is None else axes
        viewed, reduced = _with_axes(into, x, chosen_axes)
        made = into.graph.reduce(
            viewed.x, function=dml.DML_REDUCE_FUNCTION[f"DML_REDUCE_FUNCTION_{function}"], axes=reduced
        )
        return into.view(Lowered(made, shape_of(made)), _reduced(x.shape, chosen_axes, keep_dimensions))

    return lowered


OPERATORS |= {name: _reduction(function) for name, function in REDUCTIONS.items()}


def _reduced(shape: Shape, axes: Sequence[int], keep: bool) -> Shape:
    sizes = [1 if axis in axes else size for axis, size in enumerate(shape)]
    return tuple(size for axis, size in enumerate(sizes) if keep or axis not in axes)


def _index_of(method: str) -> Operator:
    def lowered(
        into: Lowering,
        x: Lowered,
        axis: int,
        keep_dimensions: bool = False,
        output_data_type: str = "int32",
    ) -> Lowered:
        made = getattr(into.graph, method)(
            x.x,
            axes=[axis],
            axis_direction=dml.DML_AXIS_DIRECTION_INCREASING,
            output_data_type=DATA_TYPES[output_data_type],
        )
        return into.view(Lowered(made, shape_of(made)), _reduced(x.shape, [axis], keep_dimensions))

    return lowered


OPERATORS |= {"argMin": _index_of("argmin"), "argMax": _index_of("argmax")}


@operator("cumulativeSum")
def cumulative_sum(
    into: Lowering, x: Lowered, axis: int, exclusive: bool = False, reversed: bool = False
) -> Lowered:
    directions = (dml.DML_AXIS_DIRECTION_INCREASING, dml.DML_AXIS_DIRECTION_DECREASING)
    made = into.graph.cumulative_summation(
        x.x, axis=axis, axis_direction=directions[reversed], has_exclusive_sum=exclusive
    )
    return Lowered(made, x.shape)


@operator("softmax")
def softmax(into: Lowering, x: Lowered, axis: int | None = None) -> Lowered:
    # Before an axis could be given it was the second of two.
    return Lowered(into.graph.activation_softmax1(x.x, axes=[1 if axis is None else axis]), x.shape)


@operator("batchNormalization")
def batch_normalization(
    into: Lowering,
    x: Lowered,
    mean: Lowered,
    variance: Lowered,
    scale: Lowered | None = None,
    bias: Lowered | None = None,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> Lowered:
    shape = tuple(size if at == axis else 1 for at, size in enumerate(x.shape))
    statistics = (
        mean,
        variance,
        scale or into.filled(x, mean.shape, 1),
        bias or into.filled(x, mean.shape, 0),
    )
    parameters = [into.view(one, shape).x for one in statistics]
    return Lowered(into.graph.batch_normalization(x.x, *parameters, spatial=True, epsilon=epsilon), x.shape)


def _normalized(
    into: Lowering, x: Lowered, axes: Sequence[int], scale: Expression, bias: Expression, epsilon: float
) -> Expression:
    return into.graph.mean_variance_normalization1(
        x.x, scale, bias, axes=axes, normalize_variance=True, epsilon=epsilon
    )


@operator("instanceNormalization")
def instance_normalization(
    into: Lowering,
    x: Lowered,
    scale: Lowered | None = None,
    bias: Lowered | None = None,
    epsilon: float = 1e-5,
    layout: str = "nchw",
) -> Lowered:
    channel = 1 if layout == "nchw" else 3
    shape = tuple(size if axis == channel else 1 for axis, size in enumerate(x.shape))
    count = (x.shape[channel],)
    pair = (scale or into.filled(x, count, 1), bias or into.filled(x, count, 0))
    parameters = [into.spread(into.view(one, shape), x.shape) for one in pair]
    axes = [2, 3] if layout == "nchw" else [1, 2]
    return Lowered(_normalized(into, x, axes, parameters[0], parameters[1], epsilon), x.shape)


@operator("layerNormalization")
def layer_normalization(
    into: Lowering,
    x: Lowered,
    scale: Lowered | None = None,
    bias: Lowered | None = None,
    axes: list[int] | None = None,
    epsilon: float = 1e-5,
) -> Lowered:
    """A parameter's dimensions are in the order of the axes that are given, which need not be that of ``x``."""
    chosen_axes = list(range(1, len(x.shape))) if axes is None else axes
    shape = tuple(x.shape[axis] for axis in chosen_axes)
    strides = dict(zip(chosen_axes, packed_strides(shape)))

    def parameter(operand: Lowered | None, default: float) -> Expression:
        value = into.filled(x, shape, default) if operand is None else operand
        return into.graph.reinterpret(
            value.x,
            sizes=x.shape or (1,),
            strides=[strides.get(axis, 0) for axis in range(len(x.shape))] or [0],
        )

    if math.prod(shape) == 1:
        # To DirectML the variance of a single element is the element. Its distance from its mean is 0.
        apart = into.graph.subtract(x.x, x.x)
        return Lowered(
            into.graph.add(into.graph.multiply(apart, parameter(scale, 1)), parameter(bias, 0)), x.shape
        )
    return Lowered(
        _normalized(into, x, chosen_axes, parameter(scale, 1), parameter(bias, 0), epsilon), x.shape
    )
