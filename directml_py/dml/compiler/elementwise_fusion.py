"""Element-wise fusion: nodes of a graph that run in one pass, without memory for the values between them.

A node joins the groups of its producers as long as the merged group can run at once: no node outside depends on one
member and is a dependency of another. Each value is rounded to its tensor's type, so that fusion does not change
results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.backend import backend
from ...kernels.elementwise.fuse import Chain, Stored
from ...kernels.elementwise.ir import Program, Untraceable
from ...kernels.elementwise.lower import code_for, program_of
from ...operators import kernel_of
from .graph_desc import Port, Value
from .plan import Fused, Plan, Step

Types = tuple["np.dtype[Any] | None", ...]


class FusiblePart(NamedTuple):
    """A node's own program, its load and store types, and the sizes of its outputs."""

    program: Program
    inputs: Types
    outputs: tuple[np.dtype[Any], ...]
    sizes: tuple[int, ...]


@lru_cache(maxsize=1024)
def part_of(desc: OperatorDesc) -> FusiblePart | None:
    """The fusible part of an operator; None if it is not element-wise."""
    elements = kernel_of(desc).elements
    if elements is None:
        return None
    tensors = [slot.tensor for slot in desc.outputs]
    sizes = {tensor.sizes for tensor in tensors if tensor is not None}
    if len(sizes) != 1 or None in tensors:
        return None
    if any(slot.tensor is not None and slot.tensor.is_nibbles for slot in (*desc.inputs, *desc.outputs)):
        return None
    inputs = tuple(None if slot.tensor is None else elements.dtype(slot.tensor.dtype) for slot in desc.inputs)
    outputs = tuple(elements.dtype(tensor.dtype) for tensor in tensors if tensor is not None)
    program = program_of(elements.function, inputs, outputs)
    return None if isinstance(program, Untraceable) else FusiblePart(program, inputs, outputs, *sizes)


def fuse_elementwise(plan: Plan) -> Plan:
    """Fuse connected element-wise nodes into one program, and eliminate the values that only they read."""
    parts = fusible_parts(plan)
    if len(parts) < 2:
        return plan
    fusion = Fusion(plan, parts)
    steps = fusion.fuse()
    return replace(plan, steps=steps, eliminated=plan.eliminated | fusion.eliminated)


def fusible_parts(plan: Plan) -> dict[int, FusiblePart]:
    """The fusible parts of the plan's nodes that have one."""
    if backend.native is None:
        return {}
    parts = {}
    for step in plan.steps:
        desc = plan.graph.node(step.node).desc
        if desc is None or step.moves is not None:
            continue
        part = part_of(desc)
        if part is not None and plan.flow.may_run_with_others(desc):
            parts[step.node] = part
    return parts


@dataclass(eq=False)
class Group:
    """Nodes that run together, what they need outside, and of all dependencies those that none may be fused with.

    ``start`` is the position of the first node.
    """

    nodes: set[int]
    needs: set[int]
    barred: set[int]
    start: int


