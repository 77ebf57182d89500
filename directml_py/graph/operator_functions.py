"""The graph builder's method per operator, derived from the catalog and the operator's shape inference."""

from __future__ import annotations

import inspect
import keyword
import re
from collections import namedtuple
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..abi.hresult import DMLError
from ..abi.schema import FieldSchema, OperatorSchema
from ..abi.structure import Structure
from ..descs.build import build_operator_desc, with_outputs
from ..descs.decode import decode_operator_desc
from ..descs.format import in_words
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..late import lazy
from ..operators import SCHEMAS, operator_of
from ..text.plural import counted_words
from ..text.similar import bind
from .expression import Expression
from .inference import ambiguous_outputs, inferred, packed
from .nodes import Source

if TYPE_CHECKING:
    from .graph import Graph

SHORT = "element_wise_"
# The descs of layers, by all that they follow from.
_layers: dict[Hashable, OperatorDesc] = {}
MOST_LAYERS = 4096
RECORDS = frozenset((TensorDesc, OperatorDesc, type(None)))
INTEGERS = frozenset((int,))
PLAIN = frozenset((int, bool, str, type, *(type(np.dtype(code)) for code in "fdeBbHhIiQq")))
ANNOTATIONS = {"integer": "int", "float": "float", "bool": "bool"}
ELEMENTS = {"FLOAT": "float", "UINT": "int", "INT": "int", "DML_OPERATOR_DESC": "OperatorDesc"}


def snake_case(name: str) -> str:
    """``index_dimensions`` for IndexDimensions, ``upsample_2d`` for UPSAMPLE_2D."""
    words = in_words(name, "_")
    return f"{words}_" if keyword.iskeyword(words) else words


def argument_name(entry: FieldSchema) -> str:
    """The field's name in snake case; ``input`` for InputTensor, ``inputs`` for InputTensors."""
    plural = entry.name.endswith("Tensors")
    name = re.sub("Tensors?$", "", entry.name) if entry.is_tensor else entry.name
    name = snake_case(name or "tensor")
    return f"{name}s" if entry.is_tensor and plural and not name.endswith("s") else name


