"""One ONNX node in ONNX Runtime, as the reference of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from toolchain import need_package

OPSET, IR_VERSION = 18, 8
# The domain of ONNX Runtime's own operators: an attribute of their nodes.
MICROSOFT = "com.microsoft"
# Operators whose references some samples have no kernel for, or wrong results or errors, in the last ONNX Runtime for
# Python 3.10.
BEYOND_OLD_RUNTIME = frozenset(
    {
        "CONVOLUTION_INTEGER",
        "FOLD",
        "MATRIX_MULTIPLY_INTEGER",
        "PADDING",
        "PADDING1",
        "QUANTIZED_LINEAR_CONVOLUTION",
        "REVERSE_SUBSEQUENCES",
    }
)


def is_old_runtime() -> bool:
    return tuple(map(int, need_package("onnxruntime").__version__.split(".")[:2])) <= (1, 23)


def element_type(dtype: Any) -> int:
    return need_package("onnx.helper").np_dtype_to_tensor_dtype(np.dtype(dtype))


@cache
def session(
    node: str, opset: int, input_types: tuple[str, ...], output_types: tuple[str, ...], attributes: Any
) -> Any:
    """A session for one node; ranks and sizes stay open."""
    onnxruntime, helper = need_package("onnxruntime"), need_package("onnx.helper")
    inputs = [
        helper.make_tensor_value_info(f"in{index}" if kind else "", element_type(kind or "float32"), None)
        for index, kind in enumerate(input_types)
    ]
    outputs = [
        helper.make_tensor_value_info(f"out{index}", element_type(kind), None)
        for index, kind in enumerate(output_types)
    ]
    made = helper.make_node(
        node, [value.name for value in inputs], [value.name for value in outputs], **dict(attributes)
    )
    graph = helper.make_graph([made], node, [value for value in inputs if value.name], outputs)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def run(
    node: str,
    inputs: Sequence[Any],
    output_types: Sequence[str] | None = None,
    opset: int = OPSET,
    **attributes: Any,
) -> list[Any]:
    """The outputs of one node for some arrays, None for absent ones.

    The outputs have the first input's type unless ``output_types`` says. Lists among the attributes are tuples.
    """
    types = tuple("" if value is None else value.dtype.name for value in inputs)
    made = session(node, opset, types, tuple(output_types or types[:1]), tuple(sorted(attributes.items())))
    feeds = {f"in{index}": value for index, value in enumerate(inputs) if value is not None}
    results: list[Any] = made.run(None, feeds)
    return results


@cache
def saturates() -> bool:
    """Whether ONNX Runtime adds pairs of products of UINT8 by INT8 in 16 bits, with saturation: it does on x86-64
    without VNNI."""
    a, b = np.full((5, 20), 255, np.uint8), np.full((20, 7), 127, np.int8)
    (sums,) = run("MatMulInteger", [a, b], ["int32"])
    return bool((sums != 20 * 255 * 127).any())


def plain(slot: Any, array: Any) -> Any:
    """An input of a reference in a type of NumPy's: floats in FLOAT64, integers in the tensor's own."""
    return array if array is None or array.dtype.kind == "f" else array.astype(slot.tensor.dtype)


def onnx(
    node: str,
    output: str | None = None,
    opset: int = OPSET,
    attributes: Callable[[Any], Mapping[str, Any]] | None = None,
) -> Callable[..., Any]:
    """The reference that is one node, floats in FLOAT64, with ``attributes`` of the desc; its output has the first
    input's type, or ``output``."""

    def reference(desc: Any, *inputs: Any) -> Any:
        arrays = [plain(slot, array) for slot, array in zip(desc.inputs, inputs)]
        named = {} if attributes is None else attributes(desc)
        return run(node, arrays, output and [output], opset, **named)[0]

    return reference
