"""Conversion of the Python values assigned to struct fields."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterable
from typing import Any

from .hresult import E_INVALIDARG, DMLError
from .interface import IUnknown
from .keepalive import keep, note_extent, settle
from .memory import MemoryFault, read
from .pointers import check_type, is_cdata, locate

Convert = Callable[[Any, str], Any]

_SIMPLE: Any = ctypes._SimpleCData
# ctypes type codes.
UNSIGNED = "BHILQ"
INTEGERS = UNSIGNED + "bhilq"
FLOATS = "fd"


def converters(kind: Any) -> dict[str, Convert]:
    """For each field of ``kind``, the function ``(value, where)`` that converts a value to what ctypes can store.

    It raises ``TypeError`` naming ``where`` for a value of the wrong type, ``ValueError`` for a number out of range and
    ``DMLError`` for unreadable memory.
    """
    by_field: dict[str, Convert] = {}
    for name, ctype, *_ in kind._fields_:
        if name in kind._interfaces_:
            by_field[name] = _interface
        elif ctype is ctypes.c_void_p:
            by_field[name] = address
        elif ctype is ctypes.c_char_p:
            by_field[name] = _text
        elif issubclass(ctype, ctypes._Pointer):
            by_field[name] = _pointer_converter(ctype, name in kind._counts_)
        elif issubclass(ctype, _SIMPLE):
            by_field[name] = _number_converter(ctype)
        elif issubclass(ctype, (ctypes.Structure, ctypes.Union)):
            by_field[name] = _value_converter(ctype)
    return by_field


def integer_ranges(kind: Any) -> dict[str, tuple[int, int]]:
    """The range (lowest, end) of each integer field of ``kind``, which needs no other conversion."""
    return {
        name: _range(ctype)
        for name, ctype, *_ in kind._fields_
        if name not in kind._interfaces_ and issubclass(ctype, _SIMPLE) and ctype._type_ in INTEGERS
    }


def length(value: Any, in_bytes: bool) -> int | None:
    """The number of elements (or bytes) of an array passed as a Python object; None for a pointer."""
    if in_bytes:
        if isinstance(value, (ctypes.Array, ctypes.Structure, ctypes.Union)):
            return ctypes.sizeof(value)
        if hasattr(value, "__array_interface__") and hasattr(value, "nbytes"):
            return int(value.nbytes)
    if value is None or isinstance(value, (ctypes.Structure, ctypes.Union, str)):
        return None
    try:
        return len(value)
    except TypeError:
        return None


def _range(ctype: Any) -> tuple[int, int]:
    bits = 8 * ctypes.sizeof(ctype)
    # Flags are signed, but may set the sign bit, as in C.
    return (0 if ctype._type_ in UNSIGNED else -(1 << bits - 1)), 1 << bits


def _integer(value: Any, where: str, bits: int, low: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{where} must be an integer, not {type(value).__name__}") from None
    if not low <= number < 1 << bits:
        if number < 0 == low:
            raise ValueError(f"{where} must be an unsigned {bits}-bit number, not {number}")
        raise ValueError(f"{where} must fit in {bits} bits; {number} does not")
    return number


def _float(value: Any, where: str) -> float:
    kind = type(value)
    try:
        if hasattr(kind, "__float__") or hasattr(kind, "__index__"):
            return float(value)
    except TypeError:
        pass
    raise TypeError(f"{where} must be a number, not {kind.__name__}")


def _number_converter(ctype: Any) -> Convert:
    if ctype._type_ in FLOATS:
        return _float
    bits, (low, _) = 8 * ctypes.sizeof(ctype), _range(ctype)
    return lambda value, where: _integer(value, where, bits, low)


def _value_converter(ctype: Any) -> Convert:
    def convert(value: Any, where: str) -> Any:
        if isinstance(value, (ctype, tuple)):
            return value
        raise TypeError(f"{where} must be a {ctype.__name__}, not {type(value).__name__}")

    return convert


def _text(value: Any, where: str) -> Any:
    if isinstance(value, str):
        return value.encode()
    if value is None or isinstance(value, (bytes, ctypes.c_char_p)):
        return value
    location = locate(value, where)
    return ctypes.c_char_p(location.address or None)


def _interface(value: Any, where: str) -> Any:
    if value is None:
        return None
    if isinstance(value, IUnknown):
        return keep(value.handle, value)
    if isinstance(value, ctypes.c_void_p):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return ctypes.c_void_p(value)
    raise TypeError(f"{where} must be an interface object or None, not {type(value).__name__}")


def address(value: Any, where: str) -> Any:
    """A ``const void*``: raw data, or anything that is or points to a struct."""
    if isinstance(value, bytes):
        data = ctypes.c_char_p(value)
        return keep(ctypes.c_void_p.from_buffer(data).value or 0, value, size=len(value))
    if isinstance(value, bytearray):
        block = (ctypes.c_uint8 * len(value)).from_buffer(value)
        return keep(ctypes.addressof(block), block, size=len(value))
    if hasattr(value, "__array_interface__") and hasattr(value, "ctypes"):
        if not value.flags.c_contiguous:
            raise TypeError(f"{where} must be a C-contiguous array")
        return keep(value.ctypes.data, value, size=value.nbytes)
    location = locate(value, where)
    return keep(location.address, location.owner) if location.address else None


def _pointer_converter(ctype: Any, is_array: bool) -> Convert:
    target = ctype._type_

    def convert(value: Any, where: str) -> Any:
        if isinstance(value, ctype) or value is None:
            return value
        if is_array and _is_sequence(value, target):
            return _array(value, target, where)
        value = _wrap(value, target)
        location = locate(value, where)
        if isinstance(value, ctypes.Array):
            settle(value)
        # The location of a scalar array has the size of the whole array, so its element type is compared instead.
        if not (isinstance(value, ctypes.Array) and value._type_ is target):
            check_type(location, target, where)
        if not location.address:
            return None
        return keep(location.address, location.owner, ctype)

    return convert


def _is_sequence(value: Any, target: Any) -> bool:
    """Whether the elements of ``value`` are converted one by one, instead of using its memory."""
    if isinstance(value, ctypes.Array):
        return issubclass(target, _SIMPLE) and value._type_ is not target
    if is_cdata(value):
        return length(value, in_bytes=False) is not None
    return isinstance(value, Iterable)


def _array(values: Iterable[Any], target: Any, where: str) -> Any:
    if issubclass(target, ctypes.Structure):
        items = [_element(value, target, f"{where}[{index}]") for index, value in enumerate(values)]
    else:
        convert = _number_converter(target)
        items = [convert(value, f"{where}[{index}]") for index, value in enumerate(values)]
    # Null: an empty array has no memory to point to.
    if not items:
        return None
    array = (target * len(items))(*items)
    settle(array)
    note_extent(array, ctypes.addressof(array), ctypes.sizeof(array))
    return array


def _element(value: Any, target: Any, where: str) -> Any:
    value = _wrap(value, target)
    if isinstance(value, target):
        return value
    location = locate(value, where)
    check_type(location, target, where)
    if not location.address:
        return target()
    try:
        read(location.address, ctypes.sizeof(target))
    except MemoryFault as fault:
        raise DMLError(E_INVALIDARG, f"{where}: {fault}") from None
    return keep(location.address, location.owner, ctypes.POINTER(target))[0]


def _wrap(value: Any, target: Any) -> Any:
    """``value``, wrapped in a DML_OPERATOR_DESC if one is expected and ``value`` is a typed operator desc."""
    wrap = getattr(target, "_wrap_", None)
    return wrap(value) if wrap is not None else value
