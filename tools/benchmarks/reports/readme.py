"""The performance table in README.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..runs import BenchmarkRun
from .phrases import amount, ratio

README = Path(__file__).resolve().parents[3] / "README.md"
BEGIN = "<!-- Written by tools/bench.py --readme -->\n"
END = "<!-- The end of what is written -->\n"
HEAD = (
    "| | directml-py | fastest of the others | ours / theirs | ours / limit |",
    "| --- | --- | --- | --- | --- |",
)
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
}


def table(run: BenchmarkRun) -> str:
    """Lines of Markdown. Raises ``ValueError`` naming the rows that the run lacks."""
    rows = {row.title: row for row in run.rows}
    missing = [title for title in CHOSEN.values() if title not in rows]
    if missing:
        raise ValueError(
            f"the run has no row {', '.join(map(repr, missing))}; it was made with --only or without a peer"
        )
    lines = list(HEAD)
    for label, title in CHOSEN.items():
        row = rows[title]
        best = f"{amount(row.peers[row.best], row.unit)}, {row.best}" if row.best else ""
        cells = (label, amount(row.ours, row.unit), best, ratio(row.ratio), ratio(row.limit_ratio))
        lines.append(f"| {' | '.join(cells)} |")
    machine = ", ".join(f"{name} {text}" for name, text in run.machine.items())
    return "\n".join([*lines, "", f"Measured {run.date}: {machine}.", ""])


def rewrite(text: str, run: BenchmarkRun) -> str:
    """README's text with the table of ``run`` between the two marks. Raises ``ValueError`` if a mark is missing."""
    before, begin, tail = text.partition(BEGIN)
    _, end, after = tail.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md must have the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return f"{before}{begin}\n{table(run)}\n{end}{after}"
