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

from clients.dml_provider import contrib_models, mapping, node_models, shipped_models, wine_batches
from clients.dml_provider.mapping import MappingRow
from clients.dml_provider.node_models import ProviderCase

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
        yield from (case for case in shipped_models.cases() if case.model.ByteSize() <= LARGEST)
    else:
        # What ONNX expands into functions has the operators of other cases.
        yield from (case for case in node_models.cases(group) if "_expanded" not in case.name)


def run(batch: list[ProviderCase], folder: Path) -> list[MappingRow]:
    """The rows of a batch; of a batch that cannot be told apart, those of its cases one by one."""
    try:
        return list(mapping.compare(batch, folder))
    except RuntimeError:
        for path in (folder / "captures").glob("*"):
            path.unlink()
        if len(batch) == 1:
            return [MappingRow(batch[0].title, (), mapping.FAILED)]
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


def show(rows: list[MappingRow], details: bool) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counts[row.case.partition("/")[0]][row.verdict] += 1
    print("| | Cases |" + "".join(f" {verdict.capitalize()} |" for verdict in mapping.VERDICTS))
    print("| --- " * (2 + len(mapping.VERDICTS)) + "|")
    for group, verdicts in counts.items():
        cells = [verdicts.total(), *(verdicts[verdict] or "" for verdict in mapping.VERDICTS)]
        print(f"| {group} | {' | '.join(map(str, cells))} |")
    if details:
        for one in rows:
            if one.lines:
                print(f"{one.case}: {one.verdict}", *one.lines, sep="\n    ")
        return
    kinds: Counter[tuple[str, str, str]] = Counter()
    for one in rows:
        if one.verdict in (mapping.DESCS, mapping.OPERATORS, mapping.HOST, mapping.REFUSED):
            own = " ".join(one.operators) if len(one.operators) < 4 else one.case
            kinds.update((own, one.verdict, re.sub(NUMBER, "#", line)) for line in one.lines)
    for (own, verdict, line), count in sorted(kinds.items()):
        print(f"{own}: {verdict}: {line} ({count})")


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
    parser.add_argument("--details", action="store_true", help="print each difference of each case")
    arguments = parser.parse_args()
    known = {row.case for row in read(arguments.results)}
    for group in [] if arguments.table or arguments.model else arguments.groups:
        run_all((case for case in cases(group) if case.title not in known), arguments.results)
    for path in arguments.model:
        model = onnx.load(path)
        inputs = shipped_models.inputs_of(model, path.stem, {})
        run_all(iter([ProviderCase("models", str(path), model, inputs)]), arguments.results)
    show(read(arguments.results), arguments.details)
    return 0


if __name__ == "__main__":
    sys.exit(main())
