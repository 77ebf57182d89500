"""Where exceptions end: what goes wrong in Python becomes an HRESULT and a debug message."""

from __future__ import annotations

import traceback

from ..abi.hresult import (
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_MORE_DATA,
    DXGI_ERROR_NOT_FOUND,
    DXGI_ERROR_UNSUPPORTED,
    E_INVALIDARG,
    E_NOINTERFACE,
    E_OUTOFMEMORY,
    E_UNEXPECTED,
    DMLError,
)
from ..abi.memory import MemoryFault
from ..api.d3d12_enums import D3D12_MESSAGE_SEVERITY_ERROR
from ..d3d12.debug_output import debug_output

ERROR = D3D12_MESSAGE_SEVERITY_ERROR
# Answers to questions rather than mistakes: programs ask for interfaces, features and sizes in this way, and of a
# removed device the reason was told when it was removed.
SILENT = frozenset(
    {
        DXGI_ERROR_DEVICE_REMOVED,
        DXGI_ERROR_MORE_DATA,
        DXGI_ERROR_NOT_FOUND,
        DXGI_ERROR_UNSUPPORTED,
        E_NOINTERFACE,
    }
)


def signed(hresult: int) -> int:
    """An HRESULT as C has it."""
    return hresult - (1 << 32) if hresult & 0x80000000 else hresult


def failed(call: str, error: BaseException) -> int:
    """The HRESULT for what ``call`` raised. Says why, unless somebody has."""
    code = _code(error)
    if code not in SILENT and not (isinstance(error, DMLError) and error.reported):
        debug_output(ERROR, f"{call}: {explain(error)}")
    return signed(code)


def _code(error: BaseException) -> int:
    if isinstance(error, DMLError):
        return error.hresult
    if isinstance(error, (TypeError, ValueError, MemoryFault)):
        return E_INVALIDARG
    return E_OUTOFMEMORY if isinstance(error, MemoryError) else E_UNEXPECTED


def explain(error: BaseException) -> str:
    """What ``error`` says; of one that nobody expected, where it comes from too."""
    if isinstance(error, (DMLError, TypeError, ValueError, MemoryFault, MemoryError)):
        return str(error)
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
