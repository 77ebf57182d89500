"""An unknown enumerator is reported once: facts, tables and sizes that depend on it are not checked."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.operators import SCHEMAS, check
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.desc_changes import change
from directml_py.testing.valid_descs import valid_desc

from .helpers import LATEST, join, tensor

ENUMS = [
    pytest.param(name, entry.name, id=f"{name}-{entry.name}", marks=pytest.mark.operator(name))
    for name in sorted(SCHEMAS)
    for entry in SCHEMAS[name].struct.fields
    if entry.kind == "enum"
]


@pytest.mark.parametrize(("name", "field"), ENUMS)
def test_an_enumerator(name, field):
    for seed in range(4):
        desc = valid_desc(RandomSource(seed), name)
        values = [99, -1]
        # CLIP1's type is not read.
        if isinstance(getattr(desc, field), dml.DML_TENSOR_DATA_TYPE) and name != "ELEMENT_WISE_CLIP1":
            values.append(dml.DML_TENSOR_DATA_TYPE_UNKNOWN)
        for value in values:
            diagnostics = check(change(desc, **{field: value}), LATEST)[1].diagnostics
            assert [(found.rule, found.path) for found in diagnostics] == [("DML-Desc-enum", field)]


@pytest.mark.parametrize("kind", [0, 14, 77])
def test_a_data_type(kind):
    desc = join([tensor((1, 3)), tensor((1, 3), kind)], tensor((2, 3)))
    assert [(found.rule, found.path) for found in dml.validate(desc)] == [
        ("DML-BufferTensor-data-type", "InputTensors[1].DataType")
    ]


def test_the_rest_is_judged():
    desc = dml.DML_REDUCE_OPERATOR_DESC(99, tensor((2, 3)), tensor((2, 1)), Axes=[2])
    assert [(found.rule, found.path) for found in dml.validate(desc)] == [
        ("DML-Desc-enum", "Function"),
        ("DML-REDUCE-axes", "Axes[0]"),
    ]


def test_a_tensor_of_no_type_still_has_sizes():
    """Its other violations are reported; checks that need its type are skipped."""
    float32, uint32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_UINT32
    unknown = dml.DML_BUFFER_TENSOR_DESC(dml.DML_TENSOR_DATA_TYPE_UNKNOWN, 0, 4, [1, 1, 2, 2], None, 16, 0)
    desc = dml.DML_GATHER_OPERATOR_DESC(
        dml.DML_TENSOR_DESC(dml.DML_TENSOR_TYPE_BUFFER, unknown),
        dml.tensor_desc(uint32, [1, 1, 1, 2]),
        dml.tensor_desc(float32, [1, 1, 2, 2]),
        7,
        1,
    )
    assert [found.message for found in dml.validate(desc)] == [
        "InputTensor.DataType is DML_TENSOR_DATA_TYPE_UNKNOWN, which is not a data type of an element",
        "Axis is 7; it must be less than InputTensor.DimensionCount, which is 4",
    ]
