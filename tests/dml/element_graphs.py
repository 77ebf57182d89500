"""Random graphs of element-wise nodes mixed with others, and their results node by node."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

import directml_py as dml
from directml_py.descs.build import build_operator_desc
from directml_py.descs.tensor_size import packed_strides
from directml_py.operators import SCHEMAS, operator_of
from directml_py.operators.element_wise import Native
from directml_py.operators.operator import ElementWise
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from ..operators.helpers import SPECIAL
from .graphs import graph

NOT_ALIKE = ("ADAM_OPTIMIZER",)
ELEMENT_WISE = sorted(
    name for name in SCHEMAS if isinstance(operator_of(name), (ElementWise, Native)) and name not in NOT_ALIKE
)
# Operators that cannot be fused, between those that can; the last of them are often folded.
OTHERS = ("ACTIVATION_SOFTMAX1", "CUMULATIVE_SUMMATION", "SLICE", "JOIN", "ELEMENT_WISE_IDENTITY", "SPLIT")
SIZES = [(1, 1, 1, 1), (2, 3, 4, 5), (1, 2, 40, 33), (3, 1, 20, 70), (1, 3, 34, 31)]
FILL = 0xA5


@dataclass
class Made:
    """A graph as ``tests.dml.graphs.graph`` takes it, with the descs of its nodes, and the bytes of its inputs."""

    descs: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)
    inputs: list = field(default_factory=list)
    input_edges: list = field(default_factory=list)
    edges: list = field(default_factory=list)
    outputs: list = field(default_factory=list)

    def compile(self, device):
        nodes = [
            self.constants[index] if desc is None else device.CreateOperator(dml.encode(desc))
            for index, desc in enumerate(self.descs)
        ]
        outputs = [(node, output, position) for position, (node, output) in enumerate(self.outputs)]
        return device.CompileGraph(
            graph(nodes, self.input_edges, outputs, self.edges, input_count=len(self.inputs))
        )


def numbers(rng, dtype, count):
    if dtype.kind == "f":
        values = rng.standard_normal(count) * rng.choice([1, 50])
        with np.errstate(all="ignore"):
            return np.where(rng.random(count) < 0.2, rng.choice(SPECIAL, count), values).astype(dtype)
    limits = np.iinfo(dtype)
    wide = rng.integers(limits.min, limits.max, count, dtype, endpoint=True)
    return np.where(rng.random(count) < 0.4, wide, rng.integers(0, 9, count).astype(dtype))


class Maker:
    """Builds one graph, node by node, from earlier values."""

    def __init__(self, seed, names=ELEMENT_WISE):
        self.random = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.source = RandomSource(seed)
        self.names = names
        self.sizes = self.random.choice(SIZES)
        self.made = Made()
        # By what they come from: a node's output, or an input of the graph; and the tensor that was written.
        self.values = []
        for data_type in (dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_FLOAT16):
            self.new(data_type, self.sizes, constants=0)

    def layout(self, sizes, is_input):
        """Strides and bytes: packed, in another order with gaps, or, of inputs, broadcast."""
        kind = self.random.random()
        if kind < 0.6:
            return None, 0
        strides, step = [0] * len(sizes), 1
        order = range(len(sizes)) if kind < 0.8 else self.random.sample(range(len(sizes)), len(sizes))
        for axis in reversed(order):
            strides[axis] = step
            step = step * sizes[axis] + self.random.randint(0, 2)
        if is_input and kind > 0.85:
            strides = [stride if self.random.random() < 0.5 else 0 for stride in strides]
        return tuple(strides), 4 * self.random.randint(0, 3)

    def tensor(self, data_type, sizes, is_input=False):
        strides, behind = self.layout(sizes, is_input)
        least = dml.TensorDesc(data_type, sizes, strides).minimum_size
        return dml.TensorDesc(data_type, sizes, strides, total_size=least + behind)

    def new(self, data_type, sizes, constants=0.3):
        """A graph input or a constant."""
        tensor = self.tensor(data_type, sizes, is_input=True)
        data = np.full(tensor.total_size, FILL, np.uint8)
        count = tensor.last_element_offset + 1
        data[: count * tensor.dtype.itemsize] = numbers(self.rng, tensor.dtype, count).view(np.uint8)
        if self.random.random() < constants:
            self.made.constants[len(self.made.descs)] = data
            self.made.descs.append(None)
            source = (len(self.made.descs) - 1, 0)
        else:
            self.made.inputs.append(data)
            source = len(self.made.inputs) - 1
        self.values.append((source, tensor))
        return self.values[-1]

    def take(self, data_type, sizes):
        """A value of this type, preferably a recent one; sometimes in another layout than it was written."""
        found = [one for one in self.values if (one[1].data_type, one[1].sizes) == (data_type, sizes)]
        if not found or self.random.random() < 0.1:
            return self.new(data_type, sizes)
        source, tensor = self.random.choice(found[-4:])
        if tensor.is_packed and self.random.random() < 0.03:
            turned = packed_strides(sizes[::-1])[::-1]
            tensor = dml.TensorDesc(data_type, sizes, turned, total_size=tensor.total_size)
        return source, tensor

    def add(self, name, attributes, inputs, outputs):
        """A node; ``inputs`` are values or None, by the names of its tensors, as ``outputs`` are tensors."""
        node = len(self.made.descs)
        for position, taken in enumerate(inputs.values()):
            if taken is None:
                continue
            if isinstance(taken[0], tuple):
                self.made.edges.append((*taken[0], node, position))
            else:
                self.made.input_edges.append((taken[0], node, position))
        tensors = {field: None if taken is None else taken[1] for field, taken in inputs.items()}
        if name == "JOIN":
            tensors = {"InputTensors": list(tensors.values())}
        if name == "SPLIT":
            outputs = {"OutputTensors": list(outputs.values())}
        self.made.descs.append(build_operator_desc(SCHEMAS[name], {**attributes, **tensors, **outputs}))
        self.values += [
            ((node, position), slot.tensor)
            for position, slot in enumerate(self.made.descs[-1].outputs)
            if slot.tensor is not None
        ]

    def grow(self):
        name = self.random.choice(self.names if self.random.random() < 0.8 else OTHERS)
        # Preferably with a type that values have, so that nodes are connected.
        for _ in range(6):
            desc = valid_desc(self.source, name)
            first = desc.inputs[0].tensor.data_type
            if any(tensor.data_type == first for _, tensor in self.values):
                break
        else:
            if name in OTHERS:
                return
        sizes = self.sizes
        if name in ELEMENT_WISE and self.random.random() < 0.3:
            sizes = self.halves
        attributes = dict(desc)
        if name in ("JOIN", "SPLIT"):
            self.move(name, first)
            return
        if name == "SLICE":
            attributes.update(Offsets=[0] * 4, Sizes=sizes, Strides=[1] * 4, DimensionCount=4)
        if "Axis" in attributes:
            attributes["Axis"] = self.random.randrange(4)
        if "Axes" in attributes:
            attributes["Axes"] = [self.random.randrange(4)]
            attributes["AxisCount"] = 1
        inputs = {
            slot.field: None if slot.tensor is None else self.take(slot.tensor.data_type, sizes)
            for slot in desc.inputs
        }
        outputs = {slot.field: self.tensor(slot.tensor.data_type, sizes) for slot in desc.outputs}
        self.add(name, attributes, inputs, outputs)

    @property
    def halves(self):
        return (*self.sizes[:3], (self.sizes[3] + 1) // 2)

    def move(self, name, data_type):
        """JOIN of two halves, or SPLIT into them; for odd sizes the remainder is an input of its own."""
        half = self.halves
        rest = (*half[:3], self.sizes[3] - half[3])
        parts = [one for one in (half, rest) if one[3]]
        if name == "JOIN":
            inputs = {number: self.take(data_type, one) for number, one in enumerate(parts)}
            self.add(name, {"Axis": 3}, inputs, {"OutputTensor": self.tensor(data_type, self.sizes)})
        else:
            outputs = {number: self.tensor(data_type, one) for number, one in enumerate(parts)}
            self.add(name, {"Axis": 3}, {"InputTensor": self.take(data_type, self.sizes)}, outputs)


def element_graph(seed, count=25, names=ELEMENT_WISE):
    maker = Maker(seed, names)
    while len(maker.made.descs) < count:
        maker.grow()
    made = maker.made
    used = {edge[:2] for edge in made.edges}
    # Every output of a node must be connected; one in five of those that nodes read is a graph output too.
    for source, _ in maker.values:
        is_value = isinstance(source, tuple) and made.descs[source[0]] is not None
        if is_value and (source not in used or maker.random.random() < 0.2):
            made.outputs.append(source)
    return made


def run_one_by_one(made):
    """The bytes of all outputs; gaps between elements are filled."""
    memory = {}
    for node, desc in enumerate(made.descs):
        if desc is None:
            memory[node, 0] = made.constants[node]
            continue
        arrays = [None] * len(desc.inputs)
        for source, target, position in made.input_edges:
            if target == node:
                arrays[position] = desc.inputs[position].tensor.view(made.inputs[source])
        for *source, target, position in made.edges:
            if target == node:
                arrays[position] = desc.inputs[position].tensor.view(memory[tuple(source)])
        results = dml.evaluate(dml.encode(desc), arrays)
        for output, (slot, array) in enumerate(zip(desc.outputs, results)):
            memory[node, output] = np.full(slot.tensor.total_size, FILL, np.uint8)
            slot.tensor.view(memory[node, output])[...] = array
    return [memory[value] for value in made.outputs]


def tensor_of(made, value):
    return made.descs[value[0]].outputs[value[1]].tensor
