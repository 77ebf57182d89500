"""The table of ONNX operators: for each, the function that adds its DirectML operators to a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..graph import Expression
from .values import Array, OnnxValue

if TYPE_CHECKING:
    from .node import OnnxNode

ONNX = ""
MICROSOFT = "com.microsoft"
# An operator's outputs in order; an absent one is None.
Result: TypeAlias = Expression | Array | OnnxValue | None
Results: TypeAlias = Result | Sequence[Result]
Translator: TypeAlias = "Callable[[OnnxNode], Results]"
OPERATORS: dict[tuple[str, str], Translator] = {}


def operator(*names: str, domain: str = ONNX) -> Callable[[Translator], Translator]:
    """Decorator: registers a function for ONNX operators."""

    def add(function: Translator) -> Translator:
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return add


def rows(table: dict[str, Any], make: Callable[..., Translator], domain: str = ONNX) -> None:
    """Registers ``make(row)`` for each row of a table."""
    for name, row in table.items():
        OPERATORS[domain, name] = make(row)
