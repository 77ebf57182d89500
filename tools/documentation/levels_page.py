"""The page of feature levels: one table of added operators, dimension counts and data types, with a filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from directml_py.abi.schema import OperatorSchema
from directml_py.api.enums import DML_FEATURE_LEVEL
from directml_py.descs.data_types import DATA_TYPES, data_type_of
from directml_py.operators import SCHEMAS
from directml_py.validation.support_tables import Support, support_of

from .markdown import page
from .operator_index import FAMILIES
from .support_table import counts, level_text, types_text, when_text


class News(NamedTuple):
    """An addition of ``level`` to an operator: ``what`` as text, for the data types ``types``."""

    level: int
    operator: str
    family: str
    what: str
    types: tuple[str, ...]


def levels_page() -> str:
    return page(
        "# Feature levels",
        "A feature level determines which operators a device has, and which data types and dimension counts each of "
        "them supports. A program queries it with `CheckFeatureSupport`; `DMLCreateDevice(..., feature_level=...)` and "
        "`pytest --dml-feature-level=2_1` emulate an older one. The table has one row for each level's additions to "
        "an operator.",
        data_types(),
        controls(),
        news_table(sorted(every_news(), key=lambda one: (one.level, one.operator))),
    )


def data_types() -> str:
    """The data types by the level that introduced them."""
    by_level: dict[int, list[str]] = {}
    for element_type in DATA_TYPES.values():
        by_level.setdefault(element_type.level, []).append(element_type.name)
    parts = [f"{', '.join(names)} since {level_text(level)}" for level, names in sorted(by_level.items())]
    return f"Data types: {'; '.join(parts)}."


def every_news() -> Iterator[News]:
    for name, schema in SCHEMAS.items():
        yield from news(schema)
        if not any(entry.level == schema.level for entry in support_of(schema)):
            yield News(schema.level, name, schema.family, "new", ())


def news(schema: OperatorSchema) -> Iterator[News]:
    """The rows of an operator: the additions of each support table to the previous one."""
    tables = support_of(schema)
    for entry in tables:
        earlier = [one for one in tables if one.when == entry.when and one.level < entry.level]
        before = max(earlier, key=lambda one: one.level, default=None)
        what, types = difference(entry, before)
        if not what:
            continue
        if entry.level == schema.level:
            what = f"new: {what}"
        if entry.when:
            what += f", where {when_text(schema, entry.when).replace('`', '')}"
        yield News(entry.level, schema.name, schema.family, what, types)


def difference(entry: Support, before: Support | None) -> tuple[str, tuple[str, ...]]:
    """The additions as text, and the data types in it; empty for a table that repeats the previous one."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, tensor in entry.tensors.items():
        old = None if before is None else before.tensors.get(name)
        ranks = "" if old is not None and old.dimensions == tensor.dimensions else counts(tensor.dimensions)
        old_types = () if old is None else old.types
        kinds = tuple(data_type_of(kind).name for kind in tensor.types if kind not in old_types)
        if ranks or kinds:
            groups.setdefault((ranks, kinds), []).append(name)
    parts = []
    for (ranks, kinds), names in groups.items():
        subject = "" if len(names) == len(entry.tensors) else f"{', '.join(names)}: "
        texts = [types_text(kinds)] if kinds else []
        texts += [f"{ranks} dimension{'' if ranks == '1' else 's'}"] if ranks else []
        parts.append(subject + ", ".join(texts))
    every = dict.fromkeys(kind for _, kinds in groups for kind in kinds)
    return "; ".join(parts), tuple(every)


def options(values: Sequence[tuple[str, str]]) -> str:
    return "".join(f'<option value="{escape(value)}">{escape(shown)}</option>' for value, shown in values)


def controls() -> str:
    """The filter's form; ``levels.js`` implements it."""
    levels = [(str(level.value), level_text(level)) for level in sorted(DML_FEATURE_LEVEL)]
    families = [(family, heading) for family, heading in FAMILIES.items()]
    types = [(element_type.name, element_type.name) for element_type in DATA_TYPES.values()]
    return (
        '<form class="level-filter" id="level-filter" role="search">\n'
        '<label>Operator <input type="search" name="text" placeholder="such as JOIN" autocomplete="off"></label>\n'
        f'<label>Level <select name="level">{options([("", "any"), *levels])}</select></label>\n'
        '<label><input type="checkbox" name="before" checked> and earlier levels</label>\n'
        f'<label>Data type <select name="type">{options([("", "any"), *types])}</select></label>\n'
        f'<label>Family <select name="family">{options([("", "any"), *families])}</select></label>\n'
        '<output name="count"></output>\n'
        "</form>"
    )


def news_table(rows: Sequence[News]) -> str:
    lines = [
        f'<tr data-level="{row.level}" data-family="{row.family}" data-types="{" ".join(row.types)}">'
        f'<td>{level_text(row.level)}</td><td><a href="operators/{row.operator}.html"><code>{row.operator}</code></a>'
        f"</td><td>{escape(row.what)}</td></tr>"
        for row in rows
    ]
    head = "<thead><tr><th>Level</th><th>Operator</th><th>Added</th></tr></thead>"
    body = "\n".join(lines)
    return (
        f'<div class="table-wrapper docutils container">\n<table class="docutils" id="levels">\n{head}\n<tbody>\n'
        f"{body}\n</tbody>\n</table>\n</div>"
    )
