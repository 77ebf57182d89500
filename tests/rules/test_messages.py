"""What single messages say; ``message_check`` holds what is true of all."""

from __future__ import annotations

import re
from enum import IntFlag
from functools import cache

import pytest

import directml_py as dml

from .registry import CASES
from .test_rules import TESTS  # noqa: F401  (loads all cases)


@cache
def said(identifier):
    """The diagnostics of all cases of a rule."""
    return [item for case in CASES[identifier] for item in case.run(True).diagnostics]


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
