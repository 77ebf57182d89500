"""Operator rules beyond single violations: at every rank, and several violations at once."""

from __future__ import annotations

import pytest
from sweeps import swept

import directml_py as dml

from ..rules.operator_descs import gather, join, split
from .helpers import function, tensor


def found(desc):
    return [(one.rule, one.path) for one in dml.validate(desc)]


@pytest.mark.parametrize("operator", ["JOIN", "SPLIT", "REDUCE", "ARGMIN", "ARGMAX", "GATHER"])
@swept("rank", range(1, 9))
def test_axis_is_less_than_the_rank(operator, rank):
    """``rank - 1`` is the last axis, ``rank`` is invalid."""
    sizes = [1] * rank
    plain, indices = tensor("FLOAT32", sizes), tensor("UINT32", sizes)
    rest = {
        "JOIN": {"InputTensors": [plain], "OutputTensor": plain},
        "SPLIT": {"InputTensor": plain, "OutputTensors": [plain]},
        "REDUCE": {"InputTensor": plain, "OutputTensor": plain, "Function": function("SUM")},
        "ARGMIN": {"InputTensor": plain, "OutputTensor": indices},
        "ARGMAX": {"InputTensor": plain, "OutputTensor": indices},
        "GATHER": {
            "InputTensor": plain,
            "IndicesTensor": indices,
            "OutputTensor": plain,
            "IndexDimensions": 1,
        },
    }[operator]
    struct = getattr(dml, f"DML_{operator}_OPERATOR_DESC")
    several = operator in ("REDUCE", "ARGMIN", "ARGMAX")

    def with_axis(axis):
        return struct(**rest, **({"Axes": [axis]} if several else {"Axis": axis}))

    assert found(with_axis(rank - 1)) == []
    expected = (f"DML-{operator}-axes", "Axes[0]") if several else (f"DML-{operator}-axis", "Axis")
    assert found(with_axis(rank)) == [expected]


def test_all_problems_of_a_join_at_once():
    """Sizes are compared with those of the first input."""
    desc = join(
        inputs=((1, 3), (2, 4), (2, 9)),
        types=("FLOAT32", "INT32", "FLOAT32"),
        output=(3, 7),
        output_type="FLOAT16",
    )
    assert sorted(found(desc)) == [
        ("DML-JOIN-same-data-type", "InputTensors[1].DataType"),
        ("DML-JOIN-same-data-type", "OutputTensor.DataType"),
        ("DML-JOIN-sizes", "InputTensors[1].Sizes"),
        ("DML-JOIN-sizes", "InputTensors[2].Sizes"),
        ("DML-JOIN-sizes", "OutputTensor.Sizes"),
    ]


def test_all_problems_of_a_reduction_at_once():
    """From the enumeration through the tensors to the axes."""
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        Function=function("SUM"),
        InputTensor=tensor("FLOAT32", [2, 3], total_size=20),
        OutputTensor=tensor("INT8", [2, 4], [0, 1]),
        Axes=[1, 5],
    )
    assert sorted(found(desc)) == [
        ("DML-BufferTensor-output-strides", "OutputTensor.Strides"),
        ("DML-BufferTensor-total-size", "InputTensor.TotalTensorSizeInBytes"),
        ("DML-REDUCE-axes", "Axes[1]"),
        ("DML-REDUCE-data-type", "OutputTensor.DataType"),
        ("DML-REDUCE-same-data-type", "OutputTensor.DataType"),
    ]


def test_all_problems_of_a_gather_at_once():
    """Rules that relate attributes to tensors are checked only if the attributes are in range."""
    tensors = {"whole": (2, 3, 4), "indices": (7, 2, 5), "output": (2, 5, 4)}
    assert sorted(found(gather(**tensors, axis=9, index_dimensions=9))) == [
        ("DML-GATHER-axis", "Axis"),
        ("DML-GATHER-index-dimensions", "IndexDimensions"),
    ]
    assert sorted(found(gather(**tensors, axis=0, index_dimensions=2))) == [
        ("DML-GATHER-index-dimensions-before-axis", "IndexDimensions"),
    ]
    assert sorted(found(gather(**tensors, axis=1, index_dimensions=2))) == [
        ("DML-GATHER-indices-batch", "IndicesTensor.Sizes[0]"),
    ]


def test_the_exception_carries_every_diagnostic():
    desc = split(outputs=((3, 3), (1, 5)))
    with pytest.raises(dml.DMLError) as caught:
        dml.evaluate(desc, [])
    assert [(one.rule, one.path) for one in caught.value.diagnostics] == found(desc)
    assert len(found(desc)) == 3
    for one in caught.value.diagnostics:
        assert one.severity == dml.Severity.ERROR
        assert one.message.startswith(one.path)
        assert one.message in str(caught.value)
