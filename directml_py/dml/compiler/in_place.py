"""In-place execution of graphs: the outputs that may take the memory of an input.

The page of BindInputs allows it for operators that support in-place execution, and says nothing about graphs; programs
such as tensorflow-directml-plugin do it, with a variable that one dispatch reads and writes. So a graph works in place
where its operators do: every reader of the input, or of a copy of it, is either the node that writes the output or
leads to it through a chain of operators that work in place; and no tensor is read in another layout than it was written
in, so that it does not matter how many of the operators are fused, and which copies are views. If other operators are
on the way, a GPU that runs one node after another has read the input before it writes the output. Here steps are fused
and copies elided, so such a graph runs on a copy of the input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ...operators import operator_of
from .graph_desc import GraphDesc, GraphInput, Port, Value

Pairs = frozenset[tuple[int, int]]
Readers = dict[Value, list[Port]]


def in_place_pairs(graph: GraphDesc) -> Pairs:
    """The pairs of input and output indices."""
    ports: dict[int, list[Port]] = defaultdict(list)
    for edge in graph.input_edges:
        assert isinstance(edge.source, GraphInput)
        assert isinstance(edge.target, Port)
        ports[edge.source.position].append(edge.target)
    readers: Readers = defaultdict(list)
    feeders: dict[int, list[Value]] = defaultdict(list)
    for edge in graph.intermediate_edges:
        assert isinstance(edge.source, Value)
        assert isinstance(edge.target, Port)
        readers[edge.source].append(edge.target)
        written = graph.output_tensor(edge.source)
        if (
            written is not None
            and written.lies_like(graph.input_tensor(edge.target))
            and _overwrites(graph, edge.target)
        ):
            feeders[edge.target.node].append(edge.source)
    pairs = set()
    for output, writers in graph.writers.items():
        if len(writers) != 1:
            continue
        written = graph.output_tensor(writers[0])
        if written is None:
            continue
        last = writers[0].node
        on_the_way = _before(last, feeders)
        pairs |= {
            (position, output)
            for position, direct in ports.items()
            # The cheapest test first: of many outputs, most are not written through all readers.
            if all(port.node in on_the_way for port in direct)
            and all(written.lies_like(graph.input_tensor(port)) for port in direct)
            and all(
                port.node in on_the_way and _overwrites(graph, port)
                for port in _readers_of_copies(graph, direct, last, readers)
            )
        }
    return frozenset(pairs)


def why_not_in_place(graph: GraphDesc, position: int, output: int) -> str:
    """Why an output cannot take the memory of an input even if a copy of the input is read; "" if it can: every reader
    either is the only node that writes the output, or ends before that node begins."""
    writers = graph.writers.get(output, ())
    if len(writers) != 1:
        return f"{len(writers)} nodes write graph output {output}"
    writer = writers[0].node
    sources: dict[int, list[Value]] = defaultdict(list)
    for edge in graph.intermediate_edges:
        assert isinstance(edge.source, Value)
        assert isinstance(edge.target, Port)
        sources[edge.target.node].append(edge.source)
    before = _before(writer, sources)
    for edge in graph.input_edges:
        port = edge.target
        assert isinstance(port, Port)
        if edge.source != GraphInput(position):
            continue
        title, field = _title(graph, port.node), graph.node(port.node).inputs[port.input].path
        if port.node not in before:
            target = _title(graph, writer)
            return f"{title} reads it as {field} and does not lead to {target}, which writes the output"
        if port.node != writer:
            continue
        if not _overwrites(graph, port, or_unlisted=True):
            return f"{title} does not work in place of {field}"
        read, written = graph.input_tensor(port), graph.output_tensor(writers[0])
        assert written is not None
        if not read.lies_like(written):
            path = graph.node(writer).outputs[writers[0].output].path
            return (
                f"to work in place {field} of {title}, which is {read}, must have the element size, sizes and "
                f"strides of {path}, {written}"
            )
    return ""


def _title(graph: GraphDesc, node: int) -> str:
    return f"Nodes[{node}] ({graph.node(node).title})"


def _overwrites(graph: GraphDesc, port: Port, or_unlisted: bool = False) -> bool:
    """Whether an operator works in place of this input."""
    node = graph.node(port.node)
    if node.desc is None:
        return False
    field, schema = node.inputs[port.input].field, node.desc.schema
    return field in schema.in_place or (or_unlisted and field in schema.in_place_unlisted)


def _before(node: int, feeders: dict[int, list[Value]]) -> set[int]:
    """``node``, and the nodes from which such a chain leads to it."""
    visited, waiting = set(), [node]
    while waiting:
        current = waiting.pop()
        if current not in visited:
            visited.add(current)
            waiting += [value.node for value in feeders[current]]
    return visited


def _readers_of_copies(graph: GraphDesc, ports: Iterable[Port], last: int, readers: Readers) -> set[Port]:
    """``ports``, and those that read what nodes before ``last`` only copied from one of them."""
    visited, waiting = set[Port](), list(ports)
    while waiting:
        port = waiting.pop()
        if port in visited:
            continue
        visited.add(port)
        desc = graph.node(port.node).desc
        if port.node != last and desc is not None and operator_of(desc.name).moves(desc) is not None:
            waiting += [
                other for output in range(len(desc.outputs)) for other in readers[Value(port.node, output)]
            ]
    return visited
