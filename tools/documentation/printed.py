"""The examples that pages print, from ``tests/operators/examples/*.toml``, as descs, inputs and expected outputs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from directml_py.api.enums import DML_TENSOR_DATA_TYPE
from directml_py.descs.build import build_operator_desc
from directml_py.descs.data_types import BY_NAME
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.descs.tensor import TensorDesc
from directml_py.descs.types_by_name import enum_class
from directml_py.operators import SCHEMAS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parents[2] / "tests/operators/examples"


class Output(NamedTuple):
    """An expected output; None where no page prints it. ``tolerance`` is absolute."""

    values: Any
    tolerance: float


class Example(NamedTuple):
    """``breaks``: the rule that the debug layer reports as a warning for this example."""

    operator: str
    title: str
    desc: OperatorDesc
    inputs: list[Any]
    outputs: list[Output | None]
    breaks: str | None


def tensor(entry: Mapping[str, Any]) -> TensorDesc:
    sizes = entry.get("sizes") or np.shape(entry["value"])
    strides = entry.get("strides")
    data_type = DML_TENSOR_DATA_TYPE(BY_NAME[entry["type"]])
    return TensorDesc(data_type, tuple(sizes), None if strides is None else tuple(strides))


def array(entry: Mapping[str, Any] | None) -> Any:
    if entry is None or "value" not in entry:
        return None
    desc = tensor(entry)
    values = np.array(entry["value"], dtype=np.float64 if desc.dtype.kind == "f" else object)
    return values.astype(desc.dtype).reshape(desc.sizes)


def attribute(operator: str, name: str, value: Any) -> Any:
    schema = SCHEMAS[operator].struct
    entry = schema.fields[schema.index[name]]
    if isinstance(value, dict) and "operator" in value:
        members = {key: item for key, item in value.items() if key != "operator"}
        nested = {key: attribute(value["operator"], key, item) for key, item in members.items()}
        return build_operator_desc(SCHEMAS[value["operator"]], nested)
    if isinstance(value, dict):
        return tuple(value.values())
    if isinstance(value, list):
        return [attribute(operator, name, item) if isinstance(item, dict) else item for item in value]
    return enum_class(entry.type)[f"{entry.type}_{value}"] if isinstance(value, str) else value


def listed(entry: Any) -> list[Any]:
    return entry if isinstance(entry, list) else [entry]


def example(operator: str, entry: Mapping[str, Any]) -> Example:
    values = {name: attribute(operator, name, one) for name, one in entry.get("attributes", {}).items()}
    tensors = {**entry.get("inputs", {}), **entry["outputs"]}
    for name, one in tensors.items():
        values[name] = [tensor(part) for part in one] if isinstance(one, list) else tensor(one)
    desc = build_operator_desc(SCHEMAS[operator], values)
    inputs = [
        array(part)
        for slot in dict.fromkeys(slot.field for slot in desc.inputs)
        for part in _parts(entry, slot)
    ]
    outputs = [
        None if part is None else Output(array(part), part.get("tolerance", entry.get("tolerance", 0.0)))
        for field in dict.fromkeys(slot.field for slot in desc.outputs)
        for part in _parts(entry, field)
    ]
    return Example(operator, entry["title"], desc, inputs, outputs, entry.get("breaks"))


def _parts(entry: Mapping[str, Any], field: str) -> list[Any]:
    tensors = {**entry.get("inputs", {}), **entry["outputs"]}.get(field)
    return [None] if tensors is None else listed(tensors)


def examples() -> Iterator[Example]:
    for path in sorted(FOLDER.glob("*.toml")):
        with path.open("rb") as file:
            for operator, entries in tomllib.load(file).items():
                for entry in entries:
                    yield example(operator, entry)
