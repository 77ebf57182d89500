"""Operators that move data: a whole and its parts, slices, padding, tiles, blocks, sliding windows."""

from . import blocks, columns, padding, parts, slices, subsequences, value_scale

__all__ = ["blocks", "columns", "padding", "parts", "slices", "subsequences", "value_scale"]
