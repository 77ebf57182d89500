"""ONNX's messages as Python values: attributes, types, and the names that a node reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import onnx

from ..late import lazy
from .errors import Refusal
from .values import Array, OnnxValue, Sizes

# Shape inference receives the contents of integer tensors up to this size: they may be sizes.
SMALL = 1024
# What was inferred for layers, by all that inference looks at.
_inferred: dict[Hashable, tuple[tuple[np.dtype[Any], Sizes] | None, ...]] = {}
MOST_LAYERS = 4096
GRAPH, GRAPHS = int(onnx.AttributeProto.GRAPH), int(onnx.AttributeProto.GRAPHS)
NO_NAMES: frozenset[str] = frozenset()


# How the most frequent kinds of attributes are read.
READERS: dict[int, Callable[[Any], Any]] = {
    int(onnx.AttributeProto.FLOAT): attrgetter("f"),
    int(onnx.AttributeProto.INT): attrgetter("i"),
    int(onnx.AttributeProto.FLOATS): lambda entry: list(entry.floats),
    int(onnx.AttributeProto.INTS): lambda entry: list(entry.ints),
}
# Attributes that are numbers and text.
PLAIN = {*READERS, int(onnx.AttributeProto.STRING), int(onnx.AttributeProto.STRINGS)}


class NodeMessage:
    """A NodeProto, ``proto``, read once, since protobuf makes new objects of whatever it is asked for. Names are those
    of NodeProto; ONNX's own domain is ""."""

    def __init__(self, proto: Any) -> None:
        self.proto = proto
        self.op_type: str = proto.op_type
        self.domain: str = "" if proto.domain == "ai.onnx" else proto.domain
        self.input: tuple[str, ...] = tuple(proto.input)
        self.output: tuple[str, ...] = tuple(proto.output)
        self.name: str = proto.name or next(filter(None, self.output), self.op_type)

    @lazy
    def captured(self) -> frozenset[str]:
        """The names of an outer scope that the node's subgraphs read."""
        if not self.domain and not _may_have_subgraphs(self.op_type):
            return NO_NAMES
        return frozenset(captured(self.proto))

    @lazy
    def present_inputs(self) -> tuple[str, ...]:
        """The names of inputs that are not left out, without repetitions."""
        return tuple(dict.fromkeys(filter(None, self.input)))

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes by name; text is decoded."""
        return self._decoded[0]

    @lazy
    def _decoded(self) -> tuple[dict[str, Any], set[int]]:
        """The attributes by name, and their types."""
        attributes: dict[str, Any] = {}
        kinds: set[int] = set()
        for entry in self.proto.attribute:
            kind = entry.type
            attributes[entry.name] = _value(entry, kind)
            kinds.add(kind)
        return attributes, kinds

    @lazy
    def attributes_key(self) -> Hashable:
        """What distinguishes the attributes from those of other nodes; None if there are subgraphs among them."""
        attributes, kinds = self._decoded
        if kinds <= PLAIN:
            return repr(attributes)
        if kinds & {GRAPH, GRAPHS}:
            return None
        return tuple(entry.SerializeToString() for entry in self.proto.attribute)


def _value(entry: Any, kind: int) -> Any:
    read = READERS.get(kind)
    if read is None or entry.ref_attr_name:
        return _plain(onnx.helper.get_attribute_value(entry))
    return read(entry)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if isinstance(value, (list, tuple)) or type(value).__name__.startswith("Repeated"):
        return [_plain(item) for item in value]
    return value


def subgraphs(node: Any) -> Iterator[Any]:
    for entry in node.attribute:
        if entry.type == GRAPH:
            yield entry.g
        elif entry.type == GRAPHS:
            yield from entry.graphs


@cache
def _may_have_subgraphs(kind: str) -> bool:
    """Whether an operator of ONNX's own domain has attributes that are graphs."""
    try:
        schema = onnx.defs.get_schema(kind)
    except onnx.defs.SchemaError:
        return True
    kinds = onnx.defs.OpSchema.AttrType
    return any(entry.type in (kinds.GRAPH, kinds.GRAPHS) for entry in schema.attributes.values())


