"""The pass pipeline of the graph compiler."""

from __future__ import annotations

from collections.abc import Callable

from ...operators import operator_of
from ..program import Kernels
from .block_assignment import assign_blocks
from .conv_batch_norm import fuse_conv_batch_norm
from .copy_elision import view_inputs, write_in_place
from .data_flow import DataFlow
from .elementwise_fusion import fuse_elementwise
from .epilogue_fusion import fuse_epilogues
from .graph_desc import GraphDesc, Value
from .plan import OutputRoot, Plan
from .plan_step import Step
from .prepacked import PackedInputs

Pass = Callable[[Plan], Plan]
PASSES: tuple[Pass, ...] = (
    view_inputs,
    write_in_place,
    fuse_elementwise,
    fuse_conv_batch_norm,
    fuse_epilogues,
    assign_blocks,
)


def plan_graph(graph: GraphDesc, kernels: Kernels, is_inspected: bool = False) -> Plan:
    """The plan of a valid graph; if it ``is_inspected``, operators check the values of their inputs."""
    plan = unoptimized(DataFlow(graph, kernels, is_inspected), PackedInputs(graph, kernels))
    for transform in PASSES:
        plan = transform(plan)
    return plan


def unoptimized(flow: DataFlow, packed: PackedInputs) -> Plan:
    """A plan with one step per node, in which graph outputs lie in their bound memory."""
    outputs = {value: OutputRoot(position) for value, position in flow.roots.items() if position is not None}
    return Plan(flow, packed, [_step(flow, node) for node in flow.order], {**outputs})


def _step(flow: DataFlow, index: int) -> Step:
    node = flow.graph.node(index)
    copies = [
        (Value(index, output), position)
        for output in range(len(node.outputs))
        for position in flow.graph_outputs.get(Value(index, output), ())
        if position != flow.roots[Value(index, output)]
    ]
    if node.desc is None:
        return Step(index, node.name, "CONSTANT", moves=[], copies=copies)
    moves = operator_of(node.desc.name).moves(node.desc)
    return Step(index, node.name, node.desc.name, moves=None if moves is None else list(moves), copies=copies)
