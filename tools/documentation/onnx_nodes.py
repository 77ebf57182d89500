"""Which DirectML operators the nodes of ONNX's own tests become, and how many of those tests each operator runs in.

    python tools/documentation/onnx_nodes.py          # writes onnx_nodes.json, after a new release of ONNX

Making ONNX's tests takes longer than building all pages, so that the table is kept.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("onnx_nodes.json")
# What comes before or after the operator that computes a node.
AROUND = frozenset({"CAST", "ELEMENT_WISE_IDENTITY"})
# An operator of ONNX, and the number of tests of its nodes that run in one of DirectML's: alone, and in all.
Uses = dict[str, tuple[int, int]]


def written() -> dict[str, Uses]:
    """The kept table, by DirectML operator."""
    return {
        name: {node: (alone, total) for node, (alone, total) in uses.items()}
        for name, uses in _table()["operators"].items()
    }


def release() -> str:
    """The release of ONNX that the table is of."""
    return str(_table()["onnx"])


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


def derived() -> dict[str, Any]:
    """The table of the installed release of ONNX."""
    import onnx
    from onnx.backend.test.loader import load_model_tests

    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in load_model_tests(kind="node"):
            for node, operators in _translated(case):
                for name in operators:
                    found[name][node][0] += operators - AROUND <= {name} - AROUND
                    found[name][node][1] += 1
    return {
        "onnx": ".".join(onnx.__version__.split(".")[:2]),
        "operators": {name: dict(sorted(uses.items())) for name, uses in sorted(found.items())},
    }


def _bound(value: Any) -> Any:
    """An input as ``load`` takes it: a sequence is a list, and an optional value that is absent is None."""
    import numpy as np

    if value is None:
        return None
    return [np.asarray(one) for one in value] if isinstance(value, list) else np.asarray(value)


def _translated(case: Any) -> Iterator[tuple[str, set[str]]]:
    """The nodes of a test, each with the operators that it became; none of a model that is refused."""
    from directml_py.onnx import OnnxError
    from directml_py.onnx.model_file import ModelFile
    from directml_py.onnx.onnx_model import built_for, device_of

    if case.model is None or not case.data_sets:
        return
    try:
        file = ModelFile(case.model)
        bound_inputs = {item.name: _bound(value) for item, value in zip(file.inputs(), case.data_sets[0][0])}
        model, _ = built_for(file, device_of(None), bound_inputs)
    except OnnxError:
        return
    for step in model.steps:
        if step.nodes:
            yield step.kind, {model.graph.nodes[index].kind for index in step.nodes}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    table = derived()
    rows = (f"{json.dumps(name)}: {json.dumps(uses)}" for name, uses in table.pop("operators").items())
    text = json.dumps(table)[:-1] + ', "operators": {\n' + ",\n".join(rows) + "\n}}\n"
    TABLE.write_text(text, encoding="utf-8")
