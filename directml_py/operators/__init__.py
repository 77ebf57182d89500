"""The operators, one module or package per family: rules, shape inference and arithmetic."""

from .operator import (
    SCHEMAS,
    Kernel,
    Move,
    Operator,
    accepts_of,
    operator_of,
    post_op_of,
    schema_named,
)
from .validate import check, check_inputs, checked, every_rule, kernel_of

__all__ = [
    "SCHEMAS",
    "Kernel",
    "Move",
    "Operator",
    "accepts_of",
    "check",
    "check_inputs",
    "checked",
    "every_rule",
    "kernel_of",
    "operator_of",
    "post_op_of",
    "schema_named",
]
