"""Nodes with something wrong: they are refused in one sentence, or run."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

import directml_py as dml
from directml_py.onnx.onnx_model import device_of

from .small_nodes import collected, small_nodes, versions_of
from .special_nodes import SPECIAL

# 99 is a type that ONNX does not have.
ELEMENTS = [
    TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.INT32,
    TensorProto.INT8, TensorProto.UINT8, TensorProto.BOOL, TensorProto.STRING, TensorProto.BFLOAT16,
    TensorProto.UINT32, TensorProto.INT4, TensorProto.COMPLEX64, 99,
]  # fmt: skip
NUMBERS = [0, -1, 1, 2, 7, -100, 1 << 62, -(1 << 63)]
ATTRIBUTES = [1, 1.5, "x", [1, 2], [0.5], ["a"], helper.make_tensor("t", TensorProto.FLOAT, [2], [1, 2])]


def another_type(random, graph, node, arrays):
    random.choice(graph.input).type.tensor_type.elem_type = random.choice(ELEMENTS)


def another_rank(random, graph, node, arrays):
    tensor = random.choice(graph.input).type.tensor_type
    sizes = [size.dim_value for size in tensor.shape.dim]
    other = random.choice([sizes[1:], sizes[:-1], [1, *sizes], [*sizes, 2], [], sizes * 2])
    tensor.shape.CopyFrom(helper.make_tensor_type_proto(1, other).tensor_type.shape)


def another_size(random, graph, node, arrays):
    random.choice(random.choice(graph.input).type.tensor_type.shape.dim).dim_value = random.choice(
        [0, 1, 2, 3, 7, 100]
    )


def no_input(random, graph, node, arrays):
    place = random.randrange(len(node.input))
    if random.random() < 0.5:
        node.input[place] = ""
    else:
        del node.input[place]


def other_inputs(random, graph, node, arrays):
    names = list(node.input)
    random.shuffle(names)
    node.input[:] = [*names, *random.choice([[], [""], names[:1], ["unknown"]])]


def other_outputs(random, graph, node, arrays):
    node.output[:] = random.choice([[*node.output, "more"], ["", *node.output], [node.output[0]] * 2])


def another_value(random, graph, node, arrays):
    entry = random.choice(node.attribute)
    entry.i, entry.f = random.choice(NUMBERS), random.choice([0.0, -1.0, np.nan, np.inf, 1e30])
    entry.s = random.choice([b"", b"no such word", b"\xff\xfe", b"SAME_UPPER"])
    count = len(entry.ints)
    entry.ints[:] = [random.choice(NUMBERS) for _ in range(random.choice([0, count, count, count + 1]))]
    entry.strings[:] = random.choice([[], [b"\xff"], [b"Tanh"]])
    entry.floats[:] = random.choice([[], [np.nan] * 2])


def another_kind(random, graph, node, arrays):
    entry = random.choice(node.attribute)
    if random.random() < 0.2:
        entry.type = AttributeProto.UNDEFINED
    else:
        entry.CopyFrom(helper.make_attribute(entry.name, random.choice(ATTRIBUTES)))


def no_attribute(random, graph, node, arrays):
    node.attribute.remove(random.choice(node.attribute))


def more_attributes(random, graph, node, arrays):
    name = random.choice(["no_such_attribute", "axis", "axes", "mode", "to"])
    node.attribute.append(helper.make_attribute(name, random.choice(ATTRIBUTES)))


def a_constant(random, graph, node, arrays):
    item = random.choice(graph.input)
    array = arrays[item.name]
    if array.dtype.kind in "iuf" and array.itemsize > 1 and random.random() < 0.7:
        numbers = [random.choice([0, -1, 1, 5, 1 << 20]) for _ in range(array.size)]
        array = np.array(numbers, np.int64).astype(array.dtype).reshape(array.shape)
    graph.initializer.append(numpy_helper.from_array(array, item.name))
    graph.input.remove(item)


CHANGES = [
    another_type, another_rank, another_size, no_input, other_inputs, other_outputs, another_value,
    another_kind, no_attribute, more_attributes, a_constant,
]  # fmt: skip


# What a message begins with; before operator set 7 ONNX's checker speaks, on which the version converter relies.
PLACES = ("node ", "input ", "output ", "operator set ", "the model's outputs", "is not valid: ")


def changed(small, random):
    """The model with one to three things changed, and sometimes another operator set."""
    model = onnx.ModelProto()
    model.CopyFrom(small.model)
    for change in random.choices(CHANGES, k=random.choice([1, 1, 2, 3])):
        try:
            change(random, model.graph, model.graph.node[0], small.arrays)
        except (IndexError, KeyError, ValueError):
            # There is nothing of the kind to change.
            continue
    if random.random() < 0.1:
        model.opset_import[0].version = random.randrange(1, 29)
    return model


def load_and_run(model, device):
    """Whether the model was refused; anything but an OnnxError of one line that says where is raised."""
    try:
        made = dml.onnx.load(model, device=device)
        made.run({name: np.zeros(value.shape, value.dtype) for name, value in made.inputs.items()})
    except dml.onnx.OnnxError as error:
        return str(error)
    return ""


def check(cases, count, seed):
    choice, device = random.Random(seed), device_of(None)
    refused = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number in range(count):
            model = changed(cases[choice.randrange(len(cases))], choice)
            try:
                text = load_and_run(model, device)
            except Exception as error:
                raise AssertionError(f"{number}: {onnx.printer.to_text(model)}") from error
            assert "\n" not in text
            assert not text or text.startswith(PLACES), text
            refused += bool(text)
    # Most changes make a node wrong, and some leave it right.
    assert count / 3 < refused < count * 0.95


def test_a_few():
    check(SPECIAL, 600, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_many(seed):
    cases = [
        small
        for kind in sorted(collected())
        for version in versions_of(kind)
        for small in small_nodes(kind, version)
    ]
    check(cases, 10_000, seed)