class OperatorMethod:
    """The method of one operator."""

    def __init__(self, schema: OperatorSchema) -> None:
        self.schema = schema
        self.implementation = operator_of(schema.name)
        self.name = snake_case(schema.name)
        fields = schema.struct.fields
        counts = {entry.counted_by for entry in fields}
        self.arguments = {entry.name: argument_name(entry) for entry in fields}
        self.tensors = [entry for entry in fields if entry.role == "input"]
        self.outputs = [entry for entry in fields if entry.role == "output"]
        self.attributes = [entry for entry in fields if not entry.is_tensor and entry.name not in counts]
        shapes = inspect.signature(self.implementation.shapes)
        self.choices = [entry for entry in shapes.parameters.values() if entry.kind is entry.KEYWORD_ONLY]
        self.types_open = bool(ambiguous_outputs(schema))
        # What outputs follow from besides the fields.
        self.further = [entry.name for entry in self.choices]
        self.further += [self.arguments[entry.name] for entry in self.outputs if entry.optional]
        self.further += ["output_data_type"] * self.types_open
        self.signature = inspect.Signature(list(self._parameters()), return_annotation=self._returns())
        parameters = self.signature.parameters.values()
        self.positional = [entry.name for entry in parameters if entry.kind is not entry.KEYWORD_ONLY]
        self.defaults = {
            entry.name: entry.default for entry in parameters if entry.default is not entry.empty
        }
        self.required = {entry.name for entry in parameters} - self.defaults.keys()

    def _parameters(self) -> Iterator[inspect.Parameter]:
        positional, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        for entry in sorted(self.tensors, key=lambda field: field.optional):
            kind = "Sequence[Expression]" if entry.kind == "array" else "Expression"
            yield _parameter(argument_name(entry), positional, kind, entry.optional)
        for entry in self.attributes:
            kind = ANNOTATIONS.get(entry.kind, entry.type)
            if entry.kind == "array":
                kind = f"Sequence[{ELEMENTS.get(entry.type, entry.type)}]"
            elif entry.type == "DML_OPERATOR_DESC":
                kind = "OperatorDesc"
            yield _parameter(argument_name(entry), named, kind, entry.optional)
        yield from self.choices
        if self.types_open:
            yield _parameter("output_data_type", named, "DataTypeLike", True)
        for entry in self.outputs:
            if entry.optional:
                yield inspect.Parameter(argument_name(entry), named, annotation="bool", default=False)
        yield _parameter("outputs", named, "Sequence[TensorDesc | None]", True)
        yield _parameter("name", named, "str", True)

    def _returns(self) -> str:
        if len(self.outputs) != 1:
            return (
                "tuple[Expression | None, ...]"
                if any(field.optional for field in self.outputs)
                else "tuple[Expression, ...]"
            )
        return "list[Expression]" if self.outputs[0].kind == "array" else "Expression"

    @property
    def doc(self) -> str:
        """The docstring: the operator, and the field of each argument."""
        docstring = (
            type(self.implementation).__doc__
            if self.implementation.__class__.__name__ != "Operator"
            else None
        )
        first = inspect.cleandoc(docstring) if docstring else f"{self.schema.type_name} ({self.schema.page})."
        rows = [
            f"{argument_name(entry)}: {entry.name}"
            + ("" if entry.is_tensor else f" ({entry.type})")
            + (", optional" if entry.optional else "")
            for entry in (*self.tensors, *self.attributes)
        ]
        tail = []
        if self.choices:
            tail.append(inspect.getdoc(type(self.implementation).shapes) or "")
        if self.types_open:
            tail.append(
                "``output_data_type``: the type of outputs that need not have the data type of an input."
            )
        tail += [
            f"``{argument_name(entry)}``: whether {entry.name} is written."
            for entry in self.outputs
            if entry.optional
        ]
        tail.append("``outputs``: output tensors to use as they are.")
        return "\n\n".join(
            [first, f"{self.schema.struct.name}:\n  " + "\n  ".join(rows), "\n".join(filter(None, tail))]
        )

    def function(self) -> Callable[..., Any]:
        """The function as an attribute of ``Graph``."""

        def call(graph: Graph, *arguments: Any, **keywords: Any) -> Any:
            return self.call(graph, arguments, keywords)

        call.__name__ = self.name
        call.__qualname__ = f"Graph.{self.name}"
        call.__doc__ = self.doc
        receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        call.__signature__ = self.signature.replace(  # type: ignore[attr-defined]
            parameters=[receiver, *self.signature.parameters.values()]
        )
        return call

    def call(self, graph: Graph, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Add a node. Raises ``TypeError``, ``ValueError`` or ``DMLError`` with the method's name prefixed."""
        try:
            bound = self._bound(arguments, keywords)
            values, sources = self._values(graph, bound)
            desc = self._desc(graph, values, bound)
            return self._results(graph.add_operator(desc, sources, bound["name"]))
        except DMLError as error:
            text = f"Graph.{self.name}: {error.args[0]}"
            raise DMLError(error.hresult, text, error.diagnostics) from None
        except (TypeError, ValueError) as error:
            raise type(error)(f"Graph.{self.name}: {error}") from None

    def _bound(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Mapping[str, Any]:
        """The arguments by name, defaults included: ``bind``, which is asked only for what it refuses."""
        passed = {**dict(zip(self.positional, arguments)), **keywords}
        bound = {**self.defaults, **passed}
        is_each_once = len(passed) == len(arguments) + len(keywords)
        is_known = len(bound) == len(self.defaults) + len(self.required)
        if not (is_each_once and is_known and self.required <= passed.keys()):
            bind(self.signature, arguments, keywords)
        return bound

    def _values(
        self, graph: Graph, bound: Mapping[str, Any]
    ) -> tuple[dict[str, Any], tuple[Source | None, ...]]:
        """The desc's fields without its outputs, and the sources of its input tensors."""
        sources: list[Source | None] = []
        values: dict[str, Any] = {}
        for entry in self.tensors:
            name = self.arguments[entry.name]
            value = bound[name]
            if entry.kind == "array":
                several = expressions(graph, entry, value, name)
                sources += [expression.source for expression in several]
                values[entry.name] = [expression.desc for expression in several]
            elif value is None and entry.optional:
                sources.append(None)
                values[entry.name] = None
            else:
                expression = graph.checked(value, name)
                sources.append(expression.source)
                values[entry.name] = expression.desc
        for entry in self.attributes:
            value = bound[self.arguments[entry.name]]
            values[entry.name] = operator_values(value) if entry.type == "DML_OPERATOR_DESC" else value
        return values, tuple(sources)

    def _desc(self, graph: Graph, values: dict[str, Any], bound: Mapping[str, Any]) -> OperatorDesc:
        """The desc, made once for layers of a network that are alike."""
        if bound["outputs"] is not None:
            return self._build({**values, **self._explicit_outputs(bound["outputs"])})
        if graph.tensor_policy is not packed:
            # Another policy may decide each time anew.
            return self._made_desc(graph, values, bound)
        try:
            chosen = [bound.get(name) for name in self.further]
            layer = (
                (self.name, graph.device.feature_level),
                *map(distinct, values.values()),
                *map(distinct, chosen),
            )
        except TypeError:
            # One is a struct in memory, which may change.
            return self._made_desc(graph, values, bound)
        desc = _layers.get(layer)
        if desc is None:
            desc = self._made_desc(graph, values, bound)
            if len(_layers) >= MOST_LAYERS:
                _layers.clear()
            _layers[layer] = desc
        return desc

    def _made_desc(self, graph: Graph, values: dict[str, Any], bound: Mapping[str, Any]) -> OperatorDesc:
        desc = self._build(values)
        choices = {entry.name: bound[entry.name] for entry in self.choices if bound[entry.name] is not None}
        shapes = inferred(desc, graph.device.feature_level, choices, bound.get("output_data_type"))
        outputs: dict[str, Any] = {}
        for entry in self.outputs:
            if entry.optional and not bound[self.arguments[entry.name]]:
                continue
            if not shapes.get(entry.name):
                hints = ["outputs=[...]", *(f"{choice.name}=..." for choice in self.choices)]
                raise ValueError(
                    f"the sizes of {entry.name} cannot be inferred from the inputs; pass {' or '.join(hints)}"
                )
            tensors = [graph.output_tensor(data_type, sizes) for data_type, sizes in shapes[entry.name]]
            outputs[entry.name] = tensors if entry.kind == "array" else tensors[0]
        if self.outputs and not outputs:
            flags = ", ".join(f"{argument_name(entry)}=True" for entry in self.outputs)
            raise ValueError(f"no output is requested; pass at least one of {flags}")
        return with_outputs(desc, outputs)

    def _build(self, values: Mapping[str, Any]) -> OperatorDesc:
        return build_operator_desc(self.schema, values, self.arguments)

    def _explicit_outputs(self, outputs: Any) -> dict[str, Any]:
        if not isinstance(outputs, Sequence) or not all(
            isinstance(output, (TensorDesc, type(None))) for output in outputs
        ):
            raise TypeError("outputs must be a sequence of TensorDesc values")
        if len(self.outputs) == 1 and self.outputs[0].kind == "array":
            return {self.outputs[0].name: tuple(outputs)}
        required = sum(not entry.optional for entry in self.outputs)
        if not required <= len(outputs) <= len(self.outputs):
            raise ValueError(
                f"outputs has {counted_words(len(outputs), 'tensor')}; the operator writes {len(self.outputs)}"
            )
        return {entry.name: output for entry, output in zip(self.outputs, outputs)}

    def _results(self, results: Sequence[Expression | None]) -> Any:
        if self.outputs[0].kind == "array":
            return list(results)
        if len(self.outputs) == 1:
            return results[0]
        return self._tuple(*results)

    @lazy
    def _tuple(self) -> Any:
        make: Any = namedtuple
        return make(self.name, [self.arguments[entry.name] for entry in self.outputs])


def operator_values(value: Any) -> Any:
    """The operator desc in a struct, or those in a list, as values, which may be keys; anything else as it is, so that
    what reads it later says what is wrong."""
    if isinstance(value, list):
        return [operator_values(item) for item in value]
    if not isinstance(value, Structure):
        return value
    try:
        desc, faults = decode_operator_desc(value, nested=True)
    except TypeError:
        return value
    return value if faults or desc is None else desc


def distinct(value: Any) -> Hashable:
    """A key for an argument, which differs wherever the desc or what is said of a wrong argument may: 1, True and 1.0
    are equal, and so are 0.0 and -0.0. Raises ``TypeError`` for what has none."""
    kind = type(value)
    if kind in RECORDS:
        return value  # type: ignore[no-any-return]
    if kind in PLAIN or isinstance(value, IntEnum):
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind in (list, tuple):
        return kind, (tuple(value) if INTEGERS.issuperset(map(type, value)) else tuple(map(distinct, value)))
    raise TypeError(f"{kind.__name__} has no key")


def _parameter(name: str, kind: Any, annotation: str, optional: bool) -> inspect.Parameter:
    if optional:
        return inspect.Parameter(name, kind, annotation=f"{annotation} | None", default=None)
    return inspect.Parameter(name, kind, annotation=annotation)


def expressions(graph: Graph, entry: FieldSchema, value: Any, name: str) -> list[Expression]:
    """The expressions passed for an array. Raises ``TypeError`` and ``ValueError`` that name the argument."""
    if isinstance(value, Expression) or not isinstance(value, Sequence):
        raise TypeError(f"{name} must be a sequence of expressions, not {type(value).__name__}")
    if not value and not entry.optional:
        raise ValueError(f"{name} is empty; at least one expression is required")
    return [graph.checked(expression, f"{name}[{index}]") for index, expression in enumerate(value)]


@cache
def method_names() -> dict[str, str]:
    """The operator of each method; ELEMENT_WISE_IDENTITY is also ``identity``, as in DirectMLX."""
    names = {snake_case(name): name for name in SCHEMAS}
    for name, operator in list(names.items()):
        short = name.removeprefix(SHORT)
        names.setdefault(f"{short}_" if keyword.iskeyword(short) else short, operator)
    return names


@cache
def method(name: str) -> Callable[..., Any]:
    """The method ``Graph.name``, created on first use. Raises ``KeyError`` if there is none."""
    return OperatorMethod(SCHEMAS[method_names()[name]]).function()
