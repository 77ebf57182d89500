"""The output of ``show`` for a rule: the rationale, an example that breaks it, the message, the fix."""

from __future__ import annotations

import pytest

from directml_py.cli import main
from directml_py.cli.rule_reasons import OTHERWISE, REASONS, reason_of
from directml_py.cli.show_command import examples, explanation
from directml_py.operators import check, every_rule
from directml_py.testing.invalid_desc_search import shortest_invalid_desc_of
from directml_py.validation import RULES

from .derived import DERIVED

IDENTIFIERS = [rule.id for rule in every_rule()]


def test_every_rule_has_an_example():
    assert set(examples()) == set(IDENTIFIERS) - set(DERIVED)


def test_examples_and_fixes_differ():
    assert [rule for rule, example in examples().items() if example["wrong"] == example["right"]] == []


def test_rules_of_no_catalog_have_reasons_of_their_own():
    assert [rule for rule in examples() if reason_of(rule) == OTHERWISE] == []


def test_every_reason_is_that_of_a_rule():
    assert set(REASONS.values()) <= {reason_of(rule) for rule in IDENTIFIERS}


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("DML-JOIN-axis", "An axis"),
        ("DML-GEMM-same-data-type", "one kind of arithmetic"),
        ("DML-CONVOLUTION-group-count", "among the groups"),
        ("DML-GATHER_ND-input-dimension-count", "It counts dimensions"),
        ("DML-CompileOperator-data-type", "optional"),
    ],
)
def test_reasons_speak_of_their_rule(rule, reason):
    assert rule in RULES
    assert reason in reason_of(rule)


def test_a_derived_rule(capsys):
    assert main(["show", "DML-JOIN-axis"]) == 0
    text = capsys.readouterr().out
    assert "  Axis is less than InputTensors[0].DimensionCount\n" in text
    assert "learn.microsoft.com/windows/win32/api/directml/ns-directml-dml_join_operator_desc\n" in text
    example, fix = text.split("Example that breaks it")[1].split("Fix, after which no rule is broken\n")
    # What is not about the axis is not shown.
    assert "strides" not in example
    wrong = example.split("Message\n  Axis is ")[1].split(";")[0]
    assert f"Axis={wrong})" in example
    assert fix.startswith(f"  Axis: {wrong} -> ")


def test_an_example_is_the_test_with_its_argument_known():
    text = explanation(RULES["DML-RecordDispatch-list-type"])
    example, fix = text.split("Fix\n")
    assert "D3D12_COMMAND_LIST_TYPE_COPY\n" in example
    assert "D3D12_COMMAND_LIST_TYPE_COPY" not in fix
    assert "    commands.SetDescriptorHeaps([bench.heap])\n" in fix
    assert "wrong" not in fix
    assert "commandList is of type D3D12_COMMAND_LIST_TYPE_COPY;" in example


def test_several_rules(capsys):
    names = ["DML-Graph-cycle", "DML-Graph-nodes"]
    assert main(["show", *names]) == 0
    expected = "\n\n".join(explanation(RULES[name]) for name in names)
    assert capsys.readouterr().out.rstrip("\n") == expected


def test_close_names_are_offered(capsys):
    assert main(["show", "DML-JOIN-axs"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "there is no rule DML-JOIN-axs; there is DML-JOIN-axis" in output.err


def test_nothing_is_explained_beside_an_unknown_rule(capsys):
    assert main(["show", "DML-JOIN-axis", "nonsense"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "rule", ["DML-JOIN-axis", "DML-CONVOLUTION-sizes", "DML-GEMM-data-type", "DML-GRU-input-tensor-owned"]
)
def test_the_fix_of_a_derived_rule_is_right(rule):
    """The example breaks only this rule; the valid desc breaks none."""
    violation = shortest_invalid_desc_of(rule)
    assert {one.rule for one in check(violation.desc, violation.level)[1].diagnostics} == {rule}
    assert check(violation.valid_desc, violation.level)[1].diagnostics == []
