"""Einsum: each pair of operands becomes one matrix product, between transposes and sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_letters
from typing import NamedTuple

from ..api.enums import DML_REDUCE_FUNCTION_SUM
from ..descs.tensor_size import packed_strides
from ..graph import Expression
from .errors import Refusal
from .matrices import multiplied, ranked
from .node import OnnxNode
from .translators import Results, Rows, operator, outputs
from .values import tensor_sizes


class EinsumTerm(NamedTuple):
    """A packed tensor with a letter for each dimension."""

    x: Expression
    letters: str
    sizes: tuple[int, ...]

    def size(self, letters: str) -> tuple[int, ...]:
        return tuple(self.sizes[self.letters.index(letter)] for letter in letters)


class Einsum:
    """One equation on the inputs of one node."""

    def __init__(self, node: OnnxNode) -> None:
        self.node = node
        text = node.get("equation").replace(" ", "")
        left, arrow, right = text.partition("->")
        terms = left.split(",")
        if len(terms) != len(node.inputs):
            raise Refusal(f"has {len(terms)} terms for {len(node.inputs)} inputs", "attribute equation")
        unused = [letter for letter in ascii_letters if letter not in text]
        longest = max(
            (
                len(node.shape(index)) - len(term.replace("...", ""))
                for index, term in enumerate(terms)
                if "..." in term
            ),
            default=0,
        )
        self.rest = "".join(unused[:longest])
        self.terms = [self._spelled(index, term) for index, term in enumerate(terms)]
        self.extents: dict[str, int] = {}
        for index, term in enumerate(self.terms):
            for letter, size in zip(term, node.shape(index)):
                self.extents[letter] = self.extents.get(letter, 1) if size == 1 else size
        if arrow:
            self.result = right.replace("...", self.rest)
        else:
            joined = "".join(self.terms)
            once = sorted(letter for letter in set(joined) - set(self.rest) if joined.count(letter) == 1)
            self.result = self.rest + "".join(once)
        if not set(self.result) <= set("".join(self.terms)):
            raise Refusal(f"is {text!r}, whose result has letters of no input", "attribute equation")

    def _spelled(self, index: int, term: str) -> str:
        rank = len(self.node.shape(index))
        count = rank - len(term.replace("...", ""))
        spelled = term.replace("...", self.rest[len(self.rest) - count :])
        if len(spelled) != rank:
            raise Refusal(f"has {term!r} for {rank} dimensions", "attribute equation")
        return spelled

    def run(self) -> Expression:
        operands = [self._diagonal(index, term) for index, term in enumerate(self.terms)]
        whole = operands[0]
        for index, operand in enumerate(operands[1:], 1):
            later = set("".join(self.terms[index + 1 :])) | set(self.result)
            whole = self._pair(whole, operand, later)
        if len(operands) == 1:
            whole = self._summed(whole, set(self.result))
        return self._ordered(whole, self.result).x

    def _diagonal(self, index: int, term: str) -> EinsumTerm:
        """The input with repeated letters merged into one dimension: a diagonal is a view with summed strides."""
        x, shape = self.node.tensor(index), self.node.shape(index)
        letters = "".join(dict.fromkeys(term))
        sizes = tuple(
            max(size for size, repeated in zip(shape, term) if repeated == letter) for letter in letters
        )
        if letters == term:
            return self._without_ones(EinsumTerm(x, letters, shape))
        strides = packed_strides(shape)
        added = [
            sum(stride for stride, repeated in zip(strides, term) if repeated == letter) for letter in letters
        ]
        view = self.node.graph.reinterpret(x, sizes=sizes, strides=added)
        return self._without_ones(EinsumTerm(self.node.packed(view), letters, sizes))

    def _without_ones(self, operand: EinsumTerm) -> EinsumTerm:
        """``operand`` without the dimensions of 1 that broadcast to those of other operands."""
        kept = [
            (letter, size)
            for letter, size in zip(operand.letters, operand.sizes)
            if size > 1 or self.extents[letter] == 1
        ]
        if len(kept) == len(operand.letters):
            return operand
        sizes = tuple(size for _, size in kept)
        x = self.node.graph.reinterpret(operand.x, sizes=tensor_sizes(sizes))
        return EinsumTerm(x, "".join(letter for letter, _ in kept), sizes)

    def _summed(self, operand: EinsumTerm, kept: set[str]) -> EinsumTerm:
        axes = [axis for axis, letter in enumerate(operand.letters) if letter not in kept]
        if not axes:
            return operand
        x = self.node.graph.reduce(
            self.node.graph.reinterpret(operand.x, sizes=operand.sizes),
            function=DML_REDUCE_FUNCTION_SUM,
            axes=axes,
            output_data_type=operand.x.desc.data_type,
        )
        letters = "".join(letter for letter in operand.letters if letter in kept)
        return EinsumTerm(x, letters, operand.size(letters))

    def _ordered(self, operand: EinsumTerm, letters: str) -> EinsumTerm:
        order = [operand.letters.index(letter) for letter in letters]
        if order == list(range(len(order))):
            return operand
        x = self.node.graph.reinterpret(operand.x, sizes=operand.sizes)
        return EinsumTerm(self.node.transposed(x, operand.sizes, order), letters, operand.size(letters))

    def _pair(self, a: EinsumTerm, b: EinsumTerm, later: set[str]) -> EinsumTerm:
        a, b = self._summed(a, later | set(b.letters)), self._summed(b, later | set(a.letters))
        shared = [letter for letter in a.letters if letter in b.letters]
        batch = "".join(letter for letter in shared if letter in later)
        inner = "".join(letter for letter in shared if letter not in later)
        if a.size(batch + inner) != b.size(batch + inner):
            raise Refusal("has a letter with two sizes", "attribute equation")
        rows, columns = (
            "".join(letter for letter in factor.letters if letter not in shared) for factor in (a, b)
        )
        left, right = self._ordered(a, batch + rows + inner), self._ordered(b, batch + inner + columns)
        count, height, depth, width = map(
            math.prod, (a.size(batch), a.size(rows), a.size(inner), b.size(columns))
        )
        product = multiplied(
            self.node,
            self._as(left.x, (count, height, depth)),
            self._as(right.x, (count, depth, width)),
        )
        sizes = a.size(batch) + a.size(rows) + b.size(columns)
        return EinsumTerm(product, batch + rows + columns, sizes)

    def _as(self, x: Expression, sizes: Sequence[int]) -> Expression:
        return self.node.graph.reinterpret(x, sizes=ranked(self.node, sizes))


@outputs("Einsum")
def summed(node: OnnxNode) -> Rows:
    """ONNX infers sizes without broadcasting."""
    equation = Einsum(node)
    return [(node.input().dtype, tuple(equation.extents[letter] for letter in equation.result))]


@operator("Einsum")
def einsum(node: OnnxNode) -> Results:
    return Einsum(node).run()
