"""WebNN's convolutions, pools, products of matrices and resampling, as graphs of DirectML's operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import directml_py as dml
from directml_py.graph.expression import Expression

from .lowering import Lowered, Lowering, broadcast, operator, shape_of

# The positions of batch, channel, height and width in a layout of an input.
INPUT_LAYOUTS = {"nchw": (0, 1, 2, 3), "nhwc": (0, 3, 1, 2)}
# Of a filter's output channel, input channel, height and width; of a transposed one's input channel first.
FILTER_ORDERS = {"conv2d": "oihw", "convTranspose2d": "iohw"}


def _channels_first(into: Lowering, x: Lowered, layout: str) -> Lowered:
    order = INPUT_LAYOUTS[layout]
    return Lowered(into.permuted(x, order), tuple(x.shape[axis] for axis in order))


def _in_layout(into: Lowering, made: Expression, layout: str) -> Lowered:
    value = Lowered(made, shape_of(made))
    order = (0, 1, 2, 3) if layout == "nchw" else (0, 2, 3, 1)
    if layout == "nchw":
        return value
    return into.copied(into.permuted(value, order), tuple(value.shape[axis] for axis in order))


def _ends(padding: Sequence[int] | None) -> tuple[list[int], list[int]]:
    top, bottom, left, right = padding or (0, 0, 0, 0)
    return [top, left], [bottom, right]


def _convolution(name: str) -> Callable[..., Lowered]:
    is_transposed = name == "convTranspose2d"

    def lowered(
        into: Lowering,
        x: Lowered,
        filter: Lowered,
        padding: list[int] | None = None,
        strides: list[int] | None = None,
        dilations: list[int] | None = None,
        groups: int = 1,
        input_layout: str = "nchw",
        filter_layout: str = FILTER_ORDERS[name],
        bias: Lowered | None = None,
        output_padding: list[int] | None = None,
        output_sizes: list[int] | None = None,
    ) -> Lowered:
        image = _channels_first(into, x, input_layout)
        order = [filter_layout.index(letter) for letter in FILTER_ORDERS[name]]
        kernel = Lowered(into.permuted(filter, order), tuple(filter.shape[axis] for axis in order))
        start, end = _ends(padding)
        window_strides, spacing = strides or [1, 1], dilations or [1, 1]
        extra = output_padding or [0, 0]
        if output_sizes is not None:
            extra = [
                size
                - (
                    (image.shape[2 + at] - 1) * window_strides[at]
                    + (kernel.shape[2 + at] - 1) * spacing[at]
                    + 1
                )
                + start[at]
                + end[at]
                for at, size in enumerate(output_sizes)
            ]
        # DirectML's output padding holds zeros without a bias, even where windows reach it; WebNN's is part of the
        # result. What the end padding would cut off is computed by cutting off less.
        kept = [min(one, other) for one, other in zip(end, extra)]
        end = [one - count for one, count in zip(end, kept)]
        extra = [one - count for one, count in zip(extra, kept)]
        added = None if bias is None else into.view(bias, (1, bias.shape[0], 1, 1))
        made = into.graph.convolution(
            image.x,
            kernel.x,
            None if added is None or any(extra) else added.x,
            mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
            direction=dml.DML_CONVOLUTION_DIRECTION_BACKWARD
            if is_transposed
            else dml.DML_CONVOLUTION_DIRECTION_FORWARD,
            strides=window_strides,
            dilations=spacing,
            start_padding=start,
            end_padding=end,
            output_padding=extra,
            group_count=groups,
        )
        if added is not None and any(extra):
            made = into.graph.add(made, into.spread(added, shape_of(made)))
        return _in_layout(into, made, input_layout)

    return lowered


for _name in FILTER_ORDERS:
    operator(_name)(_convolution(_name))

POOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "averagePool2d": ("average_pooling1", {"include_padding": False}),
    "l2Pool2d": ("lp_pooling1", {"p": 2}),
    "maxPool2d": ("max_pooling2", {}),
}


def _pool(method: str, choices: dict[str, Any]) -> Callable[..., Lowered]:
    def lowered(
        into: Lowering,
        x: Lowered,
        window_dimensions: list[int] | None = None,
        padding: list[int] | None = None,
        strides: list[int] | None = None,
        dilations: list[int] | None = None,
        layout: str = "nchw",
        rounding_type: str = "floor",
        output_shape_rounding: str | None = None,
        output_sizes: list[int] | None = None,
    ) -> Lowered:
        """A window that begins in the image or in its padding counts when sizes are rounded up, whose end needs more
        padding then."""
        image = _channels_first(into, x, layout)
        window = window_dimensions or list(image.shape[2:])
        start, end = _ends(padding)
        window_strides, spacing = strides or [1, 1], dilations or [1, 1]
        rounding = math.ceil if (output_shape_rounding or rounding_type) == "ceil" else math.floor
        sizes = []
        for at in (0, 1):
            reach = (window[at] - 1) * spacing[at] + 1
            room = image.shape[2 + at] + start[at] + end[at] - reach
            size = output_sizes[at] if output_sizes else rounding(room / window_strides[at]) + 1
            end[at] += max(0, (size - 1) * window_strides[at] - room)
            sizes.append(size)
        made = getattr(into.graph, method)(
            image.x,
            strides=window_strides,
            window_size=window,
            start_padding=start,
            end_padding=end,
            dilations=spacing,
            output_sizes=[*image.shape[:2], *sizes],
            **choices,
        )
        return _in_layout(into, made if isinstance(made, Expression) else made[0], layout)

    return lowered


for _name, _entry in POOLS.items():
    operator(_name)(_pool(*_entry))


@operator("gemm")
def gemm(
    into: Lowering,
    a: Lowered,
    b: Lowered,
    c: Lowered | float | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    a_transpose: bool = False,
    b_transpose: bool = False,
) -> Lowered:
    shape = (a.shape[1 if a_transpose else 0], b.shape[0 if b_transpose else 1])
    if isinstance(c, (int, float)):
        # Once it could be a number.
        c = into.filled(a, (), c)
    transposes = (dml.DML_MATRIX_TRANSFORM_NONE, dml.DML_MATRIX_TRANSFORM_TRANSPOSE)
    made = into.graph.gemm(
        a.x,
        b.x,
        None if c is None else into.spread(c, shape),
        trans_a=transposes[a_transpose],
        trans_b=transposes[b_transpose],
        alpha=alpha,
        beta=beta,
    )
    return Lowered(made, shape)


@operator("matmul")
def matmul(into: Lowering, a: Lowered, b: Lowered) -> Lowered:
    """Batches are broadcast and then counted along one dimension, as GEMM has no more than two of them."""
    leading = broadcast(*(Lowered(one.x, one.shape[:-2]) for one in (a, b)))
    factors = []
    for one in (a, b):
        whole = into.copied(into.spread(one, (*leading, *one.shape[-2:])), (*leading, *one.shape[-2:]))
        factors.append(into.view(whole, (1, math.prod(leading), *one.shape[-2:])).x)
    none = dml.DML_MATRIX_TRANSFORM_NONE
    made = into.graph.gemm(*factors, trans_a=none, trans_b=none, alpha=1.0, beta=0.0)
    return into.view(Lowered(made, shape_of(made)), (*leading, a.shape[-2], b.shape[-1]))


INTERPOLATIONS = {
    "nearest-neighbor": dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR,
    "linear": dml.DML_INTERPOLATION_MODE_LINEAR,
}


@operator("resample2d")
def resample2d(
    into: Lowering,
    x: Lowered,
    mode: str = "nearest-neighbor",
    scales: list[float] | None = None,
    sizes: list[int] | None = None,
    axes: list[int] | None = None,
) -> Lowered:
    """The centres of pixels lie on those of the image."""
    shape, factors = list(x.shape), [1.0] * len(x.shape)
    for at, axis in enumerate(axes or [2, 3]):
        if sizes is not None:
            shape[axis] = sizes[at]
            factors[axis] = sizes[at] / x.shape[axis]
        elif scales is not None:
            shape[axis] = math.floor(x.shape[axis] * scales[at])
            factors[axis] = scales[at]
    made = into.graph.resample1(
        x.x,
        interpolation_mode=INTERPOLATIONS[mode],
        scales=factors,
        input_pixel_offsets=[0.5] * len(shape),
        output_pixel_offsets=[-0.5] * len(shape),
        output_sizes=shape,
    )
    return Lowered(made, tuple(shape))
