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
SECOND = {
    "Dropout": [TensorProto.BOOL],
    "MaxPool": [TensorProto.INT64],
    "TopK": [TensorProto.INT64],
    "Unique": [TensorProto.INT64] * 3,
}
# The input that has the type of the output, if it is not the first one.
LIKE = {"OneHot": 2, "QuantizeLinear": 2}


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
        own = helper.np_dtype_to_tensor_dtype(self.inputs[LIKE.get(self.kind, 0)].dtype)
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
