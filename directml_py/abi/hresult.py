"""HRESULT codes (winerror.h) and the exception that carries them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

__all__ = [
    "DXGI_ERROR_DEVICE_HUNG",
    "DXGI_ERROR_DEVICE_REMOVED",
    "DXGI_ERROR_DEVICE_RESET",
    "DXGI_ERROR_INVALID_CALL",
    "DXGI_ERROR_MORE_DATA",
    "DXGI_ERROR_NAME_ALREADY_EXISTS",
    "DXGI_ERROR_NOT_FOUND",
    "DXGI_ERROR_SDK_COMPONENT_MISSING",
    "DXGI_ERROR_UNSUPPORTED",
    "E_FAIL",
    "E_HANDLE",
    "E_INVALIDARG",
    "E_NOINTERFACE",
    "E_NOTIMPL",
    "E_OUTOFMEMORY",
    "E_POINTER",
    "E_UNEXPECTED",
    "FAILED",
    "SUCCEEDED",
    "S_FALSE",
    "S_OK",
    "DMLError",
]

S_OK: Final = 0x00000000
S_FALSE: Final = 0x00000001
E_NOTIMPL: Final = 0x80004001
E_NOINTERFACE: Final = 0x80004002
E_POINTER: Final = 0x80004003
E_FAIL: Final = 0x80004005
E_UNEXPECTED: Final = 0x8000FFFF
E_HANDLE: Final = 0x80070006
E_OUTOFMEMORY: Final = 0x8007000E
E_INVALIDARG: Final = 0x80070057
DXGI_ERROR_INVALID_CALL: Final = 0x887A0001
DXGI_ERROR_NOT_FOUND: Final = 0x887A0002
DXGI_ERROR_MORE_DATA: Final = 0x887A0003
DXGI_ERROR_UNSUPPORTED: Final = 0x887A0004
DXGI_ERROR_DEVICE_REMOVED: Final = 0x887A0005
DXGI_ERROR_DEVICE_HUNG: Final = 0x887A0006
DXGI_ERROR_DEVICE_RESET: Final = 0x887A0007
DXGI_ERROR_NAME_ALREADY_EXISTS: Final = 0x887A002C
DXGI_ERROR_SDK_COMPONENT_MISSING: Final = 0x887A002D

# Names by value, for messages.
NAMES: Final = {
    value: name
    for name, value in list(globals().items())
    if isinstance(value, int) and name.startswith(("S_", "E_", "DXGI_"))
}


def FAILED(hr: int) -> bool:
    """Whether an HRESULT, signed or unsigned, is an error. Methods raise ``DMLError`` instead of returning one."""
    return bool(hr & 0x80000000)


def SUCCEEDED(hr: int) -> bool:
    """Whether an HRESULT is no error."""
    return not FAILED(hr)


class DMLError(OSError, RuntimeError):
    """A failing HRESULT: an ``OSError`` as in ctypes, and a ``RuntimeError`` as in pybind11 extensions.

    ``hresult`` is the code as an unsigned 32-bit number (``0x80070057``); ``diagnostics`` lists every problem, one
    ``Diagnostic`` per violated rule (empty if no desc was involved). ``reported`` tells whether the debug layer has
    already logged the message.
    """

    def __init__(
        self, hresult: int, message: str, diagnostics: Iterable[Any] = (), reported: bool = False
    ) -> None:
        super().__init__(message)
        self.hresult = hresult & 0xFFFFFFFF
        self.diagnostics = list(diagnostics)
        self.reported = reported

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self.hresult, self.args[0], self.diagnostics, self.reported
        return type(self), arguments, self.__dict__

    def __str__(self) -> str:
        code = NAMES.get(self.hresult, "HRESULT")
        return f"{self.args[0]} ({code}, 0x{self.hresult:08X})"
