"""The types and sizes of a node's outputs, as ONNX infers them from its inputs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import onnx

from .definitions import check
from .protobuf import NodeMessage
from .translators import Described
from .values import OnnxValue

# Shape inference receives the contents of integer tensors up to this size: they may be sizes.
COMPARED = 1024
# What was inferred for layers, by all that inference looks at.
_inferred: dict[Hashable, tuple[Described | None, ...]] = {}
MOST_LAYERS = 4096
# From this operator set on, all axes may be counted from the end; ONNX Runtime counts them so in older ones too.
AXES_FROM_END = 11


def type_of(value: OnnxValue) -> Any:
    """The type of a tensor or of a sequence, whose tensors have the type of its first one."""
    if value.items is not None:
        first = type_of(value.items[0]) if value.items else onnx.TypeProto()
        return onnx.helper.make_sequence_type_proto(first)
    element = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    return onnx.helper.make_tensor_type_proto(element, value.shape)


def type_and_sizes(message: Any) -> Described | None:
    """The element type and the sizes in a TypeProto, where known."""
    tensor = message.tensor_type
    if not message.HasField("tensor_type") or not tensor.elem_type:
        return None
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if not tensor.HasField("shape") or not all(item.HasField("dim_value") for item in tensor.shape.dim):
        return dtype, None
    return dtype, tuple(item.dim_value for item in tensor.shape.dim)


def inferred_outputs(schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue]) -> dict[str, Described]:
    """The types and sizes of a node's outputs, as far as ONNX infers them from its inputs, which must be tensors.

    Raises ``Refusal`` for a node that ``schema`` does not allow, and ``onnx``'s ``InferenceError``.
    """
    if schema is None:
        return {}
    layer = layer_of(node, inputs)
    results = _inferred.get(layer)
    if results is None:
        check(schema, node, inputs)
        found = _infer(schema, node, inputs) if schema.has_type_and_shape_inference_function else {}
        results = tuple(found.get(name) for name in node.output)
        if len(_inferred) >= MOST_LAYERS:
            _inferred.clear()
        if layer is not None:
            _inferred[layer] = results
    return {name: result for name, result in zip(node.output, results) if result is not None}


def layer_of(node: NodeMessage, inputs: Mapping[str, OnnxValue]) -> Hashable:
    """What inference looks at, which repeated layers of a network share; None for a node with subgraphs.

    Contents of more than ``COMPARED`` elements are not in it.
    """
    attributes = node.attributes_key
    if attributes is None:
        return None
    return (
        (node.op_type, node.domain, *node.opsets.items()),
        attributes,
        tuple([_traits(inputs[name]) if name else None for name in node.input]),
        tuple(map(bool, node.output)),
    )


def _traits(value: OnnxValue) -> Hashable:
    content: Hashable = None
    if value.array is not None and value.size <= COMPARED:
        is_text = value.array.dtype.kind in "OTU"
        content = repr(value.array.tolist()) if is_text else value.array.tobytes()
    return value.dtype, value.shape, content


def _infer(schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue]) -> dict[str, Described]:
    types = {name: type_of(value) for name, value in inputs.items()}
    data = {
        name: onnx.numpy_helper.from_array(np.asarray(value.array), name)
        for name, value in inputs.items()
        if value.array is not None and value.size <= COMPARED and name in node.input
    }
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in node.opsets.items()]
    proto = _counted_from_start(node, inputs)
    found = onnx.shape_inference.infer_node_outputs(schema, proto, types, data, opset_imports=imports)
    known = {name: type_and_sizes(message) for name, message in found.items()}
    return {name: entry for name, entry in known.items() if entry is not None}


def _counted_from_start(node: NodeMessage, inputs: dict[str, OnnxValue]) -> Any:
    """The NodeProto for inference, which before operator set 11 is wrong for axes that are counted from the end."""
    axes = {name: np.atleast_1d(value) for name, value in node.attributes.items() if name in ("axis", "axes")}
    negative = any((numbers < 0).any() for numbers in axes.values())
    if node.domain or node.version >= AXES_FROM_END or not negative or not node.present_inputs:
        return node.proto
    rank = len(inputs[node.present_inputs[0]].shape)
    rank += {"OneHot": 1, "Unsqueeze": axes.get("axes", np.empty(0)).size}.get(node.op_type, 0)
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    for entry in proto.attribute:
        if entry.name == "axis" and entry.i < 0:
            entry.i += rank
        elif entry.name == "axes":
            entry.ints[:] = [axis + rank if axis < 0 else axis for axis in entry.ints]
    return proto
