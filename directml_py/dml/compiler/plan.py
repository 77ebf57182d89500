"""The execution plan of a graph: its steps, the location of each value, and elided copies.

``planner`` builds a plan in passes, each of which takes a plan and returns another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...kernels.elementwise.lower import Code
from ...kernels.post_ops import Activation, Normalization, Sum
from ...operators.operator import Move, Slices
from ...text.plural import counted_words
from .data_flow import DataFlow
from .graph_desc import GraphDesc, GraphInput, Port, Value
from .memory_planner import TemporaryBlock
from .prepacked import PackedInputs


class Fused(NamedTuple):
    """The program of several nodes, with the types of the ports that it loads and the values that it stores; and as a
    post-operation the ``role`` of its operators."""

    code: Code
    inputs: Sequence[tuple[Port, np.dtype[Any]]]
    outputs: Sequence[tuple[Value, np.dtype[Any]]]
    role: Activation | Sum | None = None


class Normalized(NamedTuple):
    """The batch norm of a ``node`` as a post-operation."""

    node: int
    role: Normalization


@dataclass
class Step:
    """The execution of a node, or of several ``nodes`` that are ``fused``, of which ``node`` is the last one, or that
    follow ``node`` as ``post_ops`` of its kernel; names and operators are joined by " + ". A ``folded`` step has
    nothing left to do: its copies are elided."""

    node: int
    name: str
    operator: str
    folded: bool = False
    moves: list[Move] | None = None
    scratch: int | None = None
    # Graph outputs that this step's outputs are copied to, in addition to the one that each lies in.
    copies: list[tuple[Value, int]] = field(default_factory=list)
    nodes: tuple[int, ...] = ()
    fused: Fused | None = None
    post_ops: tuple[Normalized | Fused, ...] = ()

    def __post_init__(self) -> None:
        self.nodes = self.nodes or (self.node,)


class OutputRoot(NamedTuple):
    """The memory bound for a graph output."""

    position: int


class BlockRoot(NamedTuple):
    """A block of the temporary resource, by its index."""

    block: int


class PartOf(NamedTuple):
    """A view into another value."""

    value: Value
    slices: Slices


class PartOfInput(NamedTuple):
    """A view into a node's source: a graph input or a constant."""

    port: Port
    slices: Slices


Location = OutputRoot | BlockRoot | PartOf | PartOfInput


@dataclass(frozen=True, repr=False)
class Plan:
    """An execution plan. ``eliminated`` are values that are never in memory. ``blocks`` lie in the temporary resource,
    which has ``temporary_size`` bytes. ``str`` gives the plan as text."""

    flow: DataFlow
    packed: PackedInputs
    steps: list[Step]
    locations: dict[Value, Location]
    eliminated: frozenset[Value] = frozenset()
    blocks: list[TemporaryBlock] = field(default_factory=list)
    temporary_size: int = 0
    _origins: dict[Value, Value] = field(default_factory=dict, init=False)
    _roots: dict[Value, Value] = field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        return f"<Plan: {headline(self)}>"

    def __str__(self) -> str:
        return plan_text(self)

    @property
    def graph(self) -> GraphDesc:
        return self.flow.graph

    @property
    def sources(self) -> dict[Port, Value | GraphInput]:
        return self.flow.sources

    def is_free(self, value: Value) -> bool:
        """Whether a value may be placed anywhere: not a graph output, and read by all in its producer's layout."""
        tensor = self.graph.output_tensor(value)
        if tensor is None or value in self.flow.graph_outputs or value in self.locations or tensor.is_nibbles:
            return False
        return all(self.flow.is_read_as_written(value, port) for port in self.flow.consumers.get(value, ()))

    def origin(self, value: Value) -> Value:
        """The value that ``value`` is an alias of, through eliminated identities."""
        return _end(value, self._aliased, self._origins)

    def root(self, value: Value) -> Value | None:
        """The value whose memory ``value`` lies in; None for a view into a graph input or constant."""
        end = _end(value, self.whole, self._roots)
        return None if isinstance(self.locations.get(end), PartOfInput) else end

    def whole(self, value: Value) -> Value | None:
        """The value that ``value`` is a view into; None if it is none, or one into a graph input or constant."""
        location = self.locations.get(value)
        if isinstance(location, PartOf):
            return location.value
        if isinstance(location, PartOfInput):
            source = self.sources[location.port]
            if isinstance(source, Value) and self.graph.output_tensor(source) is not None:
                return source
        return None

    def _aliased(self, value: Value) -> Value | None:
        location = self.locations.get(value)
        return location.value if isinstance(location, PartOf) and not location.slices else None


def _end(value: Value, following: Callable[[Value], Value | None], found: dict[Value, Value]) -> Value:
    """The end of a chain of values.

    What is ``found`` is kept, as many chains may have the same end. Locations are only ever added, so that a chain can
    become longer, and the search goes on from there.
    """
    passed = []
    while (after := found.get(value) or following(value)) is not None:
        passed.append(value)
        value = after
    if passed:
        found.update(dict.fromkeys(passed, value))
    return value


def headline(plan: Plan) -> str:
    """A one-line summary: step counts and temporary memory."""
    fates = [_fate(step) for step in plan.steps]
    counts = [f"{fates.count(fate)} {fate}" for fate in ("run", "fused", "folded away") if fate in fates]
    steps = f"{counted_words(len(plan.steps), 'step')} ({', '.join(counts)})"
    return f"{steps}, {plan.temporary_size:,} bytes of temporary memory"


def plan_text(plan: Plan) -> str:
    lines = [headline(plan)]
    for index, step in enumerate(plan.steps):
        nodes = " + ".join(_title(plan, node) for node in step.nodes)
        lines.append(f"step {index}, {_fate(step)}: {nodes}")
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
