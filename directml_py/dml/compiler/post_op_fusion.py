"""Post-op fusion: a batch norm and element-wise steps that run over what another step stores, before it leaves that
one's registers or a cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ...descs.operator_desc import OperatorDesc
from ...kernels.backend import backend
from ...kernels.elementwise.fuse import Chain
from ...kernels.elementwise.lower import Code, code_for
from ...kernels.post_ops import IDENTITY, Activation, Normalization, Sum
from ...operators import accepts_of, post_op_of
from .elementwise_fusion import part_of
from .graph_desc import Port, Value
from .plan import Fused, Normalized, PartOf, Plan, Step


class Following(NamedTuple):
    """What another step does with ``value``, which it alone reads, and replaces by ``result``."""

    value: Value
    result: Value
    post_op: Normalized | Fused


def fuse_post_ops(plan: Plan) -> Plan:
    """Join steps whose kernels take post-operations with the only readers of their results, if these are such.

    Both are done at the position of the second; the first stores its results where those of the second will be.
    """
    if backend.native is None:
        return plan
    # By the value that the step stores, whose node is where the step stands.
    firsts = {Value(step.node, 0): step for step in plan.steps if _takes_post_ops(plan, step)}
    joined: dict[int, Step] = {}
    gone: set[int] = set()
    locations = dict(plan.locations)
    for step in plan.steps:
        following = _find_following(plan, step, firsts)
        if following is None:
            continue
        first = firsts.pop(following.value)
        gone.add(following.value.node)
        locations[following.value] = PartOf(following.result, ())
        joined[step.node] = replace(
            first,
            name=" + ".join(one.name for one in (first, step) if one.name),
            operator=f"{first.operator} + {step.operator}",
            nodes=(*first.nodes, *step.nodes),
            copies=step.copies,
            post_ops=(*first.post_ops, following.post_op),
        )
        if isinstance(following.post_op, Normalized) and _has_free_result(plan, step):
            firsts[following.result] = joined[step.node]
    steps = [joined.get(step.node, step) for step in plan.steps if step.node not in gone]
    return replace(plan, steps=steps, locations=locations)


def _takes_post_ops(plan: Plan, step: Step) -> bool:
    desc = plan.graph.node(step.node).desc
    if desc is None or step.moves is not None or step.fused is not None or not _has_free_result(plan, step):
        return False
    return accepts_of(desc) is not None and plan.flow.may_run_with_others(desc)


def _has_free_result(plan: Plan, step: Step) -> bool:
    """Whether a step has a single result, which nobody needs in memory but its readers."""
    is_single = len(plan.graph.node(step.node).outputs) == 1
    return is_single and not step.copies and plan.is_free(Value(step.node, 0))


def _find_following(plan: Plan, step: Step, firsts: Mapping[Value, Step]) -> Following | None:
    """What ``step`` does with the last of the values of ``firsts`` that only it reads, and replaces."""
    if not any(source in firsts for node in step.nodes for _, source in plan.flow.fed[node]):
        return None
    program = step.fused or _program_alone(plan, step)
    if program is None:
        return _find_normalized(plan, step, firsts)
    values = {plan.sources[port]: None for port, _ in program.inputs}
    for value in reversed(list(values)):
        if not isinstance(value, Value) or value not in firsts:
            continue
        if any(port.node not in step.nodes for port in plan.flow.consumers[value]):
            continue
        for result in _results_like(plan, program, value):
            return Following(value, result, program._replace(role=_role(plan, step)))
    return None


def _find_normalized(plan: Plan, step: Step, firsts: Mapping[Value, Step]) -> Following | None:
    """The batch norm of a value that nobody else reads, by a kernel that has it in registers."""
    desc, value = plan.graph.node(step.node).desc, plan.sources.get(Port(step.node, 0))
    if desc is None or not isinstance(value, Value) or value not in firsts:
        return None
    role, first = post_op_of(desc), firsts[value]
    if not isinstance(role, Normalization) or len(plan.flow.consumers[value]) > 1 or first.post_ops:
        return None
    producer = plan.graph.node(first.node).desc
    assert producer is not None
    accepts = accepts_of(producer)
    if accepts is None or not accepts.normalizes or not plan.flow.may_run_with_others(desc):
        return None
    return Following(value, Value(step.node, 0), Normalized(step.node, role))


def _role(plan: Plan, step: Step) -> Activation | Sum | None:
    """What the program of an element-wise step is, by its operators, to a kernel that need not run it."""
    descs = [plan.graph.node(node).desc for node in step.nodes]
    roles = [None if desc is None else post_op_of(desc) for desc in descs]
    match roles:
        case [(Activation() | Sum()) as role]:
            return role
        case [Sum(before), Activation() as after] if before == IDENTITY:
            return Sum(after)
    return None


def _results_like(plan: Plan, program: Fused, value: Value) -> Iterator[Value]:
    """The values of a program that may lie where ``value`` does, in whole planes as kernels store them."""
    tensor = plan.graph.output_tensor(value)
    for result, _ in program.outputs:
        other, location = plan.graph.output_tensor(result), plan.locations.get(result)
        is_plane = not isinstance(location, PartOf) or all(
            part == slice(None) for part in location.slices[2:]
        )
        if tensor is not None and other is not None and tensor.is_same_view(other) and is_plane:
            yield result


def _program_alone(plan: Plan, step: Step) -> Fused | None:
    """The program of an element-wise operator by itself."""
    desc = plan.graph.node(step.node).desc
    if step.moves is not None or desc is None or not plan.flow.may_run_with_others(desc):
        return None
    part, code = part_of(desc), _code_of(desc)
    if part is None or code is None:
        return None
    inputs = [
        (Port(step.node, number), dtype) for number, dtype in enumerate(part.inputs) if dtype is not None
    ]
    return Fused(
        code, inputs, [(Value(step.node, number), dtype) for number, dtype in enumerate(part.outputs)]
    )


@lru_cache(maxsize=256)
def _code_of(desc: OperatorDesc) -> Code | None:
    """The code of an element-wise operator, over those of its inputs that are there."""
    part = part_of(desc)
    if part is None:
        return None
    chain = Chain()
    sources = [None if dtype is None else chain.input(dtype) for dtype in part.inputs]
    for result in chain.then(part.program, sources, part.inputs, part.outputs):
        chain.output(result)
    code = code_for(chain.program)
    return None if isinstance(code, str) else code
