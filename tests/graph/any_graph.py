"""Graphs of any operators, with the bytes of their inputs: compiled, executed node by node, shrunk and printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from documentation import python_source

import directml_py as dml
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.descs.tensor import TensorDesc
from directml_py.dml.compiler.graph_desc import Edge, GraphDesc, GraphDescNode, GraphInput, Port, Value
from directml_py.dml.compiler.in_place import in_place_pairs
from directml_py.graph.nodes import FromInput, FromNode, Source
from directml_py.operators import operator_of
from directml_py.operators.program import are_all_defined
from directml_py.session import Session

FILL = 0xA5
Execute = Callable[[OperatorDesc, list[Any]], list[Any]]


class Input(NamedTuple):
    tensor: TensorDesc
    data: Any


class Node(NamedTuple):
    """An operator with the sources of its input tensors, None for absent ones; or a constant's ``data``."""

    desc: OperatorDesc | None
    sources: tuple[Source | None, ...] = ()
    data: Any = None


@dataclass
class AnyGraph:
    """Values that nothing reads, and those in ``kept``, are outputs of the graph."""

    inputs: list[Input] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    kept: set[FromNode] = field(default_factory=set)

    @property
    def outputs(self) -> list[FromNode]:
        used = {source for node in self.nodes for source in node.sources}
        return [
            value
            for index, node in enumerate(self.nodes)
            if node.desc is not None
            for value in (FromNode(index, output) for output in range(len(node.desc.outputs)))
            if self.tensor(value) is not None and (value not in used or value in self.kept)
        ]

    def tensor(self, value: FromNode) -> TensorDesc | None:
        desc = self.nodes[value.node].desc
        assert desc is not None
        return desc.outputs[value.output].tensor

    @property
    def graph_desc(self) -> GraphDesc:
        """Decoded, as ``Graph`` gives it to the compiler."""
        inputs, between = list[Edge](), list[Edge]()
        for index, node in enumerate(self.nodes):
            for position, source in enumerate(node.sources):
                port = Port(index, position)
                if isinstance(source, FromInput):
                    inputs.append(Edge("", GraphInput(source.position), port))
                elif source is not None:
                    between.append(Edge("", Value(*source), port))
        nodes = [
            GraphDescNode(index, "", node.desc, None if node.data is None else node.data.tobytes())
            for index, node in enumerate(self.nodes)
        ]
        outputs = [Edge("", Value(*value), position) for position, value in enumerate(self.outputs)]
        edges = tuple(inputs), tuple(outputs), tuple(between)
        return GraphDesc(len(self.inputs), len(outputs), tuple(nodes), *edges)

    def compile(self, device: Any) -> Any:
        return device.CompileGraph(self.graph_desc)

    def run(self, device: Any, compiled: Any, in_place: Mapping[int, int] | None = None) -> list[Any]:
        """The outputs of the compiled graph, those of ``in_place`` in the memory of the inputs that it has for them."""
        session, arrays, pairs = Session(device), self._arrays(), in_place or {}
        sources = session.stage(
            arrays,
            [tensor if compiled.is_owned(index) else None for index, (tensor, _) in enumerate(self.inputs)],
        )
        needs_initialization = not compiled.initialized or compiled.persistent_size
        persistent = session.initialize(compiled, sources) if needs_initialization else None
        for index, ((tensor, _), array) in enumerate(zip(self.inputs, arrays)):
            if array is not None and not compiled.is_owned(index):
                sources[index] = session.upload(array, tensor)
        tensors = [self.tensor(value) for value in self.outputs]
        targets = [
            sources[pairs[output]] if output in pairs else session.buffer(tensor.total_size)
            for output, tensor in enumerate(tensors)
        ]
        session.dispatch(compiled, sources, targets, persistent)
        session.execute()
        device.removal.check()
        return [session.load(target, tensor) for target, tensor in zip(targets, tensors)]

    def in_place(self) -> dict[int, int]:
        """Inputs whose memory outputs may take, by the output; each input is taken once."""
        found: dict[int, int] = {}
        for source, output in sorted(in_place_pairs(self.graph_desc)):
            written, (read, _) = self.tensor(self.outputs[output]), self.inputs[source]
            assert written is not None
            may_be = not read.is_owned_by_dml and read.total_size >= written.total_size
            if may_be and output not in found and source not in found.values():
                found[output] = source
        return found

    def _arrays(self) -> list[Any]:
        read = {source for node in self.nodes for source in node.sources}
        return [
            tensor.load(data) if FromInput(index) in read else None
            for index, (tensor, data) in enumerate(self.inputs)
        ]

    def run_one_by_one(self, execute: Execute) -> dict[Source, Any]:
        """The bytes of all inputs and values, every node executed by itself; the rest of each tensor is filled."""
        memory: dict[Source, Any] = {FromInput(index): data for index, (_, data) in enumerate(self.inputs)}
        for index, node in enumerate(self.nodes):
            if node.desc is None:
                memory[FromNode(index, 0)] = node.data
                continue
            arrays = [
                None if slot.tensor is None else slot.tensor.load(memory[source])
                for slot, source in zip(node.desc.inputs, node.sources)
            ]
            for output, (slot, array) in enumerate(zip(node.desc.outputs, execute(node.desc, arrays))):
                if slot.tensor is not None:
                    memory[FromNode(index, output)] = stored(slot.tensor, array)
        return memory

    def without_unused(self) -> AnyGraph:
        """The same without the nodes and inputs that ``kept`` values do not depend on."""
        needed: set[Source] = set(self.kept)
        for index in reversed(range(len(self.nodes))):
            if any(source in needed for source in _outputs(index, self.nodes[index])):
                needed |= {source for source in self.nodes[index].sources if source is not None}
        inputs = [index for index in range(len(self.inputs)) if FromInput(index) in needed]
        nodes = [
            index
            for index, node in enumerate(self.nodes)
            if any(source in needed for source in _outputs(index, node))
        ]
        moved: dict[Source | None, Any] = {None: None}
        moved.update((FromInput(old), FromInput(new)) for new, old in enumerate(inputs))
        for new, old in enumerate(nodes):
            moved.update((value, FromNode(new, value.output)) for value in _outputs(old, self.nodes[old]))
        kept_nodes = [
            self.nodes[index]._replace(sources=tuple(moved[source] for source in self.nodes[index].sources))
            for index in nodes
        ]
        return AnyGraph(
            [self.inputs[index] for index in inputs], kept_nodes, {moved[one] for one in self.kept}
        )


