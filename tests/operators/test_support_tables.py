"""validate accepts exactly the data types and dimension counts of the pages' tables, at every feature level."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.descs import decode_operator_desc

from .helpers import DATA_TYPES, INCREASING, function, tensor

ALL_TYPES = (*DATA_TYPES, "UINT4", "INT4")
LEVELS = [
    *("1_0", "2_0", "2_1", "3_0", "3_1", "4_0", "4_1", "5_0", "5_1"),
    *("5_2", "6_0", "6_1", "6_2", "6_3", "6_4"),
]
F = {"FLOAT32", "FLOAT16"}
I64, I32 = {"INT64", "UINT64"}, {"INT32", "UINT32"}
I16, I8 = {"INT16", "UINT16"}, {"INT8", "UINT8"}
ALL = {"FLOAT64"} | F | I64 | I32 | I16 | I8
FOUR, FOUR_FIVE, ANY = range(4, 5), range(4, 6), range(1, 9)

# Per operator (and group of functions): from which level on, dimension counts, data types of the elements, data
# types of the indices. Typed from the tables of the operators' pages, newest first as there.
ELEMENTS = {
    "JOIN": [
        ("4_1", ANY, ALL),
        ("3_0", FOUR_FIVE, F | I32 | I16 | I8),
        ("2_1", FOUR, F | I32 | I16 | I8),
        ("1_0", FOUR, F | I32 | I16),
    ],
    "SPLIT": [
        ("4_1", ANY, ALL),
        ("3_0", ANY, F | I32 | I16 | I8),
        ("2_1", FOUR, F | I32 | I16 | I8),
        ("1_0", FOUR, F | I32 | I16),
    ],
    "IDENTITY": [
        ("4_1", ANY, ALL),
        ("3_0", ANY, F | I32 | I16 | I8),
        ("2_1", FOUR_FIVE, F | I32 | I16 | I8),
        ("1_0", FOUR_FIVE, F),
    ],
    "AVERAGE L2 LOG_SUM LOG_SUM_EXP": [("3_0", ANY, F), ("1_0", FOUR, F)],
    "L1 SUM_SQUARE": [("5_0", ANY, F | I64 | I32), ("3_0", ANY, F), ("1_0", FOUR, F)],
    "MIN MAX": [
        ("5_0", ANY, F | I64 | I32 | I16 | I8),
        ("3_0", ANY, F | I32 | I16 | I8),
        ("2_1", FOUR, F | I32),
        ("1_0", FOUR, F),
    ],
    "MULTIPLY SUM": [
        ("5_0", ANY, F | I64 | I32),
        ("3_0", ANY, F | I32),
        ("2_1", FOUR, F | I32),
        ("1_0", FOUR, F),
    ],
}
INDEXED = {
    "GATHER": [
        ("4_1", ANY, ALL, I64 | I32),
        ("3_0", ANY, F | I32 | I16 | I8, I64 | I32),
        ("2_1", FOUR, F | I32 | I16 | I8, {"UINT32"}),
        ("1_0", FOUR, F, {"UINT32"}),
    ],
    "REDUCE_ARGMIN REDUCE_ARGMAX": [
        ("4_1", ANY, F | I64 | I32 | I16 | I8, I64 | I32),
        ("3_0", ANY, F | I32 | I16 | I8, I64 | I32),
        ("2_1", FOUR, F | I32 | I16 | I8, {"UINT32"}),
        ("1_0", FOUR, F, {"UINT32"}),
    ],
    "ARGMIN ARGMAX": [
        ("4_1", ANY, F | I64 | I32 | I16 | I8, I64 | I32),
        ("3_0", ANY, F | I32 | I16 | I8, I64 | I32),
    ],
}


def split_names(tables):
    return {name: table for names, table in tables.items() for name in names.split()}


ELEMENTS, INDEXED = split_names(ELEMENTS), split_names(INDEXED)


def build(name, elements, indices):
    """A desc of tensors with one element each; ``indices`` is the tensor of another type, if there is one."""
    if name == "JOIN":
        return dml.DML_JOIN_OPERATOR_DESC(InputTensors=[elements], OutputTensor=elements, Axis=0)
    if name == "SPLIT":
        return dml.DML_SPLIT_OPERATOR_DESC(InputTensor=elements, OutputTensors=[elements], Axis=0)
    if name == "IDENTITY":
        return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(InputTensor=elements, OutputTensor=elements)
    if name == "GATHER":
        return dml.DML_GATHER_OPERATOR_DESC(
            InputTensor=elements, IndicesTensor=indices, OutputTensor=elements, Axis=0, IndexDimensions=1
        )
    if name in ("ARGMIN", "ARGMAX"):
        struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
        return struct(InputTensor=elements, OutputTensor=indices, Axes=[0], AxisDirection=INCREASING)
    return dml.DML_REDUCE_OPERATOR_DESC(
        Function=function(name.removeprefix("REDUCE_")),
        InputTensor=elements,
        OutputTensor=indices or elements,
        Axes=[0],
    )


def row(table, level):
    """The newest row that a level has, or None."""
    return next((found for found in table if found[0] <= level), None)


def accepted(desc, level):
    return not dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL[f"DML_FEATURE_LEVEL_{level}"])


def disagreements(name, table, cases):
    """The (level, rank, types) that validate accepts but the table lacks, or vice versa."""
    found = []
    for rank in range(1, 9):
        for element_type, index_type in cases:
            indices = index_type and tensor(index_type, [1] * rank)
            desc, _ = decode_operator_desc(build(name, tensor(element_type, [1] * rank), indices))
            for level in LEVELS:
                entry = row(table, level)
                expected = entry is not None and rank in entry[1] and element_type in entry[2]
                expected = expected and (index_type is None or index_type in entry[3])
                if accepted(desc, level) != expected:
                    found.append((level, rank, element_type, index_type, f"expected {expected}"))
    return found


def test_levels_are_all():
    assert [f"DML_FEATURE_LEVEL_{level}" for level in LEVELS] == [
        level.name for level in dml.DML_FEATURE_LEVEL
    ]
    assert {kind.name.removeprefix("DML_TENSOR_DATA_TYPE_") for kind in dml.DML_TENSOR_DATA_TYPE} == {
        *ALL_TYPES,
        "UNKNOWN",
    }


@pytest.mark.parametrize("name", ELEMENTS)
def test_tensors_of_one_type(name):
    assert disagreements(name, ELEMENTS[name], [(kind, None) for kind in ALL_TYPES]) == []


@pytest.mark.parametrize("name", INDEXED)
def test_elements_and_indices(name):
    """Each type varies by itself, with the other one supported at every level."""
    cases = [(kind, "UINT32") for kind in ALL_TYPES] + [("FLOAT32", kind) for kind in ALL_TYPES]
    assert disagreements(name, INDEXED[name], cases) == []


@pytest.mark.parametrize("name", ["ARGMIN", "ARGMAX"])
def test_operators_that_came_with_3_0(name):
    desc = build(name, tensor("FLOAT32", [1] * 4), tensor("UINT32", [1] * 4))
    for level in ("1_0", "2_0", "2_1"):
        found = dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL[f"DML_FEATURE_LEVEL_{level}"])
        assert [(one.rule, one.path) for one in found] == [("DML-Operator-feature-level", "Type")]
    assert accepted(desc, "3_0")


def test_evaluate_refuses_like_validate():
    desc = build("ARGMAX", tensor("FLOAT32", [1] * 4), tensor("UINT32", [1] * 4))
    with pytest.raises(dml.DMLError) as caught:
        dml.evaluate(desc, [[[[[0]]]]], feature_level=dml.DML_FEATURE_LEVEL_2_1)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert [found.rule for found in caught.value.diagnostics] == ["DML-Operator-feature-level"]
    assert dml.evaluate(desc, [[[[[0]]]]], feature_level=dml.DML_FEATURE_LEVEL_3_0)[0].tolist() == [[[[0]]]]


# The pages' tables have MAX_UNPOOLING from 3_0 on, and these operators' integers from 3_0 or 5_1 on.
HISTORY = {
    "MAX_UNPOOLING": [("5_0", F | I64 | I32 | I16 | I8), ("2_0", F)],
    "ELEMENT_WISE_IF": [
        ("5_0", ALL),
        ("3_0", F | I32 | I16 | I8),
        ("2_1", {"FLOAT16"} | I32 | I16 | I8),
        ("2_0", {"FLOAT16"}),
    ],
    "ACTIVATION_SHRINK": [("2_1", F | I32 | I16 | I8), ("2_0", F)],
}


def of_history(name, data_type):
    x = tensor(data_type, [1, 1, 1, 4])
    if name == "MAX_UNPOOLING":
        return dml.DML_MAX_UNPOOLING_OPERATOR_DESC(x, tensor("UINT32", [1, 1, 1, 4]), x)
    if name == "ELEMENT_WISE_IF":
        return dml.DML_ELEMENT_WISE_IF_OPERATOR_DESC(tensor("UINT8", [1, 1, 1, 4]), x, x, x)
    return dml.DML_ACTIVATION_SHRINK_OPERATOR_DESC(x, x, 0.5, 1)


@pytest.mark.parametrize("name", HISTORY)
def test_the_feature_level_history(name):
    """Where a page and the history disagree, the history holds (dml-feature-level-history)."""
    for data_type in ALL_TYPES:
        desc = of_history(name, data_type)
        for level in LEVELS:
            types = (row(HISTORY[name], level) or (None, ()))[1]
            assert accepted(desc, level) == (data_type in types), (level, data_type)
