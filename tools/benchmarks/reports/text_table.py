"""A run as a table in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from ..runs import BenchmarkRun
from .phrases import amount, ratio


def print_table(run: BenchmarkRun, console: Console) -> None:
    table = Table(
        "subject", "what", "ours", "best peer", "its", "ours / its", "limit", "ours / limit", "bars"
    )
    met = missed = 0
    for row, row_verdicts in run.judged():
        met += sum(each.met for each in row_verdicts)
        missed += sum(not each.met for each in row_verdicts)
        table.add_row(
            row.group,
            row.name,
            amount(row.ours, row.unit),
            row.best,
            amount(row.peers.get(row.best), row.unit),
            ratio(row.ratio),
            amount(row.limit, row.unit),
            ratio(row.limit_ratio),
            " ".join(
                f"[{'green' if each.met else 'red'}]{each.what} {each.bar:g}[/]" for each in row_verdicts
            ),
        )
    console.print(", ".join(f"{name} {text}" for name, text in run.machine.items()))
    console.print(table)
    console.print(f"{met} bars met, {missed} missed")
    for row, row_verdicts in run.judged():
        for each in row_verdicts:
            if not each.met:
                console.print(
                    f"missed: {row.title}: {each.what} {each.value:.2f}, the bar is {each.bar:g}",
                    highlight=False,
                )
