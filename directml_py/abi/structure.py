"""The bases of every struct and union: the C layout, kind to Python callers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from .convert import Convert, address, converters, length
from .pointers import claimed_type
from .wintypes import GUID

_Field = type(GUID.Data1)
_UNSIGNED = "BHILQ"
_FLOATS = "fd"


def _describe(struct: Structure) -> str:
    return f"<{type(struct).__name__} at 0x{ctypes.addressof(struct):X}>"


class _Fields:
    """Fields by position or keyword, converted to what ctypes can store."""

    _fields_: ClassVar[Any]
    _counts_: ClassVar[Mapping[str, str]] = {}
    _interfaces_: ClassVar[frozenset[str]] = frozenset()
    _converters_: ClassVar[dict[str, Convert]] = {}

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        kind = type(self)
        names = [field[0] for field in kind._fields_]
        if len(args) > len(names):
            raise TypeError(f"{kind.__name__} has {len(names)} fields, but {len(args)} values were given")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name in given:
                raise TypeError(f"{kind.__name__}.{name} was given twice")
            if not isinstance(getattr(kind, name, None), _Field):
                raise TypeError(f"{kind.__name__} has no field {name}")
            given[name] = value
        return given

    def _convert(self, name: str) -> Convert | None:
        kind = type(self)
        own = kind.__dict__.get("_converters_")
        if own is None:
            own = kind._converters_ = converters(kind)
        convert: Convert | None = own.get(name)
        if convert is None and not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__} has no field {name}")
        return convert

    def __setattr__(self, name: str, value: Any) -> None:
        convert = self._convert(name)
        if convert is None:
            super().__setattr__(name, value)
            return
        kind = type(self)
        count = kind._counts_.get(name)
        if count is not None and isinstance(value, Iterator):
            value = list(value)
        super().__setattr__(name, convert(value, f"{kind.__name__}.{name}"))
        if count is not None and not getattr(self, count):
            elements = length(value, in_bytes=convert is address)
            if elements:
                super().__setattr__(count, elements)


class Structure(_Fields, ctypes.Structure):
    """A struct of the API.

    Fields are given by position or keyword. A pointer field takes a sequence (for an array), a struct,
    ``byref``/``pointer`` of one, a cffi pointer, an integer address or None, and what it points to stays alive as
    long as the struct or a copy of it does. A count that is left out (or later assigned an array while it is 0) is
    filled in from its array.

    Raises ``TypeError`` naming the field for a value that cannot be stored there, ``ValueError`` for a number out
    of range or where arrays that share one count have different lengths, ``DMLError`` for an array's element at an
    address that cannot be read.
    """

    describe: ClassVar[Callable[[Structure], str]] = staticmethod(_describe)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        given = self._given(args, kwargs)
        for array in self._counts_:
            if isinstance(given.get(array), Iterator):
                given[array] = list(given[array])
        for name, value in given.items():
            setattr(self, name, value)
        for array, count in self._counts_.items():
            if count in given:
                # An explicit count wins, even if it is 0 and its array came later.
                setattr(self, count, given[count])
                continue
            elements = length(given.get(array), in_bytes=self._convert(array) is address)
            if elements is not None and getattr(self, count) != elements:
                raise ValueError(
                    f"{type(self).__name__}.{array} has {elements} elements, but {count} is "
                    f"{getattr(self, count)} because of another array; say {count} yourself if that is meant"
                )

    def __repr__(self) -> str:
        return Structure.describe(self)


class Union(_Fields, ctypes.Union):
    """A union of the API; one member is given, by keyword. Raises ``TypeError`` and ``ValueError`` as ``Structure``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        given = self._given(args, kwargs)
        if len(given) > 1:
            raise TypeError(f"{type(self).__name__} holds one member, but {', '.join(given)} were given")
        for name, value in given.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        """The bytes as the widest unsigned integer, and as every other thing that integers do not show."""
        size = ctypes.sizeof(self)
        shown = [
            name
            for name, ctype, *_ in self._fields_
            if issubclass(ctype, (ctypes.Structure, ctypes.Union))
            or getattr(ctype, "_type_", None) in tuple(_FLOATS)
            or (getattr(ctype, "_type_", None) in tuple(_UNSIGNED) and ctypes.sizeof(ctype) == size)
        ]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


class TypedOperatorDesc(Structure):
    """The desc of one operator; stands wherever a DML_OPERATOR_DESC is expected."""

    _operator_: ClassVar[int]


class AnyOperatorDesc(Structure):
    """A DML_OPERATOR_DESC: wraps typed operator descs by itself."""

    @classmethod
    def _wrap_(cls, value: Any) -> Any:
        """``value``, or a desc that points to it if it is or points to a typed operator desc."""
        name = claimed_type(value)
        for kind in TypedOperatorDesc.__subclasses__():
            if kind.__name__ == name:
                return cls(kind._operator_, value)
        return value
