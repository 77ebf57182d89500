"""A run as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from ..bars import LimitVerdict
from ..interleaved_timing import Row
from ..runs import BenchmarkRun
from .phrases import amount

FOLDER = Path(__file__).parent
FULL = 2.0
COLUMNS = ("what", "bar", "ours", "best", "limit")
HEADINGS = ("", "ours / best", "ours", "best", "ours / limit")

Judged = tuple[Row, list[LimitVerdict]]


def page(run: BenchmarkRun) -> str:
    judged = run.judged()
    families: dict[str, list[Judged]] = {}
    for row, row_verdicts in judged:
        families.setdefault(row.family, []).append((row, row_verdicts))
    machine = {"date": run.date, **run.machine}
    return Template((FOLDER / "page.html").read_text(encoding="utf-8")).substitute(
        style=(FOLDER / "page.css").read_text(encoding="utf-8"),
        summary=f"{len(judged)} rows: {count(judged)}.",
        machine="\n".join(
            f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in machine.items()
        ),
        full=f"{FULL:g}",
        sections="\n".join(section(heading, rows) for heading, rows in families.items()),
    )


def count(judged: Sequence[Judged]) -> str:
    verdicts = [each for _, row_verdicts in judged for each in row_verdicts]
    met = sum(each.met for each in verdicts)
    return f"{met} of {len(verdicts)} bars met" if verdicts else "no bars"


def section(heading: str, judged: Sequence[Judged]) -> str:
    columns = "".join(f'<col class="{name}">' for name in COLUMNS)
    headings = "".join(f'<th scope="col">{text}</th>' for text in HEADINGS)
    rows = "\n".join(line(row, row_verdicts) for row, row_verdicts in judged)
    return (
        f"<section>\n<h2>{escape(heading)} <span>{count(judged)}</span></h2>\n"
        f"<table>\n<colgroup>{columns}</colgroup>\n<thead><tr>{headings}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</section>"
    )


def line(row: Row, found: Sequence[LimitVerdict]) -> str:
    by_field = {each.what: each for each in found}
    best = f"{amount(row.peers[row.best], row.unit)}<small>{escape(row.best)}</small>" if row.best else ""
    limit = f"{row.limit_ratio:.2f}{verdict(by_field.get('limit'))}" if row.limit_ratio is not None else ""
    cells = (
        f'<th scope="row">{escape(row.title)}</th>',
        f'<td class="bar">{track(row, by_field.get("peer"))}</td>',
        f'<td data-label="ours">{amount(row.ours, row.unit)}{verdict(by_field.get("amount"))}</td>',
        f'<td data-label="best">{best}</td>' if best else "<td></td>",
        f'<td data-label="of limit">{limit}</td>' if limit else "<td></td>",
    )
    miss = "" if all(each.met for each in found) else ' class="missed"'
    return f"<tr{miss}>{''.join(cells)}</tr>"


def verdict(limit: LimitVerdict | None) -> str:
    return "" if limit is None else f'<small class="{state(limit)}">{state(limit)}: {limit.bar:g}</small>'


def state(limit: LimitVerdict | None) -> str:
    return "" if limit is None else "met" if limit.met else "missed"


def track(row: Row, limit: LimitVerdict | None) -> str:
    """The bar of a ratio, with a line at its target."""
    if row.ratio is None:
        return ""
    mark = "" if limit is None else f'<b style="left:{percent(limit.bar)}"></b>'
    return (
        f'<div><p class="track {state(limit)}"><i style="width:{percent(row.ratio)}"></i>{mark}</p>'
        f"<span>{row.ratio:.2f}{verdict(limit)}</span></div>"
    )


def percent(value: float) -> str:
    return f"{min(value / FULL, 1) * 100:.1f}%"
