"""Prepacked weights: OWNED_BY_DML graph inputs stored in the layout of the only node that reads them."""

from __future__ import annotations

from collections import Counter

from ...descs.operator_desc import OperatorDesc
from ...operators.operator import Kernel, WeightLayout
from ...operators.program import Kernels
from .graph_desc import GraphDesc, GraphInput, Port


class PackedInputs:
    """Prepacked graph ``inputs`` by index, and the ``ports`` that read them."""

    def __init__(self, graph: GraphDesc, kernels: Kernels) -> None:
        self._kernels = kernels
        self.inputs: dict[int, WeightLayout] = {}
        self.ports: set[Port] = set()
        readers = Counter(edge.source for edge in graph.input_edges)
        sources = {edge.target: edge.source for edge in graph.input_edges if readers[edge.source] == 1}
        for node in graph.nodes:
            if node is None or node.desc is None or not has_owned(node.desc):
                continue
            packed = kernels(node.desc).packed
            layouts = {} if packed is None else packed.inputs
            feeding = {position: sources.get(Port(node.index, position)) for position in layouts}
            if None in feeding.values():
                continue
            for position, source in feeding.items():
                assert isinstance(source, GraphInput)
                self.inputs[source.position] = layouts[position]
                self.ports.add(Port(node.index, position))

    def kernel(self, node: int, desc: OperatorDesc) -> Kernel:
        """The kernel of a node, over prepacked inputs if it has any."""
        kernel = self._kernels(desc)
        is_packed = kernel.packed is not None and Port(node, next(iter(kernel.packed.inputs))) in self.ports
        return kernel.packed.kernel if kernel.packed is not None and is_packed else kernel


def has_owned(desc: OperatorDesc) -> bool:
    return any(slot.tensor is not None and slot.tensor.is_owned_by_dml for slot in desc.inputs)
