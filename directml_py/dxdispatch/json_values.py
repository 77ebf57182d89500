"""Parsers for single values of a model's JSON, with DxDispatch's error texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import IntEnum, IntFlag
from typing import Any, TypeVar

import numpy as np

from ..api.enums import DML_TENSOR_DATA_TYPE
from ..descs.types_by_name import enum_class
from ..text.json_reading import JsonError, read_commented_json
from .model_files import ModelError

T = TypeVar("T")
Parse = Callable[[Any], T]

SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
INT64 = (-(1 << 63), (1 << 63) - 1)
UINT64 = (0, (1 << 64) - 1)


def parse_json(data: bytes) -> Any:
    """The first value in a model's text. Raises ``ModelError`` with line and column for invalid JSON."""
    try:
        return read_commented_json(data)
    except JsonError as error:
        raise ModelError(f"JSON parse error: {error}") from None


def members(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ModelError("Expected a non-null JSON object.")
    return value


def field(fields: Mapping[str, Any], name: str, parse: Parse[T]) -> T:
    """The required member ``name``."""
    if name not in fields:
        raise ModelError(f"Field '{name}' is required.")
    try:
        return parse(fields[name])
    except ModelError as error:
        raise ModelError(f"Error parsing field '{name}': {error}") from None


def optional(fields: Mapping[str, Any], name: str, parse: Parse[T], default: T) -> T:
    return field(fields, name, parse) if name in fields else default


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelError("Expected a string.")
    return value


def boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ModelError("Expected a bool.")
    return value


def integer(bits: int, signed: bool = False) -> Parse[int]:
    """A parser for integers of ``bits`` bits."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    widest = INT64 if signed else UINT64

    def parse(value: Any) -> int:
        if type(value) is not int or not widest[0] <= value <= widest[1]:
            raise ModelError(f"Expected {'a signed' if signed else 'an unsigned'} integer.")
        if not low <= value <= high:
            raise ModelError(f"narrowing_error: {value} is not from {low} to {high}")
        return value

    return parse


uint32 = integer(32)
uint64 = integer(64)
int32 = integer(32, signed=True)


def number(value: Any) -> float:
    """A double; integers are accepted where a double represents them exactly."""
    if isinstance(value, str):
        special = SPECIAL.get(value.lower())
        if special is None:
            raise ModelError("Expected 'NaN', 'Inf', or '-Inf'.")
        return special
    if type(value) is int and INT64[0] <= value <= UINT64[1] and int(float(value)) != value:
        raise ModelError("Expected a number or 'NaN', 'Inf', or '-Inf'.")
    if type(value) not in (int, float):
        raise ModelError("Expected a number or 'NaN', 'Inf', or '-Inf'.")
    return float(value)


def float32(value: Any) -> float:
    """A number within the range of FLOAT."""
    with np.errstate(over="ignore"):
        return float(np.float32(number(value)))


def float16(value: Any) -> float:
    with np.errstate(over="ignore"):
        return float(np.float16(np.float32(number(value))))


def array(parse: Parse[T]) -> Parse[tuple[T, ...]]:
    """A parser for arrays whose elements ``parse`` reads."""

    def parse_all(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise ModelError("Expected an array.")
        parsed: list[T] = []
        try:
            for element in value:
                parsed.append(parse(element))
        except ModelError as error:
            raise ModelError(f"{error} (element {len(parsed)})") from None
        return tuple(parsed)

    return parse_all


def enumerator(name: str) -> Parse[Any]:
    """A parser for enumerators of ``name``, with or without the common prefix of their names."""
    kind: type[IntEnum | IntFlag] = enum_class(name)
    prefix = (name[:-1] if issubclass(kind, IntFlag) else name) + "_"

    def parse(value: Any) -> Any:
        if not isinstance(value, str):
            raise ModelError(f"{name} must be a string.")
        for candidate in (value, prefix + value):
            if candidate in kind.__members__:
                return kind.__members__[candidate]
        raise ModelError(f"'{value}' is not a recognized value for {name}.")

    return parse


def flags(name: str) -> Parse[Any]:
    """A parser for one flag or an array of flags."""
    kind, parse_flag = enum_class(name), enumerator(name)

    def parse(value: Any) -> Any:
        if isinstance(value, str):
            return parse_flag(value)
        if not isinstance(value, list):
            raise ModelError("Expected a string or an array of strings.")
        combined = kind(0)
        for element in value:
            combined |= parse_flag(element)
        return combined

    return parse


def data_type(value: Any) -> DML_TENSOR_DATA_TYPE:
    member: DML_TENSOR_DATA_TYPE = enumerator("DML_TENSOR_DATA_TYPE")(value)
    return member
