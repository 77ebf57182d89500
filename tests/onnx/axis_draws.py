"""Random nodes whose attributes are axes and numbers."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from .random_nodes import NUMBERS, Draw, draws, longs


@draws("Clip")
def clip(random, kind):
    opset = random.one((7, 11, 12, 13))
    dtype = (
        random.one((np.float32, np.int32, np.int64, np.uint8, np.int8, np.uint64, np.float64))
        if opset >= 12
        else np.float32
    )
    x = random.array((3, 4), dtype)
    if dtype == np.float32 and random.chance():
        x[0, :3] = np.nan, np.inf, -np.inf
    low, high = (
        np.array(random.number(0 if np.issubdtype(dtype, np.unsignedinteger) else -3, 4), dtype)
        for _ in range(2)
    )
    if opset == 7:
        return Draw(kind, opset, [x], (), random.some(min=float(low), max=float(high)))
    bounds = [bound if random.chance(0.8) else None for bound in (low, high)]
    return Draw(kind, opset, [x, *bounds], [index for index in (1, 2) if random.chance(0.7)])


@draws("LpNormalization")
def lp_normalization(random, kind):
    rank = random.number(1, 4)
    x = random.array(random.numbers(rank, 1, 5)) * np.float32(random.one((1, 1e-5, 1e-12)))
    if random.chance(0.2):
        x[...] = 0
    return Draw(
        kind,
        random.one((7, 22)),
        [x],
        (),
        random.some(axis=random.number(-rank, rank - 1), p=random.number(1, 2)),
    )


REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare",
)  # fmt: skip


@draws(*REDUCTIONS)
def reduction(random, kind):
    opset, rank = random.one((7, 11, 13, 18)), random.number(1, 4)
    dtype = np.float32 if kind in ("ReduceLogSum", "ReduceLogSumExp") else random.one((np.float32, np.int32))
    x = random.array(random.numbers(rank, 1, 4), dtype)
    if kind == "ReduceLogSum":
        x = np.abs(x) + 1
    if kind == "ReduceProd":
        # Few factors, as integers that overflow deviate.
        x = np.where(np.abs(x) < np.quantile(np.abs(x), 0.1), 2, 1).astype(dtype)
    axes = random.generator.permutation(rank)[: random.number(0, rank)].tolist()
    axes = [axis - rank * random.number(0, 1) * (opset >= 11) for axis in axes]
    attributes = random.some(keepdims=0)
    by_input = opset >= 18 or (opset >= 13 and kind == "ReduceSum")
    if by_input:
        attributes |= random.some(noop_with_empty_axes=1)
        given = longs(axes) if axes or random.chance() else None
        return Draw(kind, opset, [x, given], [1], attributes)
    return Draw(kind, opset, [x], (), attributes | ({"axes": axes} if axes else {}))


@draws("ArgMax", "ArgMin")
def extreme(random, kind):
    opset, rank = random.one((7, 11, 12, 13)), random.number(1, 4)
    x = random.generator.integers(0, 3, random.numbers(rank, 1, 5)).astype(random.one((np.float32, np.int32)))
    axis = random.number(-rank * (opset >= 11), rank - 1)
    attributes = random.some(axis=axis, keepdims=0) | (
        random.some(select_last_index=1) if opset >= 12 else {}
    )
    return Draw(kind, opset, [x], (), attributes)


@draws("Softmax", "LogSoftmax", "Hardmax")
def softmax(random, kind):
    opset, rank = random.one((7, 11, 13)), random.number(1, 4)
    axis = random.number(-rank * (opset >= 11), rank - 1)
    return Draw(kind, opset, [random.array(random.numbers(rank, 1, 5))], (), random.some(axis=axis))


@draws("TopK")
def top_k(random, kind):
    opset, rank = random.one((7, 10, 11)), random.number(1, 3)
    x = random.generator.integers(0, 6, random.numbers(rank, 1, 6)).astype(np.float32)
    axis = random.number(-rank * (opset >= 11), rank - 1)
    size = x.shape[axis]
    if opset == 7:
        return Draw(kind, opset, [x], (), {"axis": axis, "k": random.number(1, size)}, 2)
    attributes = {"axis": axis} | (random.some(largest=0) if opset >= 11 else {})
    return Draw(kind, opset, [x, longs([random.number(1, size)])], [1], attributes, 2)


@draws("OneHot")
def one_hot(random, kind):
    rank = random.number(0, 3)
    indices = random.generator.integers(-7, 8, random.numbers(rank, 1, 4)).astype(np.int64)
    values = random.array((2,), random.one((np.float32, np.int64, np.int32)))
    axis = random.number(-rank - 1, rank)
    depth = longs(5) if random.chance() else longs([5])
    return Draw(kind, random.one((9, 11)), [np.asarray(indices), depth, values], [1], random.some(axis=axis))


@draws("CumSum")
def cumulative_sum(random, kind):
    rank = random.number(1, 4)
    x = random.array(random.numbers(rank, 1, 5), random.one((np.float32, np.int32, np.int64)))
    axis = np.array(random.number(-rank, rank - 1), random.one((np.int32, np.int64)))
    return Draw(kind, random.one((11, 14)), [x, axis], [1], random.some(exclusive=1, reverse=1))


@draws("Gather")
def gather(random, kind):
    rank = random.number(1, 4)
    x = random.array(random.numbers(rank, 1, 5), random.one(NUMBERS))
    axis = random.number(-rank, rank - 1)
    size, index_type = x.shape[axis], random.one((np.int32, np.int64))
    indices = random.generator.integers(-size, size, random.numbers(random.number(0, 2), 1, 3))
    return Draw(
        kind,
        random.one((11, 13)),
        [x, np.asarray(indices).astype(index_type)],
        [1] if random.chance() else (),
        random.some(axis=axis),
    )


@draws("Split")
def split(random, kind):
    opset, rank = random.one((7, 11, 13, 18)), random.number(1, 4)
    shape = random.numbers(rank, 1, 4)
    axis, count = random.number(-rank * (opset >= 11), rank - 1), random.number(1, 3)
    shape[axis] = random.number(1, 3) * count
    attributes = {"axis": axis}
    if random.chance():
        parts = [shape[axis] // count] * count
        parts[0] += 1
        parts[-1] -= 1
        x = random.array(shape)
        if opset < 13:
            return Draw(kind, opset, [x], (), attributes | {"split": parts}, count)
        return Draw(kind, opset, [x, longs(parts)], [1], attributes, count)
    if opset >= 18:
        shape[axis] += random.number(0, 1)
        attributes["num_outputs"] = count
    return Draw(kind, opset, [random.array(shape)], (), attributes, count)


@draws("Squeeze")
def squeeze(random, kind):
    opset = random.one((7, 11, 13, 21))
    shape = [random.one((1, 1, 3)) for _ in range(random.number(1, 5))]
    axes = [axis for axis, size in enumerate(shape) if size == 1 and random.chance()]
    if random.chance(0.3) or not axes:
        return Draw(kind, opset, [random.array(shape)])
    axes = [axis - len(shape) * random.number(0, 1) * (opset >= 11) for axis in axes]
    if opset < 13:
        return Draw(kind, opset, [random.array(shape)], (), {"axes": axes})
    return Draw(kind, opset, [random.array(shape), longs(axes)], [1])


@draws("BatchNormalization")
def batch_normalization(random, kind):
    opset, rank = random.one((7, 9, 14, 15)), random.number(2, 5)
    shape = random.numbers(rank, 2, 4)
    parameters = [random.array((shape[1],)) for _ in range(3)]
    return Draw(
        kind,
        opset,
        [random.array(shape), *parameters, np.abs(random.array((shape[1],)))],
        (),
        random.some(epsilon=1e-3),
    )


@draws("InstanceNormalization")
def instance_normalization(random, kind):
    shape = random.numbers(random.number(3, 5), 2, 4)
    return Draw(
        kind,
        random.one((7, 22)),
        [random.array(shape), *(random.array((shape[1],)) for _ in range(2))],
        (),
        random.some(epsilon=1e-2),
    )


@draws("LRN")
def response_normalization(random, kind):
    attributes = {"size": random.number(1, 6)} | random.some(alpha=0.5, beta=0.5, bias=2.0)
    return Draw(kind, random.one((7, 13)), [random.array((2, *random.numbers(3, 1, 6)))], (), attributes)


@draws("Gelu")
def gelu(random, kind):
    return Draw(
        kind,
        20,
        [random.array((3, 5)) * np.float32(2)],
        (),
        random.some(approximate=random.one(("tanh", "none"))),
    )


@draws("HardSwish")
def hard_swish(random, kind):
    return Draw(kind, random.one((14, 22)), [random.array((3, 5)) * np.float32(2)])


UNARY = {
    "Shrink": lambda random: random.some(bias=0.7, lambd=1.2),
    "Celu": lambda random: random.some(alpha=random.one((0.5, 2.0))),
    "Elu": lambda random: random.some(alpha=random.one((0.5, 2.0))),
    "HardSigmoid": lambda random: random.some(alpha=0.3, beta=0.6),
    "LeakyRelu": lambda random: random.some(alpha=random.one((0.2, -0.5, 2.0))),
    "Selu": lambda random: random.some(alpha=1.1, gamma=0.9),
    "ThresholdedRelu": lambda random: random.some(alpha=random.one((0.5, 2.0, -0.5))),
}  # fmt: skip


@draws(*UNARY)
def activation(random, kind):
    opset = {"Shrink": 9, "Celu": 12, "ThresholdedRelu": 10}.get(kind, random.one((7, 22)))
    return Draw(kind, opset, [random.array((4, 5))], (), UNARY[kind](random))


@draws("Mod")
def modulus(random, kind):
    dtype = random.one((np.float32, np.int32, np.int64, np.uint8, np.int8))
    is_float = dtype == np.float32
    divisor = random.array((5,), dtype)
    divisor[divisor == 0] = 3
    attributes = {"fmod": 1} if is_float else random.some(fmod=1)
    return Draw(kind, random.one((10, 13)), [random.array((4, 5), dtype), divisor], (), attributes)


@draws("BitShift")
def bit_shift(random, kind):
    dtype = random.one((np.uint8, np.uint32, np.uint64))
    counts = random.generator.integers(0, dtype(0).itemsize * 8, (5,)).astype(dtype)
    return Draw(
        kind, 11, [random.array((4, 5), dtype), counts], (), {"direction": random.one(("LEFT", "RIGHT"))}
    )


@draws("EyeLike")
def eye_like(random, kind):
    attributes = random.some(
        k=random.number(-6, 6), dtype=random.one((TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32))
    )
    return Draw(kind, random.one((9, 22)), [random.array(random.numbers(2, 1, 5))], (), attributes)


@draws("Trilu")
def triangle(random, kind):
    x = random.array(random.numbers(random.number(2, 4), 1, 5), random.one((np.float32, np.int64, np.bool_)))
    k = longs(random.number(-6, 6)) if random.chance() else None
    return Draw(kind, 14, [x, k], [1], random.some(upper=random.number(0, 1)))


@draws("ReverseSequence")
def reverse_sequence(random, kind):
    shape = random.numbers(random.number(2, 4), 1, 5)
    batch = random.number(0, 1)
    lengths = longs([random.number(1, shape[1 - batch]) for _ in range(shape[batch])])
    return Draw(kind, 10, [random.array(shape), lengths], (), {"batch_axis": batch, "time_axis": 1 - batch})


@draws("MeanVarianceNormalization")
def mean_variance_normalization(random, kind):
    axes = sorted(random.generator.permutation(4)[: random.number(1, 4)].tolist())
    return Draw(
        kind, random.one((9, 13)), [random.array(random.numbers(4, 2, 4))], (), random.some(axes=axes)
    )


@draws("Flatten")
def flatten(random, kind):
    opset, rank = random.one((7, 11, 13)), random.number(1, 4)
    axis = random.number(-rank * (opset >= 11), rank)
    return Draw(kind, opset, [random.array(random.numbers(rank, 1, 4))], (), random.some(axis=axis))


@draws("IsInf")
def is_infinite(random, kind):
    x = random.array((3, 4))
    x[0, :3] = np.inf, -np.inf, np.nan
    return Draw(
        kind,
        random.one((10, 20)),
        [x],
        (),
        random.some(detect_negative=random.number(0, 1), detect_positive=random.number(0, 1)),
    )


@draws("CenterCropPad")
def center_crop_pad(random, kind):
    rank = random.number(1, 4)
    axes = random.generator.permutation(rank)[: random.number(1, rank)].tolist()
    axes = [axis - rank * random.number(0, 1) for axis in axes]
    return Draw(
        kind,
        18,
        [random.array(random.numbers(rank, 1, 5)), longs(random.numbers(len(axes), 1, 7))],
        [1],
        {"axes": axes},
    )


@draws("Tile")
def tile(random, kind):
    rank = random.number(1, 4)
    return Draw(
        kind,
        random.one((7, 13)),
        [random.array(random.numbers(rank, 1, 4), random.one(NUMBERS)), longs(random.numbers(rank, 1, 3))],
        [1],
    )


@draws("Transpose")
def transpose(random, kind):
    rank = random.number(1, 5)
    return Draw(
        kind,
        random.one((7, 13)),
        [random.array(random.numbers(rank, 1, 4))],
        (),
        random.some(perm=random.generator.permutation(rank).tolist()),
    )
