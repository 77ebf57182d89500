"""A case of WebNN as a graph of DirectML's operators, and the register of its operators.

An operator is a function of a ``Lowering``, its arguments in WebNN's order and, by keyword, the members of its options
in Python's spelling; it returns a value, or a list of them. Values are packed, and a scalar is a tensor of one element.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml
from directml_py.graph import Graph
from directml_py.graph.expression import Expression

from .cases import DTYPES, Call, WebnnCase, WebnnOperand

Shape = tuple[int, ...]
Operator = Callable[..., Any]
OPERATORS: dict[str, Operator] = {}
DATA_TYPES = {name: dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name.upper()}"] for name in DTYPES}


class NotLowered(Exception):
    """There is no lowering of an operator, or of one of its options."""


class Lowered(NamedTuple):
    x: Expression
    shape: Shape

    @property
    def data_type(self) -> int:
        return int(self.x.desc.data_type)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.x.desc.dtype


class Lowering:
    """Builds the graph of one case; ``values`` are its operands so far by name."""

    def __init__(self, case: WebnnCase) -> None:
        self.graph = Graph()
        self.values = {name: self._operand(name, operand) for name, operand in case.inputs.items()}
        for call in case.calls:
            self._add(call)
        self.outputs = {name: self._computed(self.values[name]) for name in case.outputs}

    def _operand(self, name: str, operand: WebnnOperand) -> Lowered:
        shape = operand.array.shape
        # Graph.constant takes NumPy's types alone.
        if operand.is_constant and not operand.data_type.endswith("int4"):
            return Lowered(self.graph.constant(operand.array.reshape(shape or (1,))), shape)
        x = self.graph.input_tensor(name, DATA_TYPES[operand.data_type], shape or (1,))
        return Lowered(x, shape)

    def _add(self, call: Call) -> None:
        function = OPERATORS.get(call.name)
        if function is None:
            raise NotLowered(f"no lowering of {call.name}")
        options = {_snake_case(name): self._resolved(value) for name, value in call.options.items()}
        options.pop("label", None)
        if unknown := options.keys() - known_options(function):
            raise NotLowered(f"no lowering of {call.name}'s {', '.join(sorted(unknown))}")
        arguments = list(map(self._resolved, call.arguments))
        for argument in arguments:
            if isinstance(argument, str) and argument not in DTYPES:
                raise NotLowered(f"{call.name} has no operand {argument!r}")
        try:
            inspect.signature(function, follow_wrapped=False).bind(self, *arguments, **options)
        except TypeError as error:
            # Once some operators had other arguments.
            raise NotLowered(f"{call.name}: {error}") from None
        results = function(self, *arguments, **options)
        listed = results if isinstance(results, list) else [results]
        self.values.update(zip(call.outputs, listed))

    def _resolved(self, argument: Any) -> Any:
        if isinstance(argument, str):
            return self.values.get(argument, argument)
        if isinstance(argument, list):
            return [self._resolved(one) for one in argument]
        return argument

    def _computed(self, value: Lowered) -> Lowered:
        """The value as a node's output, which a graph's output must be."""
        return self.copied(value.x, value.shape)

    def copied(self, view: Expression, shape: Shape) -> Lowered:
        """A packed copy of a strided view."""
        if view.desc.data_type in (dml.DML_TENSOR_DATA_TYPE_INT4, dml.DML_TENSOR_DATA_TYPE_UINT4):
            return Lowered(view, shape)
        return Lowered(self.graph.identity(view), shape)

    def view(self, value: Lowered, shape: Sequence[int]) -> Lowered:
        """The same elements in another shape."""
        return Lowered(self.graph.reinterpret(value.x, sizes=tuple(shape) or (1,)), tuple(shape))

    def spread(self, value: Lowered, shape: Sequence[int]) -> Expression:
        """The value broadcast to a shape, by strides of 0."""
        padded = (1,) * (len(shape) - len(value.shape)) + value.shape
        strides = [0 if size == 1 else stride for size, stride in zip(padded, packed_strides(padded))]
        return self.graph.reinterpret(value.x, sizes=tuple(shape) or (1,), strides=strides or (0,))

    def permuted(self, value: Lowered, order: Sequence[int]) -> Expression:
        """A view with the dimensions in another order."""
        strides = packed_strides(value.shape)
        return self.graph.reinterpret(
            value.x, sizes=[value.shape[axis] for axis in order], strides=[strides[axis] for axis in order]
        )

    def filled(self, like: Lowered, shape: Shape, number: float) -> Lowered:
        return Lowered(self.graph.constant(np.full(shape or (1,), number, like.dtype)), shape)


def known_options(function: Operator) -> Set[str]:
    """The names of a function's parameters; of all that a cell's takes, those of the network's of one step."""
    return inspect.signature(inspect.unwrap(function)).parameters.keys()


def lower(case: WebnnCase) -> Lowering:
    """The graph of a case. Raises ``NotLowered``, and ``DMLError`` where an operator does not take the tensors."""
    return Lowering(case)


def packed_strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def broadcast(*values: Lowered) -> Shape:
    return tuple(map(int, np.broadcast_shapes(*(value.shape for value in values))))


def shape_of(x: Expression) -> Shape:
    return tuple(x.desc.sizes)


def operator(*names: str) -> Callable[[Operator], Operator]:
    def register(function: Operator) -> Operator:
        OPERATORS.update(dict.fromkeys(names, function))
        return function

    return register


def _snake_case(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