def _outputs(index: int, node: Node) -> list[FromNode]:
    return [FromNode(index, output) for output in range(1 if node.desc is None else len(node.desc.outputs))]


def stored(tensor: TensorDesc, array: Any) -> Any:
    memory = np.full(tensor.total_size, FILL, np.uint8)
    tensor.store(memory, array)
    return memory


def differing(made: AnyGraph, found: list[Any], memory: dict[Source, Any]) -> list[FromNode]:
    """The outputs that differ from those of the nodes in a bit, but for the payloads of NaN and undefined elements."""
    wrong = []
    for value, array in zip(made.outputs, found, strict=True):
        tensor, desc = made.tensor(value), made.nodes[value.node].desc
        assert tensor is not None
        assert desc is not None
        expected = tensor.load(memory[value])
        part: Any = ()
        if not are_all_defined(desc):
            outputs = [
                None if slot.tensor is None else slot.tensor.load(memory[FromNode(value.node, output)])
                for output, slot in enumerate(desc.outputs)
            ]
            part = operator_of(desc.name).defined(desc, outputs)[value.output]
        if not same_bits(np.asarray(array[part]), np.asarray(expected[part])):
            wrong.append(value)
    return wrong


def same_bits(one: Any, other: Any) -> bool:
    if one.dtype.kind == "f":
        is_nan = np.isnan(other)
        if not np.array_equal(np.isnan(one), is_nan):
            return False
        one, other = np.where(is_nan, 0, one), np.where(is_nan, 0, other)
    return one.tobytes() == other.tobytes()


def shrunk(made: AnyGraph, fails: Callable[[AnyGraph], bool]) -> AnyGraph:
    """A small graph that still ``fails``: with one output, and values in place of the nodes that need not run."""
    for value in made.outputs:
        smaller = replace(made, kept={value}).without_unused()
        if fails(smaller):
            made = smaller
            break
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(made):
            if fails(smaller):
                made, progress = smaller, True
                break
    return made


def _smaller(made: AnyGraph) -> Iterator[AnyGraph]:
    memory = made.run_one_by_one(evaluate)
    for index in reversed(range(len(made.nodes))):
        desc = made.nodes[index].desc
        if desc is None or any(value in made.kept for value in _outputs(index, made.nodes[index])):
            continue
        inputs, moved = list(made.inputs), dict[Source | None, Source]()
        for value in _outputs(index, made.nodes[index]):
            tensor = made.tensor(value)
            if tensor is not None:
                moved[value] = FromInput(len(inputs))
                inputs.append(Input(tensor, memory[value]))
        nodes = [
            node._replace(sources=tuple(moved.get(source, source) for source in node.sources))
            for node in made.nodes
        ]
        yield AnyGraph(inputs, nodes, set(made.kept)).without_unused()


