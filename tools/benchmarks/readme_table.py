"""The performance table in README.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyperf

from .runs import OURS, RowComparison, comparisons

README = Path(__file__).resolve().parents[2] / "README.md"
# The last run of the table on each processor that could be measured.
PROCESSORS = Path(__file__).resolve().parent / "processors"
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


def processor_name(run: pyperf.BenchmarkSuite) -> str:
    """The processor, and which instructions our loops use there: of one name some have AVX-512 and some do not."""
    found = run.get_metadata()
    loops = re.search(r"native \((\w+)", found[f"{OURS}_version"])
    return f"{found['cpu_model_name']} ({loops[1]})" if loops else str(found["cpu_model_name"])


def remember(run: pyperf.BenchmarkSuite) -> None:
    """Keep a run of the table's rows as that of its processor. Raises ``ValueError`` naming missing rows."""
    missing = set(CHOSEN.values()) - {comparison.title for comparison in comparisons(run)}
    if missing:
        raise ValueError(f"the run has no row {', '.join(map(repr, sorted(missing)))}")
    slug = "-".join(re.findall(r"[a-z0-9]+", processor_name(run).lower()))
    run.dump(str(PROCESSORS / f"{slug}.json"), replace=True)


def remembered() -> list[pyperf.BenchmarkSuite]:
    """The measurements of each processor."""
    return [pyperf.BenchmarkSuite.load(str(path)) for path in sorted(PROCESSORS.glob("*.json"))]


def table(runs: Sequence[pyperf.BenchmarkSuite]) -> str:
    """Lines of Markdown, with two columns for each run, empty for rows that it lacks."""
    columns = [cell for run in runs for cell in (processor_name(run), "ours / fastest other")]
    lines = [f"| | {' | '.join(columns)} |", f"|{' --- |' * (len(columns) + 1)}"]
    found = [{comparison.title: comparison for comparison in comparisons(run)} for run in runs]
    for label, title in CHOSEN.items():
        rows = [by_title.get(title, RowComparison(title)) for by_title in found]
        cells = [cell for row in rows for cell in (row.ours, f"{row.ratio} {row.best}".strip())]
        lines.append(f"| {' | '.join([label, *cells])} |")
    lines.append("")
    for run in runs:
        about = run.get_metadata()
        versions = (name for name in sorted(about) if name.endswith("_version"))
        software = ", ".join(f"{name.removesuffix('_version')} {about[name]}" for name in versions)
        lines.append(
            f"Measured {about['date'][:16]} with {about['threads']} threads on {about['cpu_count']} processors: "
            f"{software}, {about['platform']}."
        )
    return "\n".join([*lines, ""])


def rewrite(text: str, runs: Sequence[pyperf.BenchmarkSuite]) -> str:
    """README's text with the table of ``runs`` between the two marks. Raises ``ValueError`` if a mark is missing."""
    before, begin, tail = text.partition(BEGIN)
    _, end, after = tail.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md must have the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return f"{before}{begin}\n{table(runs)}\n{end}{after}"
