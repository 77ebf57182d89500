"""Formatting of figures."""

from __future__ import annotations


def amount(value: float | None, unit: str) -> str:
    """An amount with its unit; large microseconds become milliseconds; empty for None."""
    if value is None:
        return ""
    if unit == "µs" and value >= 1000:
        return f"{value / 1000:,.2f} ms"
    return f"{value:,.2f} {unit}".rstrip()


def ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
