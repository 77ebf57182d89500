"""Debug-layer warnings about elements for which the formulas of Microsoft's library lose precision or range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..abi.rules import Rule
from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc
from ..kernels.half import widened
from ..kernels.native_arrays import Array
from ..text.plural import counted_words
from ..validation.report import Report
from .operator import Compute, Inputs, operator_rule

# From the result and the operands: whether each element is lost.
IsLost = Callable[..., Array]


class Loss(NamedTuple):
    """A numeric-loss warning; ``words`` describe one lost element and several."""

    rule: Rule
    field: str
    words: tuple[str, str]
    is_lost: IsLost


def arcsinh_is_lost(result: Array, x: Array) -> Array:
    return np.isfinite(x) & ~np.isfinite(result)


def power_is_lost(result: Array, x: Array, exponent: Array) -> Array:
    """Whether the result is NaN where C's ``pow`` gives a number."""
    lost: Array = np.isnan(result) & ~np.isnan(np.power(x.astype(np.float64), exponent.astype(np.float64)))
    return lost


def remainder_is_lost(result: Array, a: Array, b: Array) -> Array:
    """Whether the remainder is not between 0 and the divisor: the quotient has more digits than a float."""
    lost: Array = np.isfinite(a) & (b != 0) & ~np.isnan(b) & ~(np.abs(result) <= np.abs(b))
    return lost


def rounding_is_lost(result: Array, x: Array) -> Array:
    return np.isfinite(x) & (np.abs(result.astype(np.float64) - x) > 0.5)


def shift_is_lost(result: Array, x: Array, count: Array) -> Array:
    return count >= 8 * x.dtype.itemsize


def _losses(
    names: str, rule: str, text: str, field: str, words: tuple[str, str], is_lost: IsLost
) -> dict[str, Loss]:
    return {
        f"ELEMENT_WISE_{name}": Loss(
            operator_rule(f"ELEMENT_WISE_{name}", rule, text, debug=True), field, words, is_lost
        )
        for name in names.split()
    }


LOSSES: dict[str, Loss] = {
    **_losses(
        "ASINH",
        "cancellation",
        "x + sqrt(x^2 + 1) is in the range of FLOAT32, and is not 0",
        "InputTensor",
        ("element too large for x + sqrt(x^2 + 1)", "elements too large for x + sqrt(x^2 + 1)"),
        arcsinh_is_lost,
    ),
    **_losses(
        "POW CONSTANT_POW",
        "indeterminate",
        "No power is indeterminate: 0 or infinity with exponent 0, or 1 with an infinite exponent",
        "InputTensor",
        ("element whose power is indeterminate", "elements whose powers are indeterminate"),
        power_is_lost,
    ),
    **_losses(
        "MODULUS_TRUNCATE MODULUS_FLOOR",
        "quotient",
        "FLOAT32 represents the integer part of the quotient exactly",
        "ATensor",
        ("element too large for a remainder", "elements too large for remainders"),
        remainder_is_lost,
    ),
    **_losses(
        "ROUND",
        "halves",
        "FLOAT32 represents |x| + 0.5 exactly",
        "InputTensor",
        ("element that is not rounded to the nearest", "elements that are not rounded to the nearest"),
        rounding_is_lost,
    ),
    **_losses(
        "BIT_SHIFT_LEFT BIT_SHIFT_RIGHT",
        "count",
        "Elements are shifted by fewer bits than they have",
        "BTensor",
        (
            "count of as many bits as an element has or more",
            "counts of as many bits as an element has or more",
        ),
        shift_is_lost,
    ),
}


def report_losses(
    desc: OperatorDesc, compute: Compute, operands: Compute, inputs: Inputs, report: Report
) -> None:
    """Report the elements of ``inputs`` that ``compute`` loses; ``operands`` gives its operands."""
    loss = LOSSES[desc.name]
    arrays: list[Any] = [None if array is None else widened(array) for array in inputs]
    if arrays[0].dtype.kind != "f" and loss.is_lost is not shift_is_lost:
        return
    with np.errstate(all="ignore"):
        is_lost = loss.is_lost(compute(*arrays), *operands(*arrays))
    report_elements(report, loss.rule, loss.field, is_lost, *loss.words)


def report_elements(report: Report, broken: Rule, path: str, where: Array, one: str, several: str) -> None:
    """Report the count of true elements, worded ``one`` or ``several``, and the coordinates of the first."""
    coordinates = np.argwhere(where)
    if len(coordinates):
        count = counted_words(len(coordinates), one, several)
        report.add(broken, path, f"has {count}; the first is at {braces(coordinates[0])}")


def begins_with_nan(x: Array, axes: Sequence[int]) -> Array:
    """Whether the first element along ``axes`` (non-negative) is NaN and some other is not: no comparison with NaN is
    true, so a running maximum or minimum never leaves it."""
    first = x[tuple(slice(1) if axis in axes else slice(None) for axis in range(x.ndim))]
    return np.isnan(first) & ~np.isnan(x).all(tuple(axes), keepdims=True)
