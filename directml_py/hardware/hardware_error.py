"""What is wrong with a library, a device or a request."""

from __future__ import annotations


class HardwareError(RuntimeError):
    """A library that cannot be used, or what it was not opened for; the text is one sentence."""
