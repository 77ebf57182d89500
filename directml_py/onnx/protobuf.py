"""ONNX's messages as Python values: attributes, types, and the names that a node reads."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import onnx

from ..late import lazy
from .definitions import check
from .errors import OnnxError, Refusal
from .translators import Described
from .values import Array, OnnxValue

# Shape inference receives the contents of integer tensors up to this size: they may be sizes.
SMALL = 1024
# What was inferred for layers, by all that inference looks at.
_inferred: dict[Hashable, tuple[Described | None, ...]] = {}
MOST_LAYERS = 4096
# From this operator set on, all axes may be counted from the end; ONNX Runtime counts them so in older ones too.
AXES_FROM_END = 11
# The inputs and outputs of a node that takes one step.
FEW = 16
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
    of NodeProto; ONNX's own domain is "". ``opsets`` are the operator sets that the model imports, or the function that
    the node is from."""

    def __init__(self, proto: Any, opsets: dict[str, int]) -> None:
        self.proto = proto
        self.opsets = opsets
        self.op_type: str = proto.op_type
        self.domain: str = "" if proto.domain == "ai.onnx" else proto.domain
        self.input: tuple[str, ...] = tuple(proto.input)
        self.output: tuple[str, ...] = tuple(proto.output)
        self.constant: Array | None = None
        self.name: str = proto.name or next(filter(None, self.output), self.op_type)

    @property
    def where(self) -> str:
        return f"node {self.name!r} ({self.op_type})"

    @property
    def version(self) -> int:
        return self.opsets.get(self.domain, 1)

    @lazy
    def steps(self) -> int:
        """The steps that the node itself takes: more than one if it has very many inputs, outputs, or numbers."""
        count = max(1, len(self.input) - FEW, len(self.output) - FEW)
        is_plain = self.op_type != "Constant" and (self.domain or not _may_have_subgraphs(self.op_type))
        return count + (self.proto.ByteSize() >> 14) if is_plain else count

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

    @lazy
    def reads(self) -> tuple[str, ...]:
        """The names that the node and its subgraphs read."""
        return (*self.present_inputs, *self.captured) if self.captured else self.present_inputs

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes by name; text is decoded."""
        return self._decoded[0]

    @property
    def attribute_kinds(self) -> dict[str, int]:
        """The types of the attributes by name, numbers of AttributeProto."""
        return self._decoded[1]

    @lazy
    def _decoded(self) -> tuple[dict[str, Any], dict[str, int]]:
        """The attributes by name, and their types."""
        attributes: dict[str, Any] = {}
        kinds: dict[str, int] = {}
        for entry in self.proto.attribute:
            name, kind = entry.name, entry.type
            if name in kinds:
                raise Refusal("is there twice", f"attribute {name}")
            attributes[name] = _value(entry, kind)
            kinds[name] = kind
        return attributes, kinds

    @lazy
    def attributes_key(self) -> Hashable:
        """What distinguishes the attributes from those of other nodes; None if there are subgraphs among them."""
        attributes, kinds = self._decoded
        if PLAIN.issuperset(kinds.values()):
            return repr(attributes)
        if GRAPH in kinds.values() or GRAPHS in kinds.values():
            return None
        return tuple(entry.SerializeToString() for entry in self.proto.attribute)


def _value(entry: Any, kind: int) -> Any:
    read = READERS.get(kind)
    if read is not None:
        return read(entry)
    if not kind or kind not in onnx.AttributeProto.AttributeType.values():
        raise Refusal("has no type that ONNX has", f"attribute {entry.name}")
    return _plain(onnx.helper.get_attribute_value(entry))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if isinstance(value, (list, tuple)) or type(value).__name__.startswith("Repeated"):
        return [_plain(item) for item in value]
    return value


def subgraphs_of(entry: Any) -> Sequence[Any]:
    """The graphs in an attribute."""
    if entry.type == GRAPH:
        return [entry.g]
    return entry.graphs if entry.type == GRAPHS else ()


def subgraphs(node: Any) -> Iterator[Any]:
    for entry in node.attribute:
        yield from subgraphs_of(entry)


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


def live(
    nodes: Sequence[NodeMessage], outputs: Iterable[str], taken: Container[str] = (), file: str = ""
) -> list[NodeMessage]:
    """The nodes that ``outputs`` depend on, in order, but each after those that it depends on.

    Raises ``OnnxError`` for a name that is computed twice or is among those ``taken``, and for a cycle.
    """
    makers: dict[str, NodeMessage] = {}
    for node in nodes:
        for name in node.output:
            if name in makers or (name and name in taken):
                raise OnnxError("another value has the same name", file, node.where, f"output {name}")
            if name:
                makers[name] = node
    needed: set[NodeMessage] = set()
    names = list(outputs)
    while names:
        maker = makers.get(names.pop())
        if maker is not None and maker not in needed:
            needed.add(maker)
            names += maker.reads
    return _sorted([node for node in nodes if node in needed], makers, file)


def _sorted(nodes: list[NodeMessage], makers: dict[str, NodeMessage], file: str) -> list[NodeMessage]:
    """``nodes`` with each after those that it depends on. Raises ``OnnxError`` for a cycle."""
    done: set[NodeMessage] = set()
    ordered: list[NodeMessage] = []
    for start in nodes:
        # The nodes that wait for others, with the names that they have yet to look at.
        waiting = {} if start in done else {start: iter(start.reads)}
        while waiting:
            node, names = next(reversed(waiting.items()))
            maker = next((makers[name] for name in names if name in makers), None)
            if maker is None:
                done.add(node)
                ordered.append(node)
                del waiting[node]
            elif maker in waiting:
                raise OnnxError("depends on its own outputs, through a cycle of nodes", file, maker.where)
            elif maker not in done:
                waiting[maker] = iter(maker.reads)
    return ordered


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
    layer = _layer(node, inputs)
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


def _layer(node: NodeMessage, inputs: dict[str, OnnxValue]) -> Hashable:
    """What inference looks at, which repeated layers of a network share; None for a node with subgraphs."""
    if node.attributes_key is None:
        return None
    return (
        (node.op_type, node.domain, *node.opsets.items()),
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


def _infer(schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue]) -> dict[str, Described]:
    types = {name: type_of(value) for name, value in inputs.items()}
    data = {
        name: onnx.numpy_helper.from_array(np.asarray(value.array), name)
        for name, value in inputs.items()
        if value.array is not None and value.size <= SMALL and name in node.input
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
