"""Which nodes run together with the one that takes their result: a convolution, and what normalizes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...operators import operator_of
from .graph_desc import Port, Value
from .plan_step import Step

if TYPE_CHECKING:
    from .plan import Planner


def paired(planner: Planner) -> list[Step]:
    """The steps, those of two nodes that have a kernel together as one, where the second of them was."""
    single = {step.node: step for step in planner.steps if step.moves is None and step.fused is None}
    gone = set()
    for step in planner.steps:
        source = planner.sources.get(Port(step.node, 0))
        if step.node not in single or not isinstance(source, Value) or source.node not in single:
            continue
        first = single[source.node]
        if first.copies or len(first.nodes) > 1 or not _is_taken_by_one(planner, source):
            continue
        descs = [planner.graph.node(one.node).desc for one in (first, step)]
        desc, following = descs
        if desc is None or following is None or not all(map(planner.may_run_with_others, descs)):
            continue
        kernel = operator_of(desc.name).fused_kernel(desc, following)
        if kernel is not None:
            step.kernel = planner.packed.taken(first.node, kernel)
            step.nodes = (first.node, step.node)
            step.name = " + ".join(one.name for one in (first, step) if one.name)
            step.operator = f"{first.operator} + {step.operator}"
            planner.vanished.add(source)
            gone.add(first.node)
    return [step for step in planner.steps if step.node not in gone]


def _is_taken_by_one(planner: Planner, value: Value) -> bool:
    """Whether nobody sees a value but one node, which sees it as its producer leaves it."""
    return planner.is_free(value) and len(planner.consumers.get(value, ())) == 1
