"""Validation of graph descs, which reports all violations at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from ...abi.hresult import E_INVALIDARG, E_UNEXPECTED
from ...descs.tensor import TensorDesc
from ...runtime.recording import AccessKind
from ...validation.report import Report
from ..tensor_accesses import elements_of
from . import graph_rules
from .graph_desc import Edge, GraphDesc, GraphDescNode, GraphInput, Port, Value
from .shared_inputs import check_shared_inputs

CONSTANT_LEVEL = 0x6200
# Unconnected graph inputs and outputs are legal, but each costs memory here and a binding in the program.
UNUSED = 1 << 16
MANY = 1 << 32


def check_graph(graph: GraphDesc, level: int, report: Report) -> None:
    """Report violations of the graph rules; unreadable nodes and edges have already been reported."""
    unreadable = bool(report.errors)
    if not graph.nodes:
        report.add(graph_rules.EMPTY, "NodeCount", "is 0; a graph needs nodes")
    if not graph.output_count:
        report.add(graph_rules.EMPTY, "OutputCount", "is 0; a graph needs outputs")
    for broken, field, count, edges in (
        (graph_rules.INPUT_COUNT, "InputCount", graph.input_count, graph.input_edges),
        (graph_rules.OUTPUT_COUNT, "OutputCount", graph.output_count, graph.output_edges),
    ):
        if count > UNUSED + len(edges):
            report.add(broken, field, f"is {count}, of which at most {len(edges)} are connected")
    if level < CONSTANT_LEVEL:
        for node in graph.nodes:
            if node is not None and node.data is not None:
                report.add(
                    graph_rules.CONSTANT_LEVEL,
                    f"Nodes[{node.index}].Type",
                    "is DML_GRAPH_NODE_TYPE_CONSTANT, which needs DML_FEATURE_LEVEL_6_2",
                )
    if not _check_indices(graph, report) or unreadable:
        return
    _check_connections(graph, report)
    for edge in (*graph.output_edges, *graph.intermediate_edges):
        _check_tensors(graph, edge, report)
    _check_owned(graph, report)
    if not report.errors and topological_order(graph) is None:
        report.add(graph_rules.CYCLE, "IntermediateEdges", "form a cycle: some nodes depend on one another")
    if not report.errors or refusal(report) == E_UNEXPECTED:
        check_shared_inputs(graph, report)


def refusal(report: Report) -> int:
    """The HRESULT of CompileGraph for the errors of ``report``, as Microsoft's library has it."""
    unexpected = {graph_rules.CONSTANT_ELEMENT.id}
    return E_UNEXPECTED if {found.rule for found in report.errors} == unexpected else E_INVALIDARG


def _check_indices(graph: GraphDesc, report: Report) -> bool:
    """Whether both ends of every edge exist."""
    are_good = True
    # Ends of unreadable nodes are not known.
    inputs, outputs = (
        [MANY if node is None else len(getattr(node, side)) for node in graph.nodes]
        for side in ("inputs", "outputs")
    )
    for edge in graph.edges:
        source, target = edge.source, edge.target
        if isinstance(source, GraphInput):
            begins = source.position < graph.input_count
        else:
            begins = source.node < len(outputs) and source.output < outputs[source.node]
        if isinstance(target, Port):
            ends = target.node < len(inputs) and target.input < inputs[target.node]
        else:
            ends = target < graph.output_count
        if not (begins and ends):
            are_good = False
            for field, index, limit in _index_problems(graph, edge):
                report.add(graph_rules.INDEX, f"{edge.path}.{field}", f"is {index}, but {limit}")
    return are_good


def _index_problems(graph: GraphDesc, edge: Edge) -> Iterator[tuple[str, int, str]]:
    source, target = edge.source, edge.target
    if isinstance(source, GraphInput):
        if source.position >= graph.input_count:
            yield "GraphInputIndex", source.position, f"InputCount is {graph.input_count}"
    else:
        yield from _end_problems(graph, "FromNode", "Output", source.node, source.output)
    if isinstance(target, Port):
        yield from _end_problems(graph, "ToNode", "Input", target.node, target.input)
    elif target >= graph.output_count:
        yield "GraphOutputIndex", target, f"OutputCount is {graph.output_count}"


