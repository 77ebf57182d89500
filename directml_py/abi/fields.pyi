"""Types of struct fields for type checkers: the type that reading yields, and the types that can be assigned."""

from _ctypes import _CData
from collections.abc import Iterable
from ctypes import Array, _CArgObject, _Pointer, _PointerLike
from typing import Any, Generic, SupportsFloat, SupportsIndex, TypeAlias, TypeVar, overload

import numpy.typing as npt

from .interface import IUnknown

Target = TypeVar("Target", bound=_CData)
Read = TypeVar("Read")
Written = TypeVar("Written")

class Position:
    """The offset and size of a field in its struct, in bytes."""

    offset: int
    size: int

class Field(Generic[Read, Written]):
    @overload
    def __get__(self, instance: None, owner: type[Any], /) -> Position: ...
    @overload
    def __get__(self, instance: object, owner: type[Any], /) -> Read: ...
    def __set__(self, instance: Any, value: Written, /) -> None: ...

Integer: TypeAlias = SupportsIndex
Real: TypeAlias = SupportsFloat | SupportsIndex
# byref(), pointers, addresses and null. Type checkers see cffi objects as Any.
Reference: TypeAlias = _CArgObject | _PointerLike | SupportsIndex | None
To: TypeAlias = Target | Array[Target] | Reference
Integers: TypeAlias = Iterable[Integer] | Reference
Reals: TypeAlias = Iterable[Real] | Reference
Structs: TypeAlias = Iterable[Target | Reference] | Reference
Held: TypeAlias = Target | tuple[Any, ...]
Memory: TypeAlias = bytes | bytearray | npt.NDArray[Any] | _CData | Reference
Text: TypeAlias = str | bytes | Reference
Interface: TypeAlias = IUnknown | Reference

IntegerField: TypeAlias = Field[int, Integer]
RealField: TypeAlias = Field[float, Real]
PointerField: TypeAlias = Field[_Pointer[Target], To[Target]]
IntegersField: TypeAlias = Field[_Pointer[Any], Integers]
RealsField: TypeAlias = Field[_Pointer[Any], Reals]
StructsField: TypeAlias = Field[_Pointer[Target], Structs[Target]]
HeldField: TypeAlias = Field[Target, Held[Target]]
ArrayField: TypeAlias = Field[Array[Any], Array[Any] | tuple[Any, ...]]
MemoryField: TypeAlias = Field[int | None, Memory]
TextField: TypeAlias = Field[bytes | None, Text]
CharactersField: TypeAlias = Field[str, str]
InterfaceField: TypeAlias = Field[int | None, Interface]
