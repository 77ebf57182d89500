"""Nodes drawn at random: operators, ranks, sizes (0 and 1 among them), broadcasting forms, types and attributes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

MICROSOFT = "com.microsoft"
FLOATS = ("float32", "float32", "float16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ANYTHING = (*NUMBERS, "bool", "float64")


NOTHING: Mapping[str, Any] = MappingProxyType({})


class DrawnNode(NamedTuple):
    """A node: its ``inputs`` by position (None: absent), those of them that are constants, and its attributes.

    ``must_run`` says that what ONNX Runtime runs is not refused; others may have types and ranks that DirectML lacks.
    """

    kind: str
    opset: int
    inputs: Sequence[Any]
    constants: Sequence[int] = ()
    attributes: Mapping[str, Any] = NOTHING
    outputs: int = 1
    domain: str = ""
    must_run: bool = True

    def model(self) -> Any:
        """The model of this node alone."""
        names = ["" if array is None else f"in{index}" for index, array in enumerate(self.inputs)]
        while names and not names[-1]:
            names.pop()
        given = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in self.feeds.items()
        ]
        constants = [
            numpy_helper.from_array(self.inputs[index], f"in{index}")
            for index in self.constants
            if self.inputs[index] is not None
        ]
        wanted = [f"out{index}" for index in range(self.outputs)]
        node = helper.make_node(self.kind, names, wanted, domain=self.domain, **self.attributes)
        outputs = [onnx.ValueInfoProto(name=name) for name in wanted]
        graph = helper.make_graph([node], "one", given, outputs, constants)
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=10)

    @property
    def feeds(self) -> dict[str, Any]:
        return {
            f"in{index}": array
            for index, array in enumerate(self.inputs)
            if array is not None and index not in self.constants
        }

    def __str__(self) -> str:
        parts = [f"{key}={value!r}" for key, value in self.attributes.items()]
        for index, array in enumerate(self.inputs):
            if array is not None:
                is_known = index in self.constants
                parts.append(f"{array.tolist()}" if is_known else f"{array.dtype.name}{list(array.shape)}")
        return f"{self.kind}-{self.opset}({', '.join(parts)})"


class Draw:
    """A source of nodes, sizes, types and elements."""

    def __init__(self, name: str, number: int) -> None:
        self.domain, _, self.kind = name.rpartition(":")
        self.random = np.random.default_rng([number, zlib.crc32(name.encode())])
        # One node in three has sizes of 0.
        self.empty = 0.25 if self.random.random() < 0.33 else 0.0

    def node(
        self,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any] = NOTHING,
        opset: int = 18,
        outputs: int = 1,
    ) -> DrawnNode:
        """A node of any types and ranks, without constants."""
        return DrawnNode(self.kind, opset, inputs, (), attributes, outputs, self.domain, must_run=False)

    def choice(self, options: Any) -> Any:
        return options[int(self.random.integers(len(options)))]

    def maybe(self, chance: float = 0.5) -> bool:
        return bool(self.random.random() < chance)

    def number(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def numbers(self, count: int, low: int, high: int) -> list[int]:
        return [self.number(low, high) for _ in range(count)]

    def some(self, **attributes: Any) -> dict[str, Any]:
        """A random part of the attributes."""
        return {name: value for name, value in attributes.items() if value is not None and self.maybe(0.6)}

    def size(self, most: int = 4) -> int:
        if self.random.random() < self.empty:
            return 0
        return int(self.random.integers(1, most + 1))

    def shape(self, low: int = 0, high: int = 8, most: int = 4) -> tuple[int, ...]:
        rank = int(self.random.integers(low, high + 1))
        return tuple(self.size(2 if rank > 5 else 3 if rank > 4 else most) for _ in range(rank))

    def beside(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Sizes that broadcast to ``shape``."""
        cut = int(self.random.integers(0, len(shape) + 1)) if self.maybe() else 0
        return tuple(1 if self.maybe(0.3) else size for size in shape[cut:])

    def axis(self, rank: int) -> int:
        return int(self.random.integers(-rank, rank)) if rank else 0

    def array(self, shape: Any, dtype: Any = "float32", low: float = -4, high: float = 4) -> Any:
        if np.dtype(dtype) == np.bool_:
            return self.random.random(shape) < 0.5
        if np.dtype(dtype).kind == "f":
            return np.asarray(self.random.uniform(low, high, shape)).astype(dtype)
        info = np.iinfo(dtype)
        start, end = max(info.min, -100), min(info.max, 100)
        if low != -4 or high != 4:
            start, end = max(start, int(low)), min(end, int(high))
        return self.random.integers(start, end + 1, shape).astype(dtype)

    def axes(self, rank: int) -> list[int]:
        order = self.random.permutation(rank)
        return [int(axis) for axis in order[: self.random.integers(0, rank + 1)]]


Maker = Callable[[Draw], DrawnNode]
MAKERS: dict[str, list[Maker]] = {}


def drawn(*names: str) -> Callable[[Maker], Maker]:
    """Decorator: registers what draws nodes of operators; those of com.microsoft are spelled "com.microsoft:Name"."""

    def add(make: Maker) -> Maker:
        for name in names:
            MAKERS.setdefault(name, []).append(make)
        return make

    return add


def node(name: str, number: int) -> DrawnNode:
    """The node of this number, always the same; those of one operator take turns."""
    makers = MAKERS[name]
    return makers[number % len(makers)](Draw(f"{name}", number))


def opset(draw: Draw, *versions: int) -> int:
    return int(draw.choice(versions))


def longs(values: Any) -> Any:
    return np.array(values, np.int64)


