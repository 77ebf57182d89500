"""One ONNX node on ONNX Runtime's CPU provider: the independent program that results are compared with."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnxruntime
from onnx import helper

OPSET, IR_VERSION = 18, 8


def element_type(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


@cache
def session(node, input_types, output_types, attributes):
    """A session for one node; shapes stay open, so that it serves every size and rank."""
    inputs = [
        helper.make_tensor_value_info(f"in{index}", element_type(kind), None)
        for index, kind in enumerate(input_types)
    ]
    outputs = [
        helper.make_tensor_value_info(f"out{index}", element_type(kind), None)
        for index, kind in enumerate(output_types)
    ]
    made = helper.make_node(
        node, [value.name for value in inputs], [value.name for value in outputs], **dict(attributes)
    )
    graph = helper.make_graph([made], node, inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def run(node, inputs, output_types=None, **attributes):
    """The outputs of one node for some arrays; they have the first input's type unless ``output_types`` says."""
    inputs = [np.asarray(value) for value in inputs]
    types = tuple(value.dtype.name for value in inputs)
    found = session(node, types, output_types or types[:1], tuple(sorted(attributes.items())))
    return found.run(None, {f"in{index}": value for index, value in enumerate(inputs)})
