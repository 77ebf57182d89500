"""Arrays of NumPy, and of other libraries through DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

CPU = 1


def as_array(value: Any, name: str) -> npt.NDArray[Any] | None:
    """``value`` as NumPy's array, without a copy; None for what is no array, such as a number or a list.

    Raises ``TypeError`` naming ``name`` for an array that NumPy cannot see: one that lies on a device, has elements
    that NumPy lacks, or requires gradients.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        return None
    kind = type(value).__name__
    if getattr(value, "requires_grad", False):
        raise TypeError(
            f"{name}: the {kind} requires gradients, which nothing here computes; give its detach()"
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        device = _device_of(value)
        if device not in (CPU, None):
            text = (
                f"{name}: the {kind} lies on a device (DLPack's type {device}); copy it to the CPU's memory"
            )
            raise TypeError(text) from None
        raise TypeError(f"{name}: NumPy cannot see the {kind}: {error}") from None


def _device_of(value: Any) -> int | None:
    try:
        kind, _ = value.__dlpack_device__()
        return int(kind)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return None
