"""What an operator's page says beside DirectML's own facts: other names, and how it is checked."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from documentation import onnx_nodes, other_names, verification
from documentation.operator_page import operator_page

from directml_py.operators import SCHEMAS

from ..fidelity.recorded import cases


def test_names_of_operators_that_everybody_knows() -> None:
    """By the definitions of ONNX and PyTorch."""
    # AffineGrid is a product of its constant grid and theta.
    assert other_names.onnx_names("GEMM") == ["AffineGrid", "DFT", "Gemm", "MatMul", "STFT"]
    assert other_names.onnx_names("JOIN") == ["Concat"]
    assert {"Conv", "ConvTranspose"} <= set(other_names.onnx_names("CONVOLUTION"))
    assert other_names.torch_names("ELEMENT_WISE_ADD1") == ["torch.add"]
    # An older version is found by the names of the newest.
    assert other_names.onnx_names("ACTIVATION_SOFTMAX") == ["Softmax"]
    # What other operators use it for is not one of its names.
    assert other_names.onnx_names("CAST") == ["Cast", "CastLike"]


def test_the_names_are_of_operators_that_exist() -> None:
    onnx = pytest.importorskip("onnx")
    nodes = {schema.name for schema in onnx.defs.get_all_schemas_with_history()}
    assert {name for uses in onnx_nodes.written().values() for name in uses} <= nodes
    assert set(onnx_nodes.written()) <= set(SCHEMAS)
    assert set(other_names.torch_table()) <= {other_names.base_name(name) for name in SCHEMAS}


def test_the_names_are_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    for names in other_names.torch_table().values():
        for name in names:
            first, *rest = name.split(".")
            value = torch if first == "torch" else pytest.importorskip(first)
            for part in rest:
                value = getattr(value, part)


@pytest.mark.slow
def test_the_table_is_that_of_the_installed_release() -> None:
    onnx = pytest.importorskip("onnx")
    if ".".join(onnx.__version__.split(".")[:2]) != onnx_nodes.release():
        pytest.skip(f"the table is for onnx {onnx_nodes.release()}")
    derived = onnx_nodes.derived()["operators"]
    assert {
        name: {node: tuple(counts) for node, counts in uses.items()} for name, uses in derived.items()
    } == (onnx_nodes.written())


def test_the_counts_are_those_of_the_recorded_cases() -> None:
    """As returned by the reader that the tests of fidelity use."""
    results = Counter(case.desc.name for case in cases() if not case.refused)
    refusals = Counter(case.desc.name for case in cases() if case.refused)
    assert results["JOIN"] > 0
    assert refusals["JOIN"] > 0
    for operator in SCHEMAS:
        text = verification.recorded(operator)
        counts = [re.search(words, text) for words in (r"(\d+) recorded result", r"(\d+) refused desc")]
        found = [int(count[1]) if count else 0 for count in counts]
        assert found == [results[operator], refusals[operator]], operator


def test_what_a_page_says_of_join() -> None:
    """The page prints four examples; Concat is an operator of ONNX; c_operators.c makes one."""
    text = operator_page("JOIN")
    assert "- Microsoft's page: 4 examples from it, each a test\n" in text
    assert re.search(r"- ONNX [\d.]+: used in \d+ node tests \(Concat,", text)
    assert "`c_operators.c`" in text
    assert "- PyTorch: `torch.cat`, `torch.concat`\n" in text


def test_searches_find_the_names_in_the_index() -> None:
    """With and without their module; what is not a name has no entry."""
    assert "```{index-names} JOIN\nConcat\ntorch.cat\ntorch.concat\ncat\nconcat\n```" in operator_page("JOIN")
    assert "{index-names}" not in operator_page("VALUE_SCALE_2D")
