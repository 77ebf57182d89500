"""Measure directml-py side by side with NumPy, PyTorch and ONNX Runtime, in one process and in turn.

``python tools/bench.py [--only TEXT]... [--threads N] [--json FILE]``. A row is measured if every word of some
TEXT occurs in it. Ratios are ours / the fastest peer, and ours / limit, the fastest read or copy of the same bytes that
this machine does. PyTorch and ONNX Runtime are compared to where they are installed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))

from benchmarks import (
    arranging,
    descs,
    dispatch,
    filling,
    graphs,
    indexing,
    mapping,
    matrices,
    moving,
    native,
    networks,
    peers,
    reducing,
    rowwise,
    small,
    whole,
)
from benchmarks.timing import Row

import directml_py as dml
from directml_py.kernels import backend

SUBJECTS = {
    "small": small.rows,
    "descs": descs.rows,
    "dispatch": dispatch.rows,
    "graphs": graphs.rows,
    "native": native.rows,
    "whole": whole.rows,
}


def wanted(text: str, filters: Sequence[str]) -> bool:
    return not filters or any(all(word in text for word in entry.split()) for entry in filters)


def rows(filters: Sequence[str], threads: int) -> Iterator[Row]:
    for name, subject in SUBJECTS.items():
        if not filters or any(name in entry.split() for entry in filters):
            yield from subject()
    for case in (
        *moving.cases(),
        *arranging.cases(),
        *filling.cases(),
        *indexing.cases(),
        *reducing.cases(),
        *mapping.cases(),
        *rowwise.cases(),
        *networks.cases(),
        *matrices.cases(),
        *whole.cases(),
    ):
        if wanted(f"{case.group} {case.name}", filters):
            yield case.measure(threads)


def amount(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value / 1000:,.2f} ms" if unit == "µs" and value >= 1000 else f"{value:,.2f} {unit}"


def ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def print_table(found: Sequence[Row]) -> None:
    table = Table("subject", "what", "ours", "best peer", "its", "ours / its", "limit", "ours / limit")
    for row in found:
        table.add_row(
            row.group,
            row.name,
            amount(row.ours, row.unit),
            row.best,
            amount(row.peers.get(row.best), row.unit),
            ratio(row.ratio),
            amount(row.limit, row.unit),
            ratio(row.limit_ratio),
        )
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(", ".join(f"{name} {version}" for name, version in peers.versions().items()))
    console.print(f"directml-py: {backend.title}")
    console.print(table)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="rows with all these words alone"
    )
    parser.add_argument(
        "--threads", type=int, default=dml.thread_count(), help="for everybody (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    arguments = parser.parse_args(argv)
    dml.set_thread_count(arguments.threads)
    peers.set_threads(arguments.threads)
    found = list(rows(arguments.only, arguments.threads))
    print_table(found)
    if arguments.json:
        entries = [
            {**dataclasses.asdict(row), "best": row.best, "ratio": row.ratio, "limit_ratio": row.limit_ratio}
            for row in found
        ]
        arguments.json.write_text(json.dumps(entries, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
