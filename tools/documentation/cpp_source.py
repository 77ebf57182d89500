"""Generator of C++ programs from examples, on top of the common code in ``run_operator.h``."""

from __future__ import annotations

from typing import Any

import numpy as np

from directml_py.cpp.desc_source import (
    CppWriter,
    declare_operator,
    declare_tensor,
    float_literal,
    variable,
    wrapped,
)
from directml_py.descs.data_types import data_type_of
from directml_py.descs.tensor import TensorDesc

from .printed import Example

TYPES = {"F64": "double", "F32": "float", "F16": "Half"}


def program(example: Example, main: str = "main") -> str:
    """The example as a program that prints the elements of each output in memory order."""
    writer = CppWriter()
    tensors = _tensors(writer, example)
    struct = declare_operator(writer, example.desc, tensors)
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
        name = writer.name(variable(slot.path))
        names[slot.path] = name
        _declare(writer, name, slot.tensor, values)
    return names


def _declare(writer: CppWriter, name: str, tensor: TensorDesc, values: Any) -> None:
    declare_tensor(writer, name, tensor, "Tensor")
    if values is not None:
        writer.lines += wrapped(f"{name}.Set<{_element_type(tensor)}>({{", _memory(tensor, values), "});")


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
        return float_literal(float(value), str(value), "f" if value.dtype.itemsize < 8 else "")
    if value.dtype.itemsize == 8:
        return "INT64_MIN" if value == -(2**63) else f"{value}{'' if value.dtype.kind == 'i' else 'u'}ll"
    return "INT32_MIN" if value == -(2**31) else f"{value}{'u' if value.dtype == np.uint32 else ''}"
