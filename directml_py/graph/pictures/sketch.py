"""The contents of a graph's picture: boxes, edges, labels, and the fate of each node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from ...abi.hresult import DMLError
from ...descs.data_types import type_name
from ...descs.format import braces, format_value
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...dml.compiler.plan import Plan
from ..compiled import CompiledGraph
from ..nodes import ConstantNode, FromInput, GraphContent, Node, Source


class Fate(Enum):
    """The compiler's treatment of a node: executed, fused, folded, or dead as no output depends on it."""

    EXECUTED = "executed"
    FUSED = "fused"
    FOLDED = "folded away"
    DEAD = "left out"


@dataclass(frozen=True)
class Figure:
    """A box: ``kind`` is "input", "output", "constant" or "operator"; ``step`` is the index of its step in the
    compiled graph, which fused nodes share."""

    id: str
    kind: str
    name: str
    lines: tuple[str, ...]
    outputs: tuple[TensorDesc | None, ...]
    inputs: tuple[TensorDesc | None, ...]
    fate: Fate = Fate.EXECUTED
    step: int | None = None


class Arrow(NamedTuple):
    """An edge from an output of one figure to an input of another, by their indices in the sketch."""

    source: int
    output: int
    target: int
    input: int


@dataclass(frozen=True)
class Sketch:
    """``figures`` are in topological order. ``problem`` is the reason if there is no plan."""

    figures: list[Figure]
    arrows: list[Arrow]
    plan: Plan | None
    problem: str = ""

    def reinterpreted(self, arrow: Arrow) -> TensorDesc | None:
        """The tensor that the target reads, if it differs from the one that the source writes."""
        written = self.figures[arrow.source].outputs[arrow.output]
        read = self.figures[arrow.target].inputs[arrow.input]
        if written is None or read is None or tensor_lines(written) == tensor_lines(read):
            return None
        return read


def tensor_lines(tensor: TensorDesc) -> list[str]:
    """Data type and sizes; strides if any; whether DirectML owns it."""
    lines = [f"{type_name(tensor.data_type)} {braces(tensor.sizes)}"]
    if tensor.strides is not None:
        lines.append(f"strides {braces(tensor.strides)}")
    if tensor.is_owned_by_dml:
        lines.append("OWNED_BY_DML")
    return lines


def attributes(desc: OperatorDesc) -> Iterator[str]:
    """The attributes of an operator that are present, without the prefixes of their enumerators."""
    counts = {entry.counted_by for entry in desc.struct.fields}
    for entry, (name, value) in zip(desc.struct.fields, desc):
        if entry.is_tensor or name in counts or value is None:
            continue
        shown = format_value(entry, value).removeprefix(f"{entry.type}_").removeprefix(entry.type)
        yield f"{name}={shown}"


def sketch(graph: GraphContent) -> Sketch:
    """A sketch of the graph and its plan, for which it is compiled; if that fails, of the graph with the reason."""
    plan: Plan | None = None
    nodes, problem = list(range(len(graph.nodes))), ""
    try:
        compiled = CompiledGraph(graph)
        plan, nodes = compiled.plan, compiled.nodes
    except (DMLError, ValueError) as error:
        problem = str(error)
    live = set(nodes)
    step_numbers: dict[int, int] = {}
    if plan is not None:
        step_numbers = {nodes[node]: number for number, step in enumerate(plan.steps) for node in step.nodes}
    figures = [
        Figure(f"input{index}", "input", source.name, (f"graph input {index}",), (source.desc,), ())
        for index, source in graph.inputs.items()
    ]
    figure_of: dict[Any, int] = {
        FromInput(index): number_of_input for number_of_input, index in enumerate(graph.inputs)
    }
    arrows = []
    for index, node in enumerate(graph.nodes):
        number = step_numbers.get(index)
        fate = Fate.EXECUTED if index in live else Fate.DEAD
        if plan is not None and number is not None and not isinstance(node, ConstantNode):
            step = plan.steps[number]
            fate = Fate.FOLDED if step.folded else Fate.FUSED if step.fused else fate
        figure_of[index] = len(figures)
        for position, source in enumerate(node.inputs):
            if source is not None:
                arrows.append(Arrow(*_end(figure_of, source), len(figures), position))
        figures.append(_figure(index, node, fate, number))
    for position, (name, value) in enumerate(graph.outputs.items()):
        arrows.append(Arrow(*_end(figure_of, value.source), len(figures), 0))
        lines = (f"graph output {position}",)
        figures.append(Figure(f"output{position}", "output", name, lines, (), (value.desc,)))
    return Sketch(figures, arrows, plan, problem)


def _end(figure_of: dict[Any, int], source: Source) -> tuple[int, int]:
    if isinstance(source, FromInput):
        return figure_of[source], 0
    return figure_of[source.node], source.output


def _figure(index: int, node: Node, fate: Fate, step: int | None) -> Figure:
    if isinstance(node, ConstantNode):
        size = f"constant, {node.tensor.total_size} bytes"
        return Figure(f"node{index}", "constant", node.name, (size,), node.outputs, (), fate, step)
    inputs = tuple(slot.tensor for slot in node.desc.inputs)
    lines = (node.kind, *attributes(node.desc))
    return Figure(f"node{index}", "operator", node.name, lines, node.outputs, inputs, fate, step)
