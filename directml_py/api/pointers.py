"""Everything that Python code may hand over where C takes a pointer to a struct."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple, TypeVar

from .hresult import E_INVALIDARG, DMLError
from .memory import MemoryFault, read

S = TypeVar("S", bound=ctypes.Structure)

_CArgObject = type(ctypes.byref(ctypes.c_int()))
_Pointer: Any = ctypes._Pointer


class Location(NamedTuple):
    """Where a struct lies: its address (0 for null), what keeps the memory alive, and the type that the value
    claims for itself (None where it claims none, such as an integer), with its size in bytes."""

    address: int
    owner: object
    type_name: str | None = None
    size: int | None = None


def locate(value: object, name: str) -> Location:
    """The memory behind a ctypes struct or array, ``byref``/``pointer``/``cast`` of one, a cffi pointer or an
    integer address; None is null.

    Raises ``TypeError`` naming ``name`` for anything else.
    """
    if value is None:
        return Location(0, None)
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
        kind = type(value)
        return Location(ctypes.addressof(value), value, kind.__name__, ctypes.sizeof(kind))
    if isinstance(value, _CArgObject):
        return locate(value._obj, name)  # type: ignore[attr-defined]
    if isinstance(value, _Pointer):
        target = value._type_
        return Location(
            ctypes.cast(value, ctypes.c_void_p).value or 0, value, target.__name__, ctypes.sizeof(target)
        )
    if isinstance(value, ctypes.c_void_p):
        return Location(value.value or 0, value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Location(value & 0xFFFFFFFFFFFFFFFF, None)
    if type(value).__module__ == "_cffi_backend":
        return _locate_cdata(value, name)
    raise TypeError(f"{name} must be a struct, a pointer to one or an address, not {type(value).__name__}")


def _locate_cdata(value: Any, name: str) -> Location:
    backend = sys.modules["_cffi_backend"]
    ffi = backend.FFI()
    kind = ffi.typeof(value)
    if kind.kind in ("struct", "union"):
        return Location(
            int(ffi.cast("uintptr_t", ffi.addressof(value))), value, _bare(kind.cname), ffi.sizeof(kind)
        )
    if kind.kind not in ("pointer", "array"):
        raise TypeError(f"{name} must be a pointer to a struct, not a cffi {kind.cname}")
    address = int(ffi.cast("uintptr_t", value))
    item = kind.item
    if item.kind in ("struct", "union"):
        return Location(address, value, _bare(item.cname), ffi.sizeof(item))
    return Location(address, value)


def _bare(cname: str) -> str:
    return cname.removeprefix("struct ").removeprefix("union ")


def check_type(location: Location, expected: type[Any], name: str) -> None:
    """Raise ``TypeError`` if ``location`` claims to be another struct than ``expected``.

    A struct that is not one of the API's own passes if it has the same size, whatever its name.
    """
    if location.type_name in (None, expected.__name__) or location.size is None:
        return
    size = ctypes.sizeof(expected)
    if location.size != size or location.type_name.startswith(("DML_", "D3D12_")):
        raise TypeError(
            f"{name} must be a {expected.__name__} ({size} bytes), "
            f"not a {location.type_name} ({location.size} bytes)"
        )


def struct_at(value: object, kind: type[S], name: str) -> S:
    """A private copy of the struct of type ``kind`` that ``value`` is or points to.

    Raises ``TypeError`` for what is no such pointer and ``DMLError`` ``E_INVALIDARG`` for null or unreadable
    memory; both name ``name``.
    """
    location = locate(value, name)
    check_type(location, kind, name)
    if not location.address:
        raise DMLError(E_INVALIDARG, f"{name} is null; a {kind.__name__} is required")
    try:
        data = read(location.address, ctypes.sizeof(kind))
    except MemoryFault as fault:
        raise DMLError(E_INVALIDARG, f"{name}: {fault}") from None
    return kind.from_buffer_copy(data)
