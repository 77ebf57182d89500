"""The sizes of scales and zero points: one for the whole tensor that they belong to, or one for each of its parts.

A parameter has its own rank. Where it has one dimension alone, that is the one along which parts are told apart.
"""

from __future__ import annotations

from ..descs.tensor import TensorDesc
from .operator import Broadcast, Sizes


def single(parameter: TensorDesc | None) -> Sizes:
    """One element for the whole tensor."""
    return (1,) * _rank(parameter)


def per_row(parameter: TensorDesc | None, rows: int) -> Broadcast:
    """``{1, 1, rows, 1}``, or one element."""
    rank = _rank(parameter)
    return Broadcast((rows,) if rank == 1 else (*(1,) * (rank - 2), rows, 1))


def per_column(parameter: TensorDesc | None, columns: int) -> Broadcast:
    """``{1, 1, 1, columns}``, or one element."""
    return Broadcast((*(1,) * (_rank(parameter) - 1), columns))


def per_channel(parameter: TensorDesc | None, channels: int) -> Broadcast:
    """``{1, channels, 1, 1}``, or one element."""
    rank = _rank(parameter)
    return Broadcast((channels,) if rank == 1 else (1, channels, *(1,) * (rank - 2)))


def _rank(parameter: TensorDesc | None) -> int:
    return 4 if parameter is None else parameter.dimension_count
