"""C strings, narrow and wide: WCHAR is wchar_t, four bytes on Linux."""

from __future__ import annotations

import codecs
import ctypes

from ..abi.hresult import E_INVALIDARG, DMLError
from ..abi.memory import read_string

WCHAR_SIZE = ctypes.sizeof(ctypes.c_wchar)
# Looked up early: a codec is a module, which no thread may be importing when the process forks.
WCHAR_CODEC = codecs.lookup("utf-32-le" if WCHAR_SIZE == 4 else "utf-16-le").name
LIMIT = 1 << 16


def read_narrow(address: int, name: str) -> str:
    _check(address, name)
    return read_string(address, LIMIT).decode(errors="replace")


def read_wide(address: int, name: str) -> str:
    _check(address, name)
    return read_string(address, LIMIT, WCHAR_SIZE).decode(WCHAR_CODEC, "replace")


def _check(address: int, name: str) -> None:
    if not address:
        raise DMLError(E_INVALIDARG, f"{name} is null; a string is required")
