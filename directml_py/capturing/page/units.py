"""Numbers with units."""

from __future__ import annotations


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
