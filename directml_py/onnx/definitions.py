"""What ONNX's schemas say of operators: how many inputs and outputs, which attributes, which types.

ONNX's own checker knows its schemas alone and judges whole models: it rejects models that ONNX Runtime runs, for nodes
that are not sorted, operators that ONNX Runtime adds, functions of another operator set. Here a node is checked when it
is translated, with the types that its inputs have.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import onnx

from ..text.plural import counted_words
from .errors import Refusal
from .protobuf import NodeMessage
from .translators import MICROSOFT, OF_ONNX_RUNTIME, ONNX, OPERATORS
from .values import OnnxValue

OPTION = onnx.defs.OpSchema.FormalParameterOption
KINDS = {number: name for name, number in onnx.AttributeProto.AttributeType.items()}
NUMBERS = dict(onnx.AttributeProto.AttributeType.items())
# Operators that ONNX Runtime has in ONNX's domain before ONNX does, with the version whose schema they have; 0 if none.
EARLY = {"LayerNormalization": 0, "MeanVarianceNormalization": 0, "ThresholdedRelu": 10}
# What ONNX Runtime takes for the operator sets of domains that a model does not import.
IMPLIED = {ONNX: onnx.defs.onnx_opset_version(), MICROSOFT: 1}


@cache
def schema_of(kind: str, version: int, domain: str) -> Any:
    """The schema of an operator; None for one that ONNX has none of, but a translator. Raises ``Refusal``."""
    if domain == ONNX:
        version = max(version, EARLY.get(kind, 0))
    try:
        return onnx.defs.get_schema(kind, version, domain)
    except onnx.defs.SchemaError:
        if (domain, kind) in OPERATORS and (not onnx.defs.has(kind, domain) or kind in EARLY):
            return None
        raise Refusal(_absence(kind, version, domain)) from None


def _absence(kind: str, version: int, domain: str) -> str:
    opset = f"operator set {version} of the domain {domain!r}" if domain else f"operator set {version}"
    newer = range(version + 1, onnx.defs.onnx_opset_version() + 1) if onnx.defs.has(kind, domain) else ()
    first = next((number for number in newer if onnx.defs.has(kind, number, domain)), None)
    if first is not None:
        return f"{opset} has no such operator; it is there from operator set {first} on"
    if kind in OF_ONNX_RUNTIME.get(domain, "").split():
        opset = f" of the domain {domain!r}" if domain else ""
        return f"is an operator of ONNX Runtime{opset} that is not translated"
    return f"{opset} has no such operator"


@cache
def is_operator(kind: str, version: int, domain: str) -> bool:
    """Whether a name means an operator even where a model has a function of this name."""
    try:
        schema_of(kind, version, domain)
    except Refusal:
        return False
    return True


class Parameter(NamedTuple):
    """An input or an output of a schema. ``variable`` names its type; those of the same name have the same type."""

    name: str
    variable: str
    types: frozenset[str]
    is_required: bool
    is_variadic: bool
    is_homogeneous: bool


class Definition(NamedTuple):
    """What a schema says, as Python values: pybind makes new ones of whatever it is asked for."""

    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: dict[str, int]
    required: tuple[str, ...]


@cache
def definition_of(schema: Any) -> Definition:
    inputs, outputs = (
        tuple(
            Parameter(
                item.name,
                item.type_str,
                frozenset(item.types),
                item.option == OPTION.Single,
                item.option == OPTION.Variadic,
                item.is_homogeneous,
            )
            for item in items
        )
        for items in (schema.inputs, schema.outputs)
    )
    attributes = schema.attributes.items()
    kinds = {name: NUMBERS[entry.type.name] for name, entry in attributes}
    return Definition(inputs, outputs, kinds, tuple(name for name, entry in attributes if entry.required))


def check(schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue]) -> None:
    """Raises ``Refusal`` for a node that ``schema`` does not allow."""
    definition = definition_of(schema)
    if schema.deprecated and not schema.has_context_dependent_function:
        raise Refusal(f"operator set {schema.since_version} has withdrawn the operator")
    _check_count("input", len(node.input), schema.min_input, schema.max_input)
    _check_count("output", len(node.output), schema.min_output, schema.max_output)
    for name, kind in node.attribute_kinds.items():
        declared = definition.attributes.get(name)
        if declared is None and not name.startswith("__"):
            raise Refusal(f"operator set {node.version} does not have it", f"attribute {name}")
        if declared not in (None, kind):
            raise Refusal(f"has the type {KINDS[kind]}; it must be {KINDS[declared]}", f"attribute {name}")
    for name in definition.required:
        if name not in node.attribute_kinds:
            raise Refusal("is missing", f"attribute {name}")
    count = node.attributes.get("num_outputs", len(node.output))
    if count != len(node.output):
        # ONNX's shape inference writes behind a vector and ends the process.
        raise Refusal(
            f"is {count}; the node has {counted_words(len(node.output), 'output')}", "attribute num_outputs"
        )
    bound: dict[str, str] = {}
    for index, name in enumerate(node.input):
        parameter = definition.inputs[min(index, len(definition.inputs) - 1)]
        if name:
            _check_type(parameter, inputs[name], bound)
        elif parameter.is_required:
            raise Refusal("is missing", f"input {parameter.name}")


def _check_count(what: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        limits = f"{least}" if least == most else f"{least} to {most}"
        limits = f"at least {least}" if most > 1 << 16 else limits
        raise Refusal(f"has {counted_words(count, what)}; the operator has {limits}")


def _check_type(parameter: Parameter, value: OnnxValue, bound: dict[str, str]) -> None:
    """Raises ``Refusal`` for a type that an input cannot have; ``bound`` are the types of variables so far."""
    if value.is_nothing or value.items is not None:
        allowed = ("seq(", "optional(")
        if not any(kind.startswith(allowed) for kind in parameter.types):
            raise Refusal("is no tensor, but a sequence or optional", f"input {parameter.name}")
        return
    element = f"tensor({element_name(value.dtype)})"
    # The translation passes on what is optional as the tensor that it is.
    if element not in parameter.types and f"optional({element})" not in parameter.types:
        raise Refusal(f"is a {element}, which the operator does not take", f"input {parameter.name}")
    if parameter.is_variadic and not parameter.is_homogeneous:
        return
    if bound.setdefault(parameter.variable, element) != element:
        text = f"is a {element}; other inputs are {bound[parameter.variable]}, and must have the same type"
        raise Refusal(text, f"input {parameter.name}")


@cache
def element_name(dtype: np.dtype[Any]) -> str:
    """ONNX's name of an element type."""
    return str(onnx.TensorProto.DataType.Name(onnx.helper.np_dtype_to_tensor_dtype(dtype))).lower()


@cache
def _dtype_named(kind: str) -> np.dtype[Any] | None:
    """The element type in a type string such as ``tensor(bool)``; None for what is no tensor."""
    if not kind.startswith("tensor("):
        return None
    number = onnx.TensorProto.DataType.Value(kind[len("tensor(") : -1].upper())
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(number))


def output_types(schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue]) -> list[np.dtype[Any] | None]:
    """The element types of the outputs as far as they follow from the schema's type variables alone."""
    definition = definition_of(schema)
    bound = {
        parameter.variable: inputs[name].dtype
        for parameter, name in zip(definition.inputs, node.input)
        if name and inputs[name].items is None and not parameter.is_variadic
    }
    last = len(definition.outputs) - 1
    found = []
    for index in range(len(node.output)):
        parameter = definition.outputs[min(index, last)]
        only = next(iter(parameter.types)) if len(parameter.types) == 1 else None
        found.append(bound.get(parameter.variable) if only is None else _dtype_named(only))
    return found
