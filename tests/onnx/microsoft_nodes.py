"""Small nodes of the domain com.microsoft."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

RANDOM = np.random.default_rng(11)
MICROSOFT = "com.microsoft"


def floats(*sizes):
    return RANDOM.standard_normal(sizes).astype(np.float32)


def bytes_of(*sizes):
    return RANDOM.integers(0, 256, sizes).astype(np.uint8)


def integers(*values):
    return np.array(values, np.int32)


def model_of(kind, inputs, attributes, outputs=1):
    """A model of one node; an input that is None is absent."""
    names = ["" if array is None else f"in{index}" for index, array in enumerate(inputs)]
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(names, inputs)
        if array is not None
    ]
    # ONNX Runtime requires the second output of this one too.
    least = 2 if kind.endswith("EmbedLayerNormalization") else 1
    wanted = [f"out{index}" for index in range(max(least, outputs))]
    node = helper.make_node(kind, names, wanted, domain=MICROSOFT, **attributes)
    graph = helper.make_graph([node], "one", given, [onnx.ValueInfoProto(name=name) for name in wanted])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    return model, {name: array for name, array in zip(names, inputs) if array is not None}


ONE, U8 = np.float32(0.05).reshape(()), np.uint8(120).reshape(())
