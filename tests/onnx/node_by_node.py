"""The nodes of a model one by one, each with the inputs that ONNX Runtime has for it."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

import directml_py as dml

from .onnx_runtime import session_of

# Whose results follow from sizes alone.
OF_SIZES = {"Shape", "Size"}


def values_of(model, given, **choices):
    """All values of a model as ONNX Runtime computes them, by name; constants among them."""
    whole = onnx.ModelProto.FromString(model.SerializeToString())
    for attribute in (item for node in whole.graph.node for item in node.attribute):
        if attribute.name == "accuracy_level":
            # Others than 1 permit ONNX Runtime to round the factors.
            attribute.i = 1
    del whole.graph.output[:]
    whole.graph.output.extend(
        onnx.ValueInfoProto(name=name) for node in model.graph.node for name in node.output if name
    )
    session = session_of(whole, **choices)
    names = [output.name for output in session.get_outputs()]
    constants = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    return {**constants, **given, **dict(zip(names, session.run(names, given)))}


def fixed_names(model):
    """The names of values that do not depend on what the inputs hold."""
    fixed = {item.name for item in model.graph.initializer}
    left = list(model.graph.node)
    while ready := [
        node for node in left if node.op_type in OF_SIZES or fixed.issuperset(filter(None, node.input))
    ]:
        fixed.update(name for node in ready for name in node.output)
        left = [node for node in left if node not in ready]
    return fixed


def results_of_node(model, node, values, fixed):
    """This package's results of one node, by name, for inputs from ``values``."""
    names = dict.fromkeys(filter(None, node.input))
    inputs = [name for name in names if name not in fixed]
    graph = helper.make_graph(
        [node],
        "one",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(values[name].dtype), values[name].shape
            )
            for name in inputs
        ],
        [onnx.ValueInfoProto(name=name) for name in node.output if name],
        [numpy_helper.from_array(values[name], name) for name in names if name in fixed],
    )
    made = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    return dml.onnx.load(made).run({name: values[name] for name in inputs})


def different(own, expected, tolerance, share=0.0):
    """What is not as ONNX Runtime has it, in words; empty if nothing is.

    ``tolerance`` is that of floats, relative to the largest, ``share`` that of integers which may be off by one.
    """
    if (own.dtype, own.shape) != (expected.dtype, expected.shape):
        return f"{own.dtype} {own.shape}, not {expected.dtype} {expected.shape}"
    if not own.size:
        return ""
    with np.errstate(invalid="ignore"):
        errors = np.where(own == expected, 0, abs(own.astype(float) - expected.astype(float)))
    if own.dtype.kind in "iub":
        wrong = np.count_nonzero(errors)
        is_near = wrong <= share * own.size and errors.max() <= 1
        return "" if is_near or not wrong else f"{wrong} of {own.size} integers, by {errors.max():g} at most"
    error = errors.max() / max(abs(expected.astype(float)).max(), 1e-30)
    return f"{error:.2g} of the largest" if error > tolerance else ""
