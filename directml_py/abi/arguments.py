"""Validation of arguments other than structs: numbers, enumerators, objects, and C's (count, array) pairs.

A value that cannot be converted to the C type raises ``TypeError``; one of the right type that the API forbids raises
``DMLError`` ``E_INVALIDARG``, with a diagnostic if the caller passes the ``rule``. Both name the parameter.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Sequence
from enum import IntEnum, IntFlag
from functools import cache, reduce
from typing import Any, TypeVar

from .hresult import E_INVALIDARG, DMLError
from .rules import Rule, violation

E = TypeVar("E", bound=IntEnum)
F = TypeVar("F", bound=IntFlag)
C = TypeVar("C")


def invalid(message: str) -> DMLError:
    return DMLError(E_INVALIDARG, message)


def refusal(name: str, text: str, rule: Rule | None) -> DMLError:
    return invalid(f"{name} {text}") if rule is None else violation(rule, name, text)


def integer(value: Any, name: str) -> int:
    if type(value) is int:
        return value
    if isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not bool")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None


def unsigned(value: Any, name: str, bits: int = 64, rule: Rule | None = None) -> int:
    """``value`` as an unsigned integer of ``bits`` bits."""
    number = value if type(value) is int else integer(value, name)
    # Of a negative number -1 is left.
    if number >> bits:
        raise refusal(name, f"must be an unsigned {bits}-bit number, not {number}", rule)
    return number


def uint(value: Any, name: str, rule: Rule | None = None) -> int:
    """``value`` as a UINT."""
    return unsigned(value, name, 32, rule)


def signed_int(value: Any, name: str, rule: Rule | None = None) -> int:
    """``value`` as a signed 32-bit integer, the type of C's enumerations; an unsigned one wraps."""
    number = integer(value, name)
    if not -(1 << 31) <= number < 1 << 32:
        raise refusal(name, f"must be a 32-bit number, not {number}", rule)
    return number - (1 << 32) if number >= 1 << 31 else number


def enumerator(value: Any, kind: type[E], name: str, rule: Rule | None = None) -> E:
    number = integer(value, name)
    try:
        # By its table, as a call of the class takes four times as long.
        known = kind._value2member_map_.get(number)
        return kind(number) if known is None else known  # type: ignore[return-value]
    except ValueError:
        number_text = f"0x{number:X}" if number > 0xFF else number
        raise refusal(name, f"must be a {kind.__name__}, not {number_text}", rule) from None


@cache
def known_bits(kind: type[IntFlag]) -> int:
    return reduce(operator.or_, (int(member) for member in kind.__members__.values()), 0)


def flags(value: Any, kind: type[F], name: str, rule: Rule | None = None) -> F:
    number = integer(value, name)
    unknown = number & ~known_bits(kind)
    if unknown:
        raise refusal(name, f"has bits that are not {kind.__name__}: 0x{unknown & 0xFFFFFFFF:X}", rule)
    known = kind._value2member_map_.get(number)
    return kind(number) if known is None else known  # type: ignore[return-value]


class WrongObject(TypeError):
    """The argument ``name`` is not an object of the required interface."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name} {text}")
        self.name = name
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.text)


def instance(value: Any, kind: type[C], name: str) -> C:
    """``value``, which must be an object of the interface ``kind``."""
    if not isinstance(value, kind):
        actual = "None" if value is None else type(value).__name__
        raise WrongObject(name, f"must be an {kind.__name__}, not {actual}")
    return value


def child(value: Any, kind: type[C], name: str, device: object) -> C:
    """``value``, which must be an object of the interface ``kind`` that ``device`` created."""
    item = value if isinstance(value, kind) else instance(value, kind, name)
    if getattr(item, "device", None) is not device:
        raise invalid(f"{name} belongs to another device")
    return item


def is_series(value: Any) -> bool:
    if type(value) in (list, tuple):
        return True
    return isinstance(value, (Sequence, ctypes.Array)) and not isinstance(value, (str, bytes, bytearray))


def counted(first: Any, second: Any, count_name: str, items_name: str, rule: Rule | None = None) -> list[Any]:
    """The items of ``(count, items)`` or ``(items)``, where a single item may replace the sequence.

    A count smaller than the sequence takes a prefix, as in C; a larger one raises ``E_INVALIDARG``.
    """
    if type(second) is list and type(first) is int and first == len(second):
        return second.copy()
    if second is None:
        if is_series(first):
            return list(first)
        if not _is_number(first):
            return [first]
    count = uint(first, count_name, rule)
    if second is None:
        if count:
            raise refusal(items_name, f"is null, but {count_name} is {count}", rule)
        return []
    items = list(second) if is_series(second) else [second]
    if count > len(items):
        raise refusal(count_name, f"is {count}, but {items_name} holds {len(items)}", rule)
    return items[:count]


def _is_number(value: Any) -> bool:
    return value is not None and hasattr(value, "__index__")
