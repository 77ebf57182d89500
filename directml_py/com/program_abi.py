"""The program's ABI: what WCHAR, events and functions are to it.

On Linux, as in the Direct3D headers for it, WCHAR has four bytes, and an event is an eventfd(2) descriptor. A Windows
program under Wine has a WCHAR of two bytes, Win32's handles, and functions of the Windows ABI. ``lib`` knows which.
"""

from __future__ import annotations

import codecs
import ctypes
import itertools
from typing import Any

from ..abi.hresult import E_HANDLE, E_INVALIDARG, E_OUTOFMEMORY, DMLError
from ..abi.memory import read_string

LIMIT = 1 << 16
CODECS = {2: "utf-16-le", 4: "utf-32-le"}


class ProgramAbi:
    """Conversions between the program's values and Python's."""

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self._wchar_size = int(lib.dmlpy_wchar_size())
        # Looked up early: a codec is a module, which no thread may be importing when the process forks.
        self._codec = codecs.lookup(CODECS[self._wchar_size]).name
        self._layouts: dict[type[ctypes.Structure], type[ctypes.Structure]] = {}

    def read_wide(self, address: int, name: str) -> str:
        check_string(address, name)
        return self.decode(read_string(address, LIMIT, self._wchar_size))

    def decode(self, text: bytes) -> str:
        return text.decode(self._codec, "replace")

    def encode(self, text: str) -> bytes:
        return text.encode(self._codec, "replace")

    @property
    def is_windows(self) -> bool:
        return self._wchar_size == 2

    def event(self, handle: int, name: str) -> EventHandle | None:
        """The event with a handle; None for a null handle. Raises ``DMLError`` ``E_HANDLE`` for one that is no
        event's."""
        return EventHandle(self._lib, handle, name) if handle else None

    def report_message(
        self, function: int, category: int, severity: int, id: int, text: str, context: int
    ) -> None:
        """Call the program's ``D3D12MessageFunc``."""
        self._lib.dmlpy_report_message(function, category, severity, id, text.encode(), context)

    def layout(self, struct: ctypes.Structure) -> bytes:
        """The bytes of ``struct`` in the program's layout, which differs where a field is text of WCHARs."""
        kind = type(struct)
        fields: list[tuple[str, Any]] = [(name, each) for name, each, *_ in kind._fields_]
        if self._wchar_size == ctypes.sizeof(ctypes.c_wchar) or not any(is_wide(each) for _, each in fields):
            return bytes(struct)
        if kind not in self._layouts:
            converted = [
                (name, ctypes.c_uint16 * each._length_ if is_wide(each) else each) for name, each in fields
            ]
            self._layouts[kind] = type(kind.__name__, (ctypes.Structure,), {"_fields_": converted})
        result = self._layouts[kind]()
        for name, each in fields:
            value = getattr(struct, name)
            if is_wide(each):
                # The last element stays zero.
                units = self.encode(value)[: 2 * (each._length_ - 1)]
                ctypes.memmove(ctypes.addressof(getattr(result, name)), units, len(units))
            else:
                setattr(result, name, value)
        return bytes(result)


class EventHandle:
    """An event that a fence sets. It duplicates the handle, as the program may close its own first."""

    def __init__(self, lib: Any, handle: int, name: str) -> None:
        self._lib = lib
        duplicate = int(lib.dmlpy_duplicate_event(handle))
        if duplicate < 0:
            raise DMLError(E_HANDLE, f"{name} is 0x{handle:X}, which is not an event")
        self._handle = duplicate

    def set(self) -> None:
        self._lib.dmlpy_set_event(self._handle)

    def __del__(self) -> None:
        if "_handle" in self.__dict__:
            self._lib.dmlpy_close_event(self._handle)


class Win32Handles:
    """Shared handles of a Windows program: Wine's, of objects that the bridge calls by numbers."""

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self._numbers = itertools.count(1)

    def new(self) -> tuple[int, int]:
        number = next(self._numbers)
        handle = int(self._lib.dmlpy_new_handle(number))
        if not handle:
            raise DMLError(E_OUTOFMEMORY, "Wine has no handle left")
        return number, handle

    def is_same(self, key: int, handle: int) -> bool:
        return bool(self._lib.dmlpy_is_handle(handle, key))

    def is_closed(self, key: int) -> bool:
        return not self._lib.dmlpy_is_open(key)

    def forget(self, key: int) -> None:
        """Wine has forgotten it."""


def is_wide(field: Any) -> bool:
    return issubclass(field, ctypes.Array) and field._type_ is ctypes.c_wchar


def read_narrow(address: int, name: str) -> str:
    check_string(address, name)
    return read_string(address, LIMIT).decode(errors="replace")


def check_string(address: int, name: str) -> None:
    if not address:
        raise DMLError(E_INVALIDARG, f"{name} is null; a string is required")
