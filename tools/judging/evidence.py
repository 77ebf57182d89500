"""What each operator's results are held against besides the recorded ones, from the data of the tests."""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from documentation import onnx_nodes
from documentation.printed import examples

from directml_py.operators import SCHEMAS

ROOT = Path(__file__).resolve().parents[2]
WEBNN = ROOT / "tools" / "judging" / "webnn" / "last_run.json"
# A result of fewer different values says little of what computed it.
FEW_VALUES = 2
# Descs of an operator whose reference is asked for which nodes it runs.
TRIED = 6


def _find_tests() -> None:
    """Let ``tests`` be imported, as pytest does."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def informative() -> Counter[str]:
    """The recorded cases of each operator that have a result of more than two different values."""
    _find_tests()
    from tests.fidelity.recorded import cases

    return Counter(
        case.desc.name
        for case in cases()
        if any(one is not None and np.unique(one).size > FEW_VALUES for one in case.outputs or ())
    )


def webnn_figures() -> dict[str, dict[str, int]]:
    """Of the run that judge_webnn.py saved last: counts of ``verdicts``, and of cases that ``agree`` by operator."""
    figures: dict[str, dict[str, int]] = json.loads(WEBNN.read_text(encoding="utf-8"))
    return figures


def evidence() -> dict[str, str]:
    """What holds each operator, in words: the kind of its independent reference, and counts of printed examples, of
    ONNX's node tests and of WebNN's cases."""
    printed = Counter(one.operator for one in examples())
    nodes = {name: sum(total for _, total in uses.values()) for name, uses in onnx_nodes.written().items()}
    webnn = webnn_figures()["agree"]
    references = _references()
    found = {}
    for name in SCHEMAS:
        counts = {"page": printed[name], "ONNX": nodes.get(name, 0), "WebNN": webnn.get(name, 0)}
        found[name] = ", ".join([references[name], *(f"{kind} {n}" for kind, n in counts.items() if n)])
    return found


def _references() -> dict[str, str]:
    """``ONNX Runtime`` for operators whose reference runs it for one of a few descs, ``formula`` for the others."""
    _find_tests()
    # Not by import statements: these modules have no annotations to check.
    test: Any = import_module("tests.operators.test_references")
    onnx_node: Any = import_module("tests.operators.records.onnx_node")
    session = onnx_node.session
    asked: set[str] = set()

    def watched(node: str, *arguments: Any) -> Any:
        asked.add(node)
        return session(node, *arguments)

    found = {}
    onnx_node.session = watched
    try:
        for name, record in test.RECORDS.items():
            asked.clear()
            for seed in range(TRIED):
                desc, _ = test.sample(name, seed)
                inputs = record.draw(test.generator(name, seed), desc)
                with np.errstate(all="ignore"):
                    record.reference(desc, *map(test.exactly, inputs))
            found[name] = "ONNX Runtime" if asked else "formula"
    finally:
        onnx_node.session = session
    return found
