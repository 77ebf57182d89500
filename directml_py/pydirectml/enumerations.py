"""DirectML's enumerations with the semantics of pybind11's ``enum_``."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, IntFlag
from typing import Any, ClassVar

from ..api import enums as c


class _Members(type):
    """Declares members to type checkers; they are created from the catalog."""

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"{cls.__name__} has no member {name!r}")


class Enumeration(metaclass=_Members):
    """A named number. Any number can be wrapped (``ExecutionFlags(3)``); the name of an unnamed one is ``???``.

    Members equal their numbers but no member of another enumeration, as in pybind11 for C enumerations, which convert
    to integers. Numbers do not convert to members implicitly.
    """

    __members__: ClassVar[dict[str, Enumeration]]
    is_arithmetic: ClassVar[bool] = False
    # An ``enum class`` in C++, which does not convert to integers.
    is_scoped: ClassVar[bool] = False

    def __init_subclass__(
        cls, *, members: Iterable[tuple[str, int]], arithmetic: bool = False, scoped: bool = False
    ) -> None:
        cls.is_arithmetic, cls.is_scoped = arithmetic, scoped
        cls.__members__ = {name: cls(value) for name, value in members}
        for name, member in cls.__members__.items():
            setattr(cls, name, member)

    def __init__(self, value: int) -> None:
        if isinstance(value, (str, float)) or not hasattr(value, "__index__"):
            raise TypeError(f"{type(self).__name__}(): value must be an int, not {type(value).__name__}")
        self.value = value.__index__()

    @property
    def name(self) -> str:
        return next((name for name, member in self.__members__.items() if member.value == self.value), "???")

    def __int__(self) -> int:
        return self.value

    __index__ = __int__

    def __hash__(self) -> int:
        return self.value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Enumeration):
            return type(self) is type(other) and self.value == other.value
        return not self.is_scoped and isinstance(other, int) and self.value == other

    def __repr__(self) -> str:
        return f"<{self}: {self.value}>"

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def _number(self, other: object) -> int | None:
        """The number of a valid other operand for arithmetic with this member."""
        if not self.is_arithmetic:
            return None
        if isinstance(other, type(self)):
            return other.value
        return other if isinstance(other, int) and not self.is_scoped else None

    def __lt__(self, other: object) -> Any:
        number = self._number(other)
        return NotImplemented if number is None else self.value < number

    def __le__(self, other: object) -> Any:
        number = self._number(other)
        return NotImplemented if number is None else self.value <= number

    def __gt__(self, other: object) -> Any:
        number = self._number(other)
        return NotImplemented if number is None else self.value > number

    def __ge__(self, other: object) -> Any:
        number = self._number(other)
        return NotImplemented if number is None else self.value >= number


class Flags(Enumeration, members=()):
    """Members that combine to integers, which the enumeration converts back to flags."""

    def __or__(self, other: object) -> Any:
        number = self._number(other)
        return NotImplemented if number is None else self.value | number

    def __and__(self, other: object) -> Any:
        number = self._number(other)
        return NotImplemented if number is None else self.value & number

    def __xor__(self, other: object) -> Any:
        number = self._number(other)
        return NotImplemented if number is None else self.value ^ number

    def __invert__(self) -> int:
        return ~self.value

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__


def enumerators(
    source: type[IntEnum] | type[IntFlag], prefix: str, last: int | None = None
) -> Iterable[tuple[str, int]]:
    """The C names without ``prefix``, up to ``last``, the last enumerator in DirectML 1.9."""
    for name, member in source.__members__.items():
        # SCATTER_ELEMENTS is a later alias of SCATTER.
        is_alias = member.name != name
        if not is_alias and (last is None or member <= last):
            yield name.removeprefix(prefix), int(member)


class TensorDataType(
    Enumeration,
    members=enumerators(c.DML_TENSOR_DATA_TYPE, "DML_TENSOR_DATA_TYPE_", c.DML_TENSOR_DATA_TYPE_INT64),
):
    """DML_TENSOR_DATA_TYPE."""


class TensorFlags(Enumeration, members=enumerators(c.DML_TENSOR_FLAGS, "DML_TENSOR_FLAG_")):
    """DML_TENSOR_FLAGS."""


class MatrixTransform(Enumeration, members=enumerators(c.DML_MATRIX_TRANSFORM, "DML_MATRIX_TRANSFORM_")):
    """DML_MATRIX_TRANSFORM."""


class RecurrentNetworkDirection(
    Enumeration, members=enumerators(c.DML_RECURRENT_NETWORK_DIRECTION, "DML_RECURRENT_NETWORK_DIRECTION_")
):
    """DML_RECURRENT_NETWORK_DIRECTION."""


class OutputOptions(
    Enumeration, members=[("Both", 0), ("Sequence", 1), ("Single", 2)], arithmetic=True, scoped=True
):
    """Which outputs of ``gru`` there are (DirectMLX's GRUOutputOptions)."""


class ConvolutionMode(Enumeration, members=enumerators(c.DML_CONVOLUTION_MODE, "DML_CONVOLUTION_MODE_")):
    """DML_CONVOLUTION_MODE."""


class ConvolutionDirection(
    Enumeration, members=enumerators(c.DML_CONVOLUTION_DIRECTION, "DML_CONVOLUTION_DIRECTION_")
):
    """DML_CONVOLUTION_DIRECTION."""


class InterpolationMode(
    Enumeration, members=enumerators(c.DML_INTERPOLATION_MODE, "DML_INTERPOLATION_MODE_")
):
    """DML_INTERPOLATION_MODE."""


class PaddingMode(
    Enumeration, members=enumerators(c.DML_PADDING_MODE, "DML_PADDING_MODE_", c.DML_PADDING_MODE_REFLECTION)
):
    """DML_PADDING_MODE."""


class ExecutionFlags(
    Flags, members=enumerators(c.DML_EXECUTION_FLAGS, "DML_EXECUTION_FLAG_"), arithmetic=True
):
    """DML_EXECUTION_FLAGS."""


class OperatorType(
    Enumeration, members=enumerators(c.DML_OPERATOR_TYPE, "DML_OPERATOR_", c.DML_OPERATOR_RESAMPLE)
):
    """DML_OPERATOR_TYPE."""


# In the order in which Microsoft's module exports their members; of equal names the last one wins.
EXPORTED = (
    TensorDataType,
    TensorFlags,
    MatrixTransform,
    RecurrentNetworkDirection,
    ConvolutionMode,
    ConvolutionDirection,
    InterpolationMode,
    PaddingMode,
    ExecutionFlags,
    OperatorType,
)


def exported() -> dict[str, Enumeration]:
    """The members that the module exports by name."""
    return {name: member for kind in EXPORTED for name, member in kind.__members__.items()}
