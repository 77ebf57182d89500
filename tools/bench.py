"""Measure directml-py, each row side by side with what it is compared to, in one process.

``python tools/bench.py [--only descs|dispatch|graphs|native] [--json FILE]``
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))

from benchmarks import descs, dispatch, graphs, native
from benchmarks.timing import Row

SUBJECTS = {"descs": descs.rows, "dispatch": dispatch.rows, "graphs": graphs.rows, "native": native.rows}


def print_table(rows: Sequence[Row]) -> None:
    table = Table("subject", "what", "ours", "compared to", "its", "ours / its")
    for row in rows:
        peer = "" if row.peer is None else f"{row.peer:,.2f} {row.unit}"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.group, row.name, f"{row.ours:,.2f} {row.unit}", row.peer_name, peer, ratio)
    Console().print(table)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", choices=SUBJECTS, action="append", help="this subject alone; may be repeated"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there too")
    arguments = parser.parse_args(argv)
    rows = [row for name in arguments.only or SUBJECTS for row in SUBJECTS[name]()]
    print_table(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
