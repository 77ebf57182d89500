"""Generator of Python source: decoded descs as expressions, and examples as programs."""

from __future__ import annotations

from enum import Enum, Flag
from typing import Any

import numpy as np

from directml_py.abi.schema import FieldSchema
from directml_py.api.enums import DML_TENSOR_DATA_TYPE
from directml_py.cpp.desc_source import half_bits, scalar_member
from directml_py.descs.data_types import data_type_of
from directml_py.descs.operator_desc import Record, Scalar
from directml_py.descs.tensor import TensorDesc

from .printed import Example

WIDTH = 100
INDENT = "    "


def program(example: Example) -> str:
    """The example as a program that prints the outputs."""
    arrays = [_array(array) for array in example.inputs]
    needs_numpy = any("np." in array for array in arrays)
    outputs = example.desc.outputs
    lines = ["import numpy as np", ""] if needs_numpy else []
    lines += ["import directml_py as dml", "", f"desc = {record(example.desc)}"]
    lines += [call("inputs = ", "[", arrays, "]"), ""]
    if len(outputs) == 1:
        lines += ["(output,) = dml.evaluate(desc, inputs)", "print(output)"]
    else:
        names = [slot.path for slot in outputs if slot.tensor is not None]
        absent = len(names) != len(outputs)
        lines += ["for output in dml.evaluate(desc, inputs):"]
        lines += ["    if output is not None:", "        print(output)"] if absent else ["    print(output)"]
    return "\n".join(lines)


def call(head: str, opening: str, parts: list[str], closing: str, depth: int = 0) -> str:
    """``head(parts)`` on one line if it fits, else with one part per line."""
    line = f"{head}{opening}{', '.join(parts)}{closing}"
    if "\n" not in line and len(line) + depth * len(INDENT) <= WIDTH:
        return line
    inner = INDENT * (depth + 1)
    body = "".join(f"{inner}{part},\n" for part in parts)
    return f"{head}{opening}\n{body}{INDENT * depth}{closing}"


def record(value: Record, depth: int = 0) -> str:
    """A struct as a call with keyword arguments, without counts, nulls and zeros."""
    counts = {entry.counted_by for entry in value.struct.fields}
    parts = [
        f"{entry.name}={field(entry, one, depth + 1)}"
        for entry, (_, one) in zip(value.struct.fields, value)
        if entry.name not in counts and not is_default(entry, one)
    ]
    return call(f"dml.{value.struct.name}", "(", parts, ")", depth)


def is_default(entry: FieldSchema, value: Any) -> bool:
    """Whether the value is that of a zero-initialized struct; enumerators are always written out."""
    if entry.kind == "enum":
        return False
    return value is None or value == () or (isinstance(value, (int, float)) and not value)


def field(entry: FieldSchema, value: Any, depth: int) -> str:
    if isinstance(value, tuple) and entry.kind == "array":
        return call("", "[", [field(entry, one, depth + 1) for one in value], "]", depth)
    if isinstance(value, TensorDesc):
        return tensor(value)
    if isinstance(value, Scalar):
        return scalar(value)
    if isinstance(value, Record):
        return record(value, depth)
    if isinstance(value, Enum):
        return member(value)
    if isinstance(value, float):
        return number(value)
    return repr(value)


def member(value: Enum) -> str:
    if isinstance(value, Flag) and value.name is None:
        return " | ".join(f"dml.{one.name}" for one in type(value) if one in value)
    return f"dml.{value.name}"


def tensor(value: TensorDesc) -> str:
    parts = [f"dml.{DML_TENSOR_DATA_TYPE(value.data_type).name}", str(list(value.sizes))]
    if value.strides is not None:
        parts.append(str(list(value.strides)))
    if value.flags:
        parts.append(f"flags={member(value.flags)}")
    if value.total_size != value.minimum_size:
        parts.append(f"total_size={value.total_size}")
    return f"dml.tensor_desc({', '.join(parts)})"


def scalar(value: Scalar) -> str:
    return f"dml.DML_SCALAR_UNION({_scalar(value)})"


def _scalar(value: Scalar) -> str:
    """The member of DML_SCALAR_UNION with the value, and its literal."""
    held = value.value
    if data_type_of(value.data_type).name == "FLOAT16":
        text = half_bits(value)
    else:
        text = number(held) if isinstance(held, float) else str(held)
    return f"{scalar_member(value)}={text}"


def number(value: float) -> str:
    """The shortest decimal number that rounds to the same FLOAT."""
    if not np.isfinite(value):
        return f'float("{value}")'
    short = float(str(np.float32(value)))
    return repr(short if np.float32(short) == np.float32(value) else value)


def _array(values: Any) -> str:
    """An array as nested lists; as ``np.array`` where elements have no literal."""
    if values is None:
        return "None"
    text = _nested(values, 1)
    # NumPy converts a list with integers on both sides of 2**63 to float64.
    is_large = values.dtype == np.uint64 and values.size and values.max() >= 1 << 63
    return f"np.array({text}, np.uint64)" if is_large else text


def _nested(values: Any, depth: int) -> str:
    if values.ndim == 0:
        return element(values)
    return call("", "[", [_nested(one, depth + 1) for one in values], "]", depth)


def element(value: Any) -> str:
    """An element as a literal; whole numbers have no decimal point."""
    if value.dtype.kind != "f":
        return str(value)
    if not np.isfinite(value):
        return "np.nan" if np.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    text = str(value)
    return text.removesuffix(".0")
