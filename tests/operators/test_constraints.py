"""Every rule of the operators, broken alone, comes back with its identifier and path; the nearest valid desc passes."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.validation import RULES

from .helpers import INCREASING, function, tensor


def join(inputs=((2, 3), (2, 4)), output=(2, 7), axis=1, types=("FLOAT32", "FLOAT32"), output_type="FLOAT32"):
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(kind, sizes) for kind, sizes in zip(types, inputs)],
        OutputTensor=tensor(output_type, output),
        Axis=axis,
    )


def split(whole=(2, 7), outputs=((2, 3), (2, 4)), axis=1, types=("FLOAT32", "FLOAT32")):
    return dml.DML_SPLIT_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", whole),
        OutputTensors=[tensor(kind, sizes) for kind, sizes in zip(types, outputs)],
        Axis=axis,
    )


def reduce(whole=(2, 3, 4), output=(2, 1, 4), axes=(1,), name="SUM", output_type="FLOAT32"):
    return dml.DML_REDUCE_OPERATOR_DESC(
        Function=name if isinstance(name, int) else function(name),
        InputTensor=tensor("FLOAT32", whole),
        OutputTensor=tensor(output_type, output),
        Axes=list(axes),
    )


def arg(struct):
    def build(whole=(2, 3, 4), output=(2, 1, 4), axes=(1,), direction=INCREASING):
        return struct(
            InputTensor=tensor("FLOAT32", whole),
            OutputTensor=tensor("UINT32", output),
            Axes=list(axes),
            AxisDirection=direction,
        )

    return build


def gather(
    whole=(1, 3, 4), indices=(1, 2, 5), output=(2, 5, 4), axis=1, index_dimensions=2, output_type="FLOAT32"
):
    return dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", whole),
        IndicesTensor=tensor("UINT32", indices),
        OutputTensor=tensor(output_type, output),
        Axis=axis,
        IndexDimensions=index_dimensions,
    )


def identity(whole=(2, 3), output=(2, 3), types=("FLOAT32", "FLOAT32"), scale_bias=None):
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
        InputTensor=tensor(types[0], whole),
        OutputTensor=tensor(types[1], output),
        ScaleBias=scale_bias and dml.DML_SCALE_BIAS(*scale_bias),
    )


argmin, argmax = arg(dml.DML_ARGMIN_OPERATOR_DESC), arg(dml.DML_ARGMAX_OPERATOR_DESC)

# One rule broken: the desc, the rule, the path
BROKEN = [
    (join(inputs=()), "DML-JOIN-input-count", "InputCount"),
    (join(axis=2), "DML-JOIN-axis", "Axis"),
    (join(axis=2**32 - 1), "DML-JOIN-axis", "Axis"),
    (join(inputs=((2, 3), (1, 4))), "DML-JOIN-sizes-off-axis", "InputTensors[1].Sizes[0]"),
    (join(inputs=((3, 3), (2, 4))), "DML-JOIN-sizes-off-axis", "InputTensors[0].Sizes[0]"),
    (join(output=(2, 8)), "DML-JOIN-sizes-on-axis", "OutputTensor.Sizes[1]"),
    (join(output=(2, 4)), "DML-JOIN-sizes-on-axis", "OutputTensor.Sizes[1]"),
    (join(types=("FLOAT32", "INT32")), "DML-JOIN-same-data-type", "InputTensors[1].DataType"),
    (join(output_type="UINT32"), "DML-JOIN-same-data-type", "OutputTensor.DataType"),
    (join(inputs=((2, 3), (1, 2, 4))), "DML-JOIN-same-dimension-count", "InputTensors[1].DimensionCount"),
    (split(outputs=()), "DML-SPLIT-output-count", "OutputCount"),
    (split(axis=2), "DML-SPLIT-axis", "Axis"),
    (split(outputs=((2, 3), (1, 4))), "DML-SPLIT-sizes-off-axis", "OutputTensors[1].Sizes[0]"),
    (split(outputs=((3, 3), (2, 4))), "DML-SPLIT-sizes-off-axis", "OutputTensors[0].Sizes[0]"),
    (split(whole=(2, 8)), "DML-SPLIT-sizes-on-axis", "InputTensor.Sizes[1]"),
    (split(whole=(2, 3)), "DML-SPLIT-sizes-on-axis", "InputTensor.Sizes[1]"),
    (split(types=("FLOAT32", "INT32")), "DML-SPLIT-same-data-type", "OutputTensors[1].DataType"),
    (
        split(outputs=((1, 2, 3), (2, 4))),
        "DML-SPLIT-same-dimension-count",
        "OutputTensors[0].DimensionCount",
    ),
    (reduce(axes=()), "DML-REDUCE-axis-count", "AxisCount"),
    (reduce(axes=(3,)), "DML-REDUCE-axes", "Axes[0]"),
    (reduce(axes=(1, 2**32 - 1)), "DML-REDUCE-axes", "Axes[1]"),
    (reduce(axes=(1, 1)), "DML-REDUCE-axes-unique", "Axes[1]"),
    (reduce(output=(2, 1, 1), axes=(2, 1, 2)), "DML-REDUCE-axes-unique", "Axes[2]"),
    (reduce(output=(2, 3, 4)), "DML-REDUCE-output-sizes", "OutputTensor.Sizes"),
    (reduce(output=(2, 1, 1)), "DML-REDUCE-output-sizes", "OutputTensor.Sizes"),
    (reduce(output=(2, 1, 5)), "DML-REDUCE-output-sizes", "OutputTensor.Sizes"),
    (reduce(output=(2, 4)), "DML-REDUCE-same-dimension-count", "OutputTensor.DimensionCount"),
    (reduce(output_type="FLOAT16"), "DML-REDUCE-same-data-type", "OutputTensor.DataType"),
    (reduce(name="ARGMAX"), "DML-REDUCE-data-type", "OutputTensor.DataType"),
    (reduce(name=12), "DML-Desc-enum", "Function"),
    (argmin(axes=()), "DML-ARGMIN-axis-count", "AxisCount"),
    (argmin(axes=(3,)), "DML-ARGMIN-axes", "Axes[0]"),
    (argmin(axes=(1, 1)), "DML-ARGMIN-axes-unique", "Axes[1]"),
    (argmin(output=(1, 3, 4)), "DML-ARGMIN-output-sizes", "OutputTensor.Sizes"),
    (argmin(direction=2), "DML-Desc-enum", "AxisDirection"),
    (argmin(output=(2, 4)), "DML-ARGMIN-same-dimension-count", "OutputTensor.DimensionCount"),
    (argmax(axes=()), "DML-ARGMAX-axis-count", "AxisCount"),
    (argmax(axes=(1, 3)), "DML-ARGMAX-axes", "Axes[1]"),
    (argmax(axes=(1, 1)), "DML-ARGMAX-axes-unique", "Axes[1]"),
    (argmax(output=(2, 3, 1)), "DML-ARGMAX-output-sizes", "OutputTensor.Sizes"),
    (argmax(direction=2), "DML-Desc-enum", "AxisDirection"),
    (argmax(output=(2, 4)), "DML-ARGMAX-same-dimension-count", "OutputTensor.DimensionCount"),
    (gather(axis=3), "DML-GATHER-axis", "Axis"),
    (gather(index_dimensions=4), "DML-GATHER-index-dimensions", "IndexDimensions"),
    (gather(index_dimensions=2**32 - 1), "DML-GATHER-index-dimensions", "IndexDimensions"),
    (gather(indices=(3, 2, 5)), "DML-GATHER-indices-leading-ones", "IndicesTensor.Sizes[0]"),
    (
        gather(output=(1, 5, 4), index_dimensions=1),
        "DML-GATHER-indices-leading-ones",
        "IndicesTensor.Sizes[1]",
    ),
    (gather(whole=(2, 3, 4)), "DML-GATHER-output-rank", "OutputTensor.DimensionCount"),
    (gather(output=(2, 5, 3)), "DML-GATHER-output-sizes", "OutputTensor.Sizes"),
    (gather(output=(5, 2, 4)), "DML-GATHER-output-sizes", "OutputTensor.Sizes"),
    (gather(axis=2), "DML-GATHER-output-sizes", "OutputTensor.Sizes"),
    (gather(output_type="INT32"), "DML-GATHER-same-data-type", "OutputTensor.DataType"),
    (gather(indices=(2, 5)), "DML-GATHER-same-dimension-count", "IndicesTensor.DimensionCount"),
    (identity(output=(3, 2)), "DML-ELEMENT_WISE_IDENTITY-same-sizes", "OutputTensor.Sizes"),
    (
        identity(output=(1, 2, 3)),
        "DML-ELEMENT_WISE_IDENTITY-same-dimension-count",
        "OutputTensor.DimensionCount",
    ),
    (
        identity(types=("FLOAT32", "FLOAT16")),
        "DML-ELEMENT_WISE_IDENTITY-same-data-type",
        "OutputTensor.DataType",
    ),
    *(
        (
            identity(types=(kind, kind), scale_bias=(1, 0)),
            "DML-ELEMENT_WISE_IDENTITY-scale-bias-type",
            "ScaleBias",
        )
        for kind in ("FLOAT64", "INT64", "UINT64")
    ),
]

# The nearest descs that break nothing
VALID = [
    join(),
    join(inputs=((2, 3),), types=("FLOAT32",), output=(2, 3)),
    join(inputs=((3, 2), (4, 2)), output=(7, 2), axis=0),
    join(inputs=((2, 2), (2, 2)), output=(4, 2), axis=0),
    split(),
    split(outputs=((2, 7),), types=("FLOAT32",)),
    split(whole=(7, 2), outputs=((3, 2), (4, 2)), axis=0),
    reduce(),
    reduce(axes=(2,), output=(2, 3, 1)),
    reduce(axes=(2, 0, 1), output=(1, 1, 1)),
    reduce(whole=(2, 1, 4), output=(2, 1, 4)),
    reduce(name="ARGMAX", output_type="UINT32"),
    argmin(),
    argmin(axes=(2, 0), output=(1, 3, 1)),
    argmin(direction=dml.DML_AXIS_DIRECTION_DECREASING),
    argmax(),
    argmax(axes=(2,), output=(2, 3, 1)),
    gather(),
    gather(index_dimensions=3, indices=(1, 2, 5)),
    gather(axis=2, output=(3, 2, 5)),
    gather(indices=(1, 1, 5), index_dimensions=1, output=(1, 5, 4)),
    gather(indices=(1, 1, 1), index_dimensions=0, output=(1, 1, 4)),
    identity(),
    identity(scale_bias=(2, 1)),
    identity(types=("INT8", "INT8"), scale_bias=(2, 1)),
    identity(types=("INT64", "INT64")),
]


def found(desc):
    return [(one.rule, one.path) for one in dml.validate(desc)]


@pytest.mark.parametrize(
    ("desc", "rule", "path"), BROKEN, ids=[f"{rule}-{index}" for index, (_, rule, _) in enumerate(BROKEN)]
)
def test_one_broken_rule(desc, rule, path):
    assert found(desc) == [(rule, path)]
    with pytest.raises(dml.DMLError) as caught:
        dml.evaluate(desc, [])
    assert caught.value.hresult == dml.E_INVALIDARG
    assert rule in str(caught.value)
    assert path in str(caught.value)


@pytest.mark.parametrize("desc", VALID, ids=lambda desc: type(desc).__name__)
def test_nearest_valid_desc(desc):
    assert found(desc) == []


@pytest.mark.parametrize("operator", ["JOIN", "SPLIT", "REDUCE", "ARGMIN", "ARGMAX", "GATHER"])
@pytest.mark.parametrize("rank", range(1, 9))
def test_axis_is_less_than_the_rank(operator, rank):
    """``rank - 1`` is the last axis, ``rank`` is none."""
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


def test_every_rule_of_an_operator_is_broken_above():
    names = ("JOIN", "SPLIT", "REDUCE", "ARGMIN", "ARGMAX", "GATHER", "ELEMENT_WISE_IDENTITY")
    own = {rule for rule in RULES if rule.split("-")[1] in names}
    assert own <= {rule for _, rule, _ in BROKEN}
    assert len(own) >= 22


def test_all_problems_of_a_join_at_once():
    desc = join(
        inputs=((1, 3), (2, 4), (2, 9)),
        types=("FLOAT32", "INT32", "FLOAT32"),
        output=(3, 7),
        output_type="FLOAT16",
    )
    assert sorted(found(desc)) == [
        ("DML-JOIN-same-data-type", "InputTensors[1].DataType"),
        ("DML-JOIN-same-data-type", "OutputTensor.DataType"),
        ("DML-JOIN-sizes-off-axis", "InputTensors[0].Sizes[0]"),
        ("DML-JOIN-sizes-off-axis", "InputTensors[1].Sizes[0]"),
        ("DML-JOIN-sizes-off-axis", "InputTensors[2].Sizes[0]"),
        ("DML-JOIN-sizes-on-axis", "OutputTensor.Sizes[1]"),
    ]


def test_all_problems_of_a_reduction_at_once():
    """From the enumeration through the tensors to the axes."""
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        Function=function("SUM"),
        InputTensor=tensor("FLOAT32", [2, 3], total_size=20),
        OutputTensor=tensor("INT8", [2, 4], [0, 1]),
        Axes=[1, 5, 1],
    )
    assert sorted(found(desc)) == [
        ("DML-BufferTensor-output-overlap", "OutputTensor.Strides"),
        ("DML-BufferTensor-total-size", "InputTensor.TotalTensorSizeInBytes"),
        ("DML-REDUCE-axes", "Axes[1]"),
        ("DML-REDUCE-axes-unique", "Axes[2]"),
        ("DML-REDUCE-data-type", "OutputTensor.DataType"),
        ("DML-REDUCE-same-data-type", "OutputTensor.DataType"),
    ]


def test_all_problems_of_a_gather_at_once():
    desc = gather(whole=(2, 3, 4), indices=(7, 2, 5), output=(2, 5, 4), axis=9, index_dimensions=2)
    assert sorted(found(desc)) == [
        ("DML-GATHER-axis", "Axis"),
        ("DML-GATHER-indices-leading-ones", "IndicesTensor.Sizes[0]"),
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
