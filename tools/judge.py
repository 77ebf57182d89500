"""Differential testing against Microsoft's library, on random descs, graphs and calls of all kinds.

    python tools/judge.py                       # a million descs
    python tools/judge.py --descs 20000         # a quick check
    python tools/judge.py --page                # also write docs/inside/fidelity.md

The library is fetched from PyPI with pip and kept in the user's cache. It runs on the emulated Direct3D 12 device, with
pipelines that do nothing, at its highest feature level, 6_2, since it does not emulate lower ones. It is asked for the
results of CreateOperator and CompileGraph, and whether bindings and dispatches remove its device. The exit code is 1 if
the sides disagree for a reason that ``judging/disagreements.py`` does not list.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from judging import fidelity_page
from judging.disagreements import UNLISTED, JudgingRun, kind_of
from judging.streams import MUTATIONS_EACH, OPERATORS, RANKS, only
from judging.wheel import library
from judging.workers import judge

# The shares of the streams; the rest are mutations.
VALID, TABLES = 0.4, 0.1
# In addition to the other descs, relative to their number.
GRAPHS = CALLS = 0.02
EVERY = ".*"
EXAMPLES = 3


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--descs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the random descs")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--library", type=Path, help="Microsoft's libdirectml.so (default: that of the wheel)"
    )
    parser.add_argument("--page", action="store_true", help="write docs/inside/fidelity.md")
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="descs to print for each reason")
    parser.add_argument("--operators", default=EVERY, help="a regular expression for their names")
    arguments = parser.parse_args()
    only(arguments.operators)
    path = arguments.library or library()
    streams = {
        "valid": int(arguments.descs * VALID) // MUTATIONS_EACH,
        "mutations": int(arguments.descs * (1 - VALID - TABLES)) // MUTATIONS_EACH,
        "graphs": int(arguments.descs * GRAPHS) if arguments.operators == EVERY else 0,
        "calls": int(arguments.descs * CALLS) if arguments.operators == EVERY else 0,
        "tables": max(2 * len(OPERATORS), int(arguments.descs * TABLES) // (12 + RANKS)),
    }
    run = JudgingRun()
    for stream, cases in streams.items():
        counts, disagreements = judge(path, stream, cases, arguments.workers, arguments.seed)
        run.add(stream, counts, disagreements)
        print(
            f"{stream}: {run.descs[stream]} descs, {len(disagreements)} disagreements: {dict(run.kinds[stream])}"
        )
        show(disagreements, arguments.examples)
    print(f"{run.total} descs, {run.unlisted} unlisted disagreements")
    if arguments.page:
        fidelity_page.write(run)
    return 1 if run.unlisted else 0


def show(disagreements: list[dict[str, Any]], examples: int) -> None:
    """Print the unlisted disagreements, by operator and reason."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for entry in disagreements:
        kind = kind_of(entry)
        if kind in UNLISTED:
            why = entry["field"] if kind == "false green" else ", ".join(entry["rules"])
            groups.setdefault((kind, entry["operator"], why), []).append(entry)
    for (kind, operator, why), entries in sorted(groups.items()):
        print(f"  {kind}: {operator}: {why or 'valid'}: {len(entries)}")
        for entry in sorted(entries, key=lambda one: len(one["desc"]))[:examples]:
            print(f"    {entry['theirs']} {entry['desc']}\n      {entry['ours']}")


if __name__ == "__main__":
    sys.exit(main())
