"""Constant folding: nodes whose inputs are known on the host, computed by ONNX's reference evaluator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from .protobuf import NodeMessage
from .values import Array, OnnxValue, Sizes

# Above this number of elements the host only runs nodes that move elements.
LARGE = 1 << 16
CHEAP = {
    "Cast", "CastLike", "Concat", "Constant", "ConstantOfShape", "DequantizeLinear", "Expand", "Flatten", "Gather",
    "Identity", "Range", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze",
}  # fmt: skip
# What no graph computes, whatever the count of elements.
HOST_ALONE = {"NonMaxSuppression", "NonZero", "Unique"}
OF_ANY_SIZE = CHEAP | HOST_ALONE
RANDOM = {
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Bernoulli",
    "Multinomial",
}
# Whose bounds and sizes the evaluator takes otherwise than ONNX Runtime: their translators compute them.
OF_TRANSLATORS = {"ConvTranspose", "AveragePool", "LpPool", "MaxPool", "Resize", "Slice", "Upsample"}
IR_VERSION = 10


def is_foldable(
    node: NodeMessage, inputs: Mapping[str, OnnxValue], outputs: Mapping[str, tuple[Any, Sizes]]
) -> bool:
    """Whether the host should compute the node."""
    if any(value.array is None for value in inputs.values()) or node.op_type in RANDOM | OF_TRANSLATORS:
        return False
    if node.op_type in OF_ANY_SIZE:
        return True
    sizes = [value.size for value in inputs.values()]
    sizes += [math.prod(shape) for _, shape in outputs.values()]
    return max(sizes, default=0) <= LARGE


def folded(
    node: NodeMessage, inputs: Mapping[str, OnnxValue], opsets: Mapping[str, int]
) -> list[Array] | None:
    """The outputs of a node; None if the evaluator cannot compute them."""
    needed = [*dict.fromkeys((*node.present_inputs, *sorted(node.captured)))]
    given = [
        onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(inputs[name].dtype), None
        )
        for name in needed
    ]
    wanted = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = onnx.helper.make_graph([node.proto], "folded", given, wanted)
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = ReferenceEvaluator(model).run(None, {name: inputs[name].array for name in needed})
    except Exception:
        # Nodes that the evaluator cannot compute are left to DirectML's operators, which refuse them if they cannot
        # either.
        return None
    if not all(isinstance(result, (np.ndarray, np.generic)) for result in results):
        return None
    return [np.asarray(result) for result in results]
