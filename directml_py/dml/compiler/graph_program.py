"""A compiled graph as a program: executes its plan over bound memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from ...descs.operator_desc import TensorSlot
from ...descs.tensor import TensorDesc
from ...kernels.elementwise.lower import bound_code
from ...kernels.launch import launch_in_order
from ...kernels.native_arrays import apart
from ...kernels.post_ops import BatchNorm, PostOps, of_code
from ...late import lazy
from ...operators import kernel_of
from ...operators.operator import Kernel, Move, WeightLayout, moving_kernel
from ...operators.program import (
    NO_BYTES,
    Bytes,
    Kernels,
    Notify,
    Results,
    are_all_defined,
    array_of,
    bound_call,
    inspector,
    view_of,
)
from .graph_desc import Edge, GraphDesc, GraphInput, Port, Value
from .graph_validation import covers_plainly
from .in_place import Pairs, in_place_pairs, why_not_in_place
from .plan import BlockRoot, Fused, Normalized, OutputRoot, PartOf, Plan, Step
from .planner import plan_graph

Call = Callable[[], Any]
WHOLE = moving_kernel([Move(0, (), 0, ())])


class GraphProgram:
    """Runs the nodes of a graph in topological order, without the copies that its plan elides.

    ``plan`` has the executed and folded steps and the locations of intermediates.
    """

    title = "a graph"

    def __init__(self, graph: GraphDesc, kernels: Kernels = kernel_of, is_inspected: bool = False) -> None:
        self.graph = graph
        self.plan: Plan = plan_graph(graph, kernels, is_inspected)
        self.temporary_size = self.plan.temporary_size
        self.packed: Mapping[int, WeightLayout] = self.plan.packed.inputs
        self.inputs = _input_slots(graph)
        self.outputs = _output_slots(graph)
        self.results: Mapping[int, Results] = _results(graph)
        self.operators = [node.desc for node in graph.nodes if node is not None and node.desc is not None]
        self._kernels = {
            step.node: self._kernel(step)
            for step in self.plan.steps
            if step.operator != "CONSTANT" and step.fused is None
        }
        self._constants = _constants(graph)

    @lazy
    def _pairs(self) -> Pairs:
        return in_place_pairs(self.graph)

    @lazy
    def in_place(self) -> frozenset[int]:
        return frozenset(position for position, _ in self._pairs)

    def works_in_place(self, input: int, output: int) -> bool:
        return (input, output) in self._pairs or not why_not_in_place(self.graph, input, output)

    def is_in_place_listed(self, input: int, output: int) -> bool:
        return (input, output) in self._pairs

    def why_not_in_place(self, input: int, output: int) -> str:
        return why_not_in_place(self.graph, input, output)

    @lazy
    def shows_temporary(self) -> bool:
        return not all(map(are_all_defined, self.operators)) or any(
            self._shows_source(edge) for edge in self.graph.intermediate_edges
        )

    def _shows_source(self, edge: Edge) -> bool:
        """Whether a node may read bytes that the one which feeds it leaves: those between the elements."""
        assert isinstance(edge.source, Value)
        assert isinstance(edge.target, Port)
        written = self.graph.output_tensor(edge.source)
        return written is not None and not covers_plainly(written, self.graph.input_tensor(edge.target))

    def bind(
        self,
        inputs: Sequence[Bytes | None],
        outputs: Sequence[Bytes | None],
        temporary: Bytes | None,
        notify: Notify | None = None,
    ) -> Call:
        return launch_in_order([call for _, call in self.calls(inputs, outputs, temporary, notify)])

    def calls(
        self,
        inputs: Sequence[Bytes | None],
        outputs: Sequence[Bytes | None],
        temporary: Bytes | None,
        notify: Notify | None = None,
    ) -> list[tuple[Step, Call]]:
        """The calls that ``bind`` runs in order, each with its step."""
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

    def _kernel(self, step: Step) -> Kernel:
        desc = self.graph.node(step.node).desc
        assert desc is not None
        return self.plan.packed.kernel(step.node, desc) if step.moves is None else moving_kernel(step.moves)

    def _call(self, step: Step, bound: _Bound, temporary: Bytes | None, notify: Notify | None) -> Call:
        node = self.graph.node(step.node)
        assert node.desc is not None
        post_ops = self._post_ops(step, bound)
        inputs = [
            None if slot.tensor is None else bound.port(Port(step.node, position))
            for position, slot in enumerate(node.inputs)
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
        return bound_call(self._kernels[step.node], inputs, outputs, scratch, inspect, post_ops)

    def _post_ops(self, step: Step, bound: _Bound) -> PostOps:
        """The kernel stores what a program replaces; elsewhere if it would overwrite another of that one's inputs."""
        value = Value(step.node, 0)
        for one in step.post_ops:
            if isinstance(one, Normalized):
                value = Value(one.node, 0)
                continue
            others = [port for port, _ in one.inputs if self.plan.sources[port] != value]
            if others and not apart(bound.value(value), [array_of(bound.port(port)) for port in others]):
                bound.put_apart(value)
        return [
            self._batch_norm(one, bound)
            if isinstance(one, Normalized)
            else of_code(one.code, *_arrays(one, bound), one.role)
            for one in step.post_ops
        ]

    def _batch_norm(self, one: Normalized, bound: _Bound) -> BatchNorm:
        statistics = [bound.port(Port(one.node, position)) for position in range(1, 5)]
        desc, output = self.graph.node(one.node).desc, bound.value(Value(one.node, 0))
        assert desc is not None
        separate = partial(kernel_of(desc).bind, [output, *statistics], [output], NO_BYTES)
        return BatchNorm(statistics, one.role, separate)


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
        missing: list[Value] = []
        whole: Value | None = value
        while whole is not None and whole not in self._values:
            missing.append(whole)
            whole = self._plan.whole(whole)
        # From the outermost on: a long chain of views is too deep for a recursion.
        for part in reversed(missing):
            self._values[part] = self._view(part)
        return self._values[value]

    def put_apart(self, value: Value) -> None:
        """Give a value memory of its own."""
        tensor = self._plan.graph.output_tensor(value)
        assert tensor is not None
        self._values[value] = view_of(tensor, np.empty(tensor.total_size, np.uint8))

    def _view(self, value: Value) -> Any:
        location = self._plan.locations[value]
        if isinstance(location, PartOf):
            whole = self.value(location.value)
            return whole[location.slices] if location.slices else whole
        if isinstance(location, (OutputRoot, BlockRoot)):
            tensor = self._plan.graph.output_tensor(value)
            assert tensor is not None
            return view_of(tensor, self._root_bytes(location))
        return self.port(location.port)[location.slices]

    def _root_bytes(self, location: OutputRoot | BlockRoot) -> Bytes:
        if isinstance(location, OutputRoot):
            memory = self._outputs[location.position]
        else:
            block = self._plan.blocks[location.block]
            memory = None if self._temporary is None else self._temporary[block.offset : block.end]
        assert memory is not None
        return memory

    def output(self, position: int, value: Value) -> Any:
        """An additional graph output, viewed with the tensor of the value that is copied to it."""
        tensor, memory = self._plan.graph.output_tensor(value), self._outputs[position]
        assert tensor is not None
        assert memory is not None
        return view_of(tensor, memory)

    def port(self, port: Port) -> Any:
        """The view that a node reads: its own tensor over the source's bytes, or the source's view if identical."""
        tensor = self._plan.graph.input_tensor(port)
        source = self._plan.sources[port]
        if isinstance(source, GraphInput):
            memory = self._inputs[source.position]
            assert memory is not None
            return memory if port in self._plan.packed.ports else view_of(tensor, memory)
        if source.node in self._constants:
            return view_of(tensor, self._constants[source.node])
        location = self._plan.locations[source]
        if isinstance(location, (OutputRoot, BlockRoot)):
            return view_of(tensor, self._root_bytes(location))
        return self.value(source)


