"""A graph's data flow: the source of each input, the consumers of each value, and a topological order."""

from __future__ import annotations

from ...descs.operator_desc import OperatorDesc
from ...operators import kernel_of, operator_of
from ...operators.operator import Operator
from ...operators.program import Kernels
from .graph_desc import GraphDesc, GraphInput, Port, Value
from .graph_validation import topological_order


class DataFlow:
    """The data flow of one valid graph; if it ``is_inspected``, operators check the values of their inputs."""

    def __init__(self, graph: GraphDesc, kernels: Kernels, is_inspected: bool = False) -> None:
        self.graph = graph
        self.is_inspected = is_inspected
        self._kernels = kernels
        order = topological_order(graph)
        assert order is not None
        self.order = order
        self.sources: dict[Port, Value | GraphInput] = {}
        self.consumers: dict[Value, list[Port]] = {}
        # The inputs of each node that other nodes feed, with these values.
        self.fed: dict[int, list[tuple[Port, Value]]] = {index: [] for index in order}
        self.graph_outputs: dict[Value, list[int]] = {}
        self._inputs: dict[int, list[tuple[Port, Value | GraphInput]]] = {}
        for edge in (*graph.input_edges, *graph.intermediate_edges):
            assert isinstance(edge.target, Port)
            self.sources[edge.target] = edge.source
            if isinstance(edge.source, Value):
                self.consumers.setdefault(edge.source, []).append(edge.target)
                self.fed[edge.target.node].append((edge.target, edge.source))
        for edge in graph.output_edges:
            assert isinstance(edge.source, Value)
            assert isinstance(edge.target, int)
            self.graph_outputs.setdefault(edge.source, []).append(edge.target)
        # A graph output that several nodes write must not hold a value that is read: it is written by copies.
        self.roots = {
            value: next((position for position in positions if len(graph.writers[position]) == 1), None)
            for value, positions in self.graph_outputs.items()
        }

    def may_run_with_others(self, desc: OperatorDesc | None) -> bool:
        """Whether an operator uses its default kernel and its inputs are not inspected."""
        if desc is None or not (self._kernels is kernel_of or self._kernels(desc) is kernel_of(desc)):
            return False
        return not self.is_inspected or type(operator_of(desc.name)).inspect is Operator.inspect

    def is_read_as_written(self, value: Value, port: Port) -> bool:
        """Whether a node reads ``value`` with the layout that its producer wrote."""
        tensor = self.graph.output_tensor(value)
        return tensor is not None and tensor.is_same_view(self.graph.input_tensor(port))

    def inputs_of(self, node: int) -> list[tuple[Port, Value | GraphInput]]:
        """The inputs that a node has, with their sources."""
        found = self._inputs.get(node)
        if found is None:
            slots = enumerate(self.graph.node(node).inputs)
            ports = [Port(node, index) for index, slot in slots if slot.tensor is not None]
            found = self._inputs[node] = [(port, self.sources[port]) for port in ports]
        return found

    @property
    def values(self) -> list[Value]:
        """The outputs of all nodes, in execution order."""
        return [
            Value(index, output)
            for index in self.order
            for output, slot in enumerate(self.graph.node(index).outputs)
            if slot.tensor is not None
        ]
