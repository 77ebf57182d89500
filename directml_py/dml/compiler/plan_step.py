"""The steps of a compiled graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...kernels.elementwise.lower import Code
from ...operators.operator import Kernel, Move
from .graph_desc import Port, Value


class Fused(NamedTuple):
    """The program of several nodes, with the types of the ports that it loads and the values that it stores."""

    code: Code
    inputs: Sequence[tuple[Port, np.dtype[Any]]]
    outputs: Sequence[tuple[Value, np.dtype[Any]]]


@dataclass
class Step:
    """The execution of a node, or of several ``nodes`` that are ``fused`` or share a ``kernel``; then ``node`` is the
    last of them, and names and operators are joined by " + ". More of ``nodes`` may follow, as the ``epilogue`` of the
    kernel. A ``folded`` step has nothing left to do: its copies are elided."""

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
    kernel: Kernel | None = None
    epilogue: Fused | None = None

    def __post_init__(self) -> None:
        self.nodes = self.nodes or (self.node,)
