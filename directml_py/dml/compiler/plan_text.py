"""Plans as text: the steps, the locations of their outputs, and the live ranges of temporary blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text.plural import counted_words
from .graph_desc import Value

if TYPE_CHECKING:
    from .plan import Plan
    from .plan_step import Step


def headline(plan: Plan) -> str:
    """A one-line summary: step counts and temporary memory."""
    fates = [_fate(step) for step in plan.steps]
    counts = [f"{fates.count(fate)} {fate}" for fate in ("run", "fused", "folded away") if fate in fates]
    steps = f"{counted_words(len(plan.steps), 'step')} ({', '.join(counts)})"
    return f"{steps}, {plan.temporary_size:,} bytes of temporary memory"


def plan_text(plan: Plan) -> str:
    lines = [headline(plan)]
    for turn, step in enumerate(plan.steps):
        nodes = " + ".join(_title(plan, node) for node in step.nodes)
        lines.append(f"step {turn}, {_fate(step)}: {nodes}")
        for node in step.nodes:
            for output, slot in enumerate(plan.graph.node(node).outputs):
                location = _location_text(plan, Value(node, output))
                if location and slot.tensor is not None:
                    lines.append(f"    {slot.path} {slot.tensor} {location}")
    for number, block in enumerate(plan.blocks):
        span = f"bytes {block.offset:,} to {block.end:,}, steps {block.first_step} to {block.last_step}"
        lines.append(f"block {number}, {span}: {block.name}")
    return "\n".join(lines)


def _title(plan: Plan, node: int) -> str:
    return plan.graph.node(node).title.removeprefix("DML_OPERATOR_").removeprefix("ELEMENT_WISE_")


def _fate(step: Step) -> str:
    return "folded away" if step.folded else "fused" if step.fused else "run"


def _location_text(plan: Plan, value: Value) -> str:
    """The location of a value; empty for an eliminated one."""
    location = plan.locations.get(value)
    match location._asdict() if location is not None else {}:
        case {"position": position}:
            return f"is graph output {position}"
        case {"block": block}:
            return f"is block {block}"
        case {"value": whole}:
            return f"lies in {_title(plan, whole.node)}"
        case {"port": port}:
            return f"is a view into the input of {_title(plan, port.node)}"
    return ""
