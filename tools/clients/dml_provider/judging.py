"""What becomes of a case: the rows of the results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import onnxruntime
from onnx import ModelProto, TensorProto, numpy_helper

from . import wine_batches
from .node_models import ProviderCase
from .tensors import difference, error, named, read, write

Row: TypeAlias = dict[str, Any]

RIGHT, DIFFERS, FAILED, ENDED = "right", "differs", "failed", "ended"
# Which provider ran the nodes.
DML, BOTH, CPU = "dml", "both", "cpu"
RULE = re.compile(r"\[((?:DML|D3D12|DXGI)-[\w-]+)\]")
MESSAGE = 600


def judge(cases: Sequence[ProviderCase], folder: Path, **options: Any) -> list[Row]:
    """Run cases with the DirectML provider; those that are not right, also with the CPU provider of the same DLL."""
    for number, case in enumerate(cases):
        (folder / f"{number}.onnx").write_bytes(case.model.SerializeToString())
        write(folder / f"{number}.in", case.inputs)
    rows = []
    wrong = []
    for number, outcome in sorted(wine_batches.run(folder, range(len(cases)), "dml", **options).items()):
        rows.append(_row(cases[number], outcome, folder / f"{number}.out"))
        if rows[-1]["verdict"] != RIGHT:
            wrong.append(number)
    if wrong:
        for number in wrong:
            (folder / f"{number}.out").unlink(missing_ok=True)
        for number, outcome in wine_batches.run(
            folder, wrong, "cpu", seconds=options.get("seconds", wine_batches.SECONDS)
        ).items():
            rows[number]["cpu"] = _row(cases[number], outcome, folder / f"{number}.out")["verdict"]
    for number in range(len(cases)):
        for suffix in (".onnx", ".in", ".out"):
            (folder / f"{number}{suffix}").unlink(missing_ok=True)
    return rows


def _row(case: ProviderCase, outcome: wine_batches.CaseOutcome, path: Path) -> Row:
    row: Row = {"case": case.title, "where": where(outcome.placed)}
    if outcome.status != wine_batches.DONE:
        row |= {
            "verdict": ENDED if outcome.status == wine_batches.ENDED else FAILED,
            "why": outcome.why[:MESSAGE],
        }
    else:
        row |= _compared(case, read(path))
    rules = sorted(set(RULE.findall(outcome.said)))
    if row["verdict"] != RIGHT:
        row["said"] = outcome.said[-MESSAGE:]
    return row | ({"rules": rules} if rules else {})


def where(placed: dict[str, int]) -> str:
    if not placed.get("Dml"):
        return CPU
    return BOTH if set(placed) - {"Dml"} else DML


def _compared(case: ProviderCase, found: list[TensorProto]) -> Row:
    """The outputs against ONNX's, or else the Linux wheel's CPU provider."""
    why = ""
    if case.expected is not None:
        why = difference(found, case.expected)
        if not why:
            return {"verdict": RIGHT, "error": error(found, case.expected)}
    reference = cpu_outputs(case.model, case.inputs)
    if isinstance(reference, str):
        return {
            "verdict": DIFFERS,
            "why": (why or f"there is nothing to compare with: {reference}")[:MESSAGE],
        }
    told = difference(found, reference)
    if not told:
        return {"verdict": RIGHT, "error": error(found, reference), "as": CPU}
    return {"verdict": DIFFERS, "why": (why or told)[:MESSAGE]}


def cpu_outputs(model: ModelProto, inputs: Sequence[TensorProto]) -> list[TensorProto] | str:
    """What the CPU provider of the installed onnxruntime gives; its message if it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        names = [output.name for output in session.get_outputs()]
        values = session.run(names, {tensor.name: numpy_helper.to_array(tensor) for tensor in inputs})
    except Exception as refusal:
        return str(refusal)
    return [named(name, value) for name, value in zip(names, values)]
