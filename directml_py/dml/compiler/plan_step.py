"""What a compiled graph does at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...kernels.elementwise.lower import Code
from ...operators.operator import Kernel, Move
from .graph_desc import Port, Value


class Fused(NamedTuple):
    """What several nodes run as, and the types in which it sees the ports that it loads and the values it stores."""

    code: Code
    inputs: Sequence[tuple[Port, np.dtype[Any]]]
    outputs: Sequence[tuple[Value, np.dtype[Any]]]


@dataclass
class Step:
    """A node's turn, or that of several ``nodes`` that are ``fused`` or have a ``kernel`` together; then ``node`` is
    the last of them, and names and operators are joined by " + ". ``folded``: nothing is left to do, all that it moves
    is in place already."""

    node: int
    name: str
    operator: str
    folded: bool = False
    moves: list[Move] | None = None
    scratch: int | None = None
    # Graph outputs that this step's outputs are copied to, beside the one that each lies in.
    copies: list[tuple[Value, int]] = field(default_factory=list)
    nodes: tuple[int, ...] = ()
    fused: Fused | None = None
    kernel: Kernel | None = None

    def __post_init__(self) -> None:
        self.nodes = self.nodes or (self.node,)
