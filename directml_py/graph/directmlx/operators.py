"""DirectMLX's functions, generated from their declarations."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ...api import enums
from ...descs.format import in_words
from ...text.similar import bind
from ..expression import Expression
from ..graph import Graph
from .function_declarations import BUILDERS, STRUCTS, rows
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


def _sizes(arguments: Mapping[str, Any]) -> Sequence[int]:
    value: Expression = arguments["input"]
    return value.desc.sizes


def _spatial(value: int) -> Callable[[Mapping[str, Any]], list[Any]]:
    return lambda arguments: [value] * (len(_sizes(arguments)) - 2)


def _each(value: float) -> Callable[[Mapping[str, Any]], list[Any]]:
    return lambda arguments: [value] * len(_sizes(arguments))


FILLERS = {
    name: Filler(name, make)
    for name, make in {
        "ones": _spatial(1),
        "zeros": _spatial(0),
        "halves": _each(0.5),
        "minus_halves": _each(-0.5),
        "every": lambda arguments: list(range(len(_sizes(arguments)))),
        "ratios": lambda arguments: [
            new / old for new, old in zip(arguments["outputSizes"], _sizes(arguments))
        ],
        "ratios_back": lambda arguments: [
            old / new for new, old in zip(arguments["outputSizes"], _sizes(arguments))
        ],
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

    def __call__(self, *positional: Any, **keywords: Any) -> Any:
        try:
            bound = bind(self.signature, positional, keywords)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        arguments = bound.arguments
        graph = arguments.pop("graph", None) or graph_of(self.name, arguments.values())
        passed = {}
        for name, value in arguments.items():
            default = self.signature.parameters[name].default
            if isinstance(default, Filler) and (value is default or value is None or len(value) == 0):
                value = default.make(arguments)
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


class FunctionBuilder:
    """A function of DirectMLX whose optional arguments are set by name: ``GemmBuilder(a, b).Alpha(2).Build()``."""

    FUNCTION: ClassVar[OperatorFunction]
    SIGNATURE: ClassVar[inspect.Signature]

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        try:
            self._arguments = dict(bind(self.SIGNATURE, arguments, keywords).arguments)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: {error}") from None

    def Build(self) -> Any:
        """Add the operator to the graph; what was not set has the function's default."""
        return self.FUNCTION(**self._arguments)


def builder(function: OperatorFunction, last: str) -> type[FunctionBuilder]:
    """The builder of ``function``, whose constructor takes the arguments up to ``last``."""
    parameters = list(function.signature.parameters.values())
    count = [parameter.name for parameter in parameters].index(last) + 1
    signature = inspect.Signature(parameters[:count])
    name = f"{function.name}Builder"
    members: dict[str, Any] = {
        "__doc__": f"C++'s {name}: {name}{signature}, setters, and Build() as {function.name}().",
        "__module__": __package__,
        "__signature__": signature,
        "FUNCTION": function,
        "SIGNATURE": signature,
    }
    for parameter in parameters[count:]:
        setter = f"{parameter.name[0].upper()}{parameter.name[1:]}"
        members[setter] = _setter(name, setter, parameter.name)
    return type(name, (FunctionBuilder,), members)


def _setter(builder_name: str, setter: str, argument: str) -> Callable[..., Any]:
    def set_argument(self: FunctionBuilder, value: Any) -> FunctionBuilder:
        # C++ copies arrays, which the caller may change before Build().
        self._arguments[argument] = list(value) if isinstance(value, list) else value
        return self

    set_argument.__name__ = setter
    set_argument.__qualname__ = f"{builder_name}.{setter}"
    set_argument.__doc__ = f"Set {argument}; returns the builder."
    return set_argument


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
    """The functions that map directly to one operator, and the builders, by name."""
    functions = {function.name: function for function in map(OperatorFunction, rows())}
    builders = [builder(functions[name], last) for name, last in BUILDERS.items()]
    return {
        **{name: function.function() for name, function in functions.items()},
        **{made.__name__: made for made in builders},
    }
