"""Expressions of a graph, fused activations, and results with several outputs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..descs.build import build_operator_desc
from ..descs.operator_desc import OperatorDesc
from ..graph import expression as graph
from ..operators import SCHEMAS
from .enumerations import OperatorType
from .pybind_arguments import checked
from .tensor_data import TensorDesc

if TYPE_CHECKING:
    from typing_extensions import Self

Operation = Callable[[Any, Any], Any]


def _operand(value: Any, numbers: bool) -> Any:
    """The second operand as the graph builder takes it; None for an unsupported type."""
    if isinstance(value, Expression):
        return value.value
    return float(value) if numbers and isinstance(value, (int, float, np.integer, np.floating)) else None


def _giving(function: Operation, numbers: bool = True) -> Callable[[Expression, Any], Any]:
    """A method that returns a new expression."""

    def method(self: Expression, other: Any) -> Any:
        operand = _operand(other, numbers)
        return NotImplemented if operand is None else type(self).of(function(self.value, operand))

    return method


def _changing(function: Operation, numbers: bool = True) -> Callable[[Expression, Any], Any]:
    """An in-place method, which rebinds the object to the result."""

    def method(self: Expression, other: Any) -> Any:
        operand = _operand(other, numbers)
        if operand is None:
            return NotImplemented
        self._value = function(self.value, operand)
        return self

    return method


def _swapped(function: Operation) -> Operation:
    return lambda left, right: function(right, left)


class Expression:
    """A value of a graph. ``Expression()`` is empty and stands for an output that was not requested.

    With an expression, ``+ - * / %`` are ADD, SUBTRACT, MULTIPLY, DIVIDE and MODULUS_TRUNCATE; with a number, IDENTITY
    with a scale and a bias, or RECIP. Using an empty expression raises ``TypeError``, where Microsoft's build crashes.
    """

    def __init__(self) -> None:
        self._value: graph.Expression | None = None

    @classmethod
    def of(cls, value: graph.Expression | None) -> Self:
        expression = cls()
        expression._value = value
        return expression

    @property
    def value(self) -> graph.Expression:
        if self._value is None:
            raise TypeError("the Expression is empty")
        return self._value

    def __bool__(self) -> bool:
        """Whether it is not empty."""
        return self._value is not None

    def get_output_desc(self) -> TensorDesc:
        return TensorDesc.of(self.value.desc)

    __add__, __radd__ = _giving(operator.add), _giving(_swapped(operator.add))
    __sub__, __rsub__ = _giving(operator.sub), _giving(_swapped(operator.sub))
    __mul__, __rmul__ = _giving(operator.mul), _giving(_swapped(operator.mul))
    __truediv__, __rtruediv__ = _giving(operator.truediv), _giving(_swapped(operator.truediv))
    __mod__ = _giving(operator.mod, numbers=False)

    def __neg__(self) -> Expression:
        return type(self).of(self.value.graph.negate(self.value))


class MutableExpression(Expression):
    """Microsoft's expressions: ``+=`` and the like rebind the object itself. The fork's have no such forms."""

    __iadd__, __isub__, __imul__ = _changing(operator.add), _changing(operator.sub), _changing(operator.mul)
    __itruediv__, __imod__ = _changing(operator.truediv), _changing(operator.mod, numbers=False)


# What messages call it.
MutableExpression.__name__ = "Expression"


class FusedActivation:
    """An activation that an operator applies to its result; none if it is ``OperatorType.INVALID``.

    ``param_1`` and ``param_2`` are the activation's attributes, in desc order. Raises ``TypeError`` for an operator
    with attributes other than numbers.
    """

    @checked
    def __init__(self, activation: OperatorType, param_1: float = 0, param_2: float = 0) -> None:
        self.desc: OperatorDesc | None = None
        if activation.name != OperatorType.INVALID.name:
            self.desc = _activation(activation, [param_1, param_2])


def _activation(activation: OperatorType, parameters: list[float]) -> OperatorDesc:
    schema = SCHEMAS.get(activation.name)
    if schema is None:
        raise TypeError(f"FusedActivation(): activation is {activation!r}, which is not an operator")
    attributes = [entry for entry in schema.struct.fields if not entry.is_tensor]
    if any(entry.kind != "float" for entry in attributes):
        raise TypeError(f"FusedActivation(): {activation.name} cannot be fused")
    return build_operator_desc(schema, {entry.name: value for entry, value in zip(attributes, parameters)})


class MaxPoolingOutputs:
    """``indices`` is empty if it was not requested."""

    @checked
    def __init__(self, values: Expression, indices: Expression, /) -> None:
        self.values = values
        self.indices = indices

    def __iter__(self) -> Iterator[Expression | None]:
        """As the fork's tuples, with None for an output that was not requested."""
        return iter([one if one else None for one in (self.values, self.indices)])


class GRUOutputs:
    """Outputs that were not requested are empty."""

    @checked
    def __init__(self, sequence: Expression, single: Expression, /) -> None:
        self.sequence = sequence
        self.single = single

    def __iter__(self) -> Iterator[Expression | None]:
        return iter([one if one else None for one in (self.sequence, self.single)])
