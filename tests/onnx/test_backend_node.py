"""ONNX's own back-end tests: each passes, or fails as the table says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("onnx", reason="needs the package onnx")

from . import node_cases

pytestmark = pytest.mark.skipif(
    not node_cases.is_for_this_version(), reason=f"the table is for onnx {node_cases.table()['onnx']}"
)


@pytest.mark.parametrize("name", node_cases.cases() if node_cases.is_for_this_version() else [])
def test_case(name):
    says = node_cases.listed().get(name)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if says is None:
            node_cases.cases()[name](None)
            return
        with pytest.raises(Exception) as failure:  # noqa: PT011 - the table says which
            node_cases.cases()[name](None)
    assert says in " ".join(str(failure.value).split())


def test_table_has_no_other_names():
    assert set(node_cases.listed()) <= set(node_cases.cases())


def test_table_has_each_name_once():
    groups = node_cases.table()["group"]
    assert sum(len(group["tests"]) for group in groups) == len(node_cases.listed())