def _constants(graph: GraphDesc) -> dict[int, Bytes]:
    """The data of constant nodes, with zeros behind data that is too short for a tensor that reads it."""
    constants = {
        node.index: np.frombuffer(node.data, np.uint8)
        for node in graph.nodes
        if node is not None and node.data is not None
    }
    for edge in graph.intermediate_edges:
        assert isinstance(edge.source, Value)
        assert isinstance(edge.target, Port)
        data = constants.get(edge.source.node)
        if data is not None:
            missing = graph.input_tensor(edge.target).content_size - len(data)
            if missing > 0:
                constants[edge.source.node] = np.concatenate([data, np.zeros(missing, np.uint8)])
    return constants


def _fused_call(fused: Fused, bound: _Bound) -> Call:
    call = bound_code(fused.code, *_arrays(fused, bound))
    assert call
    return call


def _arrays(fused: Fused, bound: _Bound) -> tuple[list[Any], list[Any]]:
    """The inputs and the outputs of a program."""
    inputs = [_as_type(bound.port(port), dtype) for port, dtype in fused.inputs]
    return inputs, [_as_type(bound.value(value), dtype) for value, dtype in fused.outputs]


def _as_type(x: Any, dtype: np.dtype[Any]) -> Any:
    return x if x.dtype == dtype else x.view(dtype)


def _input_slots(graph: GraphDesc) -> tuple[TensorSlot, ...]:
    """The graph inputs as the tensors of the nodes that read them."""
    readers: list[list[TensorDesc]] = [[] for _ in range(graph.input_count)]
    for edge in graph.input_edges:
        assert isinstance(edge.source, GraphInput)
        assert isinstance(edge.target, Port)
        readers[edge.source.position].append(graph.input_tensor(edge.target))
    return tuple(_slot("GraphInputs", position, tensors) for position, tensors in enumerate(readers))


def _output_slots(graph: GraphDesc) -> tuple[TensorSlot, ...]:
    """The graph outputs as the tensors of the nodes that write them; absent where none does."""
    slots = []
    for position in range(graph.output_count):
        written = [graph.output_tensor(value) for value in graph.writers.get(position, ())]
        slots.append(_slot("GraphOutputs", position, [tensor for tensor in written if tensor is not None]))
    return tuple(slots)


def _results(graph: GraphDesc) -> dict[int, Results]:
    """The partly defined graph outputs that a single node writes, if the outputs that tell which results are defined
    are graph outputs too."""
    single = {position: values[0] for position, values in graph.writers.items() if len(values) == 1}
    first = {value: position for position, value in reversed(single.items())}
    results = {}
    for position, value in single.items():
        desc = graph.node(value.node).desc
        if desc is None or are_all_defined(desc):
            continue
        positions = [first.get(Value(value.node, index)) for index in range(len(desc.outputs))]
        positions[value.output] = position
        if all(
            position is not None or slot.tensor is None for position, slot in zip(positions, desc.outputs)
        ):
            results[position] = Results(desc, value.output, tuple(positions))
    return results


def _slot(field: str, position: int, tensors: Sequence[TensorDesc]) -> TensorSlot:
    """The largest of the tensors, with an alignment that suits all of them; absent if there are none."""
    tensor = max(tensors, key=attrgetter("total_size"), default=None)
    if tensor is not None and len(tensors) > 1:
        alignment = max(tensor.alignment for tensor in tensors)
        tensor = tensor if tensor.alignment == alignment else tensor.replace(alignment=alignment)
    return TensorSlot(f"{field}[{position}]", field, tensor)
