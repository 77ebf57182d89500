"""ONNX's messages as Python values: attributes, types, and the names that a node reads."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any

import onnx

from ..late import lazy
from .errors import OnnxError, Refusal
from .values import Array

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
# The bytes up to which a node is one of many that are alike; larger ones hold tensors.
SMALL = 1024
# Attributes by name, and their types, numbers of AttributeProto.
Decoded = tuple[dict[str, Any], dict[str, int]]


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
    def _decoded(self) -> Decoded:
        if self._layer is None:
            return _decoded(self.proto.attribute)
        return _decoded_layer(self._layer)

    @lazy
    def _layer(self) -> tuple[bytes, ...] | None:
        """The attributes in bytes, of a node that is small and cannot have subgraphs."""
        if self.domain or _may_have_subgraphs(self.op_type) or self.proto.ByteSize() > SMALL:
            return None
        return self._serialized()

    def _serialized(self) -> tuple[bytes, ...]:
        return tuple([entry.SerializeToString() for entry in self.proto.attribute])

    @property
    def attributes_key(self) -> Hashable:
        """What distinguishes the attributes from those of other nodes; None if there are subgraphs among them."""
        if self._layer is not None:
            return self._layer
        kinds = self.attribute_kinds.values()
        return None if GRAPH in kinds or GRAPHS in kinds else self._serialized()


def _decoded(entries: Iterable[Any]) -> Decoded:
    attributes: dict[str, Any] = {}
    kinds: dict[str, int] = {}
    for entry in entries:
        name, kind = entry.name, entry.type
        if name in kinds:
            raise Refusal("is there twice", f"attribute {name}")
        attributes[name] = _value(entry, kind)
        kinds[name] = kind
    return attributes, kinds


@lru_cache(maxsize=4096)
def _decoded_layer(serialized: tuple[bytes, ...]) -> Decoded:
    """The attributes of nodes that are alike, which none of them changes."""
    return _decoded(map(onnx.AttributeProto.FromString, serialized))


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
        defined = {item.name for item in (*graph.input, *graph.initializer)}
        for inner in graph.node:
            found |= {name for name in (*inner.input, *captured(inner)) if name and name not in defined}
            defined |= set(inner.output)
        found |= {item.name for item in graph.output if item.name not in defined}
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