def _end_problems(
    graph: GraphDesc, prefix: str, side: str, node_index: int, index: int
) -> Iterator[tuple[str, int, str]]:
    if node_index >= len(graph.nodes):
        yield f"{prefix}Index", node_index, f"NodeCount is {len(graph.nodes)}"
        return
    node = graph.nodes[node_index]
    if node is None:
        return
    count = len(node.inputs if side == "Input" else node.outputs)
    if index >= count:
        yield f"{prefix}{side}Index", index, f"{node.title} has {count} {side.lower()}s"


def _check_connections(graph: GraphDesc, report: Report) -> None:
    fed = Counter(edge.target for edge in graph.edges if isinstance(edge.target, Port))
    used = {edge.source for edge in graph.edges}
    if graph.output_count and not graph.writers:
        report.add(graph_rules.OUTPUT_UNFED, "OutputEdges", "connect no graph output to a node")
    for position, writers in graph.writers.items():
        if len(writers) > 1:
            text = f"connect graph output {position} to {len(writers)} nodes, which write it in any order"
            report.add(graph_rules.OUTPUT_SHARED, "OutputEdges", text)
    for node in graph.nodes:
        assert node is not None
        for index, slot in enumerate(node.inputs):
            edges = fed[Port(node.index, index)]
            if edges != (slot.tensor is not None):
                _report_input(node, slot.path, slot.tensor is None, edges, report)
        is_used = any(Value(node.index, index) in used for index in range(len(node.outputs)))
        if not is_used:
            report.add(
                graph_rules.NODE_UNUSED,
                f"Nodes[{node.index}]",
                f"is {node.title}, whose outputs lead nowhere",
            )
        for index, slot in enumerate(node.outputs):
            connected = Value(node.index, index) in used
            present = slot.tensor is not None or node.data is not None
            if present == connected or (present and not is_used):
                continue
            where = f"Nodes[{node.index}].{slot.path}"
            if present:
                report.add(graph_rules.UNUSED, where, f"of {node.title} is connected to nothing")
            else:
                report.add(
                    graph_rules.ABSENT, where, f"of {node.title} is left out, but an edge leads from it"
                )


def _report_input(node: GraphDescNode, name: str, absent: bool, edges: int, report: Report) -> None:
    where = f"Nodes[{node.index}].{name}"
    if edges > 1:
        report.add(graph_rules.FED_TWICE, where, f"of {node.title} is fed by {edges} edges; one is allowed")
    elif absent and edges:
        report.add(graph_rules.ABSENT, where, f"of {node.title} is left out, but an edge leads to it")
    elif not absent and not edges:
        report.add(graph_rules.UNFED, where, f"of {node.title} is connected to nothing")


def _check_tensors(graph: GraphDesc, edge: Edge, report: Report) -> None:
    """Check that both ends of an edge from a node have the same size in bytes."""
    assert isinstance(edge.source, Value)
    source = graph.node(edge.source.node)
    if not isinstance(edge.target, Port):
        if source.data is not None:
            report.add(graph_rules.CONSTANT_OUTPUT, f"{edge.path}.FromNodeIndex", f"names {source.title}")
        return
    tensor = graph.node(edge.target.node).inputs[edge.target.input].tensor
    if tensor is None:
        return
    if source.data is not None:
        path, least = _input_path(graph, edge.target), tensor.content_size
        if len(source.data) < least:
            broken = graph_rules.CONSTANT_SIZE if source.data else graph_rules.CONSTANT_EMPTY
            if source.data and tensor.last_element_offset == 0:
                broken = graph_rules.CONSTANT_ELEMENT
            report.add(
                broken,
                f"Nodes[{source.index}].DataSize",
                f"is {len(source.data)}; {path}, which it feeds, has elements of {least} bytes",
            )
        return
    written = source.outputs[edge.source.output].tensor
    if written is not None and written.total_size != tensor.total_size:
        report.add(
            graph_rules.TOTAL_SIZE,
            f"{_input_path(graph, edge.target)}.TotalTensorSizeInBytes",
            f"is {tensor.total_size}; {source.title}, which feeds it, writes {written.total_size}",
        )


