"""DirectMLX's functions, generated from their declarations."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...api import enums
from ...descs.format import in_words
from ..expression import Expression
from ..graph import Graph
from .function_declarations import STRUCTS, rows
from .fused_activations import FusedActivation

Struct: Any = namedtuple
STRUCT_TYPES: dict[str, Any] = {name: Struct(name, fields) for name, fields in STRUCTS.items()}


class Filler:
    """A default list, computed from the other arguments."""

    def __init__(self, name: str, make: Callable[[Mapping[str, Any]], list[Any]]) -> None:
        self.name = name
        self.make = make

    def __repr__(self) -> str:
        return self.name


def _sizes(given: Mapping[str, Any]) -> Sequence[int]:
    value: Expression = given["input"]
    return value.desc.sizes


def _spatial(value: int) -> Callable[[Mapping[str, Any]], list[Any]]:
    return lambda given: [value] * (len(_sizes(given)) - 2)


def _each(value: float) -> Callable[[Mapping[str, Any]], list[Any]]:
    return lambda given: [value] * len(_sizes(given))


FILLERS = {
    name: Filler(name, make)
    for name, make in {
        "ones": _spatial(1),
        "zeros": _spatial(0),
        "halves": _each(0.5),
        "minus_halves": _each(-0.5),
        "every": lambda given: list(range(len(_sizes(given)))),
        "ratios": lambda given: [new / old for new, old in zip(given["outputSizes"], _sizes(given))],
        "ratios_back": lambda given: [old / new for new, old in zip(given["outputSizes"], _sizes(given))],
    }.items()
}


def _default(text: str) -> Any:
    if text in FILLERS:
        return FILLERS[text]
    if text.startswith("DML_"):
        return getattr(enums, text)
    plain = {"None": None, "True": True, "False": False}
    return plain[text] if text in plain else float(text) if "." in text else int(text)


class OperatorFunction:
    """A function of DirectMLX that maps to one operator."""

    def __init__(self, row: str) -> None:
        head, _, parameters = row.partition(":")
        self.name, target = head.split()
        self.method, _, struct = target.partition("!")
        self.struct = STRUCT_TYPES.get(struct)
        self.targets: dict[str, list[str]] = {}
        signature = []
        for word in parameters.split():
            whole, equals, default = word.partition("=")
            name, _, argument = whole.partition(">")
            self.targets[name] = argument.split(",") if argument else [in_words(name, "_")]
            signature.append(
                inspect.Parameter(
                    name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=_default(default) if equals else inspect.Parameter.empty,
                )
            )
        self.signature = inspect.Signature(signature)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        try:
            bound = self.signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        graph = given.pop("graph", None) or graph_of(self.name, given.values())
        passed = {}
        for name, value in given.items():
            default = self.signature.parameters[name].default
            if isinstance(default, Filler) and (value is default or value is None or len(value) == 0):
                value = default.make(given)
            if value is not None:
                passed.update(dict.fromkeys(self.targets[name], fused(value)))
        result = getattr(graph, self.method)(**passed)
        return result if self.struct is None else self.struct(*result)

    def function(self) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            return self(*arguments, **keywords)

        call.__name__ = call.__qualname__ = self.name
        call.__module__ = __package__ or ""
        call.__signature__ = self.signature  # type: ignore[attr-defined]
        call.__doc__ = f"``Graph.{self.method}`` with the arguments of DirectMLX's {self.name}."
        return call


def graph_of(name: str, values: Any) -> Graph:
    """The graph of the first expression among ``values``. Raises ``TypeError``."""
    for value in values:
        if isinstance(value, Expression):
            return value.graph
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], Expression):
            return value[0].graph
    raise TypeError(f"{name}: none of the arguments is an Expression")


def fused(value: Any) -> Any:
    """The graph builder's form of a FusedActivation or a list of them."""
    if isinstance(value, FusedActivation):
        return value.desc
    if isinstance(value, (list, tuple)) and any(isinstance(item, FusedActivation) for item in value):
        return [fused(activation) for activation in value]
    return value


def plain_functions() -> dict[str, Callable[..., Any]]:
    """The functions that map directly to one operator, by name."""
    functions = (OperatorFunction(row) for row in rows())
    return {function.name: function.function() for function in functions}
