"""The values that operators of a graph take and give."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..descs.tensor import TensorDesc
from .nodes import FromInput, Source

if TYPE_CHECKING:
    from .graph import Graph


@dataclass(frozen=True, repr=False)
class Expression:
    """A value of a graph, seen as the tensor ``desc``.

    ``a + b``, ``a - b``, ``a * b``, ``a / b`` and ``a % b`` (MODULUS_TRUNCATE) are the element-wise operators; with a
    number the first four are an identity with a scale and a bias, or a reciprocal, as in DirectMLX.
    """

    graph: Graph
    source: Source
    desc: TensorDesc

    @property
    def name(self) -> str:
        """The name of the graph input or of the node; behind a node with several outputs, which one it is."""
        if isinstance(self.source, FromInput):
            return self.graph.inputs[self.source.position].name
        node = self.graph.nodes[self.source.node]
        return node.name if len(node.outputs) == 1 else f"{node.name}[{self.source.output}]"

    def __repr__(self) -> str:
        return f"<Expression {self.name}: {self.desc}>"

    def __add__(self, other: Any) -> Any:
        return self._binary("add", other, 1, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._binary("subtract", other, 1, -other if _is_number(other) else other)

    def __rsub__(self, other: Any) -> Any:
        return self._scaled(-1, other)

    def __mul__(self, other: Any) -> Any:
        return self._binary("multiply", other, other, 0)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._binary("divide", other, 1 / other if _is_number(other) else other, 0)

    def __rtruediv__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        return self.graph.recip(self, scale_bias=(1 / other if other else math.inf, 0))

    def __mod__(self, other: Any) -> Any:
        return self.graph.modulus_truncate(self, other) if isinstance(other, Expression) else NotImplemented

    def __neg__(self) -> Any:
        return self._scaled(-1, 0)

    def __pos__(self) -> Any:
        return self._scaled(1, 0)

    def _binary(self, name: str, other: Any, scale: Any, bias: Any) -> Any:
        if isinstance(other, Expression):
            return getattr(self.graph, name)(self, other)
        return self._scaled(scale, bias)

    def _scaled(self, scale: Any, bias: Any) -> Any:
        if not (_is_number(scale) and _is_number(bias)):
            return NotImplemented
        return self.graph.element_wise_identity(self, scale_bias=(scale, bias))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
