"""What Microsoft's library computes of descs that its random cases do not reach."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from ..operators.helpers import FLOATS, function, numpy_type, run, scalar, tensor, tensor_of


def test_integers_to_fractional_powers():
    """In FLOAT32: FLOAT64's root of 9 is slightly less than 3, and would be cut to 2."""
    x, halves = np.array([9, 36, 81], np.int32), np.full(3, 0.5, np.float32)
    assert run("ELEMENT_WISE_POW", x, halves).tolist() == [3, 6, 9]


@pytest.mark.parametrize("kind", ["UINT8", "INT32", "INT64", *FLOATS])
def test_limits_of_no_data_type(kind):
    """Those of CLIP1 have the tensors' type, whatever MinMaxDataType says; CLIP_GRAD1 requires it."""
    x = np.array([0, 1, 2, 3], numpy_type(kind))
    own, unknown = scalar(kind, 1), dml.DML_TENSOR_DATA_TYPE_UNKNOWN
    limits = {"Min": own, "Max": scalar(kind, 2), "MinMaxDataType": unknown}
    clip = dml.DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC(
        InputTensor=tensor_of(x), OutputTensor=tensor_of(x), **limits
    )
    assert dml.validate(clip, feature_level=dml.DML_FEATURE_LEVEL_6_2) == []
    (result,) = dml.evaluate(clip, [x])
    assert result.tolist() == [1, 1, 2, 2]
    (problem,) = dml.validate(clip, strict=True)
    assert problem.rule == "DML-ELEMENT_WISE_CLIP1-min-max-data-type"
    gradient = dml.DML_ELEMENT_WISE_CLIP_GRAD1_OPERATOR_DESC(
        InputTensor=tensor_of(x),
        InputGradientTensor=tensor_of(x),
        OutputGradientTensor=tensor_of(x),
        **limits,
    )
    assert [problem.rule for problem in dml.validate(gradient)] == ["DML-Desc-enum"]


@pytest.mark.parametrize(("steps", "last"), [(1, 6), (2, 0)])
def test_the_state_of_a_sequence_without_elements(steps, last):
    """It is that after the step if there is only one."""
    one, sequence = tensor("FLOAT32", (1, 1, 1, 1)), tensor("FLOAT32", (1, steps, 1, 1))
    desc = dml.DML_RNN_OPERATOR_DESC(
        InputTensor=sequence,
        WeightTensor=one,
        RecurrenceTensor=one,
        SequenceLengthsTensor=tensor("UINT32", (1, 1, 1, 1)),
        OutputSingleTensor=one,
        ActivationDescs=[dml.DML_ACTIVATION_IDENTITY_OPERATOR_DESC()],
        Direction=dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
    )
    x, weight = np.full((1, steps, 1, 1), 2, np.float32), np.ones((1, 1, 1, 1), np.float32)
    results = dml.evaluate(desc, [x, 3 * weight, weight, None, None, np.zeros((1, 1, 1, 1), np.uint32)])
    assert results[1].item() == last


@pytest.mark.parametrize("linear_before_reset", [False, True])
def test_gru_adds_terms_of_float16(linear_before_reset):
    """Two terms beyond 65504 of opposite signs: NaN, not an infinity."""
    one, gates = tensor("FLOAT16", (1, 1, 1, 1)), tensor("FLOAT16", (1, 1, 3, 1))
    linear = dml.DML_ACTIVATION_IDENTITY_OPERATOR_DESC()
    desc = dml.DML_GRU_OPERATOR_DESC(
        InputTensor=one,
        WeightTensor=gates,
        RecurrenceTensor=gates,
        HiddenInitTensor=one,
        OutputSingleTensor=one,
        ActivationDescs=[linear, linear],
        Direction=dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
        LinearBeforeReset=linear_before_reset,
    )
    # z = 1000 and h = 300: (1 - z) 300 is -299,700, and 1000 times the state of 200 is 200,000.
    x, weights = np.ones((1, 1, 1, 1), np.float16), np.array([1000, 0, 300], np.float16).reshape(1, 1, 3, 1)
    state = np.full((1, 1, 1, 1), 200, np.float16)
    results = dml.evaluate(desc, [x, weights, 0 * weights, None, state, None])
    assert np.isnan(results[1].item())


def refused(desc):
    """The rules that a desc breaks at the highest level that was asked, and the fields."""
    found = dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL_6_2)
    return {(problem.rule, problem.path) for problem in found}


@pytest.mark.parametrize("kind", ["INT32", "INT64"])
@pytest.mark.parametrize("name", ["AVERAGE", "L2", "LOG_SUM", "LOG_SUM_EXP", "SUM", "L1", "MULTIPLY"])
def test_reductions_of_integers(name, kind):
    """ONNX Runtime sends all of them; those with fractional results are refused."""
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        Function=function(name),
        InputTensor=tensor(kind, (1, 1, 2, 3)),
        OutputTensor=tensor(kind, (1, 1, 2, 1)),
        Axes=[3],
    )
    rule = "DML-REDUCE-data-type"
    fields = ("InputTensor.DataType", "OutputTensor.DataType") if name.startswith(("A", "L2", "LOG")) else ()
    assert refused(desc) == {(rule, field) for field in fields}


def test_quantized_products_with_scales_of_float16():
    def product(kind):
        one, zero = tensor(kind, (1, 1, 1, 1)), tensor("UINT8", (1, 1, 1, 1))
        return dml.DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC(
            ATensor=tensor("UINT8", (1, 1, 2, 4)),
            AScaleTensor=one,
            AZeroPointTensor=zero,
            BTensor=tensor("UINT8", (1, 1, 4, 3)),
            BScaleTensor=one,
            BZeroPointTensor=zero,
            OutputScaleTensor=one,
            OutputZeroPointTensor=zero,
            OutputTensor=tensor("UINT8", (1, 1, 2, 3)),
        )

    assert refused(product("FLOAT32")) == set()
    rule = "DML-QUANTIZED_LINEAR_MATRIX_MULTIPLY-data-type"
    scales = ("AScaleTensor", "BScaleTensor", "OutputScaleTensor")
    assert refused(product("FLOAT16")) == {(rule, f"{scale}.DataType") for scale in scales}


@pytest.mark.parametrize(("width", "height"), [(3, 2), (2, 3)])
def test_the_pooled_size_is_width_and_height(width, height):
    desc = dml.DML_ROI_POOLING_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", (2, 3, 8, 8)),
        ROITensor=tensor("FLOAT32", (1, 1, 2, 5)),
        OutputTensor=tensor("FLOAT32", (2, 3, 2, 3)),
        SpatialScale=1.0,
        PooledSize=dml.DML_SIZE_2D(width, height),
    )
    is_exchanged = (width, height) == (2, 3)
    assert refused(desc) == ({("DML-ROI_POOLING-sizes", "OutputTensor.Sizes")} if is_exchanged else set())
