"""pybind11's argument conversion: annotations determine what a caller may pass."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from ..text.similar import bind
from .enumerations import Enumeration

# The default of a required parameter that follows optional ones.
REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()

F = TypeVar("F", bound=Callable[..., Any])


class IntegerRange(NamedTuple):
    low: int
    high: int


UInt = Annotated[int, IntegerRange(0, (1 << 32) - 1)]
UInt64 = Annotated[int, IntegerRange(0, (1 << 64) - 1)]
Int = Annotated[int, IntegerRange(-(1 << 31), (1 << 31) - 1)]


def converted(hint: Any, value: Any, name: str) -> Any:
    """``value`` converted to the annotation ``hint``. Raises ``TypeError`` naming the argument."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        (inner,) = (argument for argument in get_args(hint) if argument is not type(None))
        return converted(inner, value, name)
    if origin is list:
        return _list(get_args(hint)[0], value, name)
    if origin is Annotated:
        return _integer(get_args(hint)[1], value, name)
    if hint is Any:
        return value
    if hint is bool:
        return _bool(value, name)
    if hint is float:
        return _float(value, name)
    if not isinstance(value, hint):
        raise TypeError(f"{name} must be {_article(hint.__name__)}, not {type(value).__name__}")
    return value


def _list(element: Any, value: Any, name: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, range, np.ndarray)):
        raise TypeError(f"{name} must be a list, not {type(value).__name__}")
    return [converted(element, item, f"{name}[{index}]") for index, item in enumerate(value)]


def _integer(allowed: IntegerRange, value: Any, name: str) -> int:
    if isinstance(value, Enumeration):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
    if not allowed.low <= number <= allowed.high:
        raise TypeError(f"{name} must be from {allowed.low} to {allowed.high}, not {number}")
    return number


def _bool(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, int, np.bool_, np.integer)):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")
    return bool(value)


def _float(value: Any, name: str) -> float:
    if isinstance(value, (str, bytes)) or (
        not hasattr(value, "__float__") and not hasattr(value, "__index__")
    ):
        raise TypeError(f"{name} must be a float, not {type(value).__name__}")
    return float(value)


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "AEIOU" else f"a {name}"


class Signature:
    """A function's parameters and their types."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.name = function.__qualname__.removesuffix(".__init__")
        signature = inspect.signature(function)
        self.is_method = "self" in signature.parameters
        parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
        self.signature = signature.replace(parameters=parameters)
        self.function = function

    @functools.cached_property
    def hints(self) -> dict[str, Any]:
        """The type hints, resolved lazily: they may refer to classes defined later."""
        return get_type_hints(self.function, include_extras=True)

    def bind(self, arguments: Iterable[Any], keywords: Mapping[str, Any]) -> inspect.BoundArguments:
        """The converted arguments, with defaults. Raises ``TypeError`` that begins with the function's name."""
        try:
            bound = bind(self.signature, arguments, keywords)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                if value is REQUIRED:
                    raise TypeError(f"missing a required argument: {name!r}")
                bound.arguments[name] = converted(self.hints[name], value, name)
        except TypeError as error:
            raise TypeError(f"{self.name}(): {error}") from None
        return bound


def checked(call: F) -> F:
    """Decorator: a function or method that converts or rejects its arguments by its annotations."""
    signature = Signature(call)

    @functools.wraps(call)
    def function(*arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(arguments, keywords)
        return call(*bound.args, **bound.kwargs)

    @functools.wraps(call)
    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(arguments, keywords)
        return call(self, *bound.args, **bound.kwargs)

    return cast(F, method if signature.is_method else function)


def overloaded(
    name: str, signatures: Sequence[Signature], arguments: Iterable[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by the first signature that accepts them. Raises ``TypeError`` with the errors of all."""
    problems = []
    for one in signatures:
        try:
            return one.bind(arguments, keywords).arguments
        except TypeError as error:
            problems.append(f"({', '.join(one.signature.parameters)}): {str(error).partition('(): ')[2]}")
    raise TypeError(f"{name}() has no matching overload: {'; '.join(problems)}")
