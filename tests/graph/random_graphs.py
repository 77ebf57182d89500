"""Random graphs over all operators that execute, and their results node by node."""

from __future__ import annotations

import math
import random

import numpy as np

import directml_py as dml
from directml_py.descs.tensor_size import packed_strides
from directml_py.graph import Graph, TensorProperties, interleaved_channel, packed
from directml_py.graph.nodes import ConstantNode, FromInput, FromNode

FUNCTIONS = list(dml.DML_REDUCE_FUNCTION)
ARG_FUNCTIONS = (dml.DML_REDUCE_FUNCTION_ARGMAX, dml.DML_REDUCE_FUNCTION_ARGMIN)
TYPES = [
    dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"]
    for name in ("FLOAT32", "FLOAT32", "FLOAT16", "INT32", "UINT32", "INT64", "UINT8", "FLOAT64")
]
INDEX_TYPES = [
    dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"]
    for name in ("UINT32", "INT32", "UINT64", "INT64")
]
# REDUCE's functions of integers.
INTEGER_FUNCTIONS = [
    dml.DML_REDUCE_FUNCTION[f"DML_REDUCE_FUNCTION_{name}"]
    for name in ("ARGMAX", "ARGMIN", "L1", "MAX", "MIN", "MULTIPLY", "SUM", "SUM_SQUARE")
]
FLOATS = {dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_FLOAT16}


def is_reducible(expression):
    return expression.desc.data_type in FLOATS | {
        dml.DML_TENSOR_DATA_TYPE_INT32,
        dml.DML_TENSOR_DATA_TYPE_UINT32,
        dml.DML_TENSOR_DATA_TYPE_INT64,
    }


class Maker:
    """Builds one graph, operator by operator, from earlier values."""

    def __init__(self, seed, device=None):
        self.random = random.Random(seed)
        self.graph = Graph(device)
        self.values = []
        # The exclusive upper bounds of index tensors, by the values' sources.
        self.bounds = {}
        self.rank = self.random.choice([3, 4, 4, 5])

    def policy(self, data_type, flags, sizes):
        """Packed, interleaved, or any order of dimensions with gaps and trailing bytes."""
        kind = self.random.random()
        if kind < 0.7:
            return packed(data_type, flags, sizes)
        if kind < 0.85:
            return interleaved_channel(data_type, flags, sizes)
        strides, step = [0] * len(sizes), 1
        for dimension in self.random.sample(range(len(sizes)), len(sizes)):
            strides[dimension] = step
            step = step * sizes[dimension] + self.random.randint(0, 2)
        total = dml.TensorDesc(data_type, tuple(sizes), tuple(strides)).minimum_size
        return TensorProperties(tuple(strides), total + 4 * self.random.randint(0, 3), 0)

    def sizes(self):
        return [self.random.randint(1, 4) for _ in range(self.rank)]

    def source(self):
        """A new graph input or constant."""
        chance, sizes, data_type = self.random.random(), self.sizes(), self.random.choice(TYPES)
        if chance < 0.3:
            dtype = dml.TensorDesc(data_type, (1,)).dtype
            return self.graph.constant(
                numbers(np.random.default_rng(self.random.randrange(99)), dtype, sizes)
            )
        flags = dml.DML_TENSOR_FLAG_OWNED_BY_DML if chance > 0.8 else dml.DML_TENSOR_FLAG_NONE
        strides = None
        if chance > 0.6:
            strides = list(packed_strides(sizes))
            strides[self.random.randrange(len(sizes))] *= self.random.choice([0, 1, 2, 9])
        name = f"x{len(self.graph.inputs)}"
        return self.graph.input_tensor(name, data_type, sizes, strides, flags=flags)

    def take(self, wanted=lambda expression: True):
        """A value that ``wanted`` accepts, preferably a recent one; None if there is none."""
        found = [one for one in self.values if wanted(one)]
        return self.random.choice(found[-12:]) if found else None

    def grow(self):
        self.graph.tensor_policy = self.policy
        kind = self.random.choice(
            [
                "identity",
                "scale",
                "split",
                "split",
                "join",
                "join",
                "reduce",
                "arg",
                "gather",
                "view",
                "source",
            ]
        )
        found = getattr(self, f"_{kind}")()
        self.values += [] if found is None else found if isinstance(found, list) else [found]

    def _source(self):
        return self.source() if self.random.random() < 0.4 else None

    def _identity(self):
        return self.graph.identity(self.take())

    def _scale(self):
        x = self.take(lambda one: one.desc.element_bits < 64)
        return None if x is None else self.graph.identity(x, scale_bias=(self.random.choice([0.5, -1, 1]), 1))

    def _split(self):
        x = self.take()
        axis = self.random.randrange(self.rank)
        left, sizes = x.desc.sizes[axis], []
        while left:
            sizes.append(self.random.randint(1, left))
            left -= sizes[-1]
        return self.graph.split(x, axis=axis, sizes=sizes)

    def _join(self):
        first = self.take(lambda one: one.desc.element_count < 400)
        if first is None:
            return None
        axis = self.random.randrange(self.rank)

        def fits(one):
            same = [a == b for a, b in zip(one.desc.sizes, first.desc.sizes)]
            same[axis] = one.desc.element_count < 400
            return one.desc.data_type == first.desc.data_type and all(same)

        others = [self.take(fits) for _ in range(self.random.randint(0, 3))]
        return self.graph.join([first, *others], axis=axis)

    def _axes(self):
        return self.random.sample(range(self.rank), self.random.randint(1, 2))

    def _reduce(self):
        x = self.take(is_reducible)
        if x is None:
            return None
        function = self.random.choice(FUNCTIONS if x.desc.data_type in FLOATS else INTEGER_FUNCTIONS)
        kind = self.random.choice(INDEX_TYPES) if function in ARG_FUNCTIONS else None
        axes = self._axes()
        reduced = self.graph.reduce(x, function=function, axes=axes, output_data_type=kind)
        return reduced if kind is None else self._bounded(reduced, x, axes)

    def _bounded(self, indices, x, axes):
        self.bounds[indices.source] = math.prod(x.desc.sizes[axis] for axis in axes)
        return indices

    def _arg(self):
        x = self.take(lambda one: one.desc.data_type != dml.DML_TENSOR_DATA_TYPE_FLOAT64)
        if x is None:
            return None
        name = self.random.choice(["argmin", "argmax"])
        direction = self.random.choice(list(dml.DML_AXIS_DIRECTION))
        kind = self.random.choice(INDEX_TYPES)
        method, axes = getattr(self.graph, name), self._axes()
        found = method(x, axes=axes, axis_direction=direction, output_data_type=kind)
        return self._bounded(found, x, axes)

    def _gather(self):
        """Only indices in range: reads out of range depend on strides, which the compiler chooses."""
        x = self.take(lambda one: one.desc.element_count < 200)
        if x is None:
            return None
        axis = self.random.randrange(self.rank)
        size = x.desc.sizes[axis]
        indices = self.take(
            lambda one: (
                self.bounds.get(one.source, math.inf) <= size
                and one.desc.element_count < 20
                and one.desc.sizes[: self.rank - 1] == (1,) * (self.rank - 1)
            )
        )
        if indices is None:
            indices = self._indices(size)
        return self.graph.gather(x, indices, axis=axis, index_dimensions=1)

    def _indices(self, size):
        dtype = dml.TensorDesc(self.random.choice(INDEX_TYPES), (1,)).dtype
        rng = np.random.default_rng(self.random.randrange(99))
        sizes = [1] * (self.rank - 1) + [self.random.randint(1, 4)]
        return self.graph.constant(rng.integers(0 if dtype.kind == "u" else -size, size, sizes).astype(dtype))

    def _view(self):
        """The same bytes as another shape or type, without gaps, whose content is undefined."""
        x = self.take(lambda one: one.desc.is_packed and one.desc.minimum_size == one.desc.total_size)
        if x is None:
            return None
        if self.random.random() < 0.5:
            return self.graph.reinterpret(x, sizes=self.random.sample(x.desc.sizes, self.rank))
        other = {
            dml.DML_TENSOR_DATA_TYPE_INT32: dml.DML_TENSOR_DATA_TYPE_UINT32,
            dml.DML_TENSOR_DATA_TYPE_UINT32: dml.DML_TENSOR_DATA_TYPE_INT32,
            dml.DML_TENSOR_DATA_TYPE_INT64: dml.DML_TENSOR_DATA_TYPE_UINT64,
        }
        kind = other.get(x.desc.data_type)
        return None if kind is None else self.graph.reinterpret(x, kind)


