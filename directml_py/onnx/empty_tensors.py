"""Nodes with empty inputs whose outputs have elements.

A tensor without elements has no counterpart in DirectML, whose sizes are at least 1. It is a constant, as the host knows
all of its elements; so an operator whose outputs are empty needs no rule, nor one whose inputs are all known. For the
others this table says what the outputs are, or which inputs the translator is given instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .errors import Refusal
from .node import OnnxNode
from .translators import MICROSOFT, ONNX, Result
from .values import Array, OnnxValue, known

# A rule returns the outputs, or None for the translator to go on with the inputs that the rule has changed.
Rule = Callable[[OnnxNode], "list[Result] | None"]
RULES: dict[tuple[str, str], Rule] = {}


def rule(*names: str, domain: str = ONNX) -> Callable[[Rule], Rule]:
    """Decorator: registers what becomes of operators with an empty input."""

    def add(function: Rule) -> Rule:
        for name in names:
            RULES[domain, name] = function
        return function

    return add


def without_elements(node: OnnxNode, domain: str) -> list[Result] | None:
    """The outputs of a node with an empty input, if there is a rule that says them."""
    own = RULES.get((domain, node.kind))
    if own is None or all(value is None or value.size or value.items is not None for value in node.inputs):
        return None
    return own(node)


def lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def highest(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def zero(dtype: np.dtype[Any]) -> Any:
    return 0


def one(dtype: np.dtype[Any]) -> Any:
    return 1


# What reductions return for no elements. ONNX Runtime's average is 0.
OF_NOTHING: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "ReduceL1": zero,
    "ReduceL2": zero,
    "ReduceLogSum": lowest,
    "ReduceLogSumExp": lowest,
    "ReduceMax": lowest,
    "ReduceMean": zero,
    "ReduceMin": highest,
    "ReduceProd": one,
    "ReduceSum": zero,
    "ReduceSumSquare": zero,
}


def filled(node: OnnxNode, value: Any = 0, index: int = 0) -> Array:
    """An output whose elements all have one value."""
    dtype, shape = node.inferred[node.outputs[index]]
    return np.full(shape, value, dtype)


@rule(*OF_NOTHING)
def reduced(node: OnnxNode) -> list[Result]:
    dtype = node.input().dtype
    if dtype == np.bool_:
        raise Refusal("has no elements; booleans have no least and no greatest", "input data")
    return [filled(node, OF_NOTHING[node.kind](dtype))]
