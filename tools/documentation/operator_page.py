"""Generator of an operator's page: description, struct, support table, rules, examples."""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

from directml_py.abi.rules import RULES, Rule
from directml_py.abi.schema import FieldSchema, OperatorSchema
from directml_py.cli.rule_reasons import learn
from directml_py.graph.operator_functions import OperatorMethod
from directml_py.operators import SCHEMAS, operator_of
from directml_py.operators.validate import check
from directml_py.testing.invalid_descs import derived_change, derived_rules
from directml_py.testing.known_rules import every_rule
from directml_py.testing.valid_descs import HIGHEST
from directml_py.validation.tensor_rules import level_name

from . import cpp_source, python_source
from .illustrations import examples_of
from .markdown import anchored, code, details, documented, page, plain, table
from .other_names import base_name, index_entries, other_names, versions
from .pictures import picture
from .printed import Example
from .support_table import support_rows, types_text, when_text
from .verification import verification

if sys.version_info < (3, 11):
    import tomli as tomllib
else:
    import tomllib

CONSTANTS = Path(__file__).with_name("result_constants.toml")
HEADER = Path(__file__).resolve().parents[2] / "include/DirectML.h"
# The number of examples that are initially open on a page; the others are collapsed.
OPEN_EXAMPLES = 2


def operator_page(name: str) -> str:
    schema = SCHEMAS[name]
    shown = examples_of(name)
    return page(
        f"# {name}",
        index_entries(name),
        schema.about,
        facts(schema),
        picture(name, shown),
        "## Struct",
        code("cpp", c_struct(schema)),
        table(("Field", "Type", "Role"), map(field_row, schema.struct.fields)),
        graph_function(schema),
        "## Support",
        support(schema),
        "## Rules",
        rules(schema, shown),
        "## Notes" if notes(schema) else "",
        notes(schema),
        constants(name),
        "## Verification",
        verification(name),
        "## Examples",
        examples(shown),
        "## Source",
        source(name),
    )


def source(name: str) -> str:
    kind = type(operator_of(name))
    # Other operators may be cases of the same class.
    return documented(f"{kind.__module__}.{kind.__qualname__}", ":no-index:")


def facts(schema: OperatorSchema) -> str:
    """Facts of one line each."""
    lines = [
        f"- `{schema.type_name}` = {schema.value}, since `{level_name(schema.level)}`",
        f"- Microsoft's page: [{schema.struct.name}]({learn(schema.page)})",
    ]
    if schema.in_place:
        names = " or ".join(f"`{field}`" for field in schema.in_place)
        lines.append(f"- In place: the output may be bound to the memory of {names}")
    if schema.in_place_unlisted:
        names = " or ".join(f"`{field}`" for field in schema.in_place_unlisted)
        lines.append(f"- In place, though no page says so and the strict profile refuses it: {names}")
    relatives = [other for other in versions(schema.name) if other != schema.name]
    if relatives:
        lines.append(f"- Versions: {', '.join(f'[{other}]({other}.md)' for other in relatives)}")
    return "\n".join(filter(None, [*lines, other_names(schema.name)]))


@cache
def header() -> str:
    return HEADER.read_text(encoding="utf-8")


def c_struct(schema: OperatorSchema) -> str:
    """The struct's definition in ``DirectML.h``."""
    text = header()
    start = text.index(f"typedef struct {schema.struct.name}\n")
    end = text.index(f"}} {schema.struct.name}", start)
    return text[start : text.index("\n", end)]


def field_row(entry: FieldSchema) -> tuple[str, str, str]:
    return f"`{entry.name}`", field_type(entry), role(entry)


def field_type(entry: FieldSchema) -> str:
    if entry.is_tensor:
        return "tensors" if entry.kind == "array" else "tensor"
    if entry.kind in ("enum", "flags"):
        return f"[{entry.type}](../reference/enums.md#{entry.type.lower()})"
    return f"`{entry.type}`"


def role(entry: FieldSchema) -> str:
    parts: list[str] = [entry.role]
    if entry.counted_by:
        parts.append(f"array of `{entry.counted_by}`")
    if entry.governed_by:
        parts.append(f"of the type `{entry.governed_by}`")
    if entry.optional:
        parts.append("may be null")
    return ", ".join(parts)


