"""Liveness analysis: a block of the temporary resource for every value that has no other memory."""

from __future__ import annotations

from dataclasses import replace

from .graph_desc import Value
from .memory_planner import TemporaryBlock, pack
from .plan import BlockRoot, OutputRoot, Plan
from .plan_step import Step


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
    return (step.kernel or plan.packed.kernel(step.node, desc)).scratch
