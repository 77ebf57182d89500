"""ONNX functions: operators that ONNX defines by others, expanded into nodes of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import onnx


class Body(NamedTuple):
    """The nodes of a function for one call: ``inputs`` and ``outputs`` are its formal parameters."""

    nodes: Sequence[Any]
    inputs: Sequence[str]
    outputs: Sequence[str]
    opsets: dict[str, int]


def body_of(schema: Any, node: Any, types: Sequence[Any], opsets: dict[str, int]) -> Body | None:
    """The function body for a call with inputs of ``types``; None if there is none.

    Attributes that the body refers to are those of ``node``, or the operator's defaults.
    """
    if schema is None:
        return None
    version = opsets.get(schema.domain, 1)
    encoded = b""
    if schema.has_context_dependent_function:
        versions = [item for item in schema.context_dependent_function_opset_versions if item <= version]
        if versions:
            encoded = schema.get_context_dependent_function_with_opset_version(
                max(versions), node.SerializeToString(), [item.SerializeToString() for item in types]
            )
    elif schema.has_function:
        versions = [item for item in schema.function_opset_versions if item <= version]
        if versions:
            encoded = schema.get_function_with_opset_version(max(versions))
            encoded = encoded if isinstance(encoded, bytes) else encoded.SerializeToString()
    if not encoded:
        return None
    function = onnx.FunctionProto.FromString(encoded)
    own = {entry.name: entry for entry in node.attribute}
    for name, declared in schema.attributes.items():
        if name not in own and declared.default_value.type:
            own[name] = declared.default_value
    nodes = [bound(inner, own) for inner in function.node]
    imports = {entry.domain: entry.version for entry in function.opset_import} or dict(opsets)
    return Body(nodes, list(function.input), list(function.output), {**opsets, **imports})


def bound(node: Any, values: dict[str, Any]) -> Any:
    """``node`` with references to attributes resolved; references to absent ones are dropped."""
    result = onnx.NodeProto()
    result.CopyFrom(node)
    del result.attribute[:]
    for entry in node.attribute:
        if entry.ref_attr_name:
            if entry.ref_attr_name not in values:
                continue
            copy = result.attribute.add()
            copy.CopyFrom(values[entry.ref_attr_name])
            copy.name = entry.name
            continue
        copy = result.attribute.add()
        copy.CopyFrom(entry)
        if copy.type == onnx.AttributeProto.GRAPH:
            inner = [bound(item, values) for item in entry.g.node]
            del copy.g.node[:]
            copy.g.node.extend(inner)
    return result
