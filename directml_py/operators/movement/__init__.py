"""Operators that move data: a whole and its parts, slices, padding, tiles, blocks, sliding windows."""

from . import fold_unfold, join_split, padding, rearrange, reverse_subsequences, slice, value_scale

__all__ = [
    "fold_unfold",
    "join_split",
    "padding",
    "rearrange",
    "reverse_subsequences",
    "slice",
    "value_scale",
]
