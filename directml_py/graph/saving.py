"""Graph files: JSON, with constants as .npy files in a folder beside it. Loading executes no code.

``inputs``, ``nodes`` (in topological order), ``edges`` between them and ``outputs`` are arrays; tensors and descs have
the C names.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..abi.hresult import DMLError
from ..descs.operator_desc import OperatorDesc
from ..dml import IDMLDevice
from ..storage import read_regular, write_whole
from ..text.json_reading import JsonError, read_json
from .constant_files import ConstantFiles, read_array
from .desc_json import operator_schema, read_operator, read_tensor, write_record, write_tensor
from .expression import Expression
from .graph import Graph
from .json_reader import GraphFileError, Item
from .nodes import ConstantNode, FromInput, FromNode, Source

__all__ = ["GraphFileError", "load", "save"]

FORMAT = "directml-py graph"
VERSION = 2
# Version 1 has its constants beside it, with names that begin with its stem.
KNOWN_VERSIONS = (1, VERSION)
# No binding table takes more, and a compiled graph allocates an entry for each index up to the last.
MAX_INPUTS = 1 << 16


def save(graph: Graph, path: str | Path) -> None:
    """Write ``graph`` to ``path``, and its constants to a folder beside it, named ``path`` plus ``.constants``.

    Raises ``OSError`` if a file cannot be written; a graph already in ``path`` then stays intact.
    """
    path = Path(path)
    constants = ConstantFiles(path)
    nodes: list[dict[str, Any]] = []
    for node in graph.nodes:
        if isinstance(node, ConstantNode):
            nodes.append({"name": node.name, "constant": constants.reference(node.array)})
        else:
            nodes.append({"name": node.name, "operator": node.kind, "desc": write_record(node.desc)})
    content = {
        "format": FORMAT,
        "version": VERSION,
        "inputs": [
            {"index": graph_input.index, "name": graph_input.name, "tensor": write_tensor(graph_input.desc)}
            for graph_input in graph.inputs.values()
        ],
        "nodes": nodes,
        "edges": [
            {"from": _write_source(source), "to": {"node": index, "input": position}}
            for index, node in enumerate(graph.nodes)
            for position, source in enumerate(node.inputs)
            if source is not None
        ],
        "outputs": [
            {"name": name, **_write_source(output.source), "tensor": write_tensor(output.desc)}
            for name, output in graph.outputs.items()
        ],
    }
    text = _text(content).encode()
    with constants.written(node.array for node in graph.nodes if isinstance(node, ConstantNode)):
        write_whole(path, lambda file: file.write(text))


def _write_source(source: Source) -> dict[str, int]:
    if isinstance(source, FromInput):
        return {"input": source.position}
    return {"node": source.node, "output": source.output}


def _text(content: dict[str, Any]) -> str:
    """JSON text with one line per input, node, edge and output."""
    parts = []
    for name, value in content.items():
        if isinstance(value, list) and value:
            rows = ",\n".join("    " + json.dumps(row, allow_nan=False) for row in value)
            parts.append(f'  "{name}": [\n{rows}\n  ]')
        else:
            parts.append(f'  "{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def load(device: IDMLDevice | None, path: str | Path) -> Graph:
    """The graph in the file ``path``, on ``device`` (None creates one), with its outputs.

    Raises ``GraphFileError`` with the location for a malformed file, an unreadable constant, or a desc that the device
    rejects; ``OSError`` if ``path`` cannot be read.
    """
    path = Path(path)
    try:
        content = read_json(read_regular(path))
    except JsonError as error:
        raise GraphFileError(path, error.place, error.text) from None
    return _Loader(Graph(device), Item(path, "", content)).load()


class _Loader:
    def __init__(self, graph: Graph, top: Item) -> None:
        self.graph = graph
        self.parts = top.fields({"format", "version", "inputs", "nodes", "edges", "outputs"})
        # The sources of each node's inputs.
        self.sources: dict[int, dict[int, tuple[Item, Source]]] = {}

    def load(self) -> Graph:
        if self.parts["format"].text() != FORMAT:
            raise self.parts["format"].error(f"must be {FORMAT!r}")
        if self.parts["version"].integer() not in KNOWN_VERSIONS:
            versions = " and ".join(map(str, KNOWN_VERSIONS))
            raise self.parts["version"].error(f"is {self.parts['version'].value}; only {versions} are known")
        for item in self.parts["inputs"]:
            self._input(item)
        nodes = list(self.parts["nodes"])
        for item in self.parts["edges"]:
            self._edge(item, len(nodes))
        for index, item in enumerate(nodes):
            self._node(index, item)
        for item in self.parts["outputs"]:
            self._output(item)
        return self.graph

    def _input(self, item: Item) -> None:
        members = item.fields({"index", "name", "tensor"})
        index, name = members["index"].integer(high=MAX_INPUTS - 1), members["name"].text()
        tensor = read_tensor(members["tensor"])
        try:
            self.graph.input_tensor(index, tensor, name=name)
        except DMLError as error:
            raise members["tensor"].error(str(error.args[0])) from None
        except ValueError as error:
            raise item.error(str(error)) from None

    def _edge(self, item: Item, node_count: int) -> None:
        members = item.fields({"from", "to"})
        to = members["to"].fields({"node", "input"})
        node = to["node"].index(node_count, "nodes")
        position, fed = to["input"].integer(), self.sources.setdefault(node, {})
        if position in fed:
            raise members["to"].error(f"is fed by {fed[position][0].place} already")
        fed[position] = (item, self._source(members["from"], node))

    def _source(self, item: Item, before: int) -> Source:
        """The source of a value: a graph input, or a node with an index below ``before``."""
        if isinstance(item.value, dict) and "input" in item.value:
            index = item.fields({"input"})["input"]
            if index.integer() not in self.graph.inputs:
                raise index.error(f"is {index.value}; there is no such input")
            return FromInput(index.value)
        members = item.fields({"node", "output"})
        node = members["node"].integer()
        if node >= before:
            raise members["node"].error(f"is {node}; only nodes before nodes[{before}] can feed it")
        return FromNode(node, members["output"].integer())

    def _node(self, index: int, item: Item) -> None:
        if isinstance(item.value, dict) and "constant" in item.value:
            members = item.fields({"name", "constant"})
            try:
                self.graph.constant(read_array(members["constant"]), name=members["name"].text())
            except (DMLError, TypeError) as error:
                raise members["constant"].error(str(error.args[0])) from None
            self._inputs(index, item, None)
            return
        members = item.fields({"name", "operator", "desc"})
        desc = read_operator(operator_schema(members["operator"]), members["desc"])
        sources = self._inputs(index, members["desc"], desc)
        try:
            self.graph.add_operator(desc, sources, members["name"].text())
        except DMLError as error:
            first = next(iter(error.diagnostics), None)
            below = f".{first.path}" if first is not None else ""
            text = "; ".join(map(str, error.diagnostics)) or str(error.args[0])
            raise members["desc"].error(text, below) from None

    def _inputs(self, index: int, item: Item, desc: OperatorDesc | None) -> tuple[Source | None, ...]:
        slots = () if desc is None else desc.inputs
        fed = self.sources.get(index, {})
        for position, (edge, _) in fed.items():
            if position >= len(slots):
                raise edge.error(f"is {position}; nodes[{index}] has {len(slots)} inputs", ".to.input")
        sources: list[Source | None] = []
        for position, slot in enumerate(slots):
            edge, source = fed.get(position, (item, None))
            if source is None and slot.tensor is not None:
                raise item.error("is fed by no edge", f".{slot.path}")
            if source is not None:
                if slot.tensor is None:
                    raise edge.error(f"feeds {slot.path} of nodes[{index}], which is absent", ".to.input")
                self._check_output(edge, source, ".from.output")
            sources.append(source)
        return tuple(sources)

    def _check_output(self, item: Item, source: Source, below: str) -> None:
        if isinstance(source, FromNode):
            tensors = self.graph.nodes[source.node].outputs
            if source.output >= len(tensors) or tensors[source.output] is None:
                raise item.error(
                    f"is {source.output}; nodes[{source.node}] has {len(tensors)} outputs", below
                )

    def _output(self, item: Item) -> None:
        members = item.fields({"name", "node", "output", "tensor"})
        node = members["node"].index(len(self.graph.nodes), "nodes")
        source = FromNode(node, members["output"].integer())
        self._check_output(item, source, ".output")
        value = self._seen_as(members["tensor"], source)
        name = members["name"].text()
        if name in self.graph.outputs:
            raise members["name"].error(f"is {name!r}, like another output")
        try:
            self.graph.outputs = {**self.graph.outputs, name: value}
        except ValueError as error:
            raise item.error(str(error)) from None

    def _seen_as(self, item: Item, source: FromNode) -> Expression:
        """A node's output viewed as the tensor of ``item``, which must be a reinterpretation of the node's tensor."""
        tensor, written = read_tensor(item), self.graph.nodes[source.node].outputs[source.output]
        assert written is not None
        own = Expression(self.graph, source, written)
        try:
            value = self.graph.reinterpret(own, tensor.data_type, tensor.sizes, tensor.strides)
        except DMLError as error:
            raise item.error(str(error.args[0])) from None
        if value.desc != tensor:
            raise item.error(f"is {tensor}, which is not a view of {written}")
        return value
