"""The base of every struct: the C layout, kind to Python callers."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from .interface import IUnknown
from .pointers import check_type, locate

Convert = Callable[[Any, str], Any]

_SIMPLE: Any = ctypes._SimpleCData
_INTEGERS = "bBhHiIlLqQ"


def _describe(struct: Structure) -> str:
    return f"<{type(struct).__name__} at 0x{ctypes.addressof(struct):X}>"


class Structure(ctypes.Structure):
    """A struct of the API.

    Fields are given by position or keyword. A pointer field takes a sequence (for an array), a struct,
    ``byref``/``pointer`` of one, a cffi pointer, an integer address or None, and what it points to stays alive as
    long as the struct or a copy of it does. A count that is left out (or still 0) is filled in from its array.

    Raises ``TypeError`` naming the field for a value that cannot be stored there, ``ValueError`` where arrays that
    share one count have different lengths.
    """

    _counts_: ClassVar[Mapping[str, str]] = {}
    _interfaces_: ClassVar[frozenset[str]] = frozenset()
    _converters_: ClassVar[dict[str, Convert]] = {}

    describe: ClassVar[Callable[[Structure], str]] = staticmethod(_describe)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        given = self._given(args, kwargs)
        for name, value in given.items():
            setattr(self, name, value)
        for array, count in self._counts_.items():
            length = _length(given.get(array))
            if length is None or count in given:
                continue
            if getattr(self, count) != length:
                raise ValueError(
                    f"{type(self).__name__}.{array} has {length} elements, but {count} is "
                    f"{getattr(self, count)} because of another array; say {count} yourself if that is meant"
                )

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        kind = type(self)
        names = [field[0] for field in kind._fields_]
        if len(args) > len(names):
            raise TypeError(f"{kind.__name__} has {len(names)} fields, but {len(args)} values were given")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"{kind.__name__}.{name} was given twice")
            if name.startswith("_") or not hasattr(kind, name):
                raise TypeError(f"{kind.__name__} has no field {name}")
            given[name] = value
        return given

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self)
        converters = kind.__dict__.get("_converters_")
        if converters is None:
            converters = kind._converters_ = _converters(kind)
        convert = converters.get(name)
        if convert is None:
            if not hasattr(kind, name):
                raise AttributeError(f"{kind.__name__} has no field {name}")
            super().__setattr__(name, value)
            return
        where = f"{kind.__name__}.{name}"
        super().__setattr__(name, convert(value, where))
        count = kind._counts_.get(name)
        if count is not None and not getattr(self, count):
            length = getattr(value, "nbytes", None) if convert is _address else None
            length = _length(value) if length is None else length
            if length:
                super().__setattr__(count, length)

    def __repr__(self) -> str:
        return Structure.describe(self)


class TypedOperatorDesc(Structure):
    """The desc of one operator; stands wherever a DML_OPERATOR_DESC is expected."""

    _operator_: ClassVar[int]


class AnyOperatorDesc(Structure):
    """A DML_OPERATOR_DESC: wraps typed operator descs by itself."""

    @classmethod
    def _wrap_(cls, value: Any) -> Any:
        inner = getattr(value, "_obj", None) or (value if isinstance(value, TypedOperatorDesc) else None)
        return cls(inner._operator_, inner) if isinstance(inner, TypedOperatorDesc) else value


def _length(value: Any) -> int | None:
    """How many elements an array given as a Python sequence has; None for a pointer."""
    if value is None or isinstance(value, (ctypes.Structure, str)):
        return None
    try:
        return len(value)
    except TypeError:
        return None


def _converters(kind: type[Structure]) -> dict[str, Convert]:
    found: dict[str, Convert] = {}
    fields: Any = kind._fields_
    for name, ctype, *_ in fields:
        if name in kind._interfaces_:
            found[name] = _interface
        elif ctype is ctypes.c_void_p:
            found[name] = _address
        elif ctype is ctypes.c_char_p:
            found[name] = _text
        elif issubclass(ctype, ctypes._Pointer):
            found[name] = _pointer_converter(ctype, name in kind._counts_)
        elif issubclass(ctype, _SIMPLE) and ctype._type_ in _INTEGERS:
            found[name] = _integer
    return found


def _integer(value: Any, where: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{where} must be an integer, not {type(value).__name__}") from None


def _text(value: Any, where: str) -> Any:
    if isinstance(value, str):
        return value.encode()
    if value is None or isinstance(value, (bytes, ctypes.c_char_p)):
        return value
    location = locate(value, where)
    return ctypes.c_char_p(location.address or None)


def _keep(address: int, owner: object) -> ctypes.c_void_p:
    """A pointer with the value ``address`` that keeps ``owner`` alive wherever ctypes copies it."""
    pointer = ctypes.cast((ctypes.py_object * 1)(ctypes.py_object(owner)), ctypes.c_void_p)
    pointer.value = address
    return pointer


def _interface(value: Any, where: str) -> ctypes.c_void_p | None:
    if value is None:
        return None
    if isinstance(value, IUnknown):
        return _keep(value.handle, value)
    if isinstance(value, ctypes.c_void_p):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return ctypes.c_void_p(value)
    raise TypeError(f"{where} must be an interface object or None, not {type(value).__name__}")


def _address(value: Any, where: str) -> ctypes.c_void_p | None:
    if isinstance(value, (bytes, bytearray)) or hasattr(value, "__array_interface__"):
        return _buffer(value, where)
    location = locate(value, where)
    return _keep(location.address, location.owner) if location.address else None


def _buffer(value: Any, where: str) -> ctypes.c_void_p:
    """Raw data: bytes, a bytearray or a C-contiguous NumPy array."""
    if isinstance(value, bytes):
        data = ctypes.c_char_p(value)
        return _keep(ctypes.cast(data, ctypes.c_void_p).value or 0, value)
    if isinstance(value, bytearray):
        block = (ctypes.c_uint8 * len(value)).from_buffer(value)
        return _keep(ctypes.addressof(block), block)
    if not value.flags.c_contiguous:
        raise TypeError(f"{where} must be a C-contiguous array")
    return _keep(value.ctypes.data, value)


def _pointer_converter(ctype: Any, is_array: bool) -> Convert:
    target = ctype._type_

    def convert(value: Any, where: str) -> Any:
        if isinstance(value, ctype) or value is None:
            return value
        if is_array and isinstance(value, Iterable) and not isinstance(value, ctypes.Array):
            return _array(value, target, where)
        value = _wrap(value, target)
        location = locate(value, where)
        if issubclass(target, ctypes.Structure):
            if not isinstance(value, ctypes.Array):
                check_type(location, target, where)
            elif value._type_ is not target:
                raise TypeError(f"{where} must hold {target.__name__}, not {value._type_.__name__}")
        if not location.address:
            return None
        return ctypes.cast(_keep(location.address, location.owner), ctype)

    return convert


def _array(values: Iterable[Any], target: Any, where: str) -> Any:
    if issubclass(target, ctypes.Structure):
        items = [_element(value, target, f"{where}[{index}]") for index, value in enumerate(values)]
        # Null rather than the address of nothing: an array of no elements has no memory to point to.
        return (target * len(items))(*items) if items else None
    if target._type_ in _INTEGERS:
        numbers = [_integer(value, f"{where}[{index}]") for index, value in enumerate(values)]
    else:
        numbers = list(values)
    try:
        return (target * len(numbers))(*numbers) if numbers else None
    except TypeError as error:
        raise TypeError(f"{where}: {error}") from None


def _element(value: Any, target: Any, where: str) -> Any:
    value = _wrap(value, target)
    if isinstance(value, target):
        return value
    location = locate(value, where)
    check_type(location, target, where)
    if not location.address:
        return target()
    return ctypes.cast(_keep(location.address, location.owner), ctypes.POINTER(target))[0]


def _wrap(value: Any, target: Any) -> Any:
    """Where a DML_OPERATOR_DESC is expected, a typed operator desc is taken as it is."""
    wrap = getattr(target, "_wrap_", None)
    return wrap(value) if wrap is not None else value
