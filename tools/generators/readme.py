"""The support table in README.md, between its two markers; the rest of the file is written by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .catalog import Catalog, Operator

README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- support table: begin -->", "<!-- support table: end -->"


def conditions(operator: Operator) -> list[dict[str, Any]]:
    """The different attribute values that the operator has tables of their own for."""
    found: list[dict[str, Any]] = []
    for entry in operator.support:
        when = entry.get("when", {})
        if when not in found:
            found.append(when)
    return found


def short_types(types: str) -> str:
    """``F16-64 I8-64`` for a list of data types, which always holds neighbouring widths."""
    widths: dict[str, list[int]] = {}
    for name in types.split():
        widths.setdefault(name[0], []).append(int(re.sub(r"\D", "", name)))
    parts = []
    for letter in "FIU":
        bits = sorted(widths.get(letter, []))
        if bits:
            parts.append(f"{letter}{bits[0]}" + (f"-{bits[-1]}" if len(bits) > 1 else ""))
    return " ".join(parts)


def cell(table: dict[str, str]) -> str:
    return f"{table['dimensions']}D {short_types(table['types'])}"


def rows(operator: Operator, when: dict[str, Any], levels: list[str]) -> list[str]:
    """One row for each group of tensors that have the same tables."""
    entries = {e["level"]: e["tensors"] for e in operator.support if e.get("when", {}) == when}
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in next(iter(entries.values())):
        cells = tuple(cell(entries[level][name]) if level in entries else "" for level in levels)
        groups.setdefault(cells, []).append(name)
    names = sorted(v.removeprefix("DML_REDUCE_FUNCTION_") for v in when.get("Function", []))
    title = operator.name + (f" ({', '.join(names)})" if names else "")
    lines = []
    for cells, tensors in groups.items():
        which = "all tensors" if len(groups) == 1 else ", ".join(tensors)
        lines.append(f"| {title} | {which} | {' | '.join(cells)} |")
        title = ""
    return lines


def support_table(catalog: Catalog) -> str:
    operators = [operator for operator in catalog.operators if operator.support]
    levels = sorted({entry["level"] for operator in operators for entry in operator.support})
    lines = [
        f"| Operator | Tensors | {' | '.join(levels)} |",
        f"| --- | --- |{' --- |' * len(levels)}",
    ]
    for operator in operators:
        for when in conditions(operator):
            lines += rows(operator, when, levels)
    return "\n".join(lines)


def generate(catalog: Catalog) -> dict[str, str]:
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return {"README.md": f"{before}{BEGIN}\n{support_table(catalog)}\n{END}{after}"}
