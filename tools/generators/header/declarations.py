"""Constants, enumerations, structs and functions as C declares them, from the DML_TARGET_VERSION on that has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from ..catalog import Enum, EnumValue, Field, Function, Struct

WIDTH = 110
OLDEST = 0x1000
PARTS = Path(__file__).with_name("parts")


def part(name: str) -> str:
    """A part of the headers that does not depend on the catalog."""
    return (PARTS / f"{name}.h").read_text(encoding="utf-8").rstrip()


def gated(declarations: Iterable[tuple[int, str]], separator: str = "\n", known: int = OLDEST) -> str:
    """The texts in order, with consecutive declarations of one version under a common ``#if``.

    Each declaration is (since, text). ``known`` is the version that already holds at this point.
    """
    blocks = []
    for since, group in groupby(declarations, key=lambda item: max(item[0], known)):
        text = separator.join(text for _, text in group)
        if since > known:
            text = f"#if DML_TARGET_VERSION >= {since:#06x}\n{text}\n#endif"
        blocks.append(text)
    return separator.join(blocks)


def constants(values: Mapping[str, int]) -> str:
    lines = [
        f"#define {name} {f'{value:#06x}' if name.endswith('_VERSION_LATEST') else f'{value}u'}"
        for name, value in values.items()
    ]
    return "\n".join(lines)


def enums(values: Iterable[Enum]) -> str:
    return gated(((enum.since, enum_text(enum)) for enum in values), "\n\n")


def enum_text(enum: Enum) -> str:
    members = gated(((v.since, f"    {v.name} = {v.value},") for v in enum.values), known=enum.since)
    text = (
        f"typedef enum {enum.name} DML_ENUM_BASE\n{{\n{members}\n}} {enum.name};\nDML_ENUM_SIZE({enum.name});"
    )
    return f"{text}\nDEFINE_ENUM_FLAG_OPERATORS({enum.name})" if enum.flags else text


def structs(values: Iterable[Struct]) -> str:
    return gated(((struct.since, struct_text(struct)) for struct in values), "\n\n")


def struct_text(struct: Struct) -> str:
    keyword = "union" if struct.union else "struct"
    members = "\n".join(f"    {field_text(field)}" for field in struct.fields)
    names = ", ".join(name for name in (struct.name, struct.alias) if name)
    return f"typedef {keyword} {struct.name}\n{{\n{members}\n}} {names};"


def field_text(field: Field) -> str:
    declaration = (
        f"{field.array[0]} {field.name}[{field.array[1]}];" if field.array else f"{field.type} {field.name};"
    )
    notes = [f"[{field.count}]"] if field.count else []
    notes += ["optional"] if field.optional else []
    return f"{declaration} // {', '.join(notes)}" if notes else declaration


def functions(values: Iterable[Function]) -> str:
    return gated(
        (
            (function.since, signature(f"STDAPI {function.name}", parameters(function.params), ";"))
            for function in values
        ),
        "\n\n",
    )


def parameters(params: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{kind} {name}" for kind, name in params]


def signature(head: str, params: list[str], tail: str, indent: str = "") -> str:
    """A function's declaration: on one line if it fits, otherwise with one parameter per line."""
    line = f"{indent}{head}({', '.join(params)}){tail}"
    if len(line) <= WIDTH:
        return line
    return f"{indent}{head}(\n" + ",\n".join(f"{indent}    {param}" for param in params) + f"){tail}"


def bits(value: EnumValue) -> int:
    """The width at the end of a data type's name; 0 for a type without one."""
    match = re.search(r"\d+$", value.name)
    return int(match[0]) if match else 0


def tensor_size(enums: Iterable[Enum]) -> str:
    """``DMLCalcBufferTensorSize``."""
    data_types = next(enum for enum in enums if enum.name == "DML_TENSOR_DATA_TYPE")
    sized = sorted((value for value in data_types.values if bits(value)), key=bits, reverse=True)
    cases = []
    for (width, since), group in groupby(sized, key=lambda value: (bits(value), value.since)):
        labels = "\n".join(f"    case {value.name}:" for value in group)
        cases.append((since, f"{labels}\n        bits = {width};\n        break;"))
    return part("tensor_size").replace("    @cases@", gated(cases))
