"""The message of every rule, in every case that breaks it: a readable sentence that names its subject."""

from __future__ import annotations

import re
from enum import IntFlag

import pytest

import directml_py as dml
from directml_py.operators import SCHEMAS
from directml_py.validation import RULES

from .derived import DERIVED, invalid_desc_of
from .registry import CASES
from .test_rules import TESTS  # noqa: F401  (loads all cases)

MESSAGES = {}
# What fields and arguments of enumeration types are called, and which types they have.
FIELDS = {
    "DataType": {dml.DML_TENSOR_DATA_TYPE},
    "Type": {dml.DML_OPERATOR_TYPE},
    "feature": {dml.DML_FEATURE},
    "minimumFeatureLevel": {dml.DML_FEATURE_LEVEL},
    "feature_level": {dml.DML_FEATURE_LEVEL},
}
for _schema in SCHEMAS.values():
    for _entry in _schema.struct.fields:
        if _entry.kind == "enum":
            FIELDS.setdefault(_entry.name, set()).add(getattr(dml, _entry.type))


def said(identifier):
    """The diagnostics of all cases of a rule; each case runs once."""
    if identifier not in MESSAGES:
        MESSAGES[identifier] = [
            item for case in CASES.get(identifier, ()) for item in case.run(True).diagnostics
        ]
    return MESSAGES[identifier]


def derived(operator):
    """The diagnostics of descs that break the derived rules of an operator."""
    if operator not in MESSAGES:
        MESSAGES[operator] = [
            item
            for rule, owner in DERIVED.items()
            if owner == operator
            for item in invalid_desc_of(rule).diagnostics
        ]
    return MESSAGES[operator]


@pytest.fixture(params=[*sorted(CASES), *sorted(SCHEMAS)])
def found(request):
    return (said if request.param in CASES else derived)(request.param)


def test_it_says_where(found):
    for item in found:
        # What comes up while commands execute is about them, and names them in the message itself.
        assert item.path or RULES[item.rule].debug
        assert item.message.startswith(f"{item.path} " if item.path else ""), item.message
        assert item.message != f"{item.path} "


def test_it_is_one_sentence(found):
    for item in found:
        assert "\n" not in item.message
        assert "  " not in item.message
        assert item.message == item.message.strip()
        assert item.message[-1] not in ".;:,!", item.message
        assert not re.search(r"[a-z)]\. [A-Z]", item.message), item.message
        assert len(item.message) < 400, item.message


def test_it_names_what_it_is_about(found):
    """Messages contain neither Python representations nor numbers that have names."""
    for item in found:
        assert not re.search(r"<[\w.]+|\bNone\b|\bTrue\b|\bFalse\b|object at", item.message), item.message
        hexadecimal = {int(digits, 16) for digits in re.findall(r"\b0x([0-9A-F]+)\b", item.message)}
        assert not hexadecimal & set(map(int, dml.DML_FEATURE_LEVEL)), "feature levels have names"
        field = re.search(r"(\w+)$", item.path)
        kinds = FIELDS.get(field[1], ()) if field else ()
        number = re.match(r"\S+ (?:is|must be a [A-Z_]+, not) (-?\d+)\b", item.message)
        if kinds and number:
            assert all(int(number[1]) not in set(map(int, kind)) for kind in kinds), item.message
            assert any(kind.__name__ in item.message for kind in kinds) or "data type" in item.message


def test_it_says_more_than_the_rule(found):
    """The message has the actual value, not only the rule's text."""
    for item in found:
        assert RULES[item.rule].text.lower() not in item.message.lower()
        assert len(item.message.removeprefix(item.path).split()) >= 2, item.message


def test_enumerators_of_one_value_are_named():
    """Members whose numbers are small could be mistaken for counts: the names are there."""
    for identifier, name in {
        "DML-Binding-type": "DML_BINDING_TYPE_BUFFER",
        "DML-BufferBinding-heap-type": "D3D12_HEAP_TYPE_",
        "DML-BindingTable-heap-type": "D3D12_DESCRIPTOR_HEAP_TYPE_",
        "DML-Operator-feature-level": "DML_FEATURE_LEVEL_",
        "DML-CreateDevice-minimum-feature-level": "DML_FEATURE_LEVEL_",
        "DML-JOIN-data-type": "DML_OPERATOR_JOIN supports",
        "DML-RecordDispatch-list-type": "D3D12_COMMAND_LIST_TYPE_",
    }.items():
        assert said(identifier)
        assert all(name in item.message for item in said(identifier)), said(identifier)


@pytest.mark.parametrize(
    ("identifier", "fix"),
    [
        ("DML-BufferTensor-total-size", r"DMLCalcBufferTensorSize gives \d+"),
        ("DML-BufferTensor-total-size-multiple", r"the next is \d+"),
        ("DML-BufferTensor-data-type", "needs DML_FEATURE_LEVEL_"),
        ("DML-BufferBinding-alignment", r"must be a multiple of \d+"),
        ("DML-BufferBinding-size", r"at least \d+ bytes"),
        ("DML-BindInputs-count", r"must be \d+|has \d+"),
        ("DML-JOIN-same-data-type", "must be the same as"),
        ("DML-REDUCE-sizes", "it must be {"),
        ("DML-GATHER-sizes", "it must be {"),
        ("DML-BindPersistentResource-initializer", "use BindOutputs"),
        ("DML-RecordDispatch-list-open", "reset it"),
    ],
)
def test_an_evident_fix_is_said(identifier, fix):
    assert any(re.search(fix, item.message) for item in said(identifier))


def test_sizes_follow_from_inputs_and_whole_numbers():
    """Not from the counts of arrays, nor from other kinds of attributes."""

    def tensor(*sizes):
        return dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, sizes)

    desc = dml.DML_MAX_POOLING_OPERATOR_DESC(
        tensor(1, 1, 8, 8), tensor(1, 1, 5, 5), 2, [2, 2], [2, 2], [0, 0], [0, 0]
    )
    (item,) = dml.validate(desc, strict=True)
    assert item.message == (
        "OutputTensor.Sizes is {1,1,5,5}; for InputTensor {1,1,8,8}, Strides {2,2}, WindowSize {2,2}, "
        "StartPadding {0,0}, EndPadding {0,0} it must be {1,1,4,4}"
    )


def test_flags_are_no_plain_numbers():
    """Bits that no enumeration defines are written as bits."""
    public = (getattr(dml, name) for name in dir(dml))
    kinds = {kind.__name__ for kind in public if isinstance(kind, type) and issubclass(kind, IntFlag)}
    for identifier in ("DML-Desc-flags", "DML-CompileOperator-flags", "DML-CreateDevice-flags"):
        for item in said(identifier):
            assert re.search(r"0x[0-9A-F]+", item.message)
            assert any(kind in item.message for kind in kinds), item.message