def evaluate(desc: OperatorDesc, arrays: list[Any]) -> list[Any]:
    return dml.evaluate(desc, arrays)


PROGRAM = """\
import numpy as np
import directml_py as dml
from directml_py.session import Session
device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=max(dml.DML_FEATURE_LEVEL))
descs = {{
{nodes}
}}
nodes = [
    dml.DML_GRAPH_NODE_DESC(dml.DML_GRAPH_NODE_TYPE_CONSTANT, dml.DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=desc))
    if isinstance(desc, np.ndarray) else
    dml.DML_GRAPH_NODE_DESC(
        dml.DML_GRAPH_NODE_TYPE_OPERATOR, dml.DML_OPERATOR_GRAPH_NODE_DESC(Operator=device.CreateOperator(desc)))
    for desc in descs.values()
]
edges = {{
    dml.DML_INPUT_GRAPH_EDGE_DESC: {inputs},
    dml.DML_OUTPUT_GRAPH_EDGE_DESC: {outputs},
    dml.DML_INTERMEDIATE_GRAPH_EDGE_DESC: {between},
}}
kinds = dml.DML_GRAPH_EDGE_TYPE_INPUT, dml.DML_GRAPH_EDGE_TYPE_OUTPUT, dml.DML_GRAPH_EDGE_TYPE_INTERMEDIATE
ins, outs, between = (
    [dml.DML_GRAPH_EDGE_DESC(kind, struct(*edge)) for edge in numbers]
    for kind, (struct, numbers) in zip(kinds, edges.items())
)
arrays = [
{arrays}
]
tensors = [
{tensors}
]
counts = {counts}
graph = device.CompileGraph(dml.DML_GRAPH_DESC(
    **counts, Nodes=nodes, InputEdges=ins, OutputEdges=outs, IntermediateEdges=between))
print(graph.program.plan)
session = Session(device)
owned = [tensor if graph.is_owned(index) else None for index, tensor in enumerate(tensors)]
sources = session.stage(arrays, owned)
persistent = session.initialize(graph, sources)
sources = [
    session.upload(array, tensor) if own is None else source
    for array, tensor, own, source in zip(arrays, tensors, owned, sources)
]
results = [slot.tensor for slot in graph.outputs]
for in_place in {in_place}:
    print("in place:", in_place)
    targets = [
        sources[in_place[output]] if output in in_place else session.buffer(tensor.total_size)
        for output, tensor in enumerate(results)
    ]
    session.dispatch(graph, sources, targets, persistent)
    session.execute()
    for target, tensor in zip(targets, results):
        print(session.load(target, tensor))
print("must be")
{expected}
"""


def program_of(made: AnyGraph) -> str:
    """A program that runs the graph, and prints its outputs and those of its nodes."""
    memory = made.run_one_by_one(evaluate)
    ports = [
        (source, index, position)
        for index, node in enumerate(made.nodes)
        for position, source in enumerate(node.sources)
        if source is not None
    ]
    return PROGRAM.format(
        nodes="\n".join(
            f"    {index}: {_bytes(node.data) if node.desc is None else python_source.record(node.desc, 1)},"
            for index, node in enumerate(made.nodes)
        ),
        inputs=[(*source, *port) for source, *port in ports if isinstance(source, FromInput)],
        outputs=[(*value, position) for position, value in enumerate(made.outputs)],
        between=[(*source, *port) for source, *port in ports if isinstance(source, FromNode)],
        counts={"InputCount": len(made.inputs), "OutputCount": len(made.outputs)},
        arrays="\n".join(f"    {_array(tensor.load(data))}," for tensor, data in made.inputs),
        in_place=[{}, made.in_place()] if made.in_place() else [{}],
        tensors="\n".join(f"    {_tensor(tensor)}," for tensor, _ in made.inputs),
        expected="\n".join(
            f"print({_array(tensor.load(memory[value]))})"
            for value in made.outputs
            if (tensor := made.tensor(value)) is not None
        ),
    )


def _tensor(tensor: TensorDesc) -> str:
    numbers = (
        f"{tensor.sizes}, {tensor.strides}, dml.DML_TENSOR_FLAGS({int(tensor.flags)}), {tensor.total_size}"
    )
    return f"dml.TensorDesc(dml.DML_TENSOR_DATA_TYPE({int(tensor.data_type)}), {numbers})"


def _bytes(data: Any) -> str:
    return f"np.frombuffer(bytes.fromhex({data.tobytes().hex()!r}), np.uint8)"


def _array(array: Any) -> str:
    data = np.ascontiguousarray(array).tobytes().hex()
    return f"np.frombuffer(bytes.fromhex({data!r}), np.{array.dtype.name}).reshape({array.shape})"
