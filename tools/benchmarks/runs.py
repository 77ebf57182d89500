"""A benchmark run: date, machine and rows; stored as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from directml_py import __version__
from directml_py.kernels import backend

from . import peers
from .bars import MEANS, LimitVerdict, verdicts
from .interleaved_timing import Row


@dataclass(frozen=True)
class BenchmarkRun:
    """``machine`` describes the hardware and software."""

    date: str
    machine: Mapping[str, str]
    rows: Sequence[Row]

    def with_means(self) -> Sequence[Row]:
        """The rows; those of the groups in ``MEANS`` are followed by the geometric mean of their ratios."""
        rows = list(self.rows)
        for group in MEANS:
            own = [(index, row) for index, row in enumerate(rows) if group in row.group and row.ratio]
            if len(own) > 1:
                mean = math.exp(sum(math.log(row.ratio or 1) for _, row in own) / len(own))
                last = own[-1][0]
                peer = {"best peers": 1.0}
                rows.insert(
                    last + 1,
                    Row(
                        group, f"geometric mean of {len(own)}", mean, peer, unit="", family=rows[last].family
                    ),
                )
        return rows

    def judged(self) -> list[tuple[Row, list[LimitVerdict]]]:
        return [(row, verdicts(row)) for row in self.with_means()]


def this_machine(threads: int) -> dict[str, str]:
    return {
        "directml-py": f"{__version__}, {backend.title}",
        **peers.versions(),
        "processor": f"{processor()}, {os.cpu_count()} logical, {threads} threads used",
        "system": f"{platform.system()}, Python {platform.python_version()}",
    }


def processor() -> str:
    """The processor's name, where the system reports it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def today() -> str:
    return time.strftime("%Y-%m-%d %H:%M")


def save(run: BenchmarkRun, path: Path) -> None:
    entries = [
        {**dataclasses.asdict(row), "best": row.best, "ratio": row.ratio, "limit_ratio": row.limit_ratio}
        for row in run.rows
    ]
    content = {"date": run.date, "machine": run.machine, "rows": entries}
    path.write_text(json.dumps(content, indent=2) + "\n")


def load(paths: Sequence[Path]) -> BenchmarkRun:
    """Merge the runs of several files; of rows that occur more than once the last one is kept."""
    contents = [json.loads(path.read_text()) for path in paths]
    names = [field.name for field in dataclasses.fields(Row)]
    rows: dict[str, Row] = {}
    for content in contents:
        for entry in content["rows"]:
            values: dict[str, Any] = {name: entry[name] for name in names}
            row = Row(**values)
            rows[row.title] = row
    return BenchmarkRun(contents[-1]["date"], contents[-1]["machine"], list(rows.values()))
