"""Operators by name, with their modules loaded on demand."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..abi.schema import OperatorSchema
from ..late import loading
from ..text.similar import did_you_mean
from .operator import OPERATORS, SCHEMAS, Operator

PREFIX = "DML_OPERATOR_"


@cache
def operator_of(name: str) -> Operator:
    """The operator DML_OPERATOR_``name``. Raises ``KeyError`` if there is none."""
    with loading:
        import_module(f".{SCHEMAS[name].module}", __package__)
    return OPERATORS[name]


def schema_named(name: str) -> OperatorSchema:
    """The operator ``GEMM``, ``gemm`` or ``DML_OPERATOR_GEMM``. Raises ``ValueError``, with a similar name."""
    short = name.upper().removeprefix(PREFIX)
    schema = SCHEMAS.get(short)
    if schema is None:
        raise ValueError(f"there is no operator {PREFIX}{short}{did_you_mean(short, SCHEMAS)}")
    return schema
