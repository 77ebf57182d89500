"""ONNX Runtime's DirectML provider over the emulator: the Windows wheel under Wine, on ONNX's tests and other models.

    python tools/clients/onnxruntime_dml.py results.jsonl
    python tools/clients/onnxruntime_dml.py results.jsonl --table       # the results so far

Needs Wine, MinGW, and the packages onnx and onnxruntime. The wheel, ONNX's test data and packages with models are
fetched with pip into the user's cache; Microsoft's DirectML.dll in the wheel is never unpacked. Many cases run in one
process; a case that ends it loses its own result only, and another process continues. Each case has a line in the file
of results; a case that has one is not run again. The table has the figures by group. What is not right is compared with
``onnxruntime_dml.toml``, which has the reasons; the exit code is 1 if anything else is not right.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clients.dml_provider import (
    contrib_models,
    judging,
    node_models,
    sent_descs,
    shipped_models,
    table,
    variants,
    wine_batches,
)
from clients.dml_provider.judging import Row
from clients.dml_provider.node_models import ProviderCase

# A batch is so many cases, or as many as have models of so many bytes together.
BATCH = 64
BATCH_BYTES = 256 << 20
OTHERS = {contrib_models.GROUP: contrib_models.cases, shipped_models.GROUP: shipped_models.cases}
GROUPS = (*node_models.SETS, *variants.VARIANTS, *OTHERS)


def cases(group: str, rows: dict[str, Row], python: str | None = None) -> Iterator[ProviderCase]:
    """The cases of a group. Those of variants follow from ONNX's cases that are entirely on DirectML, and right.

    ``python`` has PyTorch, for the group of its exports.
    """
    if group == shipped_models.TORCH:
        assert python is not None
        yield from shipped_models.exports(python, wine_batches.work_folder() / "torch")
    elif group in variants.VARIANTS:
        for case in node_models.cases("node"):
            row = rows.get(case.title, {})
            if row.get("verdict") == judging.RIGHT and row.get("where") == judging.DML:
                yield from variants.VARIANTS[group](case)
    else:
        yield from OTHERS[group]() if group in OTHERS else node_models.cases(group)


def read(path: Path) -> dict[str, Row]:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["case"]: row for row in rows}


def batches(cases: Iterable[ProviderCase]) -> Iterator[list[ProviderCase]]:
    batch: list[ProviderCase] = []
    size = 0
    for case in cases:
        batch.append(case)
        size += case.model.ByteSize()
        if len(batch) == BATCH or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def run_group(group: str, path: Path, rows: dict[str, Row], sent: Path | None, python: str | None) -> None:
    left = (case for case in cases(group, rows, python) if case.title not in rows)
    with (
        path.open("a", encoding="utf-8") as file,
        tempfile.TemporaryDirectory(dir=wine_batches.work_folder()) as name,
    ):
        folder, captures = Path(name), Path(name, "captures")
        variables = {"DIRECTML_PY_CAPTURE": str(captures)} if sent else {}
        options = variants.OPTIONS.get(group, ())
        for batch in batches(left):
            for row in judging.judge(batch, folder, variables=variables, options=options):
                rows[row["case"]] = row
                file.write(json.dumps(row) + "\n")
            file.flush()
            if sent:
                sent_descs.write(sent, sent_descs.read(sent).union(sent_descs.collect(captures)))
            print(f"{group}: {sum(title.startswith(group + '/') for title in rows)}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, help="a file of JSON lines; an existing file is continued")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--page", type=Path, help="write the table into this page, between its markers")
    parser.add_argument(
        "--descs", type=Path, metavar="FILE", help="add the operator descs that are sent to FILE (.jsonl.gz)"
    )
    parser.add_argument(
        "--torch",
        metavar="PYTHON",
        help="run exports of PyTorch too, by a Python that has torch and onnxscript",
    )
    arguments = parser.parse_args()
    rows = read(arguments.results)
    groups = [*arguments.groups, *([shipped_models.TORCH] if arguments.torch else [])]
    for group in [] if arguments.table else groups:
        begin = time.monotonic()
        run_group(group, arguments.results, rows, arguments.descs, arguments.torch)
        print(f"{group}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    listed = table.reasons()
    text = table.table(rows, listed)
    print(text)
    if arguments.page:
        table.write_page(arguments.page, text)
    surprises = table.surprises(rows, listed)
    print("".join(f"{line}\n" for line in surprises), end="", file=sys.stderr)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
