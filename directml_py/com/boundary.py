"""The exception boundary: converts Python exceptions to HRESULTs and debug messages."""

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
# Results of queries rather than mistakes: programs probe for interfaces, features and sizes this way, and the reason
# for a device removal was reported when it happened.
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
    """An HRESULT as a signed 32-bit integer, as in C."""
    return hresult - (1 << 32) if hresult & 0x80000000 else hresult


def failed(call: str, error: BaseException) -> int:
    """The HRESULT for an exception raised by ``call``. Logs the reason unless it was already reported."""
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
    """The message of ``error``, with a traceback if the exception is unexpected."""
    if isinstance(error, (DMLError, TypeError, ValueError, MemoryFault, MemoryError)):
        return str(error)
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
