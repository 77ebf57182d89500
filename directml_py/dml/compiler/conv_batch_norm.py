"""Fuses a batch norm into the preceding convolution as a post-op, which eliminates the value between them."""

from __future__ import annotations

from dataclasses import replace

from ...operators import fused_kernel_of
from .graph_desc import Port, Value
from .plan import Plan
from .plan_step import Step


def fuse_conv_batch_norm(plan: Plan) -> Plan:
    """Replace each pair of nodes that has a fused kernel by one step, at the position of the second."""
    single = {step.node: step for step in plan.steps if step.moves is None and step.fused is None}
    fused: dict[int, Step] = {}
    producers: set[int] = set()
    eliminated = set(plan.eliminated)
    for step in plan.steps:
        source = plan.sources.get(Port(step.node, 0))
        if step.node not in single or not isinstance(source, Value) or source.node not in single:
            continue
        first = fused.get(source.node, single[source.node])
        if first.copies or len(first.nodes) > 1:
            continue
        pair = _fused_step(plan, first, step)
        if pair is not None and _has_one_reader(plan, source):
            fused[step.node] = pair
            producers.add(first.node)
            eliminated.add(source)
    steps = [fused.get(step.node, step) for step in plan.steps if step.node not in producers]
    return replace(plan, steps=steps, eliminated=frozenset(eliminated))


def _fused_step(plan: Plan, first: Step, second: Step) -> Step | None:
    desc, following = (plan.graph.node(step.node).desc for step in (first, second))
    if desc is None or following is None:
        return None
    kernel = fused_kernel_of(desc, following)
    if kernel is None or not all(map(plan.flow.may_run_with_others, (desc, following))):
        return None
    return replace(
        second,
        kernel=plan.packed.taken(first.node, kernel),
        nodes=(first.node, second.node),
        name=" + ".join(step.name for step in (first, second) if step.name),
        operator=f"{first.operator} + {second.operator}",
    )


def _has_one_reader(plan: Plan, value: Value) -> bool:
    """Whether a value has a single consumer, a node that reads it with its producer's layout."""
    return plan.is_free(value) and len(plan.flow.consumers.get(value, ())) == 1