def _input_path(graph: GraphDesc, port: Port) -> str:
    return f"Nodes[{port.node}].{graph.node(port.node).inputs[port.input].path}"


def _check_owned(graph: GraphDesc, report: Report) -> None:
    flags: dict[int, bool] = {}
    for edge in (*graph.input_edges, *graph.intermediate_edges):
        assert isinstance(edge.target, Port)
        slot = graph.node(edge.target.node).inputs[edge.target.input]
        if slot.tensor is None:
            continue
        owned = slot.tensor.is_owned_by_dml
        if isinstance(edge.source, GraphInput):
            if flags.setdefault(edge.source.position, owned) != owned:
                report.add(
                    graph_rules.OWNED_ALIKE,
                    f"Nodes[{edge.target.node}].{slot.path}.Flags",
                    f"{'has' if owned else 'lacks'} DML_TENSOR_FLAG_OWNED_BY_DML, unlike another input that "
                    f"graph input {edge.source.position} feeds",
                )
        elif owned:
            report.add(
                graph_rules.OWNED_SOURCE,
                f"Nodes[{edge.target.node}].{slot.path}.Flags",
                "has DML_TENSOR_FLAG_OWNED_BY_DML, but its source is a node, not a graph input",
            )


def topological_order(graph: GraphDesc) -> list[int] | None:
    """The nodes in topological order, lower indices first; None if there is a cycle."""
    waiting = [0] * len(graph.nodes)
    followers: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.intermediate_edges:
        assert isinstance(edge.source, Value)
        assert isinstance(edge.target, Port)
        waiting[edge.target.node] += 1
        followers[edge.source.node].append(edge.target.node)
    ready = [index for index, count in enumerate(waiting) if not count]
    order: list[int] = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for follower in followers[index]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heappush(ready, follower)
    return order if len(order) == len(graph.nodes) else None


def check_padding(graph: GraphDesc, report: Report) -> None:
    """Report inputs of nodes that include bytes between or after the elements that another node writes.

    The memory cost is one copy of the tensor, and only where strides leave gaps or a consumer reads more bytes.
    """
    for edge in graph.intermediate_edges:
        assert isinstance(edge.source, Value)
        assert isinstance(edge.target, Port)
        written, read = graph.output_tensor(edge.source), graph.input_tensor(edge.target)
        if written is not None and not _covers(written, read):
            node = graph.node(edge.target.node)
            report.add(
                graph_rules.PADDING,
                f"Nodes[{node.index}].{node.inputs[edge.target.input].path}",
                f"has elements in bytes that {graph.node(edge.source.node).title}, which feeds it, does not write",
            )


def covers_plainly(written: TensorDesc, read: TensorDesc) -> bool:
    """Whether ``_covers`` needs no look at single elements."""
    is_within = written.is_packed and read.content_size <= written.content_size
    return is_within or written.is_same_view(read)


def _covers(written: TensorDesc, read: TensorDesc) -> bool:
    """Whether every byte of every element of ``read`` belongs to an element of ``written``."""
    if covers_plainly(written, read):
        return True
    marks = np.zeros(max(written.total_size, read.total_size), np.uint8)
    elements = elements_of(written, AccessKind.WRITE)(marks)
    elements.view(f"u{elements.itemsize}")[...] = np.iinfo(f"u{elements.itemsize}").max
    read_marks = elements_of(read, AccessKind.READ)(marks)
    return bool((read_marks.view(f"u{read_marks.itemsize}") == np.iinfo(f"u{read_marks.itemsize}").max).all())