class Starts:
    """For each position, the earliest start of the groups that have a node there or later: a Fenwick tree."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._least = [count] * (count + 1)

    def add(self, position: int, start: int) -> None:
        node = self._count - position
        while node <= self._count:
            self._least[node] = min(self._least[node], start)
            node += node & -node

    def horizon(self, position: int) -> int:
        """The latest position up to ``position`` such that no group has nodes both there or later and before it."""
        while True:
            start, node = position, self._count - position
            while node:
                start = min(start, self._least[node])
                node -= node & -node
            if start == position:
                return position
            position = start


class Fusion:
    """The groups of nodes that run together, and the values that therefore need no memory."""

    def __init__(self, plan: Plan, parts: dict[int, FusiblePart]) -> None:
        self.plan = plan
        self.graph = plan.graph
        self.steps = {step.node: step for step in plan.steps}
        self.order = list(self.steps)
        self.positions = {node: position for position, node in enumerate(self.order)}
        self.parts = parts
        # The value that an executed node writes, by the origin that all its aliases share.
        self.writers = {
            plan.origin(value): value
            for node, part in self.parts.items()
            for value in (Value(node, output) for output in range(len(part.outputs)))
        }
        # The values that a node reads from another element by element, in that one's layout.
        self.linked: dict[Port, Value] = {}
        self.links: dict[int, set[int]] = {}
        # The dependencies of a node that it cannot be fused with, and all its dependencies.
        self.barred: dict[int, set[int]] = {}
        self.needs: dict[int, set[int]] = {}
        self._find_needs()
        self.readers = self._readers()
        self.groups: dict[int, Group] = {}
        self.starts = Starts(len(self.order))
        self.eliminated: set[Value] = set()

    def fuse(self) -> list[Step]:
        """The steps, with one for each group of fused nodes."""
        for node in self.parts:
            self._join(node)
        sets = [
            part
            for group in dict.fromkeys(self.groups.values())
            for part in self._cut(sorted(group.nodes, key=self.positions.__getitem__))
        ]
        return self._ordered(sets)

    def _find_needs(self) -> None:
        """Find dependencies, looking through folded steps."""
        feeders: dict[int, set[int]] = {}
        for node, step in self.steps.items():
            links, barred = set[int](), set[int]()
            for port, source in self.plan.flow.fed[node]:
                written = self.writers.get(self.plan.origin(source))
                if written is not None and self._is_element_by_element(written, source, port):
                    self.linked[port] = written
                    links.add(written.node)
                else:
                    barred |= feeders[source.node]
            self.links[node], self.barred[node], self.needs[node] = links, barred, links | barred
            feeders[node] = barred | links if step.folded else {node}

    def _is_element_by_element(self, written: Value, source: Value, port: Port) -> bool:
        if port.node not in self.parts or self.parts[port.node].sizes != self.parts[written.node].sizes:
            return False
        return self.plan.flow.is_read_as_written(source, port)

    def _readers(self) -> dict[Value, list[Port]]:
        """The ports that read a value, by its origin; ports of folded steps count for the values that lie in it."""
        readers: dict[Value, list[Port]] = {}
        for node, step in self.steps.items():
            for port, source in self.plan.flow.fed[node]:
                origin = self.plan.origin(source)
                if not step.folded or self.plan.origin(Value(node, 0)) != origin:
                    readers.setdefault(origin, []).append(port)
        return readers

    def _join(self, node: int) -> None:
        group = Group({node}, set(self.needs[node]), set(self.barred[node]), self.positions[node])
        for link in sorted(self.links[node], key=self.positions.__getitem__, reverse=True):
            if link not in group.nodes and self._may_run_at_once(group, self.groups[link]):
                group = self._union(group, self.groups[link])
        self.groups[node] = group
        self.starts.add(self.positions[node], group.start)

    def _union(self, one: Group, other: Group) -> Group:
        """Both groups, in the larger, so that no node is moved often."""
        small, large = sorted((one, other), key=lambda group: len(group.nodes))
        small.needs = small.needs - large.nodes
        large.needs -= small.nodes
        large.nodes |= small.nodes
        large.needs |= small.needs
        large.barred |= small.barred
        large.start = min(small.start, large.start)
        self.groups.update(dict.fromkeys(small.nodes, large))
        return large

    def _may_run_at_once(self, group: Group, other: Group) -> bool:
        """Whether no node outside two groups lies between them. ``group`` is the one with the newest node."""
        if group.barred & other.nodes or other.barred & group.nodes:
            return False
        # Nothing depends on a node that is new and alone.
        pending = [*group.needs, *(other.needs if len(group.nodes) > 1 else ())]
        horizon = self.starts.horizon(min(group.start, other.start))
        visited: set[int | Group] = set()
        while pending:
            node = pending.pop()
            together = self.groups.get(node, node)
            if (
                together is other
                or node in group.nodes
                or together in visited
                or self.positions[node] < horizon
            ):
                continue
            visited.add(together)
            needs = together.needs if isinstance(together, Group) else self.needs[node]
            if needs & group.nodes or needs & other.nodes:
                return False
            pending += needs
        return True

    def _cut(self, nodes: list[int]) -> list[Step]:
        """One step for all ``nodes``, or several if they are too many for one program."""
        if len(nodes) == 1:
            return [self.steps[nodes[0]]]
        inside = set(nodes)
        stored = {value: None for value in self._written(nodes) if self._is_stored(value, inside)}
        fused = self._fused(nodes, stored)
        if fused is None:
            half = len(nodes) // 2
            return self._cut(nodes[:half]) + self._cut(nodes[half:])
        self.eliminated |= {self.plan.origin(value) for value in self._written(nodes) if value not in stored}
        steps = [self.steps[node] for node in nodes]
        return [
            Step(
                nodes[-1],
                " + ".join(step.name for step in steps if step.name),
                " + ".join(step.operator for step in steps),
                copies=[copy for step in steps for copy in step.copies],
                nodes=tuple(nodes),
                fused=fused,
            )
        ]

    def _written(self, nodes: Iterable[int]) -> list[Value]:
        return [Value(node, output) for node in nodes for output in range(len(self.parts[node].outputs))]

    def _is_stored(self, value: Value, nodes: set[int]) -> bool:
        origin = self.plan.origin(value)
        if origin in self.plan.locations or origin in self.plan.flow.graph_outputs:
            return True
        return any(port.node not in nodes for port in self.readers.get(origin, ()))

    def _fused(self, nodes: Sequence[int], stored: Collection[Value]) -> Fused | None:
        chain, values = Chain(), dict[Value, Stored]()
        loaded: dict[Any, Stored] = {}
        inputs: list[tuple[Port, np.dtype[Any]]] = []
        for node in nodes:
            part = self.parts[node]
            sources: list[Stored | None] = [None] * len(part.inputs)
            for port, source in self.plan.flow.inputs_of(node):
                dtype, written = part.inputs[port.input], self.linked.get(port)
                assert dtype is not None
                if written in values:
                    sources[port.input] = values[written]
                    continue
                key = source, self.graph.input_tensor(port), dtype
                if key not in loaded:
                    loaded[key] = chain.input(dtype)
                    inputs.append((port, dtype))
                sources[port.input] = loaded[key]
            results = chain.then(part.program, sources, part.inputs, part.outputs)
            values.update((Value(node, output), stored_value) for output, stored_value in enumerate(results))
        for value in stored:
            chain.output(values[value])
        code = code_for(chain.program)
        if isinstance(code, str):
            return None
        return Fused(code, inputs, [(value, values[value].dtype) for value in stored])

    def _ordered(self, sets: Sequence[Step]) -> list[Step]:
        """The steps in topological order, each at the position of its last node if possible."""
        covered = {node for step in sets for node in step.nodes}
        steps = [*sets, *(step for node, step in self.steps.items() if node not in covered)]
        step_of = {node: number for number, step in enumerate(steps) for node in step.nodes}
        waiting: list[set[int]] = []
        followers: list[list[int]] = [[] for _ in steps]
        for number, step in enumerate(steps):
            needs = {step_of[need] for node in step.nodes if not step.folded for need in self.needs[node]}
            waiting.append(needs - {number})
            for need in waiting[number]:
                followers[need].append(number)
        ready = [
            (self.positions[step.node], number) for number, step in enumerate(steps) if not waiting[number]
        ]
        heapify(ready)
        ordered: list[Step] = []
        while ready:
            _, number = heappop(ready)
            ordered.append(steps[number])
            for follower in followers[number]:
                waiting[follower].discard(number)
                if not waiting[follower]:
                    heappush(ready, (self.positions[steps[follower].node], follower))
        return ordered
