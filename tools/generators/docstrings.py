"""The docstrings of operator descs: what an operator computes, its fields, its page."""

from __future__ import annotations

import re
import textwrap

from .catalog import Field, Operator

PAGES = "https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_"
KINDS = {"F": "FLOAT", "I": "INT", "U": "UINT"}
INDENT = "    "
WIDTH = 110


def docstring_lines(operator: Operator) -> list[str]:
    """The lines of the docstring, indented as the body of a class."""
    fields = [field_text(operator, field) for field in operator.struct.fields]
    wrapped = [
        textwrap.fill(text, WIDTH, initial_indent=f"{INDENT}- ", subsequent_indent=f"{INDENT}  ")
        for text in fields
    ]
    level = operator.level.replace("_", ".")
    return [
        f'{INDENT}"""{operator.about}',
        "",
        *"\n".join(wrapped).splitlines(),
        "",
        *agreements(operator),
        f"{INDENT}Since feature level {level}. {page(operator)}",
        f'{INDENT}"""',
    ]


def agreements(operator: Operator) -> list[str]:
    """The tensors that must agree, except where that depends on attributes."""
    sentences = [
        f"{listed(tensors.split())} have the same {listed(properties.split())}."
        for tensors, _, properties in (text.partition(": ") for text in operator.same if " if " not in text)
    ]
    if not sentences:
        return []
    text = textwrap.fill(" ".join(sentences), WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return [*text.splitlines(), ""]


def page(operator: Operator) -> str:
    tail = "_desc" if operator.name == "REVERSE_SUBSEQUENCES" else "_operator_desc"
    return f"{PAGES}{operator.name.lower()}{tail}"


def field_text(operator: Operator, field: Field) -> str:
    fields = operator.struct.fields
    if field.role != "attribute":
        text = (
            f"``{field.name}``: {field.role}{'s' if field.count else ''}, {supported(operator, field.name)}"
        )
    else:
        elements = f"[{field.count}]" if field.count else ""
        text = f"``{field.name}``: {field.pointee or field.type}{elements}"
        counted = [other.name for other in fields if other.count == field.name]
        if counted:
            text += f", the length of {listed(counted)}"
        if field.governed_by:
            text += f" of the type {field.governed_by}"
    return f"{text}; may be None" if field.optional else text


def supported(operator: Operator, tensor: str) -> str:
    """The dimension counts and data types of a tensor at the newest level that changed them."""
    newest: dict[str, str] = {}
    for table in operator.support:
        head, _, groups = table.partition(": ")
        condition = head.partition(" if ")[2]
        newest.setdefault(
            condition, next(filter(None, (group_of(tensor, text) for text in groups.split("; "))))
        )
    descriptions = sorted(set(newest.values()))
    if len(descriptions) == 1:
        return descriptions[0]
    condition = next(iter(newest)).partition(" = ")[0]
    return f"data types by {condition}"


def group_of(tensor: str, text: str) -> str:
    """``ATensor 1-8 F16-32 I8``, or ``4 F32`` for all tensors, as text; empty if it concerns other tensors."""
    words = text.split()
    start = next(index for index, word in enumerate(words) if re.fullmatch(r"\d+(-\d+)?", word))
    if start and tensor not in words[:start]:
        return ""
    types = ", ".join(KINDS[word[0]] + word[1:] for word in words[start + 1 :])
    counts = words[start].replace("-", " to ")
    return f"{counts} dimension{'' if counts == '1' else 's'} of {types}"


def listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
