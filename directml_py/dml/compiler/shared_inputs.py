"""Which sizes the tensors must have that read one graph input, by what Microsoft's library refuses."""

from __future__ import annotations

from collections import defaultdict

from ...validation.report import Report
from . import graph_rules
from .graph_desc import GraphDesc, GraphDescNode, GraphInput, Port, Value
from .view_identity import same_view


def check_shared_inputs(graph: GraphDesc, report: Report) -> None:
    """Report tensors that do not fit others of their graph input. The graph breaks none of the other rules."""
    readers: dict[int, list[Port]] = defaultdict(list)
    for edge in graph.input_edges:
        assert isinstance(edge.source, GraphInput)
        assert isinstance(edge.target, Port)
        readers[edge.source.position].append(edge.target)
    written = {edge.source for edge in graph.output_edges}
    # Where nodes share an output, it is not known what the library makes of their inputs.
    if any(len(writers) > 1 for writers in graph.writers.values()):
        return
    for position, ports in readers.items():
        copies = [port for port in ports if Value(port.node, 0) in written and changes_nothing(graph, port)]
        _check_first(graph, position, ports, copies, report)
        if not changes_nothing(graph, ports[0]):
            _check_copies(graph, ports[0], copies, report)
        elif len(copies) == len(ports):
            _check_copies(graph, min(copies), copies, report)


def changes_nothing(graph: GraphDesc, port: Port) -> bool:
    """Whether a node is an identity that keeps the layout: the library gives it no memory of its own."""
    node = graph.node(port.node)
    if node.desc is None or node.desc.name != "ELEMENT_WISE_IDENTITY":
        return False
    scale = node.desc.ScaleBias
    if scale is not None and (scale.Scale, scale.Bias) != (1, 0):
        return False
    return same_view(node.desc.InputTensor, node.desc.OutputTensor)


def _output_size(node: GraphDescNode) -> int:
    tensor = node.outputs[0].tensor
    assert tensor is not None
    return tensor.total_size


def _check_first(
    graph: GraphDesc, position: int, ports: list[Port], copies: list[Port], report: Report
) -> None:
    """The first edge says how large a graph input is; one that is copied has the size of the copy too."""
    first = ports[0]
    size = graph.input_tensor(first).total_size
    if first in copies:
        size = min(size, _output_size(graph.node(first.node)))
    for port in ports[1:]:
        tensor = graph.input_tensor(port)
        if not changes_nothing(graph, port) and tensor.minimum_size > size:
            report.add(
                graph_rules.SHARED_INPUT,
                _path(graph, port),
                f"takes {tensor.minimum_size} bytes; {_path(graph, first)}, to which the first edge of graph input "
                f"{position} leads, has {size}",
            )


def _check_copies(graph: GraphDesc, first: Port, copies: list[Port], report: Report) -> None:
    """Identities from a graph input to a graph output become copies of what ``first`` reads: what the first edge leads
    to or, where there is nothing but identities, the first of those nodes."""
    needed = graph.input_tensor(first).minimum_size
    for port in copies:
        node = graph.node(port.node)
        size = _output_size(node)
        if port != first and size < needed:
            report.add(
                graph_rules.COPIED,
                f"Nodes[{node.index}].{node.outputs[0].path}.TotalTensorSizeInBytes",
                f"is {size}; {_path(graph, first)}, of the same graph input, takes {needed} bytes",
            )


def _path(graph: GraphDesc, port: Port) -> str:
    return f"Nodes[{port.node}].{graph.node(port.node).inputs[port.input].path}"
