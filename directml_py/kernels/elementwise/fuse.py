"""Program concatenation: what one program stores another loads, without memory in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .ir import FLOAT32, Program
from .trace import Symbol

FLOAT16 = np.dtype(np.float16)


class Stored(NamedTuple):
    """A node as an element of ``dtype`` in memory, which may be less precise than the node."""

    slices_at: int
    dtype: np.dtype[Any]


class Chain:
    """A program concatenated from others; results equal those of the programs run one by one, bit for bit."""

    def __init__(self) -> None:
        self.program = Program()
        self.inputs = 0

    def input(self, dtype: np.dtype[Any]) -> Stored:
        """The next input of the concatenated program."""
        lane = "float32" if dtype.kind == "f" else "bits"
        place = self.program.add("input", lane, bits=self.inputs)
        self.inputs += 1
        return Stored(place, dtype)

    def output(self, value: Stored) -> None:
        self.program.outputs.append(value.slices_at)

    def then(
        self,
        program: Program,
        sources: Sequence[Stored | None],
        inputs: Sequence[np.dtype[Any] | None],
        outputs: Sequence[np.dtype[Any]],
    ) -> list[Stored]:
        """Append ``program``, whose ``inputs`` are ``sources``; returns what it stores in its outputs."""
        nodes, places = program.nodes, {}
        for place in program.needed():
            name, lane, operands, bits = nodes[place]
            if name == "input":
                source, dtype = sources[bits], inputs[bits]
                assert source is not None
                assert dtype is not None
                places[place] = self.loaded(source, dtype)
            else:
                places[place] = self.program.add(
                    name, lane, *(places[operand] for operand in operands), bits=bits
                )
        return [Stored(places[place], dtype) for place, dtype in zip(program.outputs, outputs)]

    def loaded(self, value: Stored, dtype: np.dtype[Any]) -> int:
        """The node that loads a stored value, possibly as another type of the same width."""
        program, (place, own) = self.program, value
        node = program.nodes[place]
        if own == FLOAT16:
            is_round = node.name in ("input", "half_bits") or node.name.startswith("half_float")
            if not is_round:
                place = program.add(f"half_{node.lane}", "float32", place)
            return place if dtype == FLOAT16 else program.add("bits_half", "bits", place)
        if dtype == FLOAT16:
            return program.add("half_bits", "float32", place)
        if own == FLOAT32:
            return place if node.lane != "float64" else program.add("float32_float64", "float32", place)
        return place if dtype.kind == "f" else Symbol(program, place, own).astype(dtype).slices_at
