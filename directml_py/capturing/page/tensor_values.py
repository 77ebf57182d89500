"""A tensor's values: its first elements, their range and mean, and a bar chart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...text.html import HTML, element, join
from ..replay_state import Operand

FIRST = 8
BARS = 48
# Larger tensors get no statistics.
LIMIT = 1 << 24


def values_of(operand: Operand) -> HTML:
    """The rendered values; empty where the bound range is too small for the tensor."""
    # Memory may hold anything, such as signaling NaNs, of which conversions warn.
    with np.errstate(all="ignore"):
        return _values_of(operand)


def _values_of(operand: Operand) -> HTML:
    try:
        elements = operand.tensor.view(operand.bytes)
    except (ValueError, TypeError):
        return HTML("")
    first = [_number(value) for value in elements.flat[:FIRST]]
    more = " …" if elements.size > FIRST else ""
    parts = [element("code", f"{'  '.join(first)}{more}", class_="elements")]
    if 1 < elements.size <= LIMIT:
        parts += [_bars(elements), element("span", _bounds(elements), class_="quiet bounds")]
    return join(parts)


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


def _bounds(elements: npt.NDArray[Any]) -> str:
    if elements.dtype.kind != "f":
        return f"{elements.min()} to {elements.max()}"
    finite = np.isfinite(elements)
    count = int(np.count_nonzero(finite))
    odd = [
        f"{number} {name}"
        for number, name in (
            (int(np.count_nonzero(np.isnan(elements))), "NaN"),
            (int(np.count_nonzero(np.isinf(elements))), "infinite"),
        )
        if number
    ]
    if not count:
        return ", ".join(odd)
    low = elements.min(where=finite, initial=np.inf)
    high = elements.max(where=finite, initial=-np.inf)
    mean = elements.sum(where=finite, dtype=np.float64) / count
    return ", ".join([f"{_number(low)} to {_number(high)}, mean {mean:.6g}", *odd])


def _bars(elements: npt.NDArray[Any]) -> HTML:
    """A bar chart of evenly spaced elements."""
    indices = np.linspace(0, elements.size - 1, min(BARS, elements.size)).astype(np.int64)
    chosen = np.array([elements.flat[int(index)] for index in indices], np.float64)
    chosen[~np.isfinite(chosen)] = 0
    low, high = min(0.0, float(chosen.min())), max(0.0, float(chosen.max()))
    # The difference of two bounds near the largest number would overflow.
    span = high / 2 - low / 2
    heights = (chosen / 2 - low / 2) / span if span else np.zeros_like(chosen)
    zero = -(low / 2) / span if span else 0.0
    path = "".join(
        f"M{bar * 2 + 1} {16 - 15 * zero:.2f}V{16 - 15 * height - (0.5 if height == zero else 0):.2f}"
        for bar, height in enumerate(heights)
    )
    width = 2 * len(chosen)
    return HTML(
        f'<svg class="bars" viewBox="0 0 {width} 17" style="width:{width / 8 + 1:.1f}rem" aria-hidden="true" '
        f'preserveAspectRatio="none"><path d="{path}"/></svg>'
    )
