"""In-place execution of graphs: the outputs that may take the memory of an input.

The page of BindInputs allows it for operators that support in-place execution, and says nothing of graphs; programs
such as tensorflow-directml-plugin do it, with a variable that one dispatch reads and writes. So a graph works in place
where its operators do: every reader of the input, or of a copy of it, is either the node that writes the output or
leads to it through a chain of operators that work in place; and no tensor is read in another layout than it was
written in, so that it does not matter how many of the operators are fused, and which copies are views.
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
            if all(written.lies_like(graph.input_tensor(port)) for port in direct)
            and all(
                port.node in on_the_way and _overwrites(graph, port)
                for port in _readers_of_copies(graph, direct, last, readers)
            )
        }
    return frozenset(pairs)


def _overwrites(graph: GraphDesc, port: Port) -> bool:
    """Whether an operator works in place of this input."""
    node = graph.node(port.node)
    return node.desc is not None and node.inputs[port.input].field in node.desc.schema.in_place


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
