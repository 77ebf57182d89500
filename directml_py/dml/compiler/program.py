"""A compiled graph as a program: its plan over bound memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...descs.tensor import TensorDesc
from ...descs.values import TensorSlot
from ...kernels.machine import bound_code
from ...operators import kernel_of
from ...operators.operator import Kernel, Move, moving_kernel
from ..program import NO_BYTES, Bytes, Notify, bound_call, inspector, view_of
from .description import GraphDesc, GraphInput, Port, Value
from .plan import BlockRoot, OutputRoot, PartOf, Plan, Planner
from .step import Fused, Step

Call = Callable[[], Any]
WHOLE = moving_kernel([Move(0, (), 0, ())])


class GraphProgram:
    """Runs the nodes of a graph in topological order, without the copies that its plan found needless.

    ``plan`` says what runs, what was folded away and where intermediates lie.
    """

    title = "a graph"
    in_place: frozenset[int] = frozenset()

    def __init__(self, graph: GraphDesc) -> None:
        self.graph = graph
        self.plan: Plan = Planner(graph).plan()
        self.temporary_size = self.plan.temporary_size
        self.inputs = _input_slots(graph)
        self.outputs = tuple(_output_slot(graph, position) for position in range(graph.output_count))
        self.unused = frozenset(index for index, slot in enumerate(self.inputs) if slot.tensor is None)
        self._kernels = {
            step.node: _kernel(graph, step)
            for step in self.plan.steps
            if step.operator != "CONSTANT" and step.fused is None
        }
        self._constants = {
            node.index: np.frombuffer(node.data, np.uint8)
            for node in graph.nodes
            if node is not None and node.data is not None
        }

    def bind(
        self,
        inputs: Sequence[Bytes | None],
        outputs: Sequence[Bytes | None],
        temporary: Bytes | None,
        notify: Notify | None = None,
    ) -> Call:
        calls = [call for _, call in self.calls(inputs, outputs, temporary, notify)]

        def run() -> None:
            for call in calls:
                call()

        return run

    def calls(
        self,
        inputs: Sequence[Bytes | None],
        outputs: Sequence[Bytes | None],
        temporary: Bytes | None,
        notify: Notify | None = None,
    ) -> list[tuple[Step, Call]]:
        """What ``bind`` runs, one after the other, with the steps that each is part of."""
        bound = _Bound(self.plan, self._constants, inputs, outputs, temporary)
        calls: list[tuple[Step, Call]] = []
        for step in self.plan.steps:
            if step.fused is not None:
                calls.append((step, _fused_call(step.fused, bound)))
            elif step.moves != []:
                calls.append((step, self._call(step, bound, temporary, notify)))
            calls += [
                (step, bound_call(WHOLE, [bound.value(value)], [bound.output(position, value)], NO_BYTES))
                for value, position in step.copies
            ]
        return calls

    def _call(self, step: Step, bound: _Bound, temporary: Bytes | None, notify: Notify | None) -> Call:
        node = self.graph.node(step.node)
        assert node.desc is not None
        inputs = [
            None if slot.tensor is None else bound.port(Port(step.node, index))
            for index, slot in enumerate(node.inputs)
        ]
        outputs = [
            None if slot.tensor is None else bound.value(Value(step.node, index))
            for index, slot in enumerate(node.outputs)
        ]
        scratch = NO_BYTES
        if step.scratch is not None:
            assert temporary is not None
            block = self.plan.blocks[step.scratch]
            scratch = temporary[block.offset : block.end]
        inspect = inspector(node.desc, notify, f"Nodes[{node.index}].")
        return bound_call(self._kernels[step.node], inputs, outputs, scratch, inspect)


class _Bound:
    """The views that the nodes of a graph read and write, over one set of bound memory."""

    def __init__(
        self,
        plan: Plan,
        constants: dict[int, Bytes],
        inputs: Sequence[Bytes | None],
        outputs: Sequence[Bytes | None],
        temporary: Bytes | None,
    ) -> None:
        self._plan = plan
        self._constants = constants
        self._inputs = inputs
        self._outputs = outputs
        self._temporary = temporary
        self._values: dict[Value, Any] = {}

    def value(self, value: Value) -> Any:
        """The view that the producer of ``value`` writes."""
        if value not in self._values:
            self._values[value] = self._view(value)
        return self._values[value]

    def _view(self, value: Value) -> Any:
        location = self._plan.locations[value]
        if isinstance(location, PartOf):
            return self.value(location.value)[location.place]
        if isinstance(location, (OutputRoot, BlockRoot)):
            tensor = self._plan.graph.output_tensor(value)
            assert tensor is not None
            return view_of(tensor, self._root_bytes(location))
        return self.port(location.port)[location.place]

    def _root_bytes(self, location: OutputRoot | BlockRoot) -> Bytes:
        if isinstance(location, OutputRoot):
            memory = self._outputs[location.position]
        else:
            block = self._plan.blocks[location.block]
            memory = None if self._temporary is None else self._temporary[block.offset : block.end]
        assert memory is not None
        return memory

    def output(self, position: int, value: Value) -> Any:
        """A further graph output, as the tensor of the value that it repeats."""
        tensor, memory = self._plan.graph.output_tensor(value), self._outputs[position]
        assert tensor is not None
        assert memory is not None
        return view_of(tensor, memory)

    def port(self, port: Port) -> Any:
        """What a node reads: its own tensor over the bytes of the source, or the source's view if that is the same."""
        tensor = self._plan.graph.input_tensor(port)
        source = self._plan.sources[port]
        if isinstance(source, GraphInput):
            memory = self._inputs[source.position]
            assert memory is not None
            return view_of(tensor, memory)
        if source.node in self._constants:
            return view_of(tensor, self._constants[source.node])
        location = self._plan.locations[source]
        if isinstance(location, (OutputRoot, BlockRoot)):
            return view_of(tensor, self._root_bytes(location))
        return self.value(source)


def _fused_call(fused: Fused, bound: _Bound) -> Call:
    inputs = [bound.port(port).view(dtype) for port, dtype in fused.inputs]
    outputs = [bound.value(value).view(dtype) for value, dtype in fused.outputs]
    call = bound_code(fused.code, inputs, outputs)
    assert call is not None
    return call


def _kernel(graph: GraphDesc, step: Step) -> Kernel:
    desc = graph.node(step.node).desc
    assert desc is not None
    return kernel_of(desc) if step.moves is None else moving_kernel(step.moves)


def _input_slots(graph: GraphDesc) -> tuple[TensorSlot, ...]:
    """Each graph input, as the largest of the tensors that nodes see in it; absent if no node reads it."""
    largest: list[TensorDesc | None] = [None] * graph.input_count
    for edge in graph.input_edges:
        assert isinstance(edge.source, GraphInput)
        assert isinstance(edge.target, Port)
        seen, before = graph.input_tensor(edge.target), largest[edge.source.position]
        tensor = seen if before is None or seen.total_size > before.total_size else before
        alignment = max(seen.alignment, 0 if before is None else before.alignment)
        same = tensor.alignment == alignment
        largest[edge.source.position] = tensor if same else replace(tensor, alignment=alignment)
    return tuple(
        TensorSlot(f"GraphInputs[{position}]", "GraphInputs", tensor)
        for position, tensor in enumerate(largest)
    )


def _output_slot(graph: GraphDesc, position: int) -> TensorSlot:
    (value,) = (edge.source for edge in graph.output_edges if edge.target == position)
    assert isinstance(value, Value)
    return TensorSlot(f"GraphOutputs[{position}]", "GraphOutputs", graph.output_tensor(value))
