"""Examples for every operator: those that its page prints, or our own from ``illustrations.toml``.

Our own examples have no stored outputs: these are computed from inputs and attributes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from directml_py.abi.schema import FieldSchema, OperatorSchema
from directml_py.descs.build import build_operator_desc
from directml_py.descs.data_types import BY_NAME, data_type_of
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.descs.tensor import TensorDesc
from directml_py.graph.inference import output_shapes
from directml_py.operators import SCHEMAS
from directml_py.testing.valid_descs import HIGHEST
from directml_py.validation.support_tables import support_at

from .printed import Example, array, attribute, examples, listed, tensor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("illustrations.toml")
SIZES = (1, 1, 2, 3)
# Inputs of real functions: both signs, integers and fractions.
REAL = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)
PREFERRED = ("FLOAT32", "INT32", "UINT32", "UINT8")


@cache
def printed() -> dict[str, list[Example]]:
    """The examples that the pages print, by operator."""
    by_operator: dict[str, list[Example]] = {}
    for entry in examples():
        by_operator.setdefault(entry.operator, []).append(entry)
    return by_operator


@cache
def written() -> dict[str, Mapping[str, Any]]:
    """Our own examples, by operator; missing parts of an entry get defaults."""
    with FILE.open("rb") as file:
        entries: dict[str, Mapping[str, Any]] = tomllib.load(file)
    return entries


def examples_of(operator: str) -> list[Example]:
    """The examples of an operator, at least one: our own if there is one, then those that its page prints."""
    from_page = printed().get(operator, [])
    if operator in written() or not from_page:
        return [illustration(operator), *from_page]
    return from_page


def illustration(operator: str) -> Example:
    """Our own example of an operator."""
    entry = written().get(operator, {})
    schema = SCHEMAS[operator]
    values: dict[str, Any] = {
        name: attribute(operator, name, item) for name, item in entry.get("attributes", {}).items()
    }
    inputs = {
        field.name: _input(field, schema, values, entry, position)
        for position, field in enumerate(item for item in schema.struct.tensors if item.role == "input")
    }
    values |= {name: _descs(item) for name, item in inputs.items() if item is not None}
    values |= _outputs(schema, values, entry)
    desc = build_operator_desc(schema, values)
    arrays = [
        None if item is None else array(item)
        for field in inputs
        for item in (listed(inputs[field]) if inputs[field] is not None else [None])
    ]
    return Example(operator, entry.get("title", "A small one"), desc, arrays, [], None)


def _descs(entry: Any) -> Any:
    return [tensor(one) for one in entry] if isinstance(entry, list) else tensor(entry)


def _input(
    field: FieldSchema,
    schema: OperatorSchema,
    attributes: Mapping[str, Any],
    entry: Mapping[str, Any],
    position: int,
) -> Any:
    """The completed entry of an input; None for an optional one without an entry."""
    written_entry = entry.get("inputs", {}).get(field.name)
    if written_entry is None and field.optional:
        return None
    if isinstance(written_entry, list):
        return [_filled(one, _type(field, schema, attributes), position) for one in written_entry]
    return _filled({} if written_entry is None else written_entry, _type(field, schema, attributes), position)


def _type(field: FieldSchema, schema: OperatorSchema, attributes: Mapping[str, Any]) -> str:
    """The most common data type that the newest support table has for a tensor."""
    desc = build_operator_desc(schema, attributes)
    table = support_at(desc, HIGHEST)
    names = [] if table is None else [data_type_of(kind).name for kind in table.tensors[field.name].types]
    return next((name for name in PREFERRED if name in names), (names or ["FLOAT32"])[0])


def _filled(entry: Mapping[str, Any], type_: str, position: int) -> dict[str, Any]:
    filled = {"type": type_, **entry}
    if "value" not in filled:
        sizes = tuple(filled.setdefault("sizes", SIZES))
        scale = filled.pop("scale", 1)
        filled["value"] = (np.array(plain_values(filled["type"], sizes, position)) * scale).tolist()
    return filled


def plain_values(type_: str, sizes: tuple[int, ...], position: int) -> Any:
    """Default values of the input at ``position``: real numbers for a small first one, else 1, 2, 3 …"""
    count = prod(sizes)
    if position == 0 and count == len(REAL) and type_.startswith("F"):
        return np.array(REAL).reshape(sizes).tolist()
    return np.arange(1, count + 1).reshape(sizes).tolist()


def _outputs(schema: OperatorSchema, values: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """The output tensors: those in the entry, and inferred ones for required outputs."""
    written_entries = entry.get("outputs", {})
    outputs: dict[str, Any] = {name: _descs(item) for name, item in written_entries.items()}
    desc = build_operator_desc(schema, values)
    present = entry.get("present", ())
    missing = [
        item.name
        for item in schema.struct.tensors
        if item.role == "output"
        and item.name not in written_entries
        and (item.name in present or not item.optional)
    ]
    for name in missing:
        shapes = output_shapes(desc, HIGHEST, {}, _open_type(desc, name))
        parts = [TensorDesc(kind, sizes) for kind, sizes in shapes[name]]
        field = schema.struct.fields[schema.struct.index[name]]
        outputs[name] = parts if field.kind == "array" else parts[0]
    return outputs


def _open_type(desc: OperatorDesc, output: str) -> int:
    """A data type for an output that may have several."""
    table = support_at(desc, HIGHEST)
    names = [] if table is None else [data_type_of(kind).name for kind in table.tensors[output].types]
    return BY_NAME[next((name for name in PREFERRED if name in names), "FLOAT32")]
