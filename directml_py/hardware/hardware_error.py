"""The exception for unusable libraries and devices."""

from __future__ import annotations


class HardwareError(RuntimeError):
    """A library cannot be used, or was not opened for the requested operation; the message is one sentence."""
