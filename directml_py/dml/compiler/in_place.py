"""In-place execution of graphs: the outputs that may take the memory of an input.

The page of BindInputs allows it for operators that support in-place execution, and says nothing of graphs; programs
such as tensorflow-directml-plugin do it, with a variable that one dispatch reads and writes. So a graph works in place
where its operators do: every reader of the input is either the node that writes the output or leads to it through a
chain of operators that work in place; and all tensors have the same layout, so that it does not matter how many of
the operators are fused.
"""

from __future__ import annotations

from collections import defaultdict

from ...descs.tensor import TensorDesc
from .graph_desc import GraphDesc, GraphInput, Port, Value

Pairs = frozenset[tuple[int, int]]


def in_place_pairs(graph: GraphDesc) -> Pairs:
    """The pairs of input and output indices."""
    readers: dict[int, list[Port]] = defaultdict(list)
    for edge in graph.input_edges:
        assert isinstance(edge.source, GraphInput)
        assert isinstance(edge.target, Port)
        readers[edge.source.position].append(edge.target)
    feeders: dict[int, list[Value]] = defaultdict(list)
    for edge in graph.intermediate_edges:
        assert isinstance(edge.source, Value)
        assert isinstance(edge.target, Port)
        if _overwrites(graph, edge.target):
            feeders[edge.target.node].append(edge.source)
    pairs = set()
    for output, writers in graph.writers.items():
        if len(writers) != 1:
            continue
        written = graph.output_tensor(writers[0])
        if written is None:
            continue
        on_the_way = _before(writers[0].node, feeders)
        pairs |= {
            (position, output)
            for position, ports in readers.items()
            if all(port.node in on_the_way and _overwrites(graph, port) for port in ports)
            and all(_same_layout(graph.input_tensor(port), written) for port in ports)
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


def _same_layout(one: TensorDesc, other: TensorDesc) -> bool:
    """Whether the elements of both have the same size and the same offsets, in the same order."""
    return one.element_bits == other.element_bits and _layout(one) == _layout(other)


def _layout(tensor: TensorDesc) -> list[tuple[int, int]]:
    """Sizes and strides, without dimensions of size 1."""
    return [pair for pair in zip(tensor.sizes, tensor.effective_strides) if pair[0] != 1]
