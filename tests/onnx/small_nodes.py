"""Models of one node for every operator of ONNX and every operator set from 7 on, made of ONNX's own node cases."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from directml_py.onnx.function_bodies import OLDEST

# Cases with larger tensors say no more about types and sizes.
MOST_ELEMENTS = 4096


class SmallNode(NamedTuple):
    """A model of one node, and arrays for its inputs."""

    name: str
    kind: str
    version: int
    model: onnx.ModelProto
    arrays: dict[str, np.ndarray]


@cache
def collected():
    """ONNX's cases of one node of its own domain, by operator."""
    # Other modules collect the cases of operators into the same list.
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    found = {}
    for case in cases:
        nodes = case.model.graph.node
        if len(nodes) == 1 and not nodes[0].domain and "_expanded" not in case.name and case.data_sets:
            found.setdefault(nodes[0].op_type, []).append(case)
    return found


@cache
def versions_of(kind: str) -> tuple[int, ...]:
    """The operator sets from 7 on at which an operator changed, and 7 itself."""
    newest = onnx.defs.onnx_opset_version()
    had = {version for version in range(OLDEST, newest + 1) if onnx.defs.has(kind, version, "")}
    return tuple(sorted({max(onnx.defs.get_schema(kind, v, "").since_version, min(had)) for v in had}))


def small_nodes(kind: str, version: int) -> Iterator[SmallNode]:
    """The cases of an operator as an operator set has it, as far as it has what they are for."""
    schema = onnx.defs.get_schema(kind, version, "")
    for case in collected().get(kind, ()):
        made = _adapted(case, schema, version)
        if made is not None:
            yield made


def _adapted(case, schema, version) -> SmallNode | None:
    """A case for another version: what it does not have is an attribute, or left out."""
    node = onnx.NodeProto()
    node.CopyFrom(case.model.graph.node[0])
    given = dict(zip((item.name for item in case.model.graph.input), case.data_sets[0][0]))
    if any(isinstance(value, list) or value is None for value in given.values()):
        return None
    arrays = {name: array_of(value) for name, value in given.items()}
    if any(array.size > MOST_ELEMENTS or array.dtype == object for array in arrays.values()):
        return None
    newest = onnx.defs.get_schema(node.op_type, case.model.opset_import[0].version, "")
    formal = [newest.inputs[min(index, len(newest.inputs) - 1)].name for index in range(len(node.input))]
    for entry in list(node.attribute):
        if entry.name not in schema.attributes:
            node.attribute.remove(entry)
    present = {entry.name for entry in node.attribute}
    while len(node.input) > schema.max_input:
        name, as_attribute = node.input.pop(), formal.pop()
        as_attribute = as_attribute if as_attribute in schema.attributes else as_attribute.lower()
        if name and as_attribute in schema.attributes and as_attribute not in present:
            node.attribute.append(
                _attribute(as_attribute, schema.attributes[as_attribute].type.name, arrays[name])
            )
    while len(node.output) > schema.max_output:
        node.output.pop()
    used = {name: array for name, array in arrays.items() if name in node.input}
    return SmallNode(f"{case.name} {version}", node.op_type, version, model_of(node, used, version), used)


def _attribute(name, kind, array):
    """An attribute for what newer versions have as an input."""
    make = float if kind.startswith("FLOAT") else int
    values = [make(item) for item in array.reshape(-1)]
    number = onnx.AttributeProto.AttributeType.Value(kind)
    return helper.make_attribute(name, values if kind.endswith("S") else values[0], attr_type=number)


def array_of(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def model_of(node, arrays, version) -> onnx.ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in arrays.items()
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "one", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)


def with_constants(small: SmallNode) -> onnx.ModelProto:
    """The model with all inputs as initializers."""
    model = onnx.ModelProto()
    model.CopyFrom(small.model)
    del model.graph.input[:]
    model.graph.initializer.extend(
        numpy_helper.from_array(array, name) for name, array in small.arrays.items()
    )
    return model
