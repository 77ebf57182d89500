"""The performance table in README.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..runs import BenchmarkRun, load, save
from .phrases import amount, ratio

README = Path(__file__).resolve().parents[3] / "README.md"
# The last run of the table on each processor that could be measured.
PROCESSORS = Path(__file__).resolve().parents[1] / "processors"
BEGIN = "<!-- Written by tools/bench.py --readme -->\n"
END = "<!-- The end of what is written -->\n"
# The table's labels, and the titles of their rows.
CHOSEN: Mapping[str, str] = {
    "ADD, 64 MiB": "ADD packed, float32, 64 MiB",
    "EXP, 64 MiB": "EXP packed, float32, 64 MiB",
    "ten element-wise nodes in a graph, 64 MiB": "chain of ten float32, 64 MiB",
    "JOIN of four along columns, 64 MiB": "JOIN columns, float32, 64 MiB",
    "a transposed copy, 64 MiB": "identity transposed, float32, 64 MiB",
    "GATHER of rows, 64 MiB": "GATHER rows, float32, 64 MiB",
    "SUM of each row, 64 MiB": "REDUCE SUM trailing, packed, float32, 64 MiB",
    "SOFTMAX of each row, 64 MiB": "SOFTMAX trailing, float32, 64 MiB",
    "GEMM, 2048 x 2048 x 2048": "GEMM 2048, float32",
    "CONVOLUTION, 3x3 of ResNet-50, 56 x 56": "CONVOLUTION ResNet-50 3x3, 56, float32",
    "LSTM, 128 steps, batch 32, hidden 512": "LSTM 128 steps, batch 32, hidden 512",
    "SqueezeNet, 224 x 224": "network SqueezeNet, run again",
    "MobileNet-v2, 224 x 224": "network MobileNet-v2, run again",
    "super-resolution, 224 x 224": "network super-resolution, run again",
    "style transfer, 720 x 720": "network style transfer, run again",
    "MobileNet-v2, compiled": "compile MobileNet-v2, compiled again",
    "a step of GPT-2 after 128 tokens": "network a step of GPT-2 after 128, ONNX",
}


def processor_name(run: BenchmarkRun) -> str:
    """The processor, and which instructions our loops use there: of one name some have AVX-512 and some do not."""
    loops = re.search(r"native \((\w+)", run.machine.get("directml-py", ""))
    name = run.machine["processor"].partition(",")[0]
    return f"{name} ({loops[1]})" if loops else name


def remember(run: BenchmarkRun) -> None:
    """Keep the table's rows as the measurements of the run's processor. Raises ``ValueError`` naming missing rows."""
    rows = {row.title: row for row in run.rows}
    missing = [title for title in CHOSEN.values() if title not in rows]
    if missing:
        raise ValueError(
            f"the run has no row {', '.join(map(repr, missing))}; it was made with --only or without a peer"
        )
    kept = BenchmarkRun(run.date, run.machine, [rows[title] for title in CHOSEN.values()])
    slug = "-".join(re.findall(r"[a-z0-9]+", processor_name(run).lower()))
    save(kept, PROCESSORS / f"{slug}.json")


def remembered() -> list[BenchmarkRun]:
    """The measurements of each processor."""
    return [load([path]) for path in sorted(PROCESSORS.glob("*.json"))]


def table(runs: Sequence[BenchmarkRun]) -> str:
    """Lines of Markdown, with two columns for each run, empty for rows that it lacks."""
    columns = [cell for run in runs for cell in (processor_name(run), "ours / fastest other")]
    lines = [f"| | {' | '.join(columns)} |", f"|{' --- |' * (len(columns) + 1)}"]
    for label, title in CHOSEN.items():
        cells = [label]
        for run in runs:
            row = next((row for row in run.rows if row.title == title), None)
            cells += (
                (amount(row.ours, row.unit), f"{ratio(row.ratio)} {row.best}".strip()) if row else ("", "")
            )
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    for run in runs:
        machine = ", ".join(f"{name} {text}" for name, text in run.machine.items())
        lines.append(f"Measured {run.date}: {machine}.")
    return "\n".join([*lines, ""])


def rewrite(text: str, runs: Sequence[BenchmarkRun]) -> str:
    """README's text with the table of ``runs`` between the two marks. Raises ``ValueError`` if a mark is missing."""
    before, begin, tail = text.partition(BEGIN)
    _, end, after = tail.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md must have the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return f"{before}{begin}\n{table(runs)}\n{end}{after}"
