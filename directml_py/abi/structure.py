"""Base classes of all structs and unions: the C layout, with conversion of Python values."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

from ..late import made_when_named, provided
from ..text.similar import did_you_mean
from .convert import FLOATS, UNSIGNED, Convert, address, converters, integer_ranges, length
from .keepalive import adopt, settle
from .pointers import claimed_type
from .wintypes import GUID

_Field = type(GUID.Data1)

StructureT = TypeVar("StructureT", bound="Structure")


class Values(Protocol):
    """The operations on structs that follow pointers, implemented by ``directml_py.descs``."""

    def describe(self, struct: Structure) -> str:
        """The ``repr``."""

    def html(self, struct: Structure) -> str:
        """A table for notebooks."""

    def alike(self, struct: Structure, other: Structure) -> bool:
        """Whether two structs of one type have equal values behind their pointers."""

    def duplicate(self, struct: Structure) -> Structure:
        """A copy that shares no memory with ``struct``."""

    def reduce(self, struct: Structure) -> tuple[Any, ...]:
        """The result of ``__reduce__``."""


@cache
def _values() -> Values:
    """The implementation of ``Values``, whose room is above this one."""
    implementation: Values = provided("struct values")
    return implementation


def layout_of(kind: type[Any]) -> type[Any]:
    """The API struct that declares the fields of ``kind``, which may be a subclass such as a d3dx12.h helper."""
    return next(base for base in kind.__mro__ if "_fields_" in base.__dict__)


def _no_field(kind: type[Any], name: str) -> str:
    fields = [field for field in dir(kind) if isinstance(getattr(kind, field), _Field)]
    return f"{kind.__name__} has no field {name}{did_you_mean(name, fields, 0.6)}"


class _Fields:
    """Initialization of fields by position or keyword, with conversion to what ctypes can store."""

    _fields_: ClassVar[Any]
    _counts_: ClassVar[Mapping[str, str]] = {}
    _interfaces_: ClassVar[frozenset[str]] = frozenset()
    _converters_: ClassVar[dict[str, Convert]] = {}
    _ranges_: ClassVar[dict[str, tuple[int, int]]] = {}
    _names_: ClassVar[tuple[str, ...]] = ()
    _keywords_: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def _prepare(cls) -> None:
        """Find, on first use, how the fields of this class are assigned."""
        names = tuple(field[0] for field in cls._fields_)
        cls._keywords_ = frozenset(name for name in names if isinstance(getattr(cls, name), _Field))
        cls._ranges_ = integer_ranges(cls)
        cls._converters_ = converters(cls)
        # The last, as other threads see by it that the class is prepared.
        cls._names_ = names

    def _values_by_field(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        kind = type(self)
        if "_names_" not in kind.__dict__:
            kind._prepare()
        names = kind._names_
        if len(args) > len(names):
            raise TypeError(f"{kind.__name__} has {len(names)} fields, but {len(args)} values were given")
        values = dict(zip(names, args))
        for name, value in kwargs.items():
            if name in values:
                raise TypeError(f"{kind.__name__}.{name} was given twice")
            # Members of anonymous unions are fields too.
            if name not in kind._keywords_ and not isinstance(getattr(kind, name, None), _Field):
                raise TypeError(_no_field(kind, name))
            values[name] = value
        return values

    def _convert(self, name: str) -> Convert | None:
        kind = type(self)
        if "_names_" not in kind.__dict__:
            kind._prepare()
        convert = kind._converters_.get(name)
        if convert is None and not hasattr(kind, name):
            raise AttributeError(_no_field(kind, name))
        return convert

    def _assign(self, name: str, value: Any) -> None:
        if isinstance(value, int):
            # Most fields are numbers. The ranges of a base class, whose fields are also ours, serve as well.
            limits = type(self)._ranges_.get(name)
            if limits is not None and limits[0] <= value < limits[1]:
                super().__setattr__(name, value)
                return
        convert = self._convert(name)
        if convert is None:
            super().__setattr__(name, value)
            settle(self)
            return
        kind = type(self)
        count = kind._counts_.get(name)
        if count is not None and isinstance(value, Iterator):
            value = list(value)
        converted = convert(value, f"{kind.__name__}.{name}")
        super().__setattr__(name, converted)
        if isinstance(converted, (ctypes.Structure, ctypes.Union)):
            settle(self)
        if count is not None and not getattr(self, count):
            elements = length(value, in_bytes=convert is address)
            if elements:
                super().__setattr__(count, elements)

    if TYPE_CHECKING:
        # To type checkers, ctypes structs have any attribute; ours have only the fields in their stubs.
        __getattr__: None  # type: ignore[misc]
        __setattr__: None  # type: ignore[assignment, misc]
    else:
        __setattr__ = _assign


class Structure(_Fields, ctypes.Structure):  # type: ignore[misc]
    """A struct of the API.

    Fields are initialized by position or keyword, or copied from another struct of the same type. A pointer field takes
    a sequence (for an array), a struct, ``byref``/``pointer`` of one, a cffi pointer, an integer address or None, and
    keeps the memory alive as long as the struct or a copy of it lives. A count that is omitted, or is 0 when its array
    is assigned later, is set from the array.

    Structs of one type are equal if their values, including those behind pointers, are equal; being mutable, they are
    not hashable. ``copy.copy`` shares the pointed-to memory, ``copy.deepcopy`` copies it; both, and pickling, raise
    ``TypeError`` for pointers that they cannot follow.

    Raises ``TypeError`` naming the field for a value that cannot be stored there, ``ValueError`` for a number out of
    range or if arrays that share a count have different lengths, ``DMLError`` for an array element at an unreadable
    address.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if len(args) == 1 and not kwargs and isinstance(args[0], layout_of(type(self))):
            self._take(args[0])
        else:
            self._fill(self._values_by_field(args, kwargs))

    def _fill(self, values: dict[str, Any]) -> None:
        for array in self._counts_:
            if isinstance(values.get(array), Iterator):
                values[array] = list(values[array])
        for name, value in values.items():
            setattr(self, name, value)
        for array, count in self._counts_.items():
            if count in values:
                # An explicit count takes precedence, even if it is 0 and its array was assigned later.
                setattr(self, count, values[count])
                continue
            in_bytes = self._convert(array) is address
            if isinstance(values.get(array), (ctypes.Structure, ctypes.Union)) and not in_bytes:
                raise TypeError(
                    f"{type(self).__name__}.{array} must be a list, not one {type(values[array]).__name__}; "
                    f"pass {count}=1 as well if a pointer to it is meant"
                )
            elements = length(values.get(array), in_bytes)
            if elements is not None and getattr(self, count) != elements:
                raise ValueError(
                    f"{type(self).__name__}.{array} has {elements} elements, but {count} is "
                    f"{getattr(self, count)} because of another array; pass {count} explicitly if that is meant"
                )

    def __repr__(self) -> str:
        return _values().describe(self)

    def _repr_html_(self) -> str:
        return _values().html(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure) or layout_of(type(self)) is not layout_of(type(other)):
            return NotImplemented
        return _values().alike(self, other)

    # Structs are mutable. Decoded ones, which are equal when the structs are, are hashable.
    __hash__ = None  # type: ignore[assignment]

    def __copy__(self: StructureT) -> StructureT:
        new = type(self).__new__(type(self))
        new._take(self)
        return new

    def __deepcopy__(self: StructureT, memo: object) -> StructureT:
        new = type(self).__new__(type(self))
        new._take(_values().duplicate(self))
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        return _values().reduce(self)

    def replace(self: StructureT, **changes: Any) -> StructureT:
        """A shallow copy with some fields replaced.

        A count is set from a new array unless it is also given. Raises the same errors as the constructor.
        """
        new = self.__copy__()
        values = new._values_by_field((), changes)
        for array, count in self._counts_.items():
            if array in values and count not in values:
                setattr(new, count, 0)
        new._fill(values)
        return new

    __replace__ = replace

    def _take(self, other: Structure) -> None:
        """Copy the bytes and the keepalives of ``other``."""
        ctypes.memmove(ctypes.addressof(self), ctypes.addressof(other), ctypes.sizeof(self))
        adopt(self, other)


