"""Random nodes whose attributes are axes and numbers."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .drawn_nodes import DrawnNode, drawn, longs

NUMBERS = (np.float32, np.int32, np.int64)


@drawn("Clip")
def clip(draw):
    opset = draw.choice((7, 11, 12, 13))
    dtype = (
        draw.choice((np.float32, np.int32, np.int64, np.uint8, np.int8, np.uint64, np.float64))
        if opset >= 12
        else np.float32
    )
    x = draw.array((3, 4), dtype)
    if dtype == np.float32 and draw.maybe():
        x[0, :3] = np.nan, np.inf, -np.inf
    low, high = (
        np.array(draw.number(0 if np.issubdtype(dtype, np.unsignedinteger) else -3, 4), dtype)
        for _ in range(2)
    )
    if opset == 7:
        return DrawnNode(draw.kind, opset, [x], (), draw.some(min=float(low), max=float(high)))
    bounds = [bound if draw.maybe(0.8) else None for bound in (low, high)]
    return DrawnNode(draw.kind, opset, [x, *bounds], [index for index in (1, 2) if draw.maybe(0.7)])


@drawn("LpNormalization")
def lp_normalization(draw):
    rank = draw.number(1, 4)
    x = draw.array(draw.numbers(rank, 1, 5)) * np.float32(draw.choice((1, 1e-5, 1e-12)))
    if draw.maybe(0.2):
        x[...] = 0
    return DrawnNode(
        draw.kind,
        draw.choice((7, 22)),
        [x],
        (),
        draw.some(axis=draw.number(-rank, rank - 1), p=draw.number(1, 2)),
    )


REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare",
)  # fmt: skip


@drawn(*REDUCTIONS)
def reduction(draw):
    opset, rank = draw.choice((7, 11, 13, 18)), draw.number(1, 4)
    dtype = (
        np.float32
        if draw.kind in ("ReduceLogSum", "ReduceLogSumExp")
        else draw.choice((np.float32, np.int32))
    )
    x = draw.array(draw.numbers(rank, 1, 4), dtype)
    if draw.kind == "ReduceLogSum":
        x = np.abs(x) + 1
    if draw.kind == "ReduceProd":
        # Few factors, as integers that overflow deviate.
        x = np.where(np.abs(x) < np.quantile(np.abs(x), 0.1), 2, 1).astype(dtype)
    axes = draw.random.permutation(rank)[: draw.number(0, rank)].tolist()
    axes = [axis - rank * draw.number(0, 1) * (opset >= 11) for axis in axes]
    attributes = draw.some(keepdims=0)
    by_input = opset >= 18 or (opset >= 13 and draw.kind == "ReduceSum")
    if by_input:
        attributes |= draw.some(noop_with_empty_axes=1)
        given = longs(axes) if axes or draw.maybe() else None
        return DrawnNode(draw.kind, opset, [x, given], [1], attributes)
    return DrawnNode(draw.kind, opset, [x], (), attributes | ({"axes": axes} if axes else {}))


@drawn("ArgMax", "ArgMin")
def extreme(draw):
    opset, rank = draw.choice((7, 11, 12, 13)), draw.number(1, 4)
    x = draw.random.integers(0, 3, draw.numbers(rank, 1, 5)).astype(draw.choice((np.float32, np.int32)))
    axis = draw.number(-rank * (opset >= 11), rank - 1)
    attributes = draw.some(axis=axis, keepdims=0) | (draw.some(select_last_index=1) if opset >= 12 else {})
    return DrawnNode(draw.kind, opset, [x], (), attributes)


@drawn("Softmax", "LogSoftmax", "Hardmax")
def softmax(draw):
    opset, rank = draw.choice((7, 11, 13)), draw.number(1, 4)
    axis = draw.number(-rank * (opset >= 11), rank - 1)
    return DrawnNode(draw.kind, opset, [draw.array(draw.numbers(rank, 1, 5))], (), draw.some(axis=axis))


@drawn("TopK")
def top_k(draw):
    opset, rank = draw.choice((7, 10, 11)), draw.number(1, 3)
    x = draw.random.integers(0, 6, draw.numbers(rank, 1, 6)).astype(np.float32)
    axis = draw.number(-rank * (opset >= 11), rank - 1)
    size = x.shape[axis]
    if opset == 7:
        return DrawnNode(draw.kind, opset, [x], (), {"axis": axis, "k": draw.number(1, size)}, 2)
    attributes = {"axis": axis} | (draw.some(largest=0) if opset >= 11 else {})
    return DrawnNode(draw.kind, opset, [x, longs([draw.number(1, size)])], [1], attributes, 2)


@drawn("OneHot")
def one_hot(draw):
    rank = draw.number(0, 3)
    indices = draw.random.integers(-7, 8, draw.numbers(rank, 1, 4)).astype(np.int64)
    values = draw.array((2,), draw.choice((np.float32, np.int64, np.int32)))
    axis = draw.number(-rank - 1, rank)
    depth = longs(5) if draw.maybe() else longs([5])
    return DrawnNode(
        draw.kind, draw.choice((9, 11)), [np.asarray(indices), depth, values], [1], draw.some(axis=axis)
    )


@drawn("CumSum")
def cumulative_sum(draw):
    rank = draw.number(1, 4)
    x = draw.array(draw.numbers(rank, 1, 5), draw.choice((np.float32, np.int32, np.int64)))
    axis = np.array(draw.number(-rank, rank - 1), draw.choice((np.int32, np.int64)))
    return DrawnNode(draw.kind, draw.choice((11, 14)), [x, axis], [1], draw.some(exclusive=1, reverse=1))


@drawn("Gather")
def gather(draw):
    rank = draw.number(1, 4)
    x = draw.array(draw.numbers(rank, 1, 5), draw.choice(NUMBERS))
    axis = draw.number(-rank, rank - 1)
    size, index_type = x.shape[axis], draw.choice((np.int32, np.int64))
    indices = draw.random.integers(-size, size, draw.numbers(draw.number(0, 2), 1, 3))
    return DrawnNode(
        draw.kind,
        draw.choice((11, 13)),
        [x, np.asarray(indices).astype(index_type)],
        [1] if draw.maybe() else (),
        draw.some(axis=axis),
    )


@drawn("Split")
def split(draw):
    opset, rank = draw.choice((7, 11, 13, 18)), draw.number(1, 4)
    shape = draw.numbers(rank, 1, 4)
    axis, count = draw.number(-rank * (opset >= 11), rank - 1), draw.number(1, 3)
    shape[axis] = draw.number(1, 3) * count
    attributes = {"axis": axis}
    if draw.maybe():
        parts = [shape[axis] // count] * count
        parts[0] += 1
        parts[-1] -= 1
        x = draw.array(shape)
        if opset < 13:
            return DrawnNode(draw.kind, opset, [x], (), attributes | {"split": parts}, count)
        return DrawnNode(draw.kind, opset, [x, longs(parts)], [1], attributes, count)
    if opset >= 18:
        shape[axis] += draw.number(0, 1)
        attributes["num_outputs"] = count
    return DrawnNode(draw.kind, opset, [draw.array(shape)], (), attributes, count)


@drawn("Squeeze")
def squeeze(draw):
    opset = draw.choice((7, 11, 13, 21))
    shape = [draw.choice((1, 1, 3)) for _ in range(draw.number(1, 5))]
    axes = [axis for axis, size in enumerate(shape) if size == 1 and draw.maybe()]
    if draw.maybe(0.3) or not axes:
        return DrawnNode(draw.kind, opset, [draw.array(shape)])
    axes = [axis - len(shape) * draw.number(0, 1) * (opset >= 11) for axis in axes]
    if opset < 13:
        return DrawnNode(draw.kind, opset, [draw.array(shape)], (), {"axes": axes})
    return DrawnNode(draw.kind, opset, [draw.array(shape), longs(axes)], [1])


@drawn("BatchNormalization")
def batch_normalization(draw):
    opset, rank = draw.choice((7, 9, 14, 15)), draw.number(2, 5)
    shape = draw.numbers(rank, 2, 4)
    parameters = [draw.array((shape[1],)) for _ in range(3)]
    return DrawnNode(
        draw.kind,
        opset,
        [draw.array(shape), *parameters, np.abs(draw.array((shape[1],)))],
        (),
        draw.some(epsilon=1e-3),
    )


@drawn("InstanceNormalization")
def instance_normalization(draw):
    shape = draw.numbers(draw.number(3, 5), 2, 4)
    return DrawnNode(
        draw.kind,
        draw.choice((7, 22)),
        [draw.array(shape), *(draw.array((shape[1],)) for _ in range(2))],
        (),
        draw.some(epsilon=1e-2),
    )


@drawn("LRN")
def response_normalization(draw):
    attributes = {"size": draw.number(1, 6)} | draw.some(alpha=0.5, beta=0.5, bias=2.0)
    return DrawnNode(
        draw.kind, draw.choice((7, 13)), [draw.array((2, *draw.numbers(3, 1, 6)))], (), attributes
    )


@drawn("Gelu")
def gelu(draw):
    return DrawnNode(
        draw.kind,
        20,
        [draw.array((3, 5)) * np.float32(2)],
        (),
        draw.some(approximate=draw.choice(("tanh", "none"))),
    )


@drawn("HardSwish")
def hard_swish(draw):
    return DrawnNode(draw.kind, draw.choice((14, 22)), [draw.array((3, 5)) * np.float32(2)])


UNARY = {
    "Shrink": lambda draw: draw.some(bias=0.7, lambd=1.2),
    "Celu": lambda draw: draw.some(alpha=draw.choice((0.5, 2.0))),
    "Elu": lambda draw: draw.some(alpha=draw.choice((0.5, 2.0))),
    "HardSigmoid": lambda draw: draw.some(alpha=0.3, beta=0.6),
    "LeakyRelu": lambda draw: draw.some(alpha=draw.choice((0.2, -0.5, 2.0))),
    "Selu": lambda draw: draw.some(alpha=1.1, gamma=0.9),
    "ThresholdedRelu": lambda draw: draw.some(alpha=draw.choice((0.5, 2.0, -0.5))),
}  # fmt: skip


@drawn(*UNARY)
def activation(draw):
    opset = {"Shrink": 9, "Celu": 12, "ThresholdedRelu": 10}.get(draw.kind, draw.choice((7, 22)))
    return DrawnNode(draw.kind, opset, [draw.array((4, 5))], (), UNARY[draw.kind](draw))


@drawn("Mod")
def modulus(draw):
    dtype = draw.choice((np.float32, np.int32, np.int64, np.uint8, np.int8))
    is_float = dtype == np.float32
    divisor = draw.array((5,), dtype)
    divisor[divisor == 0] = 3
    attributes = {"fmod": 1} if is_float else draw.some(fmod=1)
    return DrawnNode(draw.kind, draw.choice((10, 13)), [draw.array((4, 5), dtype), divisor], (), attributes)


@drawn("BitShift")
def bit_shift(draw):
    dtype = draw.choice((np.uint8, np.uint32, np.uint64))
    counts = draw.random.integers(0, dtype(0).itemsize * 8, (5,)).astype(dtype)
    return DrawnNode(
        draw.kind, 11, [draw.array((4, 5), dtype), counts], (), {"direction": draw.choice(("LEFT", "RIGHT"))}
    )


@drawn("EyeLike")
def eye_like(draw):
    attributes = draw.some(
        k=draw.number(-6, 6), dtype=draw.choice((TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32))
    )
    return DrawnNode(draw.kind, draw.choice((9, 22)), [draw.array(draw.numbers(2, 1, 5))], (), attributes)


@drawn("Trilu")
def triangle(draw):
    x = draw.array(draw.numbers(draw.number(2, 4), 1, 5), draw.choice((np.float32, np.int64, np.bool_)))
    k = longs(draw.number(-6, 6)) if draw.maybe() else None
    return DrawnNode(draw.kind, 14, [x, k], [1], draw.some(upper=draw.number(0, 1)))


@drawn("ReverseSequence")
def reverse_sequence(draw):
    shape = draw.numbers(draw.number(2, 4), 1, 5)
    batch = draw.number(0, 1)
    lengths = longs([draw.number(1, shape[1 - batch]) for _ in range(shape[batch])])
    return DrawnNode(
        draw.kind, 10, [draw.array(shape), lengths], (), {"batch_axis": batch, "time_axis": 1 - batch}
    )


@drawn("MeanVarianceNormalization")
def mean_variance_normalization(draw):
    axes = sorted(draw.random.permutation(4)[: draw.number(1, 4)].tolist())
    return DrawnNode(
        draw.kind, draw.choice((9, 13)), [draw.array(draw.numbers(4, 2, 4))], (), draw.some(axes=axes)
    )


@drawn("Flatten")
def flatten(draw):
    opset, rank = draw.choice((7, 11, 13)), draw.number(1, 4)
    axis = draw.number(-rank * (opset >= 11), rank)
    return DrawnNode(draw.kind, opset, [draw.array(draw.numbers(rank, 1, 4))], (), draw.some(axis=axis))


@drawn("IsInf")
def is_infinite(draw):
    x = draw.array((3, 4))
    x[0, :3] = np.inf, -np.inf, np.nan
    return DrawnNode(
        draw.kind,
        draw.choice((10, 20)),
        [x],
        (),
        draw.some(detect_negative=draw.number(0, 1), detect_positive=draw.number(0, 1)),
    )


@drawn("CenterCropPad")
def center_crop_pad(draw):
    rank = draw.number(1, 4)
    axes = draw.random.permutation(rank)[: draw.number(1, rank)].tolist()
    axes = [axis - rank * draw.number(0, 1) for axis in axes]
    return DrawnNode(
        draw.kind,
        18,
        [draw.array(draw.numbers(rank, 1, 5)), longs(draw.numbers(len(axes), 1, 7))],
        [1],
        {"axes": axes},
    )


@drawn("Tile")
def tile(draw):
    rank = draw.number(1, 4)
    return DrawnNode(
        draw.kind,
        draw.choice((7, 13)),
        [draw.array(draw.numbers(rank, 1, 4), draw.choice(NUMBERS)), longs(draw.numbers(rank, 1, 3))],
        [1],
    )


@drawn("Transpose")
def transpose(draw):
    rank = draw.number(1, 5)
    return DrawnNode(
        draw.kind,
        draw.choice((7, 13)),
        [draw.array(draw.numbers(rank, 1, 4))],
        (),
        draw.some(perm=draw.random.permutation(rank).tolist()),
    )
