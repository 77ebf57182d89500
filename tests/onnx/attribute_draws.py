"""Random nodes of operators whose results depend on many attributes: for each operator a function that draws one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOATS = (np.float32,)
NUMBERS = (np.float32, np.int32, np.int64)
INPUT_NAMES = ("x0", "x1", "x2", "x3", "x4")

ELEMENTS = {
    "ArgMax": TensorProto.INT64,
    "ArgMin": TensorProto.INT64,
    "ConvInteger": TensorProto.INT32,
    "IsInf": TensorProto.BOOL,
}
SECOND = {"MaxPool": [TensorProto.INT64], "TopK": [TensorProto.INT64]}


class Draw(NamedTuple):
    """A node: its ``inputs`` by position (None: absent), those of them that are constants, and its attributes."""

    kind: str
    opset: int
    inputs: Sequence[np.ndarray | None]
    constants: Sequence[int] = ()
    attributes: Mapping[str, Any] = MappingProxyType({})
    outputs: int = 1

    def model(self):
        names = [name if array is not None else "" for name, array in zip(INPUT_NAMES, self.inputs)]
        while not names[-1]:
            names.pop()
        results = [f"y{index}" for index in range(self.outputs)]
        node = helper.make_node(self.kind, names, results, **self.attributes)
        given = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(self.inputs[index].dtype), self.inputs[index].shape
            )
            for index, name in enumerate(names)
            if name and index not in self.constants
        ]
        constants = [
            numpy_helper.from_array(self.inputs[index], INPUT_NAMES[index])
            for index in self.constants
            if self.inputs[index] is not None
        ]
        wanted = [
            helper.make_tensor_value_info(name, element, None)
            for name, element in zip(results, self.elements)
        ]
        graph = helper.make_graph([node], "one", given, wanted, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    @property
    def elements(self):
        """The types of the outputs: that of the first input, or what the operator or an attribute says."""
        own = helper.np_dtype_to_tensor_dtype(self.inputs[2 if self.kind == "OneHot" else 0].dtype)
        return self.attributes.get("dtype", ELEMENTS.get(self.kind, own)), *SECOND.get(self.kind, [own] * 4)

    @property
    def feeds(self):
        return {
            name: array
            for index, (name, array) in enumerate(zip(INPUT_NAMES, self.inputs))
            if array is not None and index not in self.constants
        }

    def __str__(self):
        parts = [f"{key}={value!r}" for key, value in self.attributes.items()]
        for index, array in enumerate(self.inputs):
            if array is not None:
                is_known = index in self.constants
                parts.append(f"{array.tolist()}" if is_known else f"{array.dtype.name}{list(array.shape)}")
        return f"{self.kind}-{self.opset}({', '.join(parts)})"


DRAWS: dict[str, Callable[[Random], Draw]] = {}


class Random:
    """Draws from one seed."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def one(self, values):
        return values[int(self.generator.integers(len(values)))]

    def number(self, low, high):
        return int(self.generator.integers(low, high + 1))

    def numbers(self, count, low, high):
        return [self.number(low, high) for _ in range(count)]

    def chance(self, share=0.5):
        return bool(self.generator.random() < share)

    def array(self, shape, dtype=np.float32):
        if dtype == np.bool_:
            return self.generator.integers(0, 2, shape).astype(np.bool_)
        if np.issubdtype(dtype, np.floating):
            return self.generator.standard_normal(shape).astype(dtype) * dtype(2)
        low = 0 if np.issubdtype(dtype, np.unsignedinteger) else -50
        return self.generator.integers(low, 50, shape).astype(dtype)

    def some(self, **attributes):
        """A random part of the attributes."""
        return {name: value for name, value in attributes.items() if value is not None and self.chance(0.6)}


def draws(*kinds):
    def add(function):
        for kind in kinds:
            DRAWS[kind] = lambda random, kind=kind: function(random, kind)
        return function

    return add


def longs(values):
    return np.array(values, np.int64)


