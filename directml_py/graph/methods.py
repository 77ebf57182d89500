"""One function per executing operator, derived from the catalog and from what the operator infers."""

from __future__ import annotations

import inspect
import keyword
import re
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..abi.hresult import DMLError
from ..abi.schema import FieldSchema, OperatorSchema
from ..api.schema_data import OPERATORS as CATALOG
from ..descs.decode import ctypes_class, decode_operator_desc
from ..descs.encode import encode_tensor
from ..descs.sizes import unsigned_number, unsigned_numbers
from ..descs.tensor import TensorDesc
from ..descs.values import OperatorDesc
from ..operators import OPERATORS, Operator
from ..operators.operator import Shape
from .expression import Expression
from .nodes import Source

if TYPE_CHECKING:
    from .graph import Graph

SHORT = "element_wise_"
ANNOTATIONS = {"integer": "int", "float": "float", "bool": "bool"}


def snake_case(name: str) -> str:
    """``index_dimensions`` for IndexDimensions."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return f"{words}_" if keyword.iskeyword(words) else words


def argument_name(entry: FieldSchema) -> str:
    """The field in snake case; ``input`` for InputTensor, ``inputs`` for InputTensors."""
    plural = entry.name.endswith("Tensors")
    name = re.sub("Tensors?$", "", entry.name) if entry.is_tensor else entry.name
    name = snake_case(name or "tensor")
    return f"{name}s" if entry.is_tensor and plural and not name.endswith("s") else name


class Method:
    """The function of one operator."""

    def __init__(self, schema: OperatorSchema, implementation: Operator) -> None:
        self.schema = schema
        self.implementation = implementation
        self.name = snake_case(schema.name)
        fields = schema.struct.fields
        counts = {entry.counted_by for entry in fields}
        self.tensors = [entry for entry in fields if entry.role == "input"]
        self.outputs = [entry for entry in fields if entry.role == "output"]
        self.attributes = [entry for entry in fields if not entry.is_tensor and entry.name not in counts]
        infer = inspect.signature(implementation.infer)
        self.choices = [entry for entry in infer.parameters.values() if entry.kind is entry.KEYWORD_ONLY]
        self.signature = inspect.Signature(list(self._parameters()), return_annotation=self._returns())

    def _parameters(self) -> Iterator[inspect.Parameter]:
        positional, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        for entry in sorted(self.tensors, key=lambda one: one.optional):
            kind = "Sequence[Expression]" if entry.kind == "array" else "Expression"
            yield _parameter(argument_name(entry), positional, kind, entry.optional)
        for entry in self.attributes:
            kind = ANNOTATIONS.get(entry.kind, entry.type)
            if entry.kind == "array":
                element = {"FLOAT": "float"}.get(entry.type, "int" if entry.type.isupper() else entry.type)
                kind = f"Sequence[{element}]"
            yield _parameter(argument_name(entry), named, kind, entry.optional)
        yield from self.choices
        yield _parameter("outputs", named, "Sequence[TensorDesc]", True)
        yield _parameter("name", named, "str", True)

    def _returns(self) -> str:
        if len(self.outputs) != 1:
            return "tuple[Expression, ...]"
        return "list[Expression]" if self.outputs[0].kind == "array" else "Expression"

    @property
    def doc(self) -> str:
        """What the operator is, and which argument is which field."""
        first = inspect.getdoc(self.implementation) or self.schema.type_name
        rows = [
            f"{argument_name(entry)}: {entry.name}"
            + ("" if entry.is_tensor else f" ({entry.type})")
            + (", optional" if entry.optional else "")
            for entry in (*self.tensors, *self.attributes)
        ]
        inferring = inspect.getdoc(type(self.implementation).infer) if self.choices else None
        tail = [*([inferring] if inferring else []), "``outputs``: output tensors to use as they are."]
        return "\n\n".join([first, f"{self.schema.struct.name}:\n  " + "\n  ".join(rows), "\n".join(tail)])

    def function(self) -> Callable[..., Any]:
        """The function as an attribute of ``Graph``."""

        def call(graph: Graph, *arguments: Any, **keywords: Any) -> Any:
            return self.call(graph, arguments, keywords)

        call.__name__ = self.name
        call.__qualname__ = f"Graph.{self.name}"
        call.__doc__ = self.doc
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        call.__signature__ = self.signature.replace(  # type: ignore[attr-defined]
            parameters=[own, *self.signature.parameters.values()]
        )
        return call

    def call(self, graph: Graph, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Add a node. Raises ``TypeError``, ``ValueError`` or ``DMLError`` that begins with this function's name."""
        where = f"Graph.{self.name}"
        try:
            bound = self.signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            given = bound.arguments
            desc, sources = self._inputs(graph, given)
            desc = self._with_outputs(graph, desc, given)
            return self._results(graph, graph.add_operator(desc, sources, given["name"]))
        except DMLError as error:
            raise DMLError(error.hresult, f"{where}: {error.args[0]}", error.diagnostics) from None
        except (TypeError, ValueError) as error:
            raise type(error)(f"{where}: {error}") from None

    def _inputs(
        self, graph: Graph, given: Mapping[str, Any]
    ) -> tuple[OperatorDesc, tuple[Source | None, ...]]:
        """The desc without outputs, and what feeds its input tensors."""
        sources: list[Source | None] = []
        values: dict[str, Any] = {}
        for entry in self.tensors:
            found = expressions(graph, entry, given[argument_name(entry)])
            sources += [None if one is None else one.source for one in found]
            tensors = [None if one is None else encode_tensor(one.desc) for one in found]
            values[entry.name] = tensors if entry.kind == "array" else tensors[0]
        for entry in self.attributes:
            values[entry.name] = attribute(entry, given[argument_name(entry)])
        struct = ctypes_class(self.schema.struct.name)(**values)
        desc, faults = decode_operator_desc(struct)
        absent = {entry.name for entry in self.outputs}
        wrong = [str(fault) for fault in faults if fault.path not in absent]
        if wrong:
            raise ValueError("; ".join(wrong))
        assert isinstance(desc, OperatorDesc)
        return desc, tuple(sources)

    def _with_outputs(self, graph: Graph, desc: OperatorDesc, given: Mapping[str, Any]) -> OperatorDesc:
        values = dict(desc)
        choices = {entry.name: given[entry.name] for entry in self.choices}
        shapes = self.implementation.infer(desc, **choices)
        tensors: dict[str, Any] = {
            field: tuple(graph.output_tensor(one) for one in shape)
            if not isinstance(shape, Shape)
            else graph.output_tensor(shape)
            for field, shape in shapes.items()
        }
        if given["outputs"] is not None:
            tensors = self._given_outputs(given["outputs"], tensors)
        for entry in self.outputs:
            if entry.name not in tensors and not entry.optional:
                raise ValueError(
                    f"the tensor {entry.name} does not follow from the inputs; say outputs=[...]"
                )
            values[entry.name] = tensors.get(entry.name)
            if entry.counted_by:
                values[entry.counted_by] = len(values[entry.name])
        return OperatorDesc(self.schema, tuple(values[entry.name] for entry in self.schema.struct.fields))

    def _given_outputs(self, outputs: Any, inferred: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(outputs, Sequence) or not all(isinstance(one, TensorDesc) for one in outputs):
            raise TypeError("outputs must be a sequence of TensorDesc values")
        if len(self.outputs) == 1 and self.outputs[0].kind == "array":
            found: dict[str, Any] = {self.outputs[0].name: tuple(outputs)}
        else:
            found = {entry.name: one for entry, one in zip(self.outputs, outputs)}
        count = sum(len(one) if isinstance(one, tuple) else 1 for one in inferred.values())
        if len(outputs) != count and inferred:
            raise ValueError(f"outputs has {len(outputs)} tensors; the operator writes {count}")
        return found

    def _results(self, graph: Graph, found: Sequence[Expression | None]) -> Any:
        if self.outputs[0].kind == "array":
            return list(found)
        if len(self.outputs) == 1:
            return found[0]
        make: Any = namedtuple
        return make(self.name, [argument_name(entry) for entry in self.outputs])(*found)


def _parameter(name: str, kind: Any, annotation: str, optional: bool) -> inspect.Parameter:
    if optional:
        return inspect.Parameter(name, kind, annotation=f"{annotation} | None", default=None)
    return inspect.Parameter(name, kind, annotation=annotation)


def expressions(graph: Graph, entry: FieldSchema, value: Any) -> list[Expression | None]:
    """The expressions given for one field. Raises ``TypeError`` and ``ValueError`` naming the argument."""
    name = argument_name(entry)
    if entry.kind != "array":
        if value is None and entry.optional:
            return [None]
        return [graph.own(value, name)]
    if isinstance(value, Expression) or not isinstance(value, Sequence):
        raise TypeError(f"{name} must be a sequence of expressions, not {type(value).__name__}")
    if not value and not entry.optional:
        raise ValueError(f"{name} is empty; at least one expression is required")
    return [graph.own(one, f"{name}[{index}]") for index, one in enumerate(value)]


def attribute(entry: FieldSchema, value: Any) -> Any:
    """An attribute as its struct takes it; a struct may be given as a tuple of its fields.

    Raises ``TypeError`` and ``ValueError`` naming the argument, also for negative numbers, which C would wrap.
    """
    if entry.type == "UINT" and entry.kind == "integer":
        return unsigned_number(value, argument_name(entry))
    if entry.type == "UINT" and entry.kind == "array" and not (value is None and entry.optional):
        return unsigned_numbers(value, argument_name(entry))
    if entry.kind in ("pointer", "struct") and isinstance(value, (tuple, list)):
        return ctypes_class(entry.type)(*value)
    return value


def methods() -> dict[str, Method]:
    """By name, those of all operators that execute; ELEMENT_WISE_IDENTITY is ``identity`` too, as in DirectMLX."""
    found = {}
    for schema in CATALOG.values():
        if schema.name in OPERATORS:
            method = Method(schema, OPERATORS[schema.name])
            found[method.name] = method
    for name, method in list(found.items()):
        short = name.removeprefix(SHORT)
        if not keyword.iskeyword(short):
            found.setdefault(short, method)
    return found