class Union(_Fields, ctypes.Union):  # type: ignore[misc]
    """A union of the API, initialized by one keyword. Raises the same ``TypeError`` and ``ValueError`` as
    ``Structure``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        values = self._values_by_field(args, kwargs)
        if len(values) > 1:
            raise TypeError(f"{type(self).__name__} holds one member, but {', '.join(values)} were given")
        for name, value in values.items():
            setattr(self, name, value)

    def __eq__(self, other: object) -> bool:
        return bytes(self) == bytes(other) if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The value as the widest unsigned integer, and as every struct, union and float member."""
        size = ctypes.sizeof(self)
        shown = [
            name
            for name, ctype, *_ in self._fields_
            if issubclass(ctype, (ctypes.Structure, ctypes.Union))
            or getattr(ctype, "_type_", None) in tuple(FLOATS)
            or (getattr(ctype, "_type_", None) in tuple(UNSIGNED) and ctypes.sizeof(ctype) == size)
        ]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


class TypedOperatorDesc(Structure):
    """The desc of one operator; accepted wherever a DML_OPERATOR_DESC is expected."""

    _operator_: ClassVar[int]


Descs: TypeAlias = Mapping[str, Mapping[str, Any]]


def operator_descs(
    namespace: dict[str, Any], descs: Descs, aliases: Mapping[str, str]
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of operator descs, each made when it is first named; ``descs`` are the bodies of
    the classes, ``aliases`` further names of some."""

    def make(name: str) -> dict[str, Any]:
        body = {"__module__": namespace["__name__"], **descs[name]}
        kind: Any = type(TypedOperatorDesc)
        made = kind(name, (TypedOperatorDesc,), body)
        return {name: made, **{alias: made for alias, named in aliases.items() if named == name}}

    return made_when_named(namespace, {**dict(zip(descs, descs)), **aliases}, make)


@cache
def _descs() -> Descs:
    """The bodies of all operator descs, whose room is above this one."""
    bodies: Descs = provided("operator descs")
    return bodies


class AnyOperatorDesc(Structure):
    """Base class of DML_OPERATOR_DESC, which wraps typed operator descs automatically."""

    @classmethod
    def _wrap_(cls, value: Any) -> Any:
        """``value``, or a desc that points to it if it is or points to a typed operator desc."""
        body = _descs().get(claimed_type(value) or "")
        return value if body is None else cls(body["_operator_"], value)
