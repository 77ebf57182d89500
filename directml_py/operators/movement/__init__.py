"""Operators that move data: a whole and its parts, slices, padding, tiles, blocks, sliding windows."""

from . import columns, parts, rearranged

__all__ = ["columns", "parts", "rearranged"]