def captured(node: Any) -> set[str]:
    """The names of an outer scope that the subgraphs of a NodeProto read."""
    found: set[str] = set()
    for graph in subgraphs(node):
        own = {item.name for item in (*graph.input, *graph.initializer)}
        for inner in graph.node:
            found |= {name for name in (*inner.input, *captured(inner)) if name and name not in own}
            own |= set(inner.output)
        found |= {item.name for item in graph.output if item.name not in own}
    return found


def live(nodes: Sequence[NodeMessage], outputs: Iterable[str]) -> list[NodeMessage]:
    """The nodes that ``outputs`` depend on, in order."""
    needed = set(outputs)
    kept = []
    for node in reversed(nodes):
        if any(name and name in needed for name in node.output):
            kept.append(node)
            needed.update(node.present_inputs, node.captured)
    return kept[::-1]


def tensor_type(value: OnnxValue) -> Any:
    element = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    return onnx.helper.make_tensor_type_proto(element, value.shape)


def type_and_sizes(message: Any) -> tuple[np.dtype[Any], Sizes] | None:
    """The type and sizes in a TypeProto; None unless all are known."""
    tensor = message.tensor_type
    if not message.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    if not all(item.HasField("dim_value") for item in tensor.shape.dim):
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return np.dtype(dtype), tuple(item.dim_value for item in tensor.shape.dim)


def inferred_outputs(
    schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue], opsets: dict[str, int]
) -> dict[str, tuple[np.dtype[Any], Sizes]]:
    """The types and sizes of a node's outputs, as far as they can be inferred. Raises ``onnx``'s ``InferenceError``."""
    if schema is None or not schema.has_type_and_shape_inference_function:
        return {}
    layer = _layer(node, inputs, opsets)
    results = _inferred.get(layer)
    if results is None:
        found = _infer(schema, node, inputs, opsets)
        results = tuple(found.get(name) for name in node.output)
        if len(_inferred) >= MOST_LAYERS:
            _inferred.clear()
        if layer is not None:
            _inferred[layer] = results
    return {name: result for name, result in zip(node.output, results) if result is not None}


def _layer(node: NodeMessage, inputs: dict[str, OnnxValue], opsets: dict[str, int]) -> Hashable:
    """What inference looks at, which repeated layers of a network share; None for a node with subgraphs."""
    if node.attributes_key is None:
        return None
    return (
        (node.op_type, node.domain, *opsets.items()),
        node.attributes_key,
        tuple([_traits(inputs[name]) if name else None for name in node.input]),
        tuple(map(bool, node.output)),
    )


def _traits(value: OnnxValue) -> Hashable:
    content: Hashable = None
    if value.array is not None and value.size <= SMALL:
        is_text = value.array.dtype.kind in "OTU"
        content = repr(value.array.tolist()) if is_text else value.array.tobytes()
    return value.dtype, value.shape, content


def _infer(
    schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue], opsets: dict[str, int]
) -> dict[str, tuple[np.dtype[Any], Sizes]]:
    types = {name: tensor_type(value) for name, value in inputs.items()}
    data = {
        name: onnx.numpy_helper.from_array(np.asarray(value.array), name)
        for name, value in inputs.items()
        if value.array is not None and value.size <= SMALL and name in node.input
    }
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    found = onnx.shape_inference.infer_node_outputs(schema, node.proto, types, data, opset_imports=imports)
    known = {name: type_and_sizes(message) for name, message in found.items()}
    return {name: entry for name, entry in known.items() if entry is not None}


def constant_of(node: NodeMessage) -> Array | None:
    """The content of a Constant node other than a sparse one."""
    if len(node.proto.attribute) != 1:
        raise Refusal(f"has {len(node.proto.attribute)} attributes; one must be its value")
    (entry,) = node.proto.attribute
    value = onnx.helper.get_attribute_value(entry)
    if entry.name == "value":
        return np.asarray(onnx.numpy_helper.to_array(value))
    dtypes: dict[str, Any] = {
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    return np.array(value, dtypes[entry.name]) if entry.name in dtypes else None
