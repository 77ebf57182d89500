"""Sizes along one axis."""

from __future__ import annotations

from collections.abc import Sequence


def resized(sizes: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """``sizes`` with ``size`` in the dimension ``axis``."""
    return (*sizes[:axis], size, *sizes[axis + 1 :])
