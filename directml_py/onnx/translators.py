"""The table of ONNX operators: for each, the function that adds its DirectML operators to a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..graph import Expression
from .values import Array, OnnxValue, Sizes

if TYPE_CHECKING:
    from .node import OnnxNode

ONNX = ""
MICROSOFT = "com.microsoft"
# An operator's outputs in order; an absent one is None.
Result: TypeAlias = Expression | Array | OnnxValue | None
Results: TypeAlias = Result | Sequence[Result]
Translator: TypeAlias = "Callable[[OnnxNode], Results]"
OPERATORS: dict[tuple[str, str], Translator] = {}
# The types and sizes of an operator's outputs, in order.
Outputs: TypeAlias = "Callable[[OnnxNode], Sequence[tuple[np.dtype[Any], Sizes] | None]]"
OUTPUTS: dict[tuple[str, str], Outputs] = {}


def operator(*names: str, domain: str = ONNX) -> Callable[[Translator], Translator]:
    """Decorator: registers a function for ONNX operators."""

    def add(function: Translator) -> Translator:
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return add


def outputs(*names: str, domain: str = ONNX) -> Callable[[Outputs], Outputs]:
    """Decorator: registers a function for the types and sizes of outputs that ONNX's schemas do not infer."""

    def add(function: Outputs) -> Outputs:
        for name in names:
            OUTPUTS[domain, name] = function
        return function

    return add


def rows(table: dict[str, Any], make: Callable[..., Translator], domain: str = ONNX) -> None:
    """Registers ``make(row)`` for each row of a table."""
    for name, row in table.items():
        OPERATORS[domain, name] = make(row)
