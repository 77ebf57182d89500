"""The error that this package raises for an invalid model."""

from __future__ import annotations


class ModelError(ValueError):
    """A model that cannot be read or run; the text is DxDispatch's where it has one."""
