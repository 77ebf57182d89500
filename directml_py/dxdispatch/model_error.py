"""The error that everything in this package raises for what is wrong with a model."""

from __future__ import annotations


class ModelError(ValueError):
    """A model that cannot be read or run; its text is DxDispatch's where DxDispatch has one."""
