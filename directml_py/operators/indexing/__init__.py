"""Operators that read or write at positions which another tensor holds, or that find positions."""

from . import gather, gather_elements, gather_nd, nonzero, one_hot

__all__ = ["gather", "gather_elements", "gather_nd", "nonzero", "one_hot"]
