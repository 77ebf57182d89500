"""Writer of C++ declarations: operator descs, and the tensors that they point to.

The programs have the struct ``TensorDesc`` of ``machine.h``, whose member ``desc`` is a DML_TENSOR_DESC.
"""

from __future__ import annotations

import re
import sys
from enum import Enum
from math import isinf, isnan
from typing import Any

import numpy as np

from ..abi.schema import FieldSchema
from ..api.enums import DML_TENSOR_DATA_TYPE
from ..descs.data_types import data_type_of
from ..descs.format import in_words
from ..descs.operator_desc import OperatorDesc, Record, Scalar
from ..descs.tensor import TensorDesc

WIDTH = 100
# Prefixes of DML_SCALAR_UNION's members, by the kind of the data type.
MEMBERS = {"F": "Float", "I": "Int", "U": "UInt"}


class CppWriter:
    """Collects declarations in dependency order: what a struct points to is declared before it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, int] = {}

    def name(self, wanted: str) -> str:
        """A unique name: ``wanted``, with a number if it is already used."""
        self.names[wanted] = count = self.names.get(wanted, 0) + 1
        return wanted if count == 1 else f"{wanted}{count}"


def variable(path: str) -> str:
    """``inputs1`` for InputTensors[1], ``input`` for InputTensor."""
    words = in_words(re.sub(r"Tensors?\b", "", re.sub(r"\[(\d+)\]", "", path)) or "tensor", "_").split("_")
    index = re.search(r"\[(\d+)\]", path)
    name = words[0] + "".join(word.capitalize() for word in words[1:])
    return name + (index[1] if index else "")


def scalar_member(value: Scalar) -> str:
    """The member of DML_SCALAR_UNION with the value; a FLOAT16 is stored as bits in UInt16."""
    known = data_type_of(value.data_type)
    return "UInt16" if known.name == "FLOAT16" else f"{MEMBERS[known.kind]}{known.bits}"


def half_bits(value: Scalar) -> str:
    return f"0x{int.from_bytes(value.raw[:2], sys.byteorder):04X}"


def _scalar_literal(value: Scalar) -> str:
    known, held = data_type_of(value.data_type), value.value
    if known.name == "FLOAT16":
        return half_bits(value)
    if known.name == "FLOAT64" and isinstance(held, float):
        return float_literal(held, repr(held), "")
    return number(held)


def declare_tensor(writer: CppWriter, name: str, tensor: TensorDesc, kind: str) -> None:
    """Declare ``name``, a struct ``kind`` whose base is TensorDesc, with the sizes, strides and flags of ``tensor``."""
    parts = [DML_TENSOR_DATA_TYPE(tensor.data_type).name, braced(tensor.sizes)]
    if tensor.strides is not None:
        parts.append(braced(tensor.strides))
    writer.lines.append(f"{kind} {name}({', '.join(parts)});")
    if tensor.flags:
        flags = " | ".join(str(one.name) for one in type(tensor.flags) if one and one in tensor.flags)
        writer.lines.append(f"{name}.buffer.Flags = {flags};")
    if tensor.total_size != tensor.minimum_size:
        writer.lines.append(f"{name}.buffer.TotalTensorSizeInBytes = {tensor.total_size};")
    if tensor.alignment:
        writer.lines.append(f"{name}.buffer.GuaranteedBaseOffsetAlignment = {tensor.alignment};")


def float_literal(value: float, text: str, suffix: str) -> str:
    if isnan(value):
        return "NAN"
    if isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return (text if "." in text or "e" in text else f"{text}.0") + suffix


def braced(values: Any) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def wrapped(head: str, items: list[str], tail: str) -> list[str]:
    """A declaration wrapped to as many lines as its items need."""
    line = f"{head}{', '.join(items)}{tail}"
    if len(line) <= WIDTH:
        return [line]
    lines, current = [head], "   "
    for item in items:
        if len(current) + len(item) + 2 > WIDTH:
            lines.append(current)
            current = "   "
        current += f" {item},"
    return [*lines, current.rstrip(","), tail]


def declare_operator(writer: CppWriter, desc: OperatorDesc, tensors: dict[str, str]) -> str:
    """Declare an operator desc and what it points to; returns its variable's name."""
    assignments = _assignments(writer, desc, tensors)
    name = writer.name(_short(desc))
    if writer.lines and writer.lines[-1]:
        writer.lines.append("")
    writer.lines.append(f"{desc.struct.name} {name} = {{}};")
    writer.lines += [f"{name}.{line}" for line in assignments]
    return name


def _short(desc: OperatorDesc) -> str:
    words = desc.name.removeprefix("ELEMENT_WISE_").removeprefix("ACTIVATION_").lower().split("_")
    name = words[0] + "".join(word.capitalize() for word in words[1:])
    # Keywords and alternative tokens cannot be names.
    return name if name not in ("if", "and", "or", "xor", "not") else f"{name}Desc"


def _assignments(writer: CppWriter, desc: Record, tensors: dict[str, str]) -> list[str]:
    counts = {entry.counted_by: entry.name for entry in desc.struct.fields if entry.counted_by}
    lines = []
    for entry, (_, value) in zip(desc.struct.fields, desc):
        if entry.name in counts:
            if value:
                lines.append(f"{entry.name} = {value};")
            continue
        text = _value(writer, entry, value, tensors)
        if text:
            lines.append(f"{entry.name}{text};")
    return lines


def _value(writer: CppWriter, entry: FieldSchema, value: Any, tensors: dict[str, str]) -> str:
    """The initializer after a field's name: `` = …``, or empty for zero."""
    if value is None or value == ():
        return ""
    if entry.is_tensor and entry.kind == "array":
        array = writer.name(variable(entry.name) + "Descs")
        items = [f"{tensors[f'{entry.name}[{index}]']}.desc" for index in range(len(value))]
        writer.lines += wrapped(f"const DML_TENSOR_DESC {array}[] = {{", items, "};")
        return f" = {array}"
    if entry.is_tensor:
        return f" = &{tensors[entry.name]}.desc"
    if entry.type == "DML_OPERATOR_DESC":
        several = value if isinstance(value, tuple) else (value,)
        nested = [declare_operator(writer, one, {}) for one in several]
        items = [f"{{{one.schema.type_name}, &{name}}}" for one, name in zip(several, nested)]
        name = writer.name(variable(entry.name))
        if isinstance(value, tuple):
            writer.lines += wrapped(f"const DML_OPERATOR_DESC {name}[] = {{", items, "};")
            return f" = {name}"
        writer.lines.append(f"const DML_OPERATOR_DESC {name} = {items[0]};")
        return f" = &{name}"
    if isinstance(value, Scalar):
        return f".{scalar_member(value)} = {_scalar_literal(value)}"
    if isinstance(value, tuple):
        array = writer.name(variable(entry.name))
        writer.lines += wrapped(f"const {entry.type} {array}[] = {{", [number(one) for one in value], "};")
        return f" = {array}"
    if isinstance(value, Record):
        members = ", ".join(number(one) for _, one in value)
        if entry.kind == "struct":
            return f" = {{{members}}}"
        name = writer.name(variable(entry.name))
        writer.lines.append(f"const {entry.type} {name} = {{{members}}};")
        return f" = &{name}"
    if isinstance(value, Enum):
        return f" = {value.name}"
    return f" = {number(value)}" if value else ""


def number(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        single = np.float32(value)
        return float_literal(value, str(single), "f")
    if isinstance(value, int) and value > 0x7FFFFFFF:
        return f"{value}{'u' if value <= 0xFFFFFFFF else 'ull'}"
    return "INT32_MIN" if value == -(2**31) else str(value)
