"""Operators that combine elements along axes."""

from . import cumulative, reduced

__all__ = ["cumulative", "reduced"]
