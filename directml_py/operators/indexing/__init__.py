"""Operators that read or write at positions which another tensor holds, or that find positions."""

from . import elements, gather, nonzero, one_hot, tuples

__all__ = ["elements", "gather", "nonzero", "one_hot", "tuples"]
