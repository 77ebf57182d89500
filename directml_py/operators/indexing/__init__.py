"""Operators that read or write at positions which another tensor holds, or that find positions."""

from . import coordinates, gather

__all__ = ["coordinates", "gather"]
