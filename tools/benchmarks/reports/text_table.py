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
    for row, found in run.judged():
        met += sum(one.met for one in found)
        missed += sum(not one.met for one in found)
        table.add_row(
            row.group,
            row.name,
            amount(row.ours, row.unit),
            row.best,
            amount(row.peers.get(row.best), row.unit),
            ratio(row.ratio),
            amount(row.limit, row.unit),
            ratio(row.limit_ratio),
            " ".join(f"[{'green' if one.met else 'red'}]{one.what} {one.bar:g}[/]" for one in found),
        )
    console.print(", ".join(f"{name} {text}" for name, text in run.machine.items()))
    console.print(table)
    console.print(f"{met} bars met, {missed} missed")
    for row, found in run.judged():
        for one in found:
            if not one.met:
                console.print(
                    f"missed: {row.title}: {one.what} {one.value:.2f}, the bar is {one.bar:g}",
                    highlight=False,
                )
