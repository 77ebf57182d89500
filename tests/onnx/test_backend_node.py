"""ONNX's own back-end tests: each passes, or fails as the table says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from toolchain import later

pytest.importorskip("onnx", reason="needs the package onnx")

from . import node_cases

pytestmark = pytest.mark.skipif(
    not node_cases.is_for_this_version(), reason=f"the table is for onnx {node_cases.table()['onnx']}"
)


def failure_of(case):
    """What a test says where it fails."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            case(None)
        except Exception as failure:
            return " ".join(f"{failure!r} {failure}".split())
    return None


@pytest.mark.parametrize("are_expanded", [False, *later(True)])
def test_every_case(are_expanded):
    """Nodes, and the functions that some of them stand for. An item for each of two thousand cases would take seconds
    to make, in each worker."""
    listed, wrong = node_cases.listed(), {}
    for name, case in node_cases.cases().items():
        if ("_expanded" in name) is not are_expanded:
            continue
        failure = failure_of(case)
        if name not in listed if failure else name in listed:
            wrong[name] = failure or "passes, which the table does not expect"
        elif failure and listed[name] not in failure:
            wrong[name] = failure
    assert wrong == {}


def test_table_has_no_other_names():
    assert set(node_cases.listed()) <= set(node_cases.cases())


def test_table_has_each_name_once():
    groups = node_cases.table()["group"]
    assert sum(len(group["tests"]) for group in groups) == len(node_cases.listed())
