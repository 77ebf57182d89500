"""The comparison of the DirectML operators of ONNX Runtime's provider with those of ``directml_py.onnx``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
pytest.importorskip("onnxruntime", reason="needs the package onnxruntime")

ROOT = Path(__file__).parents[2]
from clients.dml_provider import node_mapping  # noqa: E402 - after onnx
from clients.dml_provider.node_mapping import CreatedOperator, MappingReason  # noqa: E402


def tensor(*sizes, strides=None, kind="FLOAT32"):
    return {"DataType": kind, "Sizes": list(sizes)} | ({"Strides": strides} if strides else {})


def join(axis, *sizes, **more):
    return CreatedOperator("JOIN", {"InputTensors": [tensor(*sizes, **more)], "Axis": axis})


@pytest.mark.parametrize(
    ("theirs", "ours", "lines"),
    [
        ([join(3, 1, 1, 2, 3)], [join(1, 2, 3)], []),
        ([join(3, 1, 1, 2, 3)], [join(0, 2, 3)], ["JOIN.Axis: the provider has 1, this package 0"]),
        ([join(1, 2, 3, strides=[3, 1])], [join(1, 2, 3)], []),
        (
            [join(1, 2, 3, strides=[0, 1])],
            [join(1, 2, 3)],
            ["JOIN.InputTensors[0].Strides: the provider has [0,1], this package none"],
        ),
        (
            [join(0, 2, kind="INT64")],
            [join(0, 2)],
            ['JOIN.InputTensors[0].DataType: the provider has "INT64", this package "FLOAT32"'],
        ),
        ([join(0, 2)] * 2, [join(0, 2)], ["operators: the provider has JOIN, this package none"]),
    ],
)
def test_what_differs(theirs, ours, lines):
    """Dimensions of size 1 before all others say nothing, nor do strides of packed tensors."""
    stripped = (map(node_mapping.stripped, side) for side in (theirs, ours))
    assert list(node_mapping.differences(*stripped)) == lines


def test_the_page_prints_reasons_of_the_list():
    page = (ROOT / "docs" / "onnx.md").read_text(encoding="utf-8")
    part = re.search(r"<!-- provider_mapping.py: begin -->(.*)<!-- provider_mapping.py: end -->", page, re.S)
    assert part is not None
    _, _, table = part[1].partition("| Why operators differ | Models |\n| --- | --- |\n")
    printed = [line.split(" | ")[0].removeprefix("| ") for line in table.strip().splitlines()]
    assert printed
    assert set(printed) <= {reason.why for reason in node_mapping.reasons()}


REASONS = [
    MappingReason("slices", nodes=frozenset(["Split"]), theirs="SPLIT", ours="2 SLICE"),
    MappingReason("copies", theirs="COPY"),
    MappingReason("sizes", re.compile("Sizes:")),
]


@pytest.mark.parametrize(
    ("line", "whys"),
    [
        ("JOIN.InputTensors[0].Sizes: the provider has [1], this package [2]", ["sizes"]),
        ("JOIN.Axis: the provider has 1, this package 2", []),
        ("operators: the provider has 2 COPY, this package none", ["copies", "copies"]),
        ("operators: the provider has COPY + SPLIT, this package 2 SLICE", ["slices", "copies"]),
        # One of three slices is no split's.
        ("operators: the provider has COPY + SPLIT, this package 3 SLICE", []),
        ("operators: the provider has JOIN + SPLIT, this package 2 SLICE", []),
    ],
)
def test_each_operator_of_a_line_has_a_reason(line, whys):
    row = node_mapping.MappingRow("node/one", ("Split",), node_mapping.OPERATORS, (line,))
    assert [reason.why for reason in node_mapping.reasons_of(row, line, REASONS)] == whys
    other = row._replace(operators=("Concat",))
    assert "slices" not in [reason.why for reason in node_mapping.reasons_of(other, line, REASONS)]
