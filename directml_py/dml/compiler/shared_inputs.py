"""Size rules for tensors that share a graph input or a constant, after the graphs that Microsoft's library rejects."""

from __future__ import annotations

from collections import defaultdict

from ...validation.report import Report
from . import graph_rules
from .graph_desc import GraphDesc, GraphDescNode, GraphInput, Port, Value


def check_shared_inputs(graph: GraphDesc, report: Report) -> None:
    """Report tensors whose sizes conflict with others of their graph input or constant, in an otherwise valid graph."""
    readers: dict[str, list[Port]] = defaultdict(list)
    for edge in (*graph.input_edges, *graph.intermediate_edges):
        assert isinstance(edge.target, Port)
        if isinstance(edge.source, GraphInput):
            readers[f"graph input {edge.source.position}"].append(edge.target)
        elif graph.node(edge.source.node).data is not None:
            readers[f"Nodes[{edge.source.node}]"].append(edge.target)
    written = {edge.source for edge in graph.output_edges}
    # How the library treats inputs of nodes that share an output is not known.
    if any(len(writers) > 1 for writers in graph.writers.values()):
        return
    for source, ports in readers.items():
        if len(ports) == 1:
            continue
        copies = [port for port in ports if Value(port.node, 0) in written and changes_nothing(graph, port)]
        _check_first(graph, source, ports, copies, report)
        if not changes_nothing(graph, ports[0]):
            _check_copies(graph, ports[0], copies, report)
        elif len(copies) == len(ports):
            _check_copies(graph, min(copies), copies, report)


def changes_nothing(graph: GraphDesc, port: Port) -> bool:
    """Whether a node is an identity that keeps the layout, which the library elides."""
    node = graph.node(port.node)
    if node.desc is None or node.desc.name != "ELEMENT_WISE_IDENTITY":
        return False
    scale = node.desc.ScaleBias
    if scale is not None and (scale.Scale, scale.Bias) != (1, 0):
        return False
    return bool(node.desc.InputTensor.is_same_view(node.desc.OutputTensor))


def _output_size(node: GraphDescNode) -> int:
    tensor = node.outputs[0].tensor
    assert tensor is not None
    return tensor.total_size


def _check_first(
    graph: GraphDesc, source: str, ports: list[Port], copies: list[Port], report: Report
) -> None:
    """Check tensors against the size of the graph input, which the first edge gives, or a copy of the input."""
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
                f"takes {tensor.minimum_size} bytes; {_path(graph, first)}, to which the first edge of {source} leads, "
                f"has {size}",
            )


def _check_copies(graph: GraphDesc, first: Port, copies: list[Port], report: Report) -> None:
    """Check identities from a graph input to a graph output, which become copies of the tensor of ``first``: the port
    of the first edge or, if there are only identities, that of the first of those nodes."""
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
