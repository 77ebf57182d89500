"""How a graph runs: which memory each value gets, and which copies need not happen.

Data movement is the first thing to go. An output of a SPLIT or an identity can be a view into its input; an input of a
JOIN or an identity can be written where the joined tensor lies. Both need that everybody sees the value as the tensor
that its producer writes: a consumer that reinterprets the bytes needs them where its desc says. What is left runs node
by node, functions of elements several nodes at a time (``fusion``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from ...descs.operator_desc import OperatorDesc
from ...operators import kernel_of, operator_of
from ...operators.operator import Operator, Place
from ..program import Kernels
from .conv_batch_norm import paired
from .fusion import Fusion
from .graph_desc import GraphDesc, GraphInput, Port, Value
from .graph_validation import topological_order
from .memory_planner import Block, pack
from .plan_step import Step
from .plan_text import headline, plan_text
from .prepacked import PackedInputs
from .view_identity import same_view


class OutputRoot(NamedTuple):
    """The memory bound for a graph output."""

    position: int


class BlockRoot(NamedTuple):
    """A block of the temporary resource, by its index."""

    block: int


class PartOf(NamedTuple):
    """A view into another value."""

    value: Value
    place: Place


class PartOfInput(NamedTuple):
    """A view into what a node reads: a graph input or a constant."""

    port: Port
    place: Place


Location = OutputRoot | BlockRoot | PartOf | PartOfInput


@dataclass(repr=False)
class Plan:
    """``blocks`` lie in the temporary resource, which has ``temporary_size`` bytes. ``str`` tells what it says."""

    graph: GraphDesc
    steps: list[Step]
    sources: dict[Port, Value | GraphInput]
    locations: dict[Value, Location]
    blocks: list[Block]
    temporary_size: int
    packed: PackedInputs

    def __repr__(self) -> str:
        return f"<Plan: {headline(self)}>"

    def __str__(self) -> str:
        return plan_text(self)


class Planner:
    """Makes the plan of one valid graph, whose operators see the values of their inputs if it ``is_inspected``."""

    def __init__(self, graph: GraphDesc, kernels: Kernels, is_inspected: bool = False) -> None:
        self.graph = graph
        self.is_inspected = is_inspected
        self._kernels = kernels
        order = topological_order(graph)
        assert order is not None
        self.order = order
        self.sources: dict[Port, Value | GraphInput] = {}
        self.consumers: dict[Value, list[Port]] = {}
        self.graph_outputs: dict[Value, list[int]] = {}
        for edge in (*graph.input_edges, *graph.intermediate_edges):
            assert isinstance(edge.target, Port)
            self.sources[edge.target] = edge.source
            if isinstance(edge.source, Value):
                self.consumers.setdefault(edge.source, []).append(edge.target)
        for edge in graph.output_edges:
            assert isinstance(edge.source, Value)
            assert isinstance(edge.target, int)
            self.graph_outputs.setdefault(edge.source, []).append(edge.target)
        # Nobody may read what lies where another node writes as well: such an output is copied to.
        self.roots = {
            value: next((position for position in positions if len(graph.writers[position]) == 1), None)
            for value, positions in self.graph_outputs.items()
        }
        self.packed = PackedInputs(graph, kernels)
        self.locations: dict[Value, Location] = {}
        self.blocks: list[Block] = []
        self.steps = [self._step(index) for index in order]
        self.vanished: set[Value] = set()

    def may_run_with_others(self, desc: OperatorDesc | None) -> bool:
        """Whether an operator runs as it does on most devices, and nobody looks at its inputs."""
        if desc is None or self._kernels(desc) is not kernel_of(desc):
            return False
        return not self.is_inspected or type(operator_of(desc.name)).inspect is Operator.inspect

    def plan(self) -> Plan:
        for value, position in self.roots.items():
            if position is not None:
                self.locations[value] = OutputRoot(position)
        for step in self.steps:
            self._view_inputs(step)
        for step in reversed(self.steps):
            self._write_in_place(step)
        for step in self.steps:
            step.folded = step.moves is not None and not step.moves and not step.copies
        fusion = Fusion(self)
        self.steps, self.vanished = fusion.fuse(), fusion.vanished
        self.steps = paired(self)
        self._find_blocks()
        temporary_size = pack(self.blocks)
        return Plan(
            self.graph, self.steps, self.sources, self.locations, self.blocks, temporary_size, self.packed
        )

    def _step(self, index: int) -> Step:
        node = self.graph.node(index)
        copies = [
            (Value(index, output), position)
            for output in range(len(node.outputs))
            for position in self.graph_outputs.get(Value(index, output), ())
            if position != self.roots[Value(index, output)]
        ]
        if node.desc is None:
            return Step(index, node.name, "CONSTANT", moves=[], copies=copies)
        moves = operator_of(node.desc.name).moves(node.desc)
        return Step(
            index, node.name, node.desc.name, moves=None if moves is None else list(moves), copies=copies
        )

    def is_free(self, value: Value) -> bool:
        """Whether a value can lie anywhere: no graph output, and seen by all as its producer writes it."""
        tensor = self.graph.output_tensor(value)
        if tensor is None or value in self.graph_outputs or value in self.locations or tensor.is_nibbles:
            return False
        return all(self.is_seen_alike(value, port) for port in self.consumers.get(value, ()))

    def is_seen_alike(self, value: Value, port: Port) -> bool:
        """Whether a node reads ``value`` as the elements that another one wrote."""
        tensor = self.graph.output_tensor(value)
        return tensor is not None and same_view(tensor, self.graph.input_tensor(port))

    def inputs_of(self, node: int) -> list[tuple[Port, Value | GraphInput]]:
        """The inputs that a node has, and what feeds them."""
        slots = enumerate(self.graph.node(node).inputs)
        ports = [Port(node, index) for index, slot in slots if slot.tensor is not None]
        return [(port, self.sources[port]) for port in ports]

    def _view_inputs(self, step: Step) -> None:
        """Make outputs that are parts of an input views into it."""
        if not step.moves:
            return
        per_output = Counter(move.output for move in step.moves)
        for move in list(step.moves):
            value = Value(step.node, move.output)
            if per_output[move.output] > 1 or move.output_place or not self.is_free(value):
                continue
            port = Port(step.node, move.input)
            source = self.sources[port]
            if isinstance(source, Value) and self.graph.output_tensor(source) is not None:
                tensor = self.graph.output_tensor(source)
                assert tensor is not None
                if not same_view(tensor, self.graph.input_tensor(port)):
                    # The part of a reinterpretation: a view of the port, whose bytes the source keeps in place.
                    self.locations[value] = PartOfInput(port, move.input_place)
                else:
                    self.locations[value] = PartOf(source, move.input_place)
            else:
                self.locations[value] = PartOfInput(port, move.input_place)
            step.moves.remove(move)

    def _write_in_place(self, step: Step) -> None:
        """Let producers write straight into what this node would copy their values to."""
        if not step.moves:
            return
        sources = {move.input: self.sources[Port(step.node, move.input)] for move in step.moves}
        origins = {
            index: self.origin(source) if isinstance(source, Value) else source
            for index, source in sources.items()
        }
        per_source = Counter(origins.values())
        for move in list(step.moves):
            source = origins[move.input]
            if not isinstance(source, Value) or move.input_place or per_source[source] > 1:
                continue
            if self.is_free(source):
                self.locations[source] = PartOf(Value(step.node, move.output), move.output_place)
                step.moves.remove(move)

    def origin(self, value: Value) -> Value:
        """The value that ``value`` is another name for, where identities vanished."""
        location = self.locations.get(value)
        while isinstance(location, PartOf) and not location.place:
            value = location.value
            location = self.locations.get(value)
        return value

    def root(self, value: Value) -> Value | None:
        """The value whose memory ``value`` lies in; None for a view into a graph input or constant."""
        location = self.locations.get(value)
        while isinstance(location, (PartOf, PartOfInput)):
            if isinstance(location, PartOf):
                value = location.value
            else:
                source = self.sources[location.port]
                if not isinstance(source, Value) or self.graph.output_tensor(source) is None:
                    return None
                value = source
            location = self.locations.get(value)
        return value

    def _find_blocks(self) -> None:
        """A block for every value that lies in no other memory, for as long as anything in it is needed."""
        when = {node: position for position, step in enumerate(self.steps) for node in step.nodes}
        lives: dict[Value, list[int]] = {}
        for value in self._values():
            root = self.root(value)
            if root is None or root in self.vanished or isinstance(self.locations.get(root), OutputRoot):
                continue
            times = [when[value.node], *(when[port.node] for port in self.consumers.get(value, ()))]
            lives.setdefault(root, []).extend(times)
        for root, times in lives.items():
            tensor = self.graph.output_tensor(root)
            assert tensor is not None
            slot = self.graph.node(root.node).outputs[root.output]
            name = f"{self.graph.node(root.node).title}.{slot.path}"
            self.locations[root] = BlockRoot(len(self.blocks))
            self.blocks.append(Block(name, tensor.total_size, min(times), max(times)))
        for position, step in enumerate(self.steps):
            desc = self.graph.node(step.node).desc
            if desc is None or step.folded or step.fused:
                continue
            size = (step.kernel or self.packed.kernel(step.node, desc)).scratch
            if size:
                step.scratch = len(self.blocks)
                self.blocks.append(
                    Block(f"scratch of {self.graph.node(step.node).title}", size, position, position)
                )

    def _values(self) -> list[Value]:
        return [
            Value(index, output)
            for index in self.order
            for output, slot in enumerate(self.graph.node(index).outputs)
            if slot.tensor is not None
        ]
