"""Values as DxDispatch prints them: as a C++ stream does, with its defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..descs.data_types import data_type_of
from .model_error import ModelError


def elements(data_type: int, content: bytes) -> np.ndarray[Any, Any]:
    """The whole elements in ``content``. Raises ``ModelError`` for types that buffers do not have."""
    known = data_type_of(data_type)
    if known.bits < 8:
        raise ModelError("Unexpected DML_TENSOR_DATA_TYPE")
    size = known.dtype.itemsize
    return np.frombuffer(content[: len(content) // size * size], known.dtype)


def printed(name: str, data_type: int, content: bytes, verbose: bool) -> str:
    """The line, or if ``verbose`` the lines, for the initial values' worth of a resource."""
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
    """A byte as the stream writes it; those that are no ASCII as Python keeps undecodable bytes."""
    return bytes([value & 0xFF]).decode("ascii", "surrogateescape")
