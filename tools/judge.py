"""Hold CreateOperator against that of Microsoft's library, on descs of all kinds.

    python tools/judge.py                       # a million descs
    python tools/judge.py --descs 20000         # a glance
    python tools/judge.py --save judged.json    # for tools/generate.py, which makes docs/inside/fidelity.md of it

The library is fetched from PyPI with pip and kept in the user's cache. It is asked on the emulated Direct3D 12 device,
at its highest feature level, 6_2: it does not limit itself to a lower one. The exit code is 1 if the sides disagree
about a desc for a reason that ``judging/stricter.py`` does not list.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from judging.streams import MUTATIONS_EACH, OPERATORS, RANKS, only
from judging.stricter import CRASHES, reason
from judging.wheel import PACKAGE, library
from judging.workers import judge

# The shares of the streams; what is left are mutations.
VALID, TABLES = 0.4, 0.1
EXAMPLES = 3


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--descs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0, help="other descs")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--library", type=Path, help="Microsoft's libdirectml.so (default: that of the wheel)"
    )
    parser.add_argument("--save", type=Path, help="write the figures as JSON")
    parser.add_argument(
        "--examples", type=int, default=EXAMPLES, help="descs that are printed for each reason"
    )
    parser.add_argument("--operators", default=".*", help="a regular expression of their names")
    arguments = parser.parse_args()
    only(arguments.operators)
    path = arguments.library or library()
    streams = {
        "valid": int(arguments.descs * VALID) // MUTATIONS_EACH,
        "mutations": int(arguments.descs * (1 - VALID - TABLES)) // MUTATIONS_EACH,
        "tables": max(2 * len(OPERATORS), int(arguments.descs * TABLES) // (12 + RANKS)),
    }
    total, unlisted, figures = 0, 0, {}
    for stream, cases in streams.items():
        count, found = judge(path, stream, cases, arguments.workers, arguments.seed)
        kinds = Counter(kind_of(entry) for entry in found)
        print(f"{stream}: {count} descs, {len(found)} disagreements: {dict(kinds)}")
        unlisted += show(found, arguments.examples)
        total += count
        figures[stream] = {"descs": count, **kinds}
    print(f"{total} descs, {unlisted} disagreements that nothing lists")
    if arguments.save:
        text = {"library": PACKAGE, "level": "6_2", "streams": figures, "unlisted": unlisted}
        arguments.save.write_text(json.dumps(text, indent=2) + "\n", encoding="utf-8")
    return 1 if unlisted else 0


def kind_of(entry: dict[str, Any]) -> str:
    if entry["theirs"].startswith("signal"):
        return "crash" if entry["operator"] in CRASHES or entry["rules"] else "unlisted crash"
    if entry["theirs"] != "0x00000000":
        return "other HRESULT" if entry["rules"] else "false green"
    return "stricter" if all(map(reason, entry["rules"])) else "false refusal"


def show(found: list[dict[str, Any]], examples: int) -> int:
    """Print what nothing lists, by operator and reason, and return how many there are."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for entry in found:
        kind = kind_of(entry)
        if kind in ("false green", "false refusal", "unlisted crash", "other HRESULT"):
            why = entry["field"] if kind == "false green" else ", ".join(entry["rules"])
            groups.setdefault((kind, entry["operator"], why), []).append(entry)
    for (kind, operator, why), entries in sorted(groups.items()):
        print(f"  {kind}: {operator}: {why or 'valid'}: {len(entries)}")
        for entry in sorted(entries, key=lambda one: len(one["desc"]))[:examples]:
            print(f"    {entry['theirs']} {entry['desc']}\n      {entry['ours']}")
    return sum(map(len, groups.values()))


if __name__ == "__main__":
    sys.exit(main())
