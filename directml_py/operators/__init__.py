"""The operators that execute: one module per family, its rules and its kernel."""

from . import arg, gather, identity, join, reduce, split
from .operator import OPERATORS, Kernel, Operator, check, kernel_of

__all__ = [
    "OPERATORS",
    "Kernel",
    "Operator",
    "arg",
    "check",
    "gather",
    "identity",
    "join",
    "kernel_of",
    "reduce",
    "split",
]
