"""Copy elision: data movement that becomes views.

An output of a SPLIT or an identity can be a view into its input; the producer of a JOIN's or an identity's input can
write it straight into the output. Both require that every consumer reads the value in its producer's layout: one that
reinterprets the bytes needs them where its desc puts them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .graph_desc import Port, Value
from .plan import PartOf, PartOfInput, Plan, Step


def view_inputs(plan: Plan) -> Plan:
    """Make outputs that are slices of an input views into it."""
    plan = _copied(plan)
    for step in plan.steps:
        _view_inputs(plan, step)
    return plan


def write_in_place(plan: Plan) -> Plan:
    """Let producers write straight to the destination that a later step would copy their values to."""
    plan = _copied(plan)
    for step in reversed(plan.steps):
        _write_in_place(plan, step)
    for step in plan.steps:
        if step.moves is not None:
            step.folded = not step.moves and not step.copies
    return plan


def _copied(plan: Plan) -> Plan:
    """A copy of the plan with locations, and steps of data movement, that a pass may change."""
    steps = [step if step.moves is None else replace(step, moves=list(step.moves)) for step in plan.steps]
    return replace(plan, steps=steps, locations=dict(plan.locations))


def _view_inputs(plan: Plan, step: Step) -> None:
    if not step.moves:
        return
    per_output = Counter(move.output for move in step.moves)
    for move in list(step.moves):
        value = Value(step.node, move.output)
        if per_output[move.output] > 1 or move.output_slices or not plan.is_free(value):
            continue
        port = Port(step.node, move.input)
        source = plan.sources[port]
        tensor = plan.graph.output_tensor(source) if isinstance(source, Value) else None
        if (
            isinstance(source, Value)
            and tensor is not None
            and tensor.is_same_view(plan.graph.input_tensor(port))
        ):
            plan.locations[value] = PartOf(source, move.input_slices)
        else:
            # Works for a reinterpretation too: this is a view of the port, over the bytes of the source.
            plan.locations[value] = PartOfInput(port, move.input_slices)
        step.moves.remove(move)


def _write_in_place(plan: Plan, step: Step) -> None:
    if not step.moves:
        return
    sources = {move.input: plan.sources[Port(step.node, move.input)] for move in step.moves}
    origins = {
        index: plan.origin(source) if isinstance(source, Value) else source
        for index, source in sources.items()
    }
    per_source = Counter(origins.values())
    for move in list(step.moves):
        source = origins[move.input]
        if not isinstance(source, Value) or move.input_slices or per_source[source] > 1:
            continue
        if plan.is_free(source):
            plan.locations[source] = PartOf(Value(step.node, move.output), move.output_slices)
            step.moves.remove(move)
