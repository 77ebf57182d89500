"""The IR of element-wise functions.

A program is a list of nodes, each of which refers to earlier ones, so that programs can be concatenated. Lanes are
FLOAT32, FLOAT64, and 32 bits for integers and for truth values, which have all bits set or none; steps are those of
``native/elementwise/opcodes.h``, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
# Steps whose FLOAT32 result equals the rounded FLOAT64 result if operands are FLOAT32: those that select or drop
# digits, ...
CHOOSING = (
    *("fmin", "fmax", "signed_fmin", "signed_fmax", "minimum", "maximum"),
    *("absolute", "negative", "copysign"),
)
WHOLE = ("floor", "ceil", "trunc", "rint")
# ... and those for which FLOAT64 has more than twice as many digits.
ARITHMETIC = ("add", "subtract", "multiply", "divide", "sqrt")
FUNCTIONS = ("exp", "expm1", "log", "tanh", "sigmoid", "softplus", "erf", "gelu", "sin", "cos", "power")
COMPARISONS = ("less", "less_equal", "equal", "not_equal")


class Untraceable(Exception):
    """A function does something that a program cannot express."""


class Node(NamedTuple):
    """``name`` is that of a step, ``input``, or ``constant``; ``bits`` are those of a constant, or an input's
    number."""

    name: str
    lane: str
    operands: tuple[int, ...] = ()
    bits: int = 0


class Program:
    """Nodes, and for each output the node that is stored to it."""

    def __init__(self, nodes: Iterable[Node] = (), outputs: Iterable[int] = ()) -> None:
        self.nodes = list(nodes)
        self.numbers = {node: number for number, node in enumerate(self.nodes)}
        self.outputs = list(outputs)
        self.halves: set[int] = set()
        """Nodes in a FLOAT32 lane that are known to be FLOAT16: inputs, and what was stored and loaded as such."""

    def add(self, name: str, lane: str, *operands: int, bits: int = 0) -> int:
        """The index of a node, which is added if it does not exist yet."""
        node = Node(name, lane, operands, bits)
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[node]

    def constant(self, value: Any, dtype: np.dtype[Any]) -> int:
        kept = np.asarray(value).astype(dtype)
        lane = dtype.name if dtype.kind == "f" else "bits"
        if dtype.kind == "b":
            return self.add("constant", lane, bits=0xFFFFFFFF if kept else 0)
        if dtype.kind == "f":
            return self.add("constant", lane, bits=int(kept.view(f"u{dtype.itemsize}")))
        return self.add("constant", lane, bits=int(kept) & 0xFFFFFFFF)

    def compared(self, name: str, lane: str, *operands: int) -> int:
        narrow = [self.exact(operand) for operand in operands] if lane == "float64" else [None]
        if None not in narrow:
            return self.add(f"{name}_float32", "bits", *narrow)
        return self.add(f"{name}_{lane}", "bits", *operands)

    def exact(self, number: int) -> int | None:
        """A FLOAT64 node as FLOAT32, if that is exact; else None."""
        node = self.nodes[number]
        if node.name == "float64_float32":
            return node.operands[0]
        if node.name == "constant":
            value = np.array(node.bits, np.uint64).view(FLOAT64)
            with np.errstate(all="ignore"):
                narrow = value.astype(FLOAT32)
            # NaN compares unequal to itself, so it is never narrowed.
            return self.constant(narrow, FLOAT32) if narrow == value else None
        function = node.name.removesuffix("_float64")
        if function in CHOOSING or function in WHOLE or function == "where":
            return self.narrowed(node, [self.exact(operand) for operand in values_of(node)])
        return None

    def rounded(self, number: int, is_half: bool) -> int | None:
        """A FLOAT64 node rounded to FLOAT32 once, computed without the FLOAT64 node; None if that is impossible.

        If ``is_half``, for FLOAT16: the value that is rounded to FLOAT32 first must be exact, or of a function with
        inexact results, or of operands that FLOAT16 represents, as FLOAT32 has more than twice as many digits (Figueroa
        1995, "When is double rounding innocuous?").
        """
        float32_node = self.exact(number)
        if float32_node is not None:
            return float32_node
        node = self.nodes[number]
        function = node.name.removesuffix("_float64")
        if function in CHOOSING or function == "where":
            return self.narrowed(node, [self.rounded(operand, is_half) for operand in values_of(node)])
        operands = [self.exact(operand) for operand in node.operands]
        is_once = function in ARITHMETIC and (not is_half or all(map(self.is_half, operands)))
        if function in FUNCTIONS or is_once:
            float32_node = self.narrowed(node, operands)
        if float32_node is None and function == "add":
            float32_node = self.multiplied_and_added(
                node, "multiply_add_odd" if is_half else "multiply_add_float32"
            )
        return float32_node

    def is_half(self, number: int | None) -> bool:
        """Whether FLOAT16 represents a FLOAT32 node exactly."""
        if number is None:
            return False
        node = self.nodes[number]
        if number in self.halves or node.name.startswith("half_"):
            return True
        if node.name == "constant":
            value = np.array(node.bits, np.uint32).view(FLOAT32)
            with np.errstate(all="ignore"):
                return bool(value.astype(np.float16) == value)
        return node.name.removesuffix("_float32") in CHOOSING and all(map(self.is_half, node.operands))

    def multiplied_and_added(self, node: Node, name: str) -> int | None:
        for first, second in (node.operands, node.operands[::-1]):
            product = self.nodes[first]
            if product.name == "multiply_float64":
                parts = [self.exact(operand) for operand in (*product.operands, second)]
                if None not in parts:
                    return self.add(name, "float32", *[operand for operand in parts if operand is not None])
        return None

    def narrowed(self, node: Node, values: Sequence[int | None]) -> int | None:
        """The FLOAT32 version of a FLOAT64 node, over FLOAT32 ``values``."""
        operands = [operand for operand in values if operand is not None]
        if len(operands) < len(values):
            return None
        if node.name == "where_float64":
            return self.add("where_bits", "float32", node.operands[0], *operands)
        return self.add(node.name.replace("float64", "float32"), "float32", *operands)

    def needed(self) -> list[int]:
        """The indices of the nodes that outputs depend on, in order."""
        marked = set(self.outputs)
        for number in reversed(range(len(self.nodes))):
            if number in marked:
                marked.update(self.nodes[number].operands)
        return sorted(marked)


def values_of(node: Node) -> tuple[int, ...]:
    """The operands that the result is computed from, without a condition."""
    return node.operands[1:] if node.name.startswith("where") else node.operands
