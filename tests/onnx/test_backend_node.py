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


FIRST = "the first of each operator"


def chosen(part):
    """The first cases of each operator, the other ones, or the functions that some of them stand for."""
    first = node_cases.first_cases()
    if part == FIRST:
        return first
    is_of_part = {"the rest": False, "expanded": True}[part]
    return {
        name: case
        for name, case in node_cases.cases().items()
        if name not in first and node_cases.is_expanded(name) is is_of_part
    }


@pytest.mark.parametrize("part", [FIRST, *later("the rest", "expanded")])
def test_every_case(part):
    """An item for each of two thousand cases would take seconds to make, in each worker."""
    listed, wrong = node_cases.listed(), {}
    for name, case in sorted(chosen(part).items()):
        failure = failure_of(case)
        if name not in listed if failure else name in listed:
            wrong[name] = failure or "passes, which the table does not expect"
        elif failure and listed[name] not in failure:
            wrong[name] = failure
    assert wrong == {}


@pytest.mark.slow
def test_table_has_no_other_names():
    assert set(node_cases.listed()) <= set(node_cases.cases())


def test_table_has_each_name_once():
    groups = node_cases.table()["group"]
    assert sum(len(group["tests"]) for group in groups) == len(node_cases.listed())