def random_graph(seed, most=40, device=None):
    """A graph of up to ``most`` nodes. Unused values are outputs, and so are some used ones."""
    maker = Maker(seed, device)
    graph = maker.graph
    maker.values = [maker.source() for _ in range(3)]
    maker.values.append(graph.identity(maker.values[0]))
    count = maker.random.randint(2, most)
    while len(graph.nodes) < count:
        maker.grow()
    used = {source for node in graph.nodes for source in node.inputs}
    outputs = []
    for value in maker.values:
        if isinstance(value.source, FromInput) or isinstance(graph.nodes[value.source.node], ConstantNode):
            continue
        if value.source not in used or maker.random.random() < 0.1:
            outputs += [value] * (2 if maker.random.random() < 0.05 else 1)
            used.add(value.source)
    graph.outputs = outputs
    return graph


def numbers(rng, dtype, sizes):
    """Small numbers that floats hold exactly, some of them repeated."""
    return rng.integers(0 if dtype.kind == "u" else -4, 5, sizes).astype(dtype)


def random_inputs(graph, seed):
    """An array for every input, with equal values where elements share memory."""
    rng = np.random.default_rng(seed)
    found = []
    for one in graph.inputs.values():
        array = numbers(rng, one.desc.dtype, one.desc.sizes)
        memory = np.zeros(one.desc.total_size, np.uint8)
        one.desc.view(memory)[...] = array
        found.append(one.desc.view(memory).copy())
    return found


def run_one_by_one(graph, inputs):
    """The outputs of ``graph``, every node evaluated as an operator of its own, over bytes."""
    memory = {}
    for one, array in zip(graph.inputs.values(), inputs):
        memory[FromInput(one.index)] = laid_out(one.desc, array)
    for index, node in enumerate(graph.nodes):
        if isinstance(node, ConstantNode):
            memory[FromNode(index, 0)] = np.frombuffer(node.data, np.uint8)
            continue
        arrays = [
            slot.tensor.view(memory[source]).copy() for slot, source in zip(node.desc.inputs, node.inputs)
        ]
        results = dml.evaluate(dml.encode(node.desc), arrays)
        for output, (slot, array) in enumerate(zip(node.desc.outputs, results)):
            memory[FromNode(index, output)] = laid_out(slot.tensor, array)
    return [value.desc.view(memory[value.source]).copy() for value in graph.outputs.values()]


def laid_out(tensor, array):
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.view(memory)[...] = array
    return memory
