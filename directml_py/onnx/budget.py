"""Limits of what is computed while a model is loaded, so that no small model takes all memory or never loads.

What counts is what is computed: constants are not, however large.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .errors import OnnxError, Refusal
from .protobuf import subgraphs

# Functions that call functions, and graphs in graphs. Readers of models are recursive.
MOST_DEPTH = 100


class Limits(NamedTuple):
    """What loading a model may compute: ``bytes`` of arrays, all of them together, and ``steps``.

    A step is a node that is translated or evaluated, each time, a round of a loop, or as much work.
    """

    bytes: int = 1 << 30
    steps: int = 1 << 16


class Budget:
    """What is left of ``limits`` while one model is loaded."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.bytes, self.steps = self.limits
        # Whether something was refused.
        self.is_exceeded = False

    def has(self, count: int) -> bool:
        """Whether an array of ``count`` bytes may be made."""
        return count <= self.bytes

    def check(self, count: int) -> None:
        """Raises ``Refusal`` unless an array of ``count`` bytes may be made."""
        if not self.has(count):
            self.is_exceeded = True
            most, taken = self.limits.bytes, self.limits.bytes - self.bytes
            raise Refusal(
                f"needs an array of {count} bytes; loading a model may make {most} bytes of arrays in all, of which "
                f"{taken} are taken (limits)"
            )

    def take_bytes(self, count: int) -> None:
        """Account for an array that is about to be made. Raises ``Refusal``."""
        self.check(count)
        self.bytes -= count

    def take_steps(self, count: int) -> None:
        """Account for work that is about to be done. Raises ``Refusal``."""
        if count > self.steps:
            self.is_exceeded = True
            # What comes after it is no less work.
            self.steps = 0
            raise Refusal(
                f"takes more than the {self.limits.steps} steps that loading a model may take (limits)"
            )
        self.steps -= count


def check_calls(model: Any, limits: Limits, file: str) -> None:
    """Raises ``OnnxError`` for nodes that call so many local functions that their copies would exceed ``limits``.

    A call is a step, too, of a function that has no nodes. Functions that call each other in circles are left to the
    checker.
    """
    functions = {(item.domain, item.name): item for item in model.functions}
    # The nodes of functions with all that they call, and the bytes of these nodes.
    totals: dict[tuple[str, str], tuple[int, int]] = {}

    def called(key: tuple[str, str], depth: int) -> tuple[int, int]:
        if key not in totals:
            if depth > MOST_DEPTH:
                raise Refusal(f"calls functions more than {MOST_DEPTH} deep, {key[1]!r} among them")
            totals[key] = 0, 0
            parts = [copied(node, depth) for node in with_inner(functions[key].node)]
            totals[key] = max(1, sum(count for count, _ in parts)), sum(size for _, size in parts)
        return totals[key]

    def copied(node: Any, depth: int) -> tuple[int, int]:
        key = node.domain, node.op_type
        return called(key, depth + 1) if key in functions else (1, node.ByteSize())

    budget = Budget(limits)
    for node in with_inner(model.graph.node) if functions else ():
        try:
            count, size = copied(node, 0)
            budget.take_steps(count)
            if count > 1:
                budget.take_bytes(size)
        except Refusal as error:
            name = node.name or next(filter(None, node.output), node.op_type)
            raise OnnxError(error.reason, file, f"node {name!r} ({node.op_type})") from None


def with_inner(nodes: Any) -> Iterator[Any]:
    """The nodes and those of their subgraphs."""
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from with_inner(graph.node)
