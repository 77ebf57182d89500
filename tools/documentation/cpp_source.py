"""Generator of C++ programs from examples, on top of the common code in ``run_operator.h``."""

from __future__ import annotations

import re
from enum import Enum
from math import isinf, isnan
from typing import Any

import numpy as np

from directml_py.abi.schema import FieldSchema
from directml_py.api.enums import DML_TENSOR_DATA_TYPE
from directml_py.descs.data_types import data_type_of
from directml_py.descs.format import in_words
from directml_py.descs.operator_desc import OperatorDesc, Record, Scalar
from directml_py.descs.tensor import TensorDesc

from .printed import Example
from .python_source import scalar_member

WIDTH = 100
TYPES = {"F64": "double", "F32": "float", "F16": "Half"}


class CppWriter:
    """Collects declarations in dependency order: what a struct points to is declared before it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[str, int] = {}

    def name(self, wanted: str) -> str:
        """A unique name: ``wanted``, with a number if it is already used."""
        self.names[wanted] = count = self.names.get(wanted, 0) + 1
        return wanted if count == 1 else f"{wanted}{count}"


def program(example: Example, main: str = "main") -> str:
    """The example as a program that prints the elements of each output in memory order."""
    writer = CppWriter()
    tensors = _tensors(writer, example)
    struct = _operator(writer, example.desc, tensors)
    inputs, outputs = (
        ", ".join("nullptr" if slot.tensor is None else f"&{tensors[slot.path]}" for slot in slots)
        for slots in (example.desc.inputs, example.desc.outputs)
    )
    body = [
        *writer.lines,
        "",
        f"RunOperator({{{example.desc.schema.type_name}, &{struct}}}, {{{inputs}}}, {{{outputs}}});",
        *(f"{tensors[slot.path]}.Print();" for slot in example.desc.outputs if slot.tensor is not None),
    ]
    text = "\n".join(f"    {line}" if line else "" for line in body)
    return f'#include "run_operator.h"\n\nint {main}()\n{{\n{text}\n    return 0;\n}}'


def _tensors(writer: CppWriter, example: Example) -> dict[str, str]:
    """Declare the tensors; returns their names by path."""
    names: dict[str, str] = {}
    slots = [*zip(example.desc.inputs, example.inputs), *((slot, None) for slot in example.desc.outputs)]
    for slot, values in slots:
        if slot.tensor is None:
            continue
        name = writer.name(_variable(slot.path))
        names[slot.path] = name
        _declare(writer, name, slot.tensor, values)
    return names


def _variable(path: str) -> str:
    """``inputs1`` for InputTensors[1], ``input`` for InputTensor."""
    words = in_words(re.sub(r"Tensors?\b", "", re.sub(r"\[(\d+)\]", "", path)) or "tensor", "_").split("_")
    index = re.search(r"\[(\d+)\]", path)
    name = words[0] + "".join(word.capitalize() for word in words[1:])
    return name + (index[1] if index else "")


def _declare(writer: CppWriter, name: str, tensor: TensorDesc, values: Any) -> None:
    parts = [DML_TENSOR_DATA_TYPE(tensor.data_type).name, _braced(tensor.sizes)]
    if tensor.strides is not None:
        parts.append(_braced(tensor.strides))
    writer.lines.append(f"Tensor {name}({', '.join(parts)});")
    if tensor.flags:
        flags = " | ".join(str(one.name) for one in type(tensor.flags) if one and one in tensor.flags)
        writer.lines.append(f"{name}.buffer.Flags = {flags};")
    if values is not None:
        writer.lines += _wrapped(f"{name}.Set<{_element_type(tensor)}>({{", _memory(tensor, values), "});")


def _element_type(tensor: TensorDesc) -> str:
    element_type = data_type_of(tensor.data_type)
    if element_type.bits < 8:
        return "uint8_t"
    if element_type.kind == "F":
        return TYPES[f"F{element_type.bits}"]
    return f"{'' if element_type.kind == 'I' else 'u'}int{element_type.bits}_t"


def _memory(tensor: TensorDesc, values: Any) -> list[str]:
    """The elements in the tensor's memory, including gaps; bytes for 4-bit types."""
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, values)
    element_type = data_type_of(tensor.data_type)
    if element_type.bits < 8:
        return [str(element) for element in memory[: tensor.content_size]]
    elements = memory[: tensor.content_size].view(element_type.dtype)
    return [_literal(element) for element in elements]


def _literal(value: Any) -> str:
    if value.dtype.kind == "f":
        return _float(float(value), str(value), "f" if value.dtype.itemsize < 8 else "")
    if value.dtype.itemsize == 8:
        return "INT64_MIN" if value == -(2**63) else f"{value}{'' if value.dtype.kind == 'i' else 'u'}ll"
    return "INT32_MIN" if value == -(2**31) else f"{value}{'u' if value.dtype == np.uint32 else ''}"


def _float(value: float, text: str, suffix: str) -> str:
    if isnan(value):
        return "NAN"
    if isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return (text if "." in text or "e" in text else f"{text}.0") + suffix


def _braced(values: Any) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def _wrapped(head: str, items: list[str], tail: str) -> list[str]:
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


def _operator(writer: CppWriter, desc: OperatorDesc, tensors: dict[str, str]) -> str:
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
        array = writer.name(_variable(entry.name) + "Descs")
        items = [f"{tensors[f'{entry.name}[{index}]']}.desc" for index in range(len(value))]
        writer.lines += _wrapped(f"const DML_TENSOR_DESC {array}[] = {{", items, "};")
        return f" = {array}"
    if entry.is_tensor:
        return f" = &{tensors[entry.name]}.desc"
    if entry.type == "DML_OPERATOR_DESC":
        several = value if isinstance(value, tuple) else (value,)
        nested = [_operator(writer, one, {}) for one in several]
        items = [f"{{{one.schema.type_name}, &{name}}}" for one, name in zip(several, nested)]
        name = writer.name(_variable(entry.name))
        if isinstance(value, tuple):
            writer.lines += _wrapped(f"const DML_OPERATOR_DESC {name}[] = {{", items, "};")
            return f" = {name}"
        writer.lines.append(f"const DML_OPERATOR_DESC {name} = {items[0]};")
        return f" = &{name}"
    if isinstance(value, Scalar):
        member, text = scalar_member(value)
        literal = text if member == "UInt16" else _number(value.value)
        return f".{member} = {literal}"
    if isinstance(value, tuple):
        array = writer.name(_variable(entry.name))
        writer.lines += _wrapped(f"const {entry.type} {array}[] = {{", [_number(one) for one in value], "};")
        return f" = {array}"
    if isinstance(value, Record):
        members = ", ".join(_number(one) for _, one in value)
        if entry.kind == "struct":
            return f" = {{{members}}}"
        name = writer.name(_variable(entry.name))
        writer.lines.append(f"const {entry.type} {name} = {{{members}}};")
        return f" = &{name}"
    if isinstance(value, Enum):
        return f" = {value.name}"
    return f" = {_number(value)}" if value else ""


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        single = np.float32(value)
        return _float(value, str(single), "f")
    if isinstance(value, int) and value > 0x7FFFFFFF:
        return f"{value}{'u' if value <= 0xFFFFFFFF else 'ull'}"
    return "INT32_MIN" if value == -(2**31) else str(value)
