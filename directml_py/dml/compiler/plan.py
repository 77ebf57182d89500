"""The execution plan of a graph: its steps, the location of each value, and elided copies.

``planner`` builds a plan in passes, each of which takes a plan and returns another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ...operators.operator import Slices
from .data_flow import DataFlow
from .graph_desc import GraphDesc, GraphInput, Port, Value
from .memory_planner import TemporaryBlock
from .plan_step import Step
from .plan_text import headline, plan_text
from .prepacked import PackedInputs


class OutputRoot(NamedTuple):
    """The memory bound for a graph output."""

    position: int


class BlockRoot(NamedTuple):
    """A block of the temporary resource, by its index."""

    block: int


class PartOf(NamedTuple):
    """A view into another value."""

    value: Value
    place: Slices


class PartOfInput(NamedTuple):
    """A view into a node's source: a graph input or a constant."""

    port: Port
    place: Slices


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
        return all(self.flow.is_seen_alike(value, port) for port in self.flow.consumers.get(value, ()))

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
        return location.value if isinstance(location, PartOf) and not location.place else None


def _end(value: Value, following: Callable[[Value], Value | None], found: dict[Value, Value]) -> Value:
    """The end of a chain of values.

    What is ``found`` is kept, as many chains may have the same end. Locations are only ever added, so that a chain can
    become longer, and the search goes on from there.
    """
    passed = []
    while (after := found.get(value) or following(value)) is not None:
        passed.append(value)
        value = after
    found.update(dict.fromkeys(passed, value))
    return value
