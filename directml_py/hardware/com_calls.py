"""COM client: calls methods of real libraries' objects by vtable index."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from ..abi.hresult import DMLError
from ..abi.wintypes import GUID
from ..com.interfaces import INTERFACES
from ..com.signatures import MethodSignature

SCALARS: dict[str, Any] = {
    "HRESULT": ctypes.c_int32,
    "INT": ctypes.c_int32,
    "BOOL": ctypes.c_int32,
    "UINT": ctypes.c_uint32,
    "ULONG": ctypes.c_uint32,
    "UINT8": ctypes.c_uint8,
    "UINT64": ctypes.c_uint64,
    "SIZE_T": ctypes.c_uint64,
    "D3D12_GPU_VIRTUAL_ADDRESS": ctypes.c_uint64,
    "D3D12_CPU_DESCRIPTOR_HANDLE": ctypes.c_uint64,
    "D3D12_GPU_DESCRIPTOR_HANDLE": ctypes.c_uint64,
    "FLOAT": ctypes.c_float,
    "void": None,
    "HANDLE": ctypes.c_void_p,
    "REFIID": ctypes.c_void_p,
    "REFGUID": ctypes.c_void_p,
    "LPCWSTR": ctypes.c_void_p,
}
# cdecl and stdcall are the same on 64-bit Windows.
CALL = ctypes.CFUNCTYPE


def iid_of(interface: str) -> GUID:
    return GUID.from_buffer_copy(_iid_bytes(interface))


@cache
def _iid_bytes(interface: str) -> bytes:
    from uuid import UUID

    return UUID(INTERFACES[interface].iid).bytes_le


@cache
def table_of(interface: str) -> dict[str, tuple[int, MethodSignature]]:
    """The methods of an interface and its bases, each with its vtable index."""
    chain = []
    name = interface
    while name:
        chain.append(INTERFACES[name])
        name = INTERFACES[name].base
    methods = [method for signature in reversed(chain) for method in signature.methods]
    return {method.name: (position, method) for position, method in enumerate(methods)}


def c_type(name: str) -> Any:
    """The ctypes type of a parameter; enumerations are int."""
    if name.endswith("*"):
        return ctypes.c_void_p
    return SCALARS.get(name, ctypes.c_int32)


class Object:
    """A COM object, with one reference that is held until ``release``."""

    def __init__(self, address: int, interface: str) -> None:
        self.address = address
        self.interface = interface

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method and return its result. Pointer arguments are addresses, objects, or ctypes structs, which are
        passed by reference.

        Raises ``DMLError`` for a failing HRESULT.
        """
        position, method = table_of(self.interface)[name]
        result = self._function(position, method)(self.address, *map(_argument, arguments))
        if method.returns == "HRESULT" and result < 0:
            raise DMLError(result, f"{self.interface}::{name} failed")
        return result

    def struct(self, name: str, kind: type[ctypes.Structure]) -> Any:
        """Call a method that returns a struct.

        Windows compilers pass the struct's address after ``this``; on other systems the convention is that of ctypes.
        """
        position, _ = table_of(self.interface)[name]
        entry = self._entry(position)
        if sys.platform == "win32":
            value = kind()
            CALL(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(entry)(
                self.address, ctypes.addressof(value)
            )
            return value
        return CALL(kind, ctypes.c_void_p)(entry)(self.address)

    def create(self, name: str, interface: str, *arguments: Any) -> Object:
        """Call a method that returns an object through its last two parameters, ``riid`` and ``ppv``."""
        created = ctypes.c_void_p()
        iid = iid_of(interface)
        self.call(name, *arguments, iid, created)
        return Object(created.value or 0, interface)

    def release(self) -> None:
        if self.address:
            self.call("Release")
            self.address = 0

    def _entry(self, position: int) -> int:
        if not self.address:
            raise ValueError(f"the {self.interface} is released")
        table = ctypes.c_void_p.from_address(self.address).value
        assert table is not None
        entry = ctypes.c_void_p.from_address(table + position * ctypes.sizeof(ctypes.c_void_p)).value
        assert entry is not None
        return entry

    def _function(self, position: int, method: MethodSignature) -> Any:
        types = [c_type(kind) for kind, _ in method.params]
        return CALL(c_type(method.returns), ctypes.c_void_p, *types)(self._entry(position))


def _argument(value: Any) -> Any:
    if isinstance(value, Object):
        return value.address
    if isinstance(value, (ctypes.Structure, ctypes.Array, ctypes.c_void_p, ctypes.c_uint32)):
        return ctypes.addressof(value)
    return value
