"""The pass pipeline of the graph compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...operators import operator_of
from ...operators.program import Kernels
from .copy_elision import view_inputs, write_in_place
from .data_flow import DataFlow
from .elementwise_fusion import fuse_elementwise
from .graph_desc import GraphDesc, Value
from .memory_planner import TemporaryBlock, pack
from .plan import BlockRoot, OutputRoot, Plan, Step
from .post_op_fusion import fuse_post_ops
from .prepacked import PackedInputs


def assign_blocks(plan: Plan) -> Plan:
    """Give values without other memory a block for their live range, and steps their scratch."""
    flow = plan.flow
    when = {node: position for position, step in enumerate(plan.steps) for node in step.nodes}
    lives: dict[Value, list[int]] = {}
    for value in flow.values:
        root = plan.root(value)
        if root is None or root in plan.eliminated or isinstance(plan.locations.get(root), OutputRoot):
            continue
        times = [when[value.node], *(when[port.node] for port in flow.consumers.get(value, ()))]
        lives.setdefault(root, []).extend(times)
    locations, blocks = dict(plan.locations), list[TemporaryBlock]()
    for root, times in lives.items():
        tensor = plan.graph.output_tensor(root)
        assert tensor is not None
        node = plan.graph.node(root.node)
        locations[root] = BlockRoot(len(blocks))
        name = f"{node.title}.{node.outputs[root.output].path}"
        blocks.append(TemporaryBlock(name, tensor.total_size, min(times), max(times)))
    steps = []
    for position, step in enumerate(plan.steps):
        size = _scratch_size(plan, step)
        if size:
            step = replace(step, scratch=len(blocks))
            title = plan.graph.node(step.node).title
            blocks.append(TemporaryBlock(f"scratch of {title}", size, position, position))
        steps.append(step)
    return replace(plan, steps=steps, locations=locations, blocks=blocks, temporary_size=pack(blocks))


def _scratch_size(plan: Plan, step: Step) -> int:
    desc = plan.graph.node(step.node).desc
    if desc is None or step.folded or step.fused:
        return 0
    return plan.packed.kernel(step.node, desc).scratch


Pass = Callable[[Plan], Plan]
PASSES: tuple[Pass, ...] = (
    view_inputs,
    write_in_place,
    fuse_elementwise,
    fuse_post_ops,
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
