"""Direct3D's min and max: the other operand if one is NaN, and +0 is larger than -0, as in Microsoft's library.

Whether NumPy's ``fmin`` and ``fmax`` ignore a signaling NaN, and which of two zeros they return, depends on the
processor and on the number of elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .elementwise.trace import Symbol
from .native_arrays import Array


def fmin(x: Any, y: Any) -> Any:
    if isinstance(x, Symbol) or isinstance(y, Symbol):
        return _step(np.fmin, "signed_fmin", x, y, comes_first=np.signbit)
    if np.result_type(x, y).kind != "f":
        return np.fmin(x, y)
    with np.errstate(all="ignore"):
        return np.where((x == 0) & (y == 0), -(-x - y), np.where((x <= y) | np.isnan(y), x, y))


def fmax(x: Any, y: Any) -> Any:
    if isinstance(x, Symbol) or isinstance(y, Symbol):
        return _step(np.fmax, "signed_fmax", x, y, comes_first=lambda number: not np.signbit(number))
    if np.result_type(x, y).kind != "f":
        return np.fmax(x, y)
    with np.errstate(all="ignore"):
        return np.where((x == 0) & (y == 0), x + y, np.where((x >= y) | np.isnan(y), x, y))


def _step(ufunc: np.ufunc, signed: str, x: Any, y: Any, comes_first: Callable[[Any], Any]) -> Any:
    """The step of a program. Steps named like NumPy's functions are cheaper and return the first of equal operands: a
    constant goes first if, being a zero, it is the result for a zero of the other sign."""
    if isinstance(x, Symbol) and isinstance(y, Symbol):
        dtype = np.result_type(x.dtype, y.dtype)
        return x.step(signed, dtype, (x, y)) if dtype.kind == "f" else ufunc(x, y)
    number, symbol = (y, x) if isinstance(x, Symbol) else (x, y)
    return ufunc(number, symbol) if comes_first(number) else ufunc(symbol, number)


def quieted(x: Array) -> Array:
    """``x`` with all NaNs quiet, which ``numpy.fmin`` and ``numpy.fmax`` ignore."""
    return np.where(np.isnan(x), x.dtype.type(np.nan), x) if x.dtype.kind == "f" else x
