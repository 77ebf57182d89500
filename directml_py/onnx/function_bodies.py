"""ONNX functions, expanded into nodes: those that a model has, and operators that ONNX defines by others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import onnx

from .definitions import is_operator
from .errors import OnnxError
from .protobuf import NodeMessage, subgraphs_of

# The opset of the oldest nodes that are translated.
OLDEST = 7
Key = tuple[str, str, str]


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
    node = without_effect(node)
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
    attributes = {entry.name: entry for entry in node.attribute}
    for name, declared in schema.attributes.items():
        if name not in attributes and declared.default_value.type:
            attributes[name] = declared.default_value
    nodes = [bound(inner, attributes, str) for inner in function.node]
    imports = {entry.domain: entry.version for entry in function.opset_import} or dict(opsets)
    return Body(nodes, list(function.input), list(function.output), {**opsets, **imports})


def without_effect(node: Any) -> Any:
    """``node`` without attributes that do nothing, whatever ONNX's definition does with them.

    ONNX's evaluator and ONNX Runtime take a softcap of Attention that is negative, and a precision that is no type, for
    none.
    """
    if node.op_type != "Attention":
        return node
    kept = [
        item
        for item in node.attribute
        if not ((item.name == "softcap" and item.f < 0) or (item.name == "softmax_precision" and item.i == 0))
    ]
    result = onnx.NodeProto()
    result.CopyFrom(node)
    del result.attribute[:]
    result.attribute.extend(kept)
    return result


class Functions:
    """The functions of a model."""

    def __init__(self, protos: Iterable[Any] = (), file: str = "") -> None:
        self.file = file
        self._protos: dict[Key, Any] = {}
        for proto in protos:
            key = _key(proto, proto.name)
            if key in self._protos:
                raise OnnxError("is there twice", file, f"function {_named(key)!r}")
            self._protos[key] = proto
        self._calls: Counter[str] = Counter()

    def inlined(self, protos: Iterable[Any], opsets: dict[str, int]) -> list[NodeMessage]:
        """Nodes with those of functions in place of calls; each node keeps the operator sets that its function imports.

        Raises ``OnnxError`` for functions that call themselves.
        """
        if not self._protos:
            return [NodeMessage(proto, opsets) for proto in protos]
        result: list[NodeMessage] = []
        bodies: dict[Key, tuple[Iterator[Any], dict[str, int]]] = {("", "", ""): (iter(protos), opsets)}
        while bodies:
            nodes, opsets = next(reversed(bodies.values()))
            proto = next(nodes, None)
            if proto is None:
                bodies.popitem()
                continue
            node = NodeMessage(proto, opsets)
            key = _key(proto, proto.op_type)
            if key not in self._protos or is_operator(node.op_type, node.version, node.domain):
                result.append(node)
                continue
            if key in bodies:
                raise OnnxError(f"calls the function {_named(key)!r} from within", self.file, node.where)
            function = self._protos[key]
            imports = {_domain(entry): max(entry.version, _oldest(entry)) for entry in function.opset_import}
            bodies[key] = iter(self._body(node, function)), {**opsets, **imports}
        return result

    def _body(self, node: NodeMessage, function: Any) -> Iterator[Any]:
        """The nodes of a function for a call, with the caller's names, and its own made unique."""
        for what, formal, actual in (
            ("input", function.input, node.input),
            ("output", function.output, node.output),
        ):
            if len(actual) > len(formal):
                text = f"has {len(actual)} {what}s; the function has {len(formal)}"
                raise OnnxError(text, self.file, node.where)
        self._calls[node.name] += 1
        again = self._calls[node.name]
        prefix = f"{node.name}::" if again == 1 else f"{node.name}:{again}::"
        names = {"": "", **dict.fromkeys(function.input, ""), **dict(zip(function.input, node.input))}
        names.update((formal, name) for formal, name in zip(function.output, node.output) if name)
        values = {entry.name: entry for entry in function.attribute_proto}
        values.update((entry.name, entry) for entry in node.proto.attribute)
        for inner in function.node:
            made = bound(inner, values, lambda name: names.get(name, prefix + name))
            made.name = prefix + inner.name if inner.name else ""
            yield made


def _domain(message: Any) -> str:
    return "" if message.domain == "ai.onnx" else message.domain


def _key(message: Any, name: str) -> Key:
    return _domain(message), name, getattr(message, "overload", "")


def _named(key: Key) -> str:
    return ":".join(filter(None, key))


def _oldest(entry: Any) -> int:
    """The oldest version of a domain of which nodes are read as they are."""
    return OLDEST if not _domain(entry) else 1


def bound(node: Any, values: dict[str, Any], rename: Callable[[str], str]) -> Any:
    """``node`` with references to attributes resolved, and other names; references to absent ones are dropped."""
    result = onnx.NodeProto()
    result.CopyFrom(node)
    result.input[:] = [rename(name) for name in node.input]
    result.output[:] = [rename(name) for name in node.output]
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
        for graph in subgraphs_of(copy):
            _bind(graph, values, rename)
    return result


def _bind(graph: Any, values: dict[str, Any], rename: Callable[[str], str]) -> None:
    """``bound`` for a subgraph, in place."""
    nodes = [bound(item, values, rename) for item in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    for item in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        item.name = rename(item.name)
    for item in graph.sparse_initializer:
        item.values.name = rename(item.values.name)