@draws("Resize")
def resize(random, kind):
    opset = random.one((10, 11, 13, 18, 19))
    rank = random.one((1, 2, 3, 4, 4, 4, 5))
    shape = tuple(random.numbers(rank, 1, 7))
    mode = random.one(("nearest", "linear", *(("cubic",) if opset > 10 else ())))
    scales = np.array(
        [random.one((0.3, 0.5, 0.6, 0.7, 1.0, 1.3, 1.4, 1.5, 2.0, 2.8)) for _ in shape], np.float32
    )
    if (mode != "nearest" and rank > 3) or mode == "cubic":
        free = random.one(((rank - 2, rank - 1), (1, 2))) if rank == 4 else range(2 if rank == 5 else 0, rank)
        scales = np.array([s if axis in free else 1 for axis, s in enumerate(scales)], np.float32)
    dtype = (
        random.one((np.float32, np.float32, np.int32, np.uint8, np.int8)) if mode != "cubic" else np.float32
    )
    x = random.array(shape, dtype)
    if opset == 10:
        return Draw(kind, opset, [x, scales], [1], {"mode": mode})
    words = ["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "tf_crop_and_resize"]
    words += ["half_pixel_symmetric"] if opset >= 19 else []
    words += ["tf_half_pixel_for_nn"] if opset < 13 else []
    word = random.one(words)
    attributes = {"mode": mode, "coordinate_transformation_mode": word}
    if mode == "nearest":
        attributes["nearest_mode"] = random.one(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        attributes |= random.some(cubic_coeff_a=random.one((-0.5, -0.75)), exclude_outside=1)
    if opset >= 18 and mode != "nearest":
        attributes |= random.some(antialias=random.number(0, 1))
    axes = list(range(rank))
    if opset >= 18 and random.chance(0.3):
        axes = sorted(random.generator.permutation(rank)[: random.number(1, rank)].tolist())
        attributes["axes"] = axes
    roi = None
    if word == "tf_crop_and_resize":
        ends = (
            [random.one((0.0, 0.1, 0.4, -0.2)) for _ in axes],
            [random.one((1.0, 0.9, 0.6, 1.3)) for _ in axes],
        )
        roi = np.array([*ends[0], *ends[1]], np.float32)
        attributes |= random.some(extrapolation_value=3.0)
    own = scales[axes]
    if random.chance(0.4):
        sizes = longs([max(1, int(shape[axis] * scale)) for axis, scale in zip(axes, own)])
        if opset >= 18:
            attributes |= random.some(
                keep_aspect_ratio_policy=random.one(("stretch", "not_larger", "not_smaller"))
            )
        return Draw(kind, opset, [x, roi, None, sizes], [1, 3], attributes)
    return Draw(kind, opset, [x, roi, own], [1, 2], attributes)


@draws("Upsample")
def upsample(random, kind):
    opset = random.one((7, 9))
    rank = random.one((2, 3, 4, 4))
    shape = tuple(random.numbers(rank, 1, 6))
    mode = random.one(("nearest", "linear"))
    scales = np.array([random.one((1.0, 1.3, 1.4, 2.0, 2.8)) for _ in shape], np.float32)
    if mode == "linear" and rank == 4:
        scales[:2] = 1
    x = random.array(shape)
    if opset == 7:
        return Draw(kind, opset, [x], (), {"mode": mode, "scales": scales.tolist()})
    return Draw(kind, opset, [x, scales], [1], {"mode": mode})


def window(random, dims, with_dilations=True):
    kernel = random.numbers(dims, 1, 3)
    attributes = random.some(
        strides=random.numbers(dims, 1, 4), dilations=random.numbers(dims, 1, 2) if with_dilations else None
    )
    word = random.one(("NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if word != "NOTSET":
        attributes["auto_pad"] = word
    elif random.chance():
        attributes["pads"] = [random.number(0, size - 1) for size in (*kernel, *kernel)]
    return kernel, attributes


@draws("MaxPool", "AveragePool", "LpPool")
def pool(random, kind):
    opset = random.one(
        {"MaxPool": (7, 8, 10, 11, 12, 22), "AveragePool": (7, 10, 11, 19, 22), "LpPool": (7, 11, 18, 22)}[
            kind
        ]
    )
    dims = random.number(1, 3)
    dilations = opset >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[kind]
    kernel, attributes = window(random, dims, dilations)
    if opset >= {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[kind]:
        attributes |= random.some(ceil_mode=1)
    outputs = 1
    if kind == "AveragePool":
        attributes |= random.some(count_include_pad=1)
    if kind == "LpPool":
        attributes |= random.some(p=random.number(1, 3))
    if kind == "MaxPool" and opset >= 8:
        outputs = random.number(1, 2)
        attributes |= random.some(storage_order=random.number(0, 1))
    x = random.array((random.number(1, 2), random.number(1, 2), *random.numbers(dims, 3, 8)))
    if kind == "MaxPool" and opset >= 12 and random.chance(0.2):
        x = x.astype(random.one((np.int8, np.uint8)))
    return Draw(kind, opset, [x], (), {"kernel_shape": kernel, **attributes}, outputs)


@draws("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def global_pool(random, kind):
    x = random.array((2, 3, *random.numbers(random.number(1, 3), 1, 6)))
    attributes = random.some(p=random.number(1, 3)) if kind == "GlobalLpPool" else {}
    return Draw(kind, random.one((7, 22)), [x], (), attributes)


@draws("MaxUnpool")
def max_unpool(random, kind):
    dims = random.number(1, 3)
    sizes = random.numbers(dims, 1, 3)
    kernel, strides = random.numbers(dims, 2, 3), random.numbers(dims, 2, 3)
    least = [(size - 1) * stride + extent for size, stride, extent in zip(sizes, strides, kernel)]
    count = int(np.prod(least))
    places = random.generator.permutation(count)[: int(np.prod(sizes))].reshape(1, 1, *sizes)
    inputs = [random.array((1, 1, *sizes)), longs(places)]
    attributes = {"kernel_shape": kernel, "strides": strides}
    if random.chance(0.3):
        inputs.append(longs([1, 1, *(size + random.number(0, 2) for size in least)]))
    return Draw(kind, random.one((9, 11)), inputs, [2] if len(inputs) > 2 else (), attributes)


@draws("Conv")
def conv(random, kind):
    dims, group = random.number(1, 3), random.one((1, 1, 2))
    kernel, attributes = window(random, dims)
    x = random.array((random.number(1, 2), 2 * group, *random.numbers(dims, 3, 8)))
    filters = random.array((3 * group, 2, *kernel))
    bias = random.array((3 * group,)) if random.chance() else None
    attributes |= {"group": group} | random.some(kernel_shape=kernel)
    return Draw(kind, random.one((7, 11, 22)), [x, filters, bias], [1, 2], attributes)


@draws("ConvTranspose")
def conv_transpose(random, kind):
    dims, group = random.number(1, 3), random.one((1, 1, 2))
    kernel, attributes = window(random, dims)
    x = random.array((random.number(1, 2), 2 * group, *random.numbers(dims, 1, 5)))
    filters = random.array((2 * group, 3, *kernel))
    bias = random.array((3 * group,)) if random.chance() else None
    strides = attributes.get("strides", [1] * dims)
    attributes |= {"group": group} | random.some(kernel_shape=kernel)
    if random.chance(0.3):
        attributes["output_padding"] = [random.number(0, stride - 1) for stride in strides]
    if random.chance(0.3):
        attributes["output_shape"] = [
            max(1, size * stride + random.number(-3, 1)) for size, stride in zip(x.shape[2:], strides)
        ]
    return Draw(kind, random.one((7, 11, 22)), [x, filters, bias], [1, 2], attributes)


@draws("ConvInteger")
def conv_integer(random, kind):
    dims = random.number(1, 2)
    kernel, attributes = window(random, dims)
    x = random.array((1, 2, *random.numbers(dims, 3, 6)), np.uint8)
    return Draw(kind, 10, [x, random.array((3, 2, *kernel), np.uint8)], [1], attributes)


@draws("Slice")
def slice_(random, kind):
    opset, rank = random.one((7, 10, 11, 13)), random.number(1, 4)
    x = random.array(
        random.numbers(rank, 1, 5), random.one((np.float32, np.int64, np.uint8, np.float64, np.bool_))
    )
    axes = random.generator.permutation(rank)[: random.number(1, rank)].tolist()
    steps = [random.one((1, 1, 2, -1, -2, 7, -9)) if opset > 7 else 1 for _ in axes]
    bound = (2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**62, -(2**62), *range(-9, 9), *range(-9, 9))
    starts, ends = ([random.one(bound) for _ in axes] for _ in range(2))
    axes = [axis - rank * random.number(0, 1) for axis in axes]
    if opset == 7:
        return Draw(kind, opset, [x], (), {"starts": starts, "ends": ends, "axes": axes})
    words = random.one((np.int64, np.int32))
    limits = np.iinfo(words)
    lists = [
        np.clip(longs(values), limits.min, limits.max).astype(words) for values in (starts, ends, axes, steps)
    ]
    constants = (0, 1, 2, 3, 4) if random.chance(0.3) else (1, 2, 3, 4)
    return Draw(kind, opset, [x, *lists], constants)


@draws("Pad")
def pad(random, kind):
    opset, rank = random.one((7, 11, 13, 18, 19, 21)), random.number(1, 4)
    dtype = (
        random.one((np.float32, np.float32, np.int32, np.int64, np.float64, np.bool_))
        if opset >= 13
        else np.float32
    )
    x = random.array(random.numbers(rank, 1, 5), dtype)
    modes = ("constant", "edge", "reflect", *(("wrap",) if opset >= 19 else ()))
    attributes, count = {"mode": random.one(modes)}, rank
    axes = None
    if opset >= 18 and random.chance():
        axes = random.generator.permutation(rank)[: random.number(1, rank)]
        count = len(axes)
        axes = longs([axis - rank * random.number(0, 1) for axis in axes])
    pads = random.numbers(2 * count, -2 if random.chance(0.4) else 0, 3)
    if opset == 7:
        return Draw(kind, opset, [x], (), attributes | {"pads": pads} | random.some(value=1.5))
    value = np.array(1, dtype) if attributes["mode"] == "constant" and random.chance() else None
    return Draw(kind, opset, [x, longs(pads), value, axes], [1, 2, 3], attributes)


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
    if kind in ("ReduceLogSum", "ReduceProd"):
        x = np.abs(x) % 4 + dtype(1)
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


@draws("DepthToSpace", "SpaceToDepth")
def blocks(random, kind):
    block, opset = random.number(1, 3), random.one((7, 11, 13))
    channels, size = (block * block * 2, 3) if kind == "DepthToSpace" else (2, block * 3)
    attributes = {"blocksize": block}
    if kind == "DepthToSpace" and opset >= 11:
        attributes |= random.some(mode=random.one(("DCR", "CRD")))
    return Draw(kind, opset, [random.array((2, channels, size, size))], (), attributes)


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


def regions(random, count, most):
    corners = random.generator.random((count, 4)).astype(np.float32) * most
    corners[:, 2:] = corners[:, :2] + random.generator.random((count, 2)).astype(np.float32) * most
    return corners


@draws("RoiAlign")
def roi_align(random, kind):
    opset, count = random.one((10, 16, 22)), random.number(1, 3)
    x = random.array((2, 2, *random.numbers(2, 3, 8)))
    batches = random.generator.integers(0, 2, count).astype(np.int64)
    attributes = random.some(
        mode=random.one(("avg", "max")),
        output_height=2,
        output_width=3,
        sampling_ratio=random.number(0, 3),
        spatial_scale=0.5,
    )
    if opset >= 16:
        attributes |= random.some(
            coordinate_transformation_mode=random.one(("half_pixel", "output_half_pixel"))
        )
    return Draw(kind, opset, [x, regions(random, count, 8), batches], (), attributes)


@draws("MaxRoiPool")
def max_roi_pool(random, kind):
    count = random.number(1, 3)
    x = random.array((2, 2, *random.numbers(2, 3, 8)))
    rois = np.concatenate([random.generator.integers(0, 2, (count, 1)), regions(random, count, 8)], 1)
    attributes = {"pooled_shape": random.numbers(2, 1, 3)} | random.some(spatial_scale=random.one((0.5, 0.3)))
    return Draw(kind, 7, [x, rois.astype(np.float32)], (), attributes)


@draws("GridSample")
def grid_sample(random, kind):
    opset = random.one((16, 20))
    dims = 2 if opset == 16 else random.number(2, 3)
    modes = ("bilinear", "nearest", "bicubic") if opset == 16 else ("linear", "nearest", "cubic")
    mode = random.one(modes if dims == 2 else modes[:2])
    x = random.array((2, 2, *random.numbers(dims, 1, 5)))
    grid = (
        random.generator.random((2, *random.numbers(dims, 1, 4), dims)).astype(np.float32) - np.float32(0.5)
    ) * 3
    attributes = {"mode": mode} | random.some(
        padding_mode=random.one(("zeros", "border", "reflection")), align_corners=1
    )
    return Draw(kind, opset, [x, grid], (), attributes)


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


@draws("Col2Im")
def columns_to_image(random, kind):
    dims = 2
    image, block = random.numbers(dims, 3, 6), random.numbers(dims, 1, 3)
    attributes = random.some(
        strides=random.numbers(dims, 1, 2),
        dilations=random.numbers(dims, 1, 2),
        pads=random.numbers(2 * dims, 0, 1),
    )
    ones, pads = [1] * dims, attributes.get("pads", [0] * 2 * dims)
    counts = [
        (size + low + high - dilation * (extent - 1) - 1) // stride + 1
        for size, low, high, dilation, extent, stride in zip(
            image,
            pads[:dims],
            pads[dims:],
            attributes.get("dilations", ones),
            block,
            attributes.get("strides", ones),
        )
    ]
    x = random.array((1, 2 * int(np.prod(block)), max(1, int(np.prod(counts)))))
    return Draw(kind, 18, [x, longs(image), longs(block)], [1, 2], attributes)


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
