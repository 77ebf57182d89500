"""Conversion of the Python arguments accepted where C takes a pointer to a struct."""

from __future__ import annotations

import ctypes
import sys
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

from .hresult import E_INVALIDARG, DMLError
from .memory import MemoryFault, read_argument

S = TypeVar("S", bound=ctypes.Structure)

_CArgObject = type(ctypes.byref(ctypes.c_int()))
_Pointer: Any = ctypes._Pointer


class Location(NamedTuple):
    """The location of a struct: its address (0 for null), the owner of the memory, and the declared type (None if there
    is none, as for an integer) with its size in bytes."""

    address: int
    owner: object
    type_name: str | None = None
    size: int | None = None


def locate(value: object, name: str) -> Location:
    """The location of a ctypes struct or array, ``byref``/``pointer``/``cast`` of one, a cffi pointer or an integer
    address; None is null.

    Raises ``TypeError`` naming ``name`` for anything else, ``ValueError`` for an integer of more than 64 bits.
    """
    if value is None:
        return Location(0, None)
    if type(value) is int and 0 <= value < 1 << 64:
        return Location(value, None)
    if isinstance(value, (ctypes.Structure, ctypes.Union)):
        return Location(ctypes.addressof(value), value, type(value).__name__, ctypes.sizeof(value))
    if isinstance(value, ctypes.Array):
        kind = _decayed(type(value))
        return Location(ctypes.addressof(value), value, kind.__name__, ctypes.sizeof(kind))
    if isinstance(value, _CArgObject):
        return _locate_reference(value)
    if isinstance(value, _Pointer):
        target = _decayed(value._type_)
        return Location(
            ctypes.c_void_p.from_buffer(value).value or 0, value, target.__name__, ctypes.sizeof(target)
        )
    if isinstance(value, ctypes.c_void_p):
        return Location(value.value or 0, value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if not -(1 << 63) <= number < 1 << 64:
            raise ValueError(f"{name} must be a 64-bit address, not {number}")
        return Location(number & 0xFFFFFFFFFFFFFFFF, None)
    if is_cdata(value):
        return _locate_cdata(value, name)
    raise TypeError(f"{name} must be a struct, a pointer to one or an address, not {type(value).__name__}")


def _decayed(kind: Any) -> Any:
    """The element type of an array of structs, which decays to a pointer to the first one as in C; else ``kind``."""
    is_structs = issubclass(kind, ctypes.Array) and issubclass(kind._type_, (ctypes.Structure, ctypes.Union))
    return kind._type_ if is_structs else kind


def _locate_reference(value: Any) -> Location:
    """The location of ``byref(obj)`` or ``byref(obj, offset)``."""
    owner = value._obj
    kind = _decayed(type(owner))
    address = ctypes.cast(value, ctypes.c_void_p).value or 0
    if address != ctypes.addressof(owner) and kind is type(owner):
        return Location(address, owner)
    return Location(address, owner, kind.__name__, ctypes.sizeof(kind))


def is_cdata(value: object) -> bool:
    """Whether ``value`` is a cffi object."""
    return type(value).__module__ == "_cffi_backend"


def claimed_type(value: object) -> str | None:
    """The name of the struct that ``value`` is or points to; None if it is untyped or not a pointer."""
    try:
        return locate(value, "").type_name
    except (TypeError, ValueError):
        return None


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
    # Pointers to void and to bytes are untyped memory.
    if item.kind == "void" or (item.kind == "primitive" and ffi.sizeof(item) == 1):
        return Location(address, value)
    return Location(address, value, _bare(item.cname), ffi.sizeof(item))


def _bare(cname: str) -> str:
    return cname.removeprefix("struct ").removeprefix("union ")


def check_type(location: Location, expected: type[Any], name: str) -> None:
    """Raise ``TypeError`` if the declared type of ``location`` is not the struct (or scalar) ``expected``.

    A struct that is not one of the API's is accepted if it has the same size, whatever its name; so is an integer,
    signed or unsigned.
    """
    if location.type_name is None or location.type_name == expected.__name__ or location.size is None:
        return
    size = ctypes.sizeof(expected)
    is_float = issubclass(expected, (ctypes.c_float, ctypes.c_double))
    if (
        location.size != size
        or location.type_name.startswith(("DML_", "D3D12_"))
        or is_float != ("float" in location.type_name or "double" in location.type_name)
    ):
        raise TypeError(
            f"{name} must be a {expected.__name__} ({size} bytes), "
            f"not a {location.type_name} ({location.size} bytes)"
        )


def struct_at(value: object, kind: type[S], name: str) -> S:
    """A private copy of the struct of type ``kind`` that ``value`` is or points to.

    Raises ``TypeError`` for anything else and ``DMLError`` ``E_INVALIDARG`` for null or unreadable memory; both name
    ``name``.
    """
    location = locate(value, name)
    check_type(location, kind, name)
    if not location.address:
        raise DMLError(E_INVALIDARG, f"{name} is null; a {kind.__name__} is required")
    try:
        data = read_argument(location.address, ctypes.sizeof(kind))
    except MemoryFault as fault:
        raise DMLError(E_INVALIDARG, f"{name}: {fault}") from None
    return kind.from_buffer_copy(data)
