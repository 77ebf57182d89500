"""The operators' pages: programs that run and print what they say, in Python and C++; rules and their messages."""

from __future__ import annotations

import importlib
import re
from functools import cache

import numpy as np
import pytest
from documentation import operator_page as pages
from documentation import python_source
from documentation.illustrations import examples_of, written
from documentation.operator_page import output_of, rules_of_operator
from documentation.other_names import versions
from documentation.printed import examples

import directml_py as dml
from directml_py.cpp import desc_source
from directml_py.descs import decode_operator_desc
from directml_py.operators import SCHEMAS

CASES = [pytest.param(name, marks=pytest.mark.operator(name)) for name in SCHEMAS]
PAGE_EXAMPLES = [
    pytest.param(one, id=f"{one.operator}-{one.title}", marks=pytest.mark.operator(one.operator))
    for one in examples()
]
operator_page = cache(pages.operator_page)


def namespace(program):
    """The names of a program after it ran."""
    names = {}
    exec(program, names)
    return names


def test_every_operator_has_an_example():
    without = [name for name in SCHEMAS if not examples_of(name)]
    assert without == [], "tools/documentation/illustrations.toml has no inputs and attributes for them"


def test_no_example_of_ours_is_of_no_operator():
    assert set(written()) <= set(SCHEMAS)


@pytest.mark.parametrize("example", PAGE_EXAMPLES)
def test_a_program_says_what_the_example_says(example, capsys):
    """The desc that the program makes is the example's, and so are the inputs that it passes on."""
    names = namespace(python_source.program(example))
    assert decode_operator_desc(names["desc"]).desc == example.desc
    assert len(names["inputs"]) == len(example.inputs)
    for given, expected in zip(names["inputs"], example.inputs):
        if expected is None:
            assert given is None
        else:
            np.testing.assert_array_equal(np.array(given).astype(expected.dtype), expected)


@pytest.mark.slow
@pytest.mark.parametrize("operator", CASES)
def test_the_page_prints_what_its_programs_print(operator):
    """Each block of Python runs, and the block of text behind it is what it prints."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", operator_page(operator), re.DOTALL)
    programs = [
        (text, blocks[index + 1]) for index, (language, text) in enumerate(blocks) if language == "python"
    ]
    assert len(programs) == len(examples_of(operator))
    for program, (language, printed) in programs:
        assert language == "text"
        assert output_of(program).rstrip() == printed.rstrip()


def test_a_page_shows_values_of_the_example():
    """Of JOIN, whose page prints them."""
    text = operator_page("JOIN")
    assert "[[[[ 1.  2.  3.  7.  8.  9. 10.]\n   [ 4.  5.  6. 11. 12. 13. 14.]]]]" in text
    assert "`DML_FEATURE_LEVEL_4_1` | all tensors | 1 to 8 | FLOAT16 to 64, INT8 to 64, UINT8 to 64" in text
    assert "https://learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_join_operator_desc" in text


@pytest.mark.slow
@pytest.mark.parametrize("operator", CASES)
def test_a_page_has_every_rule_of_its_operator(operator):
    text = operator_page(operator)
    missing = [rule.id for rule in rules_of_operator(operator) if f"{{#{rule.id}}}" not in text]
    assert missing == []


def test_a_broken_rule_is_shown_with_its_message():
    desc = examples_of("JOIN")[0].desc
    assert desc.InputTensors[0].dimension_count == 4
    assert (
        "*Broken:* `Axis is 4; it must be less than InputTensors[0].DimensionCount, which is 4`"
        in operator_page("JOIN")
    )


@pytest.mark.parametrize("base", pages.constants_table())
def test_constants_that_decide_results_are_those_of_the_package(base):
    """Each stands in the page of every version of its operator."""
    for entry in pages.constants_table()[base]:
        module, _, name = entry["where"].rpartition(".")
        assert getattr(importlib.import_module(module), name) == entry["value"]
        for operator in versions(base):
            assert f"- `{entry['value']!r}`: {entry['says']}" in operator_page(operator)


def test_versions_are_linked():
    text = operator_page("MEAN_VARIANCE_NORMALIZATION1")
    assert (
        "[MEAN_VARIANCE_NORMALIZATION](MEAN_VARIANCE_NORMALIZATION.md), "
        "[MEAN_VARIANCE_NORMALIZATION2](MEAN_VARIANCE_NORMALIZATION2.md)" in text
    )


class TestPythonSource:
    def test_what_has_no_literal(self):
        half = np.array([1.0, np.nan, -np.inf], np.float16)
        assert python_source._array(half) == "[1, np.nan, -np.inf]"
        assert (
            python_source._array(np.array([1 << 63, 1], np.uint64))
            == "np.array([9223372036854775808, 1], np.uint64)"
        )

    def test_the_shortest_number(self):
        assert python_source.number(float(np.float32(0.1))) == "0.1"
        assert python_source.number(0.1) == "0.1"
        assert python_source.number(float("inf")) == 'float("inf")'

    def test_zeros_and_nulls_are_left_out(self):
        desc = decode_operator_desc(
            dml.DML_GEMM_OPERATOR_DESC(Alpha=1.5, TransB=dml.DML_MATRIX_TRANSFORM_TRANSPOSE)
        ).desc
        assert python_source.record(desc) == (
            "dml.DML_GEMM_OPERATOR_DESC(\n"
            "    TransA=dml.DML_MATRIX_TRANSFORM_NONE,\n"
            "    TransB=dml.DML_MATRIX_TRANSFORM_TRANSPOSE,\n"
            "    Alpha=1.5,\n"
            ")"
        )


class TestDescSource:
    def test_numbers(self):
        assert [
            desc_source.number(one) for one in (1.0, 0.1, float("-inf"), 3_000_000_000, True, -(2**31))
        ] == [
            "1.0f",
            "0.1f",
            "-INFINITY",
            "3000000000u",
            "TRUE",
            "INT32_MIN",
        ]

    def test_names(self):
        assert desc_source.variable("InputTensors[1]") == "input1"
        assert desc_source.variable("BiasTensor") == "bias"
