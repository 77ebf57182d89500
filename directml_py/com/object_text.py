"""Descriptions of COM objects as C strings, for the expressions of a debugger."""

from __future__ import annotations

from typing import Any

from .object_table import Objects


class ObjectText:
    """``directml_py_describe`` of ``libdirectml.so``. A debugger stops every thread, so that one text is enough."""

    def __init__(self, objects: Objects, ffi: Any) -> None:
        self._objects = objects
        self._ffi = ffi
        self._text: Any = None

    def address_of(self, address: int) -> int:
        """The address of a NUL-terminated text that is valid until the next call."""
        text = self._objects.describe(address).encode("utf-8", "backslashreplace")
        self._text = self._ffi.new("char[]", text)
        return int(self._ffi.cast("uintptr_t", self._text))
