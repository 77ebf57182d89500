"""Epilogue fusion: element-wise steps that run over each block of what another step stores, while it is in a cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.backend import backend
from ...kernels.elementwise.fuse import Chain
from ...kernels.elementwise.lower import Code, code_for
from ...operators import fused_kernel_of, operator_of
from .elementwise_fusion import part_of
from .graph_desc import Port, Value
from .plan import Fused, PartOf, Plan, Step


class Pair(NamedTuple):
    """A step whose ``value`` the ``program`` of another reads and replaces by ``result``, of the same layout."""

    first: Step
    value: Value
    result: Value
    program: Fused


def fuse_epilogues(plan: Plan) -> Plan:
    """Join steps of operators that have epilogues with the only readers of their results, if these are element-wise.

    Both are done at the position of the second; the first stores its results where those of the second will be.
    """
    if backend.native is None:
        return plan
    firsts = {step.node: step for step in plan.steps if _has_epilogue(plan, step)}
    joined: dict[int, Step] = {}
    locations = dict(plan.locations)
    for step in plan.steps:
        pair = _find_pair(plan, step, firsts)
        if pair is None:
            continue
        first = firsts.pop(pair.first.node)
        locations[pair.value] = PartOf(pair.result, ())
        joined[step.node] = replace(
            first,
            name=" + ".join(one.name for one in (first, step) if one.name),
            operator=f"{first.operator} + {step.operator}",
            nodes=(*first.nodes, *step.nodes),
            copies=step.copies,
            epilogue=pair.program,
        )
    gone = {step.node for step in joined.values()}
    steps = [joined.get(step.node, step) for step in plan.steps if step.node not in gone]
    return replace(plan, steps=steps, locations=locations)


def _has_epilogue(plan: Plan, step: Step) -> bool:
    """Whether a step has a single result, of an operator with epilogues, that nobody needs in memory but its reader."""
    if step.moves is not None or step.fused is not None or step.copies:
        return False
    descs = [plan.graph.node(node).desc for node in step.nodes]
    if descs[0] is None or not operator_of(descs[0].name).has_epilogue:
        return False
    is_single = len(plan.graph.node(step.node).outputs) == 1 and plan.is_free(Value(step.node, 0))
    return is_single and all(map(plan.flow.may_run_with_others, descs))


def _find_pair(plan: Plan, step: Step, firsts: Mapping[int, Step]) -> Pair | None:
    """The last of ``firsts`` whose result only ``step`` reads, and replaces."""
    if not any(
        isinstance(source, Value) and source.node in firsts
        for node in step.nodes
        for _, source in plan.flow.inputs_of(node)
    ):
        return None
    program = step.fused or _own_program(plan, step)
    if program is None:
        return None
    values = {plan.sources[port]: None for port, _ in program.inputs}
    for value in reversed(list(values)):
        if not isinstance(value, Value) or value.node not in firsts:
            continue
        if any(port.node not in step.nodes for port in plan.flow.consumers[value]):
            continue
        for result in _results_like(plan, program, value):
            return Pair(firsts[value.node], value, result, program)
    return None


def _results_like(plan: Plan, program: Fused, value: Value) -> Iterator[Value]:
    """The values of a program that may lie where ``value`` does, in whole planes as kernels store them."""
    tensor = plan.graph.output_tensor(value)
    for result, _ in program.outputs:
        own, location = plan.graph.output_tensor(result), plan.locations.get(result)
        is_plane = not isinstance(location, PartOf) or all(part == slice(None) for part in location.place[2:])
        if tensor is not None and own is not None and tensor.is_same_view(own) and is_plane:
            yield result


def _own_program(plan: Plan, step: Step) -> Fused | None:
    """The program of an element-wise operator by itself."""
    desc = plan.graph.node(step.node).desc
    if step.moves is not None or desc is None or not plan.flow.may_run_with_others(desc):
        return None
    made = _program_of(desc)
    if made is None:
        return None
    inputs = [
        (Port(step.node, position), dtype) for position, dtype in enumerate(made.inputs) if dtype is not None
    ]
    return Fused(
        made.code, inputs, [(Value(step.node, output), dtype) for output, dtype in enumerate(made.outputs)]
    )


class OwnProgram(NamedTuple):
    """A program, the types of an operator's inputs (None for absent ones), and those of its outputs."""

    code: Code
    inputs: Sequence[np.dtype[Any] | None]
    outputs: Sequence[np.dtype[Any]]


@lru_cache(maxsize=256)
def _program_of(desc: OperatorDesc) -> OwnProgram | None:
    part = part_of(desc)
    if part is None:
        return None
    chain = Chain()
    sources = [None if dtype is None else chain.input(dtype) for dtype in part.inputs]
    results = chain.then(part.program, sources, part.inputs, part.outputs)
    for result in results:
        chain.output(result)
    code = code_for(chain.program)
    if isinstance(code, str):
        return None
    return OwnProgram(code, part.inputs, [result.dtype for result in results])


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
