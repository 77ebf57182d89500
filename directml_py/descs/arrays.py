"""Conversion of arrays of other libraries to NumPy, by DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

CPU = 1


def as_array(value: Any, name: str) -> npt.NDArray[Any] | None:
    """``value`` as a NumPy array, without a copy; None if it is not an array, such as a number or a list.

    Raises ``TypeError``, which names ``name``, for an array that NumPy cannot view: one on another device, with element
    types that NumPy lacks, or that requires gradients.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        return None
    kind = type(value).__name__
    if getattr(value, "requires_grad", False):
        raise TypeError(
            f"{name}: the {kind} requires gradients, which are not computed here; pass its detach()"
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        device = _device_of(value)
        if device not in (CPU, None):
            text = f"{name}: the {kind} is on a device (DLPack type {device}); copy it to CPU memory"
            raise TypeError(text) from None
        raise TypeError(f"{name}: NumPy cannot view the {kind}: {error}") from None


def _device_of(value: Any) -> int | None:
    try:
        kind, _ = value.__dlpack_device__()
        return int(kind)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return None
