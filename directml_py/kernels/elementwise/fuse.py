"""Program concatenation: what one program stores another loads, without memory in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .ir import FLOAT32, Program
from .trace import Symbol

FLOAT16 = np.dtype(np.float16)


class Stored(NamedTuple):
    """A node as an element of ``dtype`` in memory, which may be less precise than the node.

    ``lane`` is that in which the node holds the element. The node's own may be another: a selection of bits moves
    floats, and what has loaded them as floats reads the same node.
    """

    node: int
    lane: str
    dtype: np.dtype[Any]


class Chain:
    """A program concatenated from others; results equal those of the programs run one by one, bit for bit."""

    def __init__(self) -> None:
        self.program = Program()
        self.inputs = 0

    def input(self, dtype: np.dtype[Any]) -> Stored:
        """The next input of the concatenated program."""
        lane = "float32" if dtype.kind == "f" else "bits"
        node = self.program.add("input", lane, bits=self.inputs)
        if dtype == FLOAT16:
            self.program.halves.add(node)
        self.inputs += 1
        return Stored(node, lane, dtype)

    def output(self, value: Stored) -> None:
        self.program.outputs.append(value.node)

    def then(
        self,
        program: Program,
        sources: Sequence[Stored | None],
        inputs: Sequence[np.dtype[Any] | None],
        outputs: Sequence[np.dtype[Any]],
    ) -> list[Stored]:
        """Append ``program``, whose ``inputs`` are ``sources``; returns what it stores in its outputs."""
        nodes, node_of = program.nodes, {}
        for number in program.needed():
            name, lane, operands, bits = nodes[number]
            if name == "input":
                source, dtype = sources[bits], inputs[bits]
                assert source is not None
                assert dtype is not None
                node_of[number] = self.loaded(source, dtype)
            else:
                node_of[number] = self.program.add(
                    name, lane, *(node_of[operand] for operand in operands), bits=bits
                )
        return [
            Stored(node_of[number], nodes[number].lane, dtype)
            for number, dtype in zip(program.outputs, outputs)
        ]

    def loaded(self, value: Stored, dtype: np.dtype[Any]) -> int:
        """The node that loads a stored value, possibly as another type of the same width."""
        node, stored_type = self.rounded(value), value.dtype
        if dtype.kind == stored_type.kind == "f":
            return node
        bits = self.program.add("bits_half", "bits", node) if stored_type == FLOAT16 else node
        integer = Symbol(
            self.program,
            bits,
            np.dtype(f"u{stored_type.itemsize}") if stored_type.kind == "f" else stored_type,
        )
        if dtype.kind != "f":
            return integer.astype(dtype).node
        if dtype == FLOAT32:
            return bits
        return self.program.add("half_bits", "float32", integer.astype(np.uint16).node)

    def rounded(self, value: Stored) -> int:
        """The node that holds exactly what is in memory."""
        program, (node, lane, dtype) = self.program, value
        if dtype == FLOAT16:
            if lane != "float32" or not program.is_half(node):
                node = program.add(f"half_{lane}", "float32", node)
            # Known from now on, so that a long chain is not followed again for each of its values.
            program.halves.add(node)
        elif dtype == FLOAT32 and lane == "float64":
            node = program.add("float32_float64", "float32", node)
        return node
