"""The results as a table, and against the list of what is expected not to be right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from judging import listed

from .judging import BOTH, CPU, DML, ENDED, RIGHT, Row

LIST = Path(__file__).parent.with_name("onnxruntime_dml.toml")
EXAMPLES = 3
TITLES = {
    "node": "ONNX's node tests",
    "converted": "ONNX's other tests, models converted from PyTorch",
    "constants": "node tests with constant inputs",
    "eager": "the same, one operator at a time",
    "symbolic": "node tests with symbolic sizes",
    "float16": "node tests in FLOAT16",
    "types": "node tests in other types",
    "microsoft": "com.microsoft's operators, and fused ones",
    "shipped": "models in packages, and ONNX's light ones",
    "torch": "exports of PyTorch",
}


class Reason(NamedTuple):
    """Why cases are not right: the program whose doing it is, what it does, and words of the message."""

    owner: str
    why: str
    says: str
    cases: tuple[str, ...]


def reasons(path: Path = LIST) -> list[Reason]:
    return listed.read(path, Reason)


def group_of(row: Row) -> str:
    return str(row["case"].partition("/")[0])


def is_cpus(row: Row) -> bool:
    """Whether ONNX Runtime's own CPU provider, in the same DLL, does no better."""
    return row["verdict"] not in (RIGHT, ENDED) and row.get("cpu", RIGHT) != RIGHT


def surprises(rows: dict[str, Row], reasons: list[Reason]) -> list[str]:
    """What is not as the list says, a line each; cases that were not run are none."""
    expected = {case: reason for reason in reasons for case in reason.cases}
    lines = []
    for title, row in rows.items():
        reason = expected.get(title)
        if row["verdict"] == RIGHT or is_cpus(row):
            if reason is not None:
                lines.append(f"{title} is listed ({reason.why}), but is right, or wrong on the CPU too")
        elif reason is None:
            lines.append(f"{title} {row['verdict']}: {row['why']}")
        elif reason.says not in " ".join((row["why"], row.get("said", ""), *row.get("rules", ()))):
            lines.append(f"{title} {row['verdict']}, but the message lacks {reason.says!r}: {row['why']}")
    return lines


def table(rows: dict[str, Row], reasons: list[Reason]) -> str:
    """Markdown: the figures by group, and the reasons with their cases."""
    lines = [
        "| | Cases | Right, all on DirectML | Right, partly on the CPU | Right, all on the CPU "
        "| The CPU provider does no better | Not right |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for group, title in TITLES.items():
        found = [row for row in rows.values() if group_of(row) == group]
        if not found:
            continue
        right = Counter(row["where"] for row in found if row["verdict"] == RIGHT)
        cpus = sum(map(is_cpus, found))
        cells = [len(found), right[DML], right[BOTH], right[CPU], cpus, len(found) - right.total() - cpus]
        lines.append(f"| {title} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    lines += ["", "| Not right | Cases | Owner | For example |", "| --- | --- | --- | --- |"]
    for reason in reasons:
        cases = [case for case in reason.cases if case in rows]
        if cases:
            examples = ", ".join(f"`{case}`" for case in cases[:EXAMPLES])
            lines.append(f"| {reason.why} | {len(cases)} | {reason.owner} | {examples} |")
    return "\n".join(lines)


def write_page(page: Path, text: str, tool: str = "onnxruntime_dml.py") -> None:
    """Replace what stands between the markers of a tool. Raises ``ValueError`` if the page lacks them."""
    begin, end = (f"<!-- {tool}: {word} -->" for word in ("begin", "end"))
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} has no {begin} ... {end}")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
