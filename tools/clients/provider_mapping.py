"""The DirectML operators that ONNX Runtime's provider creates for a model, beside those of ``directml_py.onnx``.

    python tools/clients/provider_mapping.py results.jsonl                  # ONNX's node tests and models in packages
    python tools/clients/provider_mapping.py results.jsonl --model M.onnx   # one model, whose inputs are random
    python tools/clients/provider_mapping.py results.jsonl --table          # the results so far

Needs what ``onnxruntime_dml.py`` needs. The provider runs each model under Wine over the emulator, which captures the
operators; the same model is loaded here, and what differs is printed: other operators, sizes, strides, types and
attributes. Each case has a line in the file of results; a case that has one is not run again.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import onnx
import onnxruntime

from clients.dml_provider import contrib_models, node_mapping, node_models, shipped_models, wine_batches
from clients.dml_provider.node_mapping import MappingReason, MappingRow
from clients.dml_provider.node_models import ProviderCase
from clients.dml_provider.table import write_page

TITLES = {
    "node": "ONNX's node tests",
    contrib_models.GROUP: "com.microsoft's operators, and fused ones",
    shipped_models.GROUP: "models in packages, optimized by ONNX Runtime",
    "models": "other models",
}
LISTED = "differ for a reason below"
DIFFERENT = (node_mapping.DESCS, node_mapping.OPERATORS, node_mapping.HOST)
GROUPS = ("node", contrib_models.GROUP, shipped_models.GROUP)
BATCH = 48
# Larger models are left out: of ONNX's light ones, those whose weights are most of them.
LARGEST = 128 << 20
# Of an operator's name the numbers stay.
NUMBER = r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?"


def cases(group: str) -> Iterator[ProviderCase]:
    if group == contrib_models.GROUP:
        yield from contrib_models.cases()
    elif group == shipped_models.GROUP:
        yield from (optimized(case) for case in shipped_models.cases() if case.model.ByteSize() <= LARGEST)
    else:
        # What ONNX expands into functions has the operators of other cases.
        yield from (case for case in node_models.cases(group) if "_expanded" not in case.name)


def optimized(case: ProviderCase) -> ProviderCase:
    """The case after ONNX Runtime's own fusions, which come before those of any provider."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(Path(folder, "optimized.onnx"))
        onnxruntime.InferenceSession(
            case.model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return case._replace(model=onnx.load(options.optimized_model_filepath))


def run(batch: list[ProviderCase], folder: Path) -> list[MappingRow]:
    """The rows of a batch; of a batch that cannot be told apart, those of its cases one by one."""
    try:
        return list(node_mapping.compare(batch, folder))
    except RuntimeError:
        for path in (folder / "captures").glob("*"):
            path.unlink()
        if len(batch) == 1:
            return [MappingRow(batch[0].title, (), node_mapping.FAILED)]
        return [row for case in batch for row in run([case], folder)]


def read(path: Path) -> list[MappingRow]:
    if not path.exists():
        return []
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [MappingRow(title, tuple(kinds), verdict, tuple(found)) for title, kinds, verdict, found in lines]


def run_all(left: Iterator[ProviderCase], path: Path) -> None:
    with (
        path.open("a", encoding="utf-8") as file,
        tempfile.TemporaryDirectory(dir=wine_batches.work_folder()) as name,
    ):
        batch: list[ProviderCase] = []
        while True:
            case = next(left, None)
            batch += [] if case is None else [case]
            if batch and (case is None or len(batch) == BATCH or case.model.ByteSize() > 1 << 20):
                for row in run(batch, Path(name)):
                    print(json.dumps(row), file=file, flush=True)
                batch = []
            if case is None:
                return


def table(rows: list[MappingRow], listed: list[MappingReason]) -> str:
    """Markdown: the figures by group, and the reasons with the count of their models."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    models: Counter[str] = Counter()
    for row in rows:
        found = [node_mapping.reasons_of(row, line, listed) for line in row.lines]
        listed_all = row.verdict in DIFFERENT and all(found)
        counts[row.case.partition("/")[0]][LISTED if listed_all else row.verdict] += 1
        if row.verdict in DIFFERENT:
            models.update({reason.why for reasons in found for reason in reasons})
    columns = (node_mapping.SAME, node_mapping.RANKS, LISTED, *DIFFERENT, node_mapping.REFUSED)
    lines = [
        f"| | Models |{''.join(f' {column.capitalize()} |' for column in columns)}",
        "| --- " * (2 + len(columns)) + "|",
    ]
    for group, verdicts in counts.items():
        cells = [sum(verdicts[column] for column in columns), *(verdicts[column] for column in columns)]
        lines.append(f"| {TITLES[group]} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    lines += ["", "| Why operators differ | Models |", "| --- | --- |"]
    whys = dict.fromkeys(reason.why for reason in listed)
    lines += [f"| {why} | {models[why]} |" for why in whys if models[why]]
    return "\n".join(lines)


def unlisted(rows: list[MappingRow], listed: list[MappingReason]) -> Iterator[str]:
    """The kinds of differences that no reason is for, each with how many times it is found."""
    kinds: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        operators = " ".join(row.operators) if len(row.operators) < 4 else row.case
        for line in row.lines if row.verdict in (*DIFFERENT, node_mapping.REFUSED) else ():
            if not node_mapping.reasons_of(row, line, listed):
                kinds[operators, row.verdict, re.sub(NUMBER, "#", line)] += 1
    for (operators, verdict, line), count in sorted(kinds.items()):
        yield f"{operators}: {verdict}: {line} ({count})"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="a file of JSON lines; an existing file is continued")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument(
        "--model", type=Path, action="append", default=[], help="a model instead of the groups"
    )
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--page", type=Path, help="write the table into this page, between its markers")
    parser.add_argument("--details", action="store_true", help="print each difference of each case")
    arguments = parser.parse_args()
    known = {row.case for row in read(arguments.results)}
    for group in [] if arguments.table or arguments.model else arguments.groups:
        run_all((case for case in cases(group) if case.title not in known), arguments.results)
    for path in arguments.model:
        model = onnx.load(path)
        inputs = shipped_models.inputs_of(model, path.stem, {})
        run_all(iter([ProviderCase("models", str(path), model, inputs)]), arguments.results)
    rows, listed = read(arguments.results), node_mapping.reasons()
    text = table(rows, listed)
    if arguments.page:
        write_page(arguments.page, text, "provider_mapping.py")
    print(text)
    if arguments.details:
        for row in rows:
            print(f"{row.case}: {row.verdict}", *row.lines, sep="\n    ")
    else:
        print(*unlisted(rows, listed), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
