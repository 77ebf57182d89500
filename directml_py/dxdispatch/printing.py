"""Value formatting as in DxDispatch: that of a C++ stream with default flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..descs.data_types import data_type_of
from .model_error import ModelError


def elements(data_type: int, content: bytes) -> np.ndarray[Any, Any]:
    """The complete elements in ``content``. Raises ``ModelError`` for types that buffers cannot have."""
    element_type = data_type_of(data_type)
    if element_type.bits < 8:
        raise ModelError("Unexpected DML_TENSOR_DATA_TYPE")
    size = element_type.dtype.itemsize
    return np.frombuffer(content[: len(content) // size * size], element_type.dtype)


def printed(name: str, data_type: int, content: bytes, verbose: bool) -> str:
    """The line, or with ``verbose`` the lines, for a resource's contents, as long as its initial values."""
    values = elements(data_type, content)
    show = _shower(values.dtype)
    if not verbose:
        return f"Resource '{name}': {', '.join(map(show, values.tolist()))}"
    width, digits = len(str(len(values))), 2 * values.itemsize
    bits = values.view(f"u{values.itemsize}").tolist()
    lines = [
        f"[{index:{width}}] {show(value)} (0x{hexadecimal:{digits}X})\n"
        for index, (value, hexadecimal) in enumerate(zip(values.tolist(), bits))
    ]
    return f"Resource '{name}':\n" + "".join(lines)


def _shower(dtype: np.dtype[Any]) -> Callable[[Any], str]:
    if dtype.kind == "f":
        return lambda value: f"{value:g}"
    return _character if dtype.itemsize == 1 else str


def _character(value: int) -> str:
    """A byte as a C++ stream writes it; non-ASCII bytes become surrogates."""
    return bytes([value & 0xFF]).decode("ascii", "surrogateescape")