@drawn("Abs", "Neg", "Sign", "Identity", "Relu", "com.microsoft:Gelu", "com.microsoft:QuickGelu")
@drawn("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Log",
       "Reciprocal", "Sin", "Sinh", "Sqrt", "Tan", "Tanh", "Sigmoid", "Softsign", "Softplus", "Elu", "Selu",
       "LeakyRelu", "HardSigmoid", "ThresholdedRelu", "Celu", "HardSwish", "Mish", "Round", "IsNaN", "IsInf",
       "Shrink")  # fmt: skip
def unary(draw: Draw) -> DrawnNode:
    return draw.node([draw.array(draw.shape(), draw.choice(NUMBERS))], opset=opset(draw, 13, 18, 21))


@drawn("Gelu", "Swish")
def newer_unary(draw: Draw) -> DrawnNode:
    return draw.node([draw.array(draw.shape(), draw.choice(FLOATS))], opset=24)


@drawn("Not")
def logical_not(draw: Draw) -> DrawnNode:
    return draw.node([draw.array(draw.shape(), "bool")])


@drawn("BitwiseNot")
def bitwise_not(draw: Draw) -> DrawnNode:
    return draw.node([draw.array(draw.shape(), draw.choice(INTEGERS))])


def pair(draw: Draw, dtype: str, low: float = -4) -> list[Any]:
    shape = draw.shape()
    sides = [draw.array(shape, dtype, low), draw.array(draw.beside(shape), dtype, low)]
    return sides[::-1] if draw.maybe() else sides


@drawn("Add", "Sub", "Mul", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Max", "Min")
def binary(draw: Draw) -> DrawnNode:
    return draw.node(pair(draw, draw.choice(NUMBERS)), opset=opset(draw, 13, 14, 18))


@drawn("Div", "Mod")
def division(draw: Draw) -> DrawnNode:
    dtype = draw.choice(NUMBERS)
    attributes = {"fmod": 1} if draw.kind == "Mod" and np.dtype(dtype).kind == "f" else {}
    return draw.node(pair(draw, dtype, 1), attributes, opset=opset(draw, 13, 14))


@drawn("Sum", "Mean", "Max", "Min")
def variadic(draw: Draw) -> DrawnNode:
    shape, dtype = draw.shape(), draw.choice(NUMBERS if draw.kind in ("Max", "Min") else FLOATS)
    count = draw.choice((1, 2, 3, 4))
    return draw.node([draw.array(draw.beside(shape), dtype) for _ in range(count)], opset=13)


@drawn("And", "Or", "Xor")
def logic(draw: Draw) -> DrawnNode:
    return draw.node(pair(draw, "bool"))


@drawn("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bits(draw: Draw) -> DrawnNode:
    return draw.node(pair(draw, draw.choice(INTEGERS)))


@drawn("PRelu")
def prelu(draw: Draw) -> DrawnNode:
    shape, dtype = draw.shape(), draw.choice(FLOATS)
    return draw.node([draw.array(shape, dtype), draw.array(draw.beside(shape), dtype)], opset=16)


@drawn("Where")
def where(draw: Draw) -> DrawnNode:
    shape, dtype = draw.shape(), draw.choice(ANYTHING)
    return draw.node(
        [
            draw.array(draw.beside(shape), "bool"),
            draw.array(draw.beside(shape), dtype),
            draw.array(shape, dtype),
        ],
        opset=16,
    )


@drawn("Softmax", "LogSoftmax", "Hardmax")
def softmax(draw: Draw) -> DrawnNode:
    shape = draw.shape(0, 8)
    attributes = {"axis": draw.axis(len(shape))} if draw.maybe(0.8) else {}
    return draw.node([draw.array(shape, draw.choice(FLOATS))], attributes, opset(draw, 11, 13))


@drawn("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
       "ReduceSum", "ReduceSumSquare")  # fmt: skip
def reduction(draw: Draw) -> DrawnNode:
    shape = draw.shape(0, 8)
    dtype = draw.choice((*NUMBERS, "bool")) if draw.maybe(0.4) else "float32"
    # The last digit of a float decides what it is truncated to; products of integers overflow.
    dtype = "float32" if "Log" in draw.kind or draw.kind in ("ReduceL2", "ReduceProd") else dtype
    low = 1 if "Log" in draw.kind else -4
    inputs, attributes = [draw.array(shape, dtype, low)], {"keepdims": int(draw.maybe())}
    version = opset(draw, 11, 18, 20)
    axes = draw.axes(len(shape))
    as_input = version >= 18 or (draw.kind == "ReduceSum" and version >= 13)
    if axes and not as_input:
        attributes["axes"] = axes
    elif as_input and draw.maybe(0.8):
        inputs.append(np.array(axes, np.int64))
        attributes["noop_with_empty_axes"] = int(draw.maybe(0.3))
    return draw.node(inputs, attributes, version)


@drawn("ArgMax", "ArgMin")
def extreme(draw: Draw) -> DrawnNode:
    shape = draw.shape(0, 8)
    attributes = {
        "axis": draw.axis(len(shape)),
        "keepdims": int(draw.maybe()),
        "select_last_index": int(draw.maybe()),
    }
    return draw.node([draw.array(shape, draw.choice(NUMBERS))], attributes, 13)


@drawn("TopK")
def top_k(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 8)
    axis = draw.axis(len(shape))
    count = np.array([draw.random.integers(0, shape[axis] + 1)], np.int64)
    attributes = {"axis": axis, "largest": int(draw.maybe())}
    return draw.node([draw.array(shape, draw.choice(NUMBERS)), count], attributes, 11, 2)


@drawn("CumSum")
def cumulative(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 8)
    inputs = [
        draw.array(shape, draw.choice(("float32", "int32", "int64"))),
        np.array(draw.axis(len(shape)), np.int32),
    ]
    return draw.node(inputs, {"exclusive": int(draw.maybe()), "reverse": int(draw.maybe())}, 14)
