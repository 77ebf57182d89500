"""Operators that combine elements along axes."""

from . import cumulative, reduce

__all__ = ["cumulative", "reduce"]
