"""The operator descs that the provider sends, from captures: each distinct one, as JSON lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def collect(folder: Path) -> Iterator[str]:
    """A line for each operator in the captures of a folder, which it deletes."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8", errors="replace") as events:
            for line in events:
                # A process that ended early may have left its last line incomplete.
                if line.startswith('{"event":"operator"') and line.endswith("\n"):
                    yield from map(_line, _operators(json.loads(line)))
        path.unlink()
        path.with_suffix(".contents").unlink(missing_ok=True)


def _operators(event: dict[str, Any]) -> list[dict[str, Any]]:
    nodes = event["graph"]["nodes"] if "graph" in event else [event]
    return [{"operator": node["operator"], "desc": node["desc"]} for node in nodes if "operator" in node]


def _line(operator: dict[str, Any]) -> str:
    return json.dumps(operator, separators=(",", ":"))


def read(path: Path) -> set[str]:
    if not path.exists():
        return set()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return set(file.read().splitlines())


def write(path: Path, lines: set[str]) -> None:
    """Write the lines in order, so that equal sets are equal files."""
    data = "".join(f"{line}\n" for line in sorted(lines)).encode()
    path.write_bytes(gzip.compress(data, 9, mtime=0))
