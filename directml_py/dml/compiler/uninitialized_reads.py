"""Uninitialized reads between the nodes of a graph, checked by debug devices only."""

from __future__ import annotations

import numpy as np

from ...descs.tensor import TensorDesc
from ...runtime.recording import AccessKind
from ...validation.report import Report
from ..tensor_accesses import elements_of
from . import graph_rules
from .graph_desc import GraphDesc, Port, Value


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


def _covers(written: TensorDesc, read: TensorDesc) -> bool:
    """Whether every byte of every element of ``read`` belongs to an element of ``written``."""
    if written.is_packed and read.content_size <= written.content_size:
        return True
    if written.is_same_view(read):
        return True
    marks = np.zeros(max(written.total_size, read.total_size), np.uint8)
    elements = elements_of(written, AccessKind.WRITE)(marks)
    elements.view(f"u{elements.itemsize}")[...] = np.iinfo(f"u{elements.itemsize}").max
    read_marks = elements_of(read, AccessKind.READ)(marks)
    return bool((read_marks.view(f"u{read_marks.itemsize}") == np.iinfo(f"u{read_marks.itemsize}").max).all())