def graph_function(schema: OperatorSchema) -> str:
    """The signature of the graph builder's function, one parameter per line."""
    method = OperatorMethod(schema)
    parameters = [parameter(one) for one in method.signature.parameters.values()]
    first = next(
        (
            position
            for position, one in enumerate(method.signature.parameters.values())
            if one.kind is one.KEYWORD_ONLY
        ),
        len(parameters),
    )
    if first < len(parameters):
        parameters.insert(first, "*")
    returns = method.signature.return_annotation
    text = python_source.call(f"graph.{method.name}", "(", parameters, ")") + f" -> {returns}"
    return f"In the graph builder:\n\n{code('py', text)}"


def parameter(one: inspect.Parameter) -> str:
    """A parameter's source text, without quotes around annotations."""
    default = "" if one.default is one.empty else f" = {one.default!r}"
    return f"{one.name}: {one.annotation}{default}"


def support(schema: OperatorSchema) -> str:
    rows = [
        (
            f"`{level_name(row.level)}`",
            *([when_text(schema, row.when)] if any(one.when for one in support_rows(schema)) else []),
            ", ".join(f"`{name}`" for name in row.tensors) or "all tensors",
            row.dimensions,
            types_text(row.types),
        )
        for row in support_rows(schema)
    ]
    has_conditions = bool(rows) and len(rows[0]) == 5
    head = ("From level", *(["Where"] if has_conditions else []), "Tensors", "Dimensions", "Data types")
    return table(head, rows)


def rules_of_operator(name: str) -> list[Rule]:
    """The rules of one operator."""
    every_rule()
    return [RULES[identifier] for identifier in sorted(RULES) if identifier.startswith(f"DML-{name}-")]


def rules(schema: OperatorSchema, shown: list[Example]) -> str:
    """Each rule with an example of its message."""
    entries = []
    messages = dict(broken(schema, shown))
    for rule in rules_of_operator(schema.name):
        warning = " (a warning of the debug layer)" if rule.debug else ""
        lines = [anchored(rule.id), f": {rule.text}{warning}."]
        if rule.id in messages:
            lines.append(f"\n  *Broken:* {messages[rule.id]}")
        entries.append("\n".join(lines))
    general = "Rules of [every desc and every tensor](../reference/rules.md) apply too."
    return "\n\n".join([*entries, general])


def broken(schema: OperatorSchema, shown: list[Example]) -> Iterator[tuple[str, str]]:
    """Identifiers of rules, each with the message for a desc that breaks only this rule."""
    for rule in derived_rules(schema.name):
        for level in (HIGHEST, schema.level):
            changes = (
                derived_change(candidate.desc, rule, level)
                for candidate in shown[:3]
                if is_valid(candidate, level)
            )
            change = next((candidate for candidate in changes if candidate is not None), None)
            if change is not None:
                message = check(change.desc, level)[1].diagnostics[0].message
                where = "" if level == HIGHEST else f" (on a device of `{level_name(level)}`)"
                yield rule, f"`{message}`{where}"
                break


def is_valid(example: Example, level: int) -> bool:
    return not check(example.desc, level)[1].diagnostics


def notes(schema: OperatorSchema) -> str:
    """Decisions where the documents leave behaviour open, from the implementation's docstring."""
    docstring = vars(type(operator_of(schema.name))).get("__doc__")
    if not docstring:
        return ""
    _, _, remarks = inspect.cleandoc(docstring).partition("\n\n")
    return plain(remarks)


@cache
def constants_table() -> dict[str, list[dict[str, Any]]]:
    with CONSTANTS.open("rb") as file:
        table: dict[str, list[dict[str, Any]]] = tomllib.load(file)
        return table


def constants(name: str) -> str:
    """Constants of ours that decide results."""
    entries = constants_table().get(base_name(name), [])
    lines = [f"- `{entry['value']!r}`: {entry['says']}" for entry in entries]
    return "\n".join(["Constants that no page gives:\n", *lines]) if lines else ""


def examples(shown: list[Example]) -> str:
    parts = []
    for position, one in enumerate(shown):
        body = page(
            code("python", python_source.program(one)),
            "It prints:",
            code("text", output_of(python_source.program(one))),
            details("The same in C++", code("cpp", cpp_source.program(one))) if position == 0 else "",
        ).strip()
        if position < OPEN_EXAMPLES:
            parts += [f"### {one.title}", body]
        else:
            parts.append(details(one.title, body))
    cpp = "[How to build the C++ programs](cpp.md)."
    return "\n\n".join([*parts, cpp])


def output_of(program: str) -> str:
    """The output of a Python program."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(program, "<example>", "exec"), {"__name__": "__main__"})
    return printed.getvalue()
