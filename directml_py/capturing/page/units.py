"""Helpers for HTML elements and for numbers with units."""

from __future__ import annotations

from ...text.html import HTML as HTML
from ...text.html import element as element
from ...text.html import join as join
from ...text.html import text as text


def time_text(seconds: float) -> str:
    """A duration with a unit, as ``1.25 ms``."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def size_text(count: int) -> str:
    """A byte count with a unit, as ``1.5 MiB``."""
    if count < 1024:
        return f"{count} bytes"
    units = ("KiB", "MiB", "GiB", "TiB")
    power = min((count.bit_length() - 1) // 10, len(units))
    return f"{count / 1024**power:.3g} {units[power - 1]}"
