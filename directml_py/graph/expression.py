"""Expressions: the values that a graph's operators take and return."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..api.enums import DML_TENSOR_DATA_TYPE_UINT8
from ..descs.tensor import TensorDesc
from ..late import loading
from .nodes import FromInput, Source

if TYPE_CHECKING:
    from .directmlx.objects import TensorDesc as TensorStruct
    from .graph import Graph


@dataclass(frozen=True, repr=False, eq=False)
class Expression:
    """A value of a graph, viewed as the tensor ``desc``.

    Python's operators are element-wise, as in DirectMLX: ``a + b``, ``a - b``, ``a * b``, ``a / b``, ``a % b``
    (MODULUS_TRUNCATE), ``a ** b``, ``abs(a)``; bitwise ``a & b``, ``a | b``, ``a ^ b``, ``~a``, ``a << b``, ``a >> b``;
    and the comparisons, whose results are UINT8 tensors. With a number the first four are an identity with a scale and
    a bias, or a reciprocal, and ``a ** 2`` is CONSTANT_POW; the others take no numbers. Arrays raise ``TypeError``:
    ``graph.constant`` makes an expression of one. C++'s ``!a``, ``a && b`` and
    ``a || b`` are the graph's ``logical_not``, ``logical_and`` and ``logical_or``.
    """

    # NumPy would otherwise make an array of one expression per element.
    __array_ufunc__: ClassVar[None] = None

    graph: Graph
    source: Source
    desc: TensorDesc

    @property
    def name(self) -> str:
        """The name of the graph input or of the node, with an output index if the node has several outputs."""
        if isinstance(self.source, FromInput):
            return self.graph.inputs[self.source.position].name
        node = self.graph.nodes[self.source.node]
        return node.name if len(node.outputs) == 1 else f"{node.name}[{self.source.output}]"

    def GetOutputDesc(self) -> TensorStruct:
        """``desc`` with DirectMLX's names, ``sizes`` as a list that the caller may change."""
        with loading:
            from .directmlx.objects import output_desc
        return output_desc(self)

    def __repr__(self) -> str:
        return f"<Expression {self.name}: {self.desc}>"

    def __add__(self, other: Expression | float) -> Expression:
        return self._binary("add", other, 1, other)

    __radd__ = __add__

    def __sub__(self, other: Expression | float) -> Expression:
        return self._binary("subtract", other, 1, -other if _is_number(other) else other)

    def __rsub__(self, other: float) -> Expression:
        return self._scaled(-1, other)

    def __mul__(self, other: Expression | float) -> Expression:
        return self._binary("multiply", other, other, 0)

    __rmul__ = __mul__

    def __truediv__(self, other: Expression | float) -> Expression:
        return self._binary("divide", other, 1 / other if _is_number(other) else other, 0)

    def __rtruediv__(self, other: float) -> Expression:
        if not _is_number(other):
            return _not_an_operand(other)  # type: ignore[no-any-return]
        return self.graph.recip(self, scale_bias=(1 / other if other else math.inf, 0))

    def __mod__(self, other: Expression) -> Expression:
        return self._of_two("modulus_truncate", other)

    def __pow__(self, other: Expression | float) -> Expression:
        if isinstance(other, Expression):
            return self.graph.pow(self, other)
        if not _is_number(other):
            return _not_an_operand(other)  # type: ignore[no-any-return]
        return self.graph.constant_pow(self, exponent=other)

    def __abs__(self) -> Expression:
        return self.graph.abs(self)

    def __and__(self, other: Expression) -> Expression:
        return self._of_two("bit_and", other)

    def __or__(self, other: Expression) -> Expression:
        return self._of_two("bit_or", other)

    def __xor__(self, other: Expression) -> Expression:
        return self._of_two("bit_xor", other)

    def __lshift__(self, other: Expression) -> Expression:
        return self._of_two("bit_shift_left", other)

    def __rshift__(self, other: Expression) -> Expression:
        return self._of_two("bit_shift_right", other)

    def __invert__(self) -> Expression:
        return self.graph.bit_not(self)

    def __lt__(self, other: Expression) -> Expression:
        return self._compared("less_than", other)

    def __le__(self, other: Expression) -> Expression:
        return self._compared("less_than_or_equal", other)

    def __gt__(self, other: Expression) -> Expression:
        return self._compared("greater_than", other)

    def __ge__(self, other: Expression) -> Expression:
        return self._compared("greater_than_or_equal", other)

    def __eq__(self, other: Any) -> Expression:  # type: ignore[override]
        if _is_number(other) or isinstance(other, bool):
            # Python would otherwise evaluate the comparison to False.
            raise TypeError(
                f"an Expression is compared with expressions, not with {other!r}; graph.constant makes one"
            )
        return self._compared("equals", other)

    def __ne__(self, other: Any) -> Expression:  # type: ignore[override]
        equal = self == other
        return self.graph.logical_not(equal) if isinstance(equal, Expression) else NotImplemented

    # As == adds a node, expressions are hashed by identity.
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(
            "an Expression is neither true nor false before the graph runs; graph.if_, logical_not, logical_and and "
            "logical_or choose among elements"
        )

    def __neg__(self) -> Expression:
        return self._scaled(-1, 0)

    def __pos__(self) -> Expression:
        return self._scaled(1, 0)

    def _of_two(self, name: str, other: Any, **choices: Any) -> Expression:
        if not isinstance(other, Expression):
            return _not_an_operand(other)  # type: ignore[no-any-return]
        result: Expression = getattr(self.graph, name)(self, other, **choices)
        return result

    def _compared(self, name: str, other: Any) -> Expression:
        return self._of_two(f"logical_{name}", other, output_data_type=DML_TENSOR_DATA_TYPE_UINT8)

    def _binary(self, name: str, other: Any, scale: Any, bias: Any) -> Expression:
        return self._of_two(name, other) if isinstance(other, Expression) else self._scaled(scale, bias)

    def _scaled(self, scale: Any, bias: Any) -> Expression:
        if not (_is_number(scale) and _is_number(bias)):
            return _not_an_operand(bias if _is_number(scale) else scale)  # type: ignore[no-any-return]
        return self.graph.element_wise_identity(self, scale_bias=(float(scale), float(bias)))


def _not_an_operand(other: Any) -> Any:
    """``NotImplemented``, for which Python asks the other operand. Raises ``TypeError`` for an array."""
    if isinstance(other, np.ndarray):
        raise TypeError(
            "an Expression is combined with expressions and numbers, not with an array; graph.constant(array) makes "
            "an expression of the same sizes and data type"
        )
    return NotImplemented


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
