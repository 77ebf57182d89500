"""Operators by name, with their modules loaded on demand."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..late import loading
from .operator import OPERATORS, SCHEMAS, Operator


@cache
def operator_of(name: str) -> Operator:
    """The operator DML_OPERATOR_``name``. Raises ``KeyError`` if there is none."""
    with loading:
        import_module(f".{SCHEMAS[name].module}", __package__)
    return OPERATORS[name]
