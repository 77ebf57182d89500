"""Equal descs share derived data, and nothing else."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs import decode_operator_desc

FLOAT32, INT64 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_INT64


def join(data_type=FLOAT32, width=3):
    part = dml.tensor_desc(data_type, [1, 1, 2, width])
    whole = dml.tensor_desc(data_type, [1, 1, 2, 2 * width])
    return dml.DML_JOIN_OPERATOR_DESC(InputTensors=[part, part], OutputTensor=whole, Axis=3)


@pytest.fixture
def device():
    return dml.DMLCreateDevice(dml.D3D12CreateDevice())


def test_equal_descs_are_worked_out_once(device):
    first, second = device.CreateOperator(join()), device.CreateOperator(join())
    assert first is not second
    assert first.desc is second.desc
    assert device.CreateOperator(join(width=4)).desc is not first.desc


def test_what_is_sound_at_one_level_is_refused_at_another():
    d3d12 = dml.D3D12CreateDevice()
    newest = dml.DMLCreateDevice(d3d12)
    oldest = dml.DMLCreateDevice(d3d12, feature_level=dml.DML_FEATURE_LEVEL_1_0)
    for _ in range(2):
        newest.CreateOperator(join(INT64))
        with pytest.raises(dml.DMLError):
            oldest.CreateOperator(join(INT64))


def test_a_desc_that_changes_is_checked_again(device):
    desc = join()
    device.CreateOperator(desc)
    desc.Axis = 2
    for _ in range(2):
        assert [found.rule for found in dml.validate(desc)]
    desc.Axis = 3
    assert dml.validate(desc) == []


def test_memory_that_is_used_again_is_read_again(device):
    """The next desc may be at the address of the last one."""
    for width in (3, 4, 5, 3):
        assert device.CreateOperator(join(width=width)).desc.OutputTensor.sizes == (1, 1, 2, 2 * width)
        gc.collect()


@pytest.mark.parametrize("bias", [-0.0, 0.0])
def test_a_sign_of_zero_is_no_detail(bias):
    x = dml.tensor_desc(FLOAT32, [1, 1, 1, 2])
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x, dml.DML_SCALE_BIAS(1.0, bias))
    (found,) = dml.evaluate(desc, [np.full((1, 1, 1, 2), -0.0, np.float32)])
    assert np.signbit(found).all() == (str(bias) == "-0.0")


X = dml.tensor_desc(FLOAT32, [1, 1, 2, 2])
# Descs with a number in a field, a struct, a union, an array, and a desc inside.
WITH_A_NUMBER = {
    "field": lambda x: dml.DML_ELEMENT_WISE_CLIP_OPERATOR_DESC(X, X, None, x, 9.0),
    "struct": lambda x: dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(X, X, dml.DML_SCALE_BIAS(1.0, x)),
    "union": lambda x: dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(X, FLOAT32, dml.DML_SCALAR_UNION(Float32=x)),
    "array": lambda x: dml.DML_VALUE_SCALE_2D_OPERATOR_DESC(X, X, 1.0, Bias=[x]),
    "desc": lambda x: dml.DML_GEMM_OPERATOR_DESC(
        X, X, None, X, FusedActivation=dml.DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=x)
    ),
}


@pytest.mark.parametrize("make", WITH_A_NUMBER.values(), ids=WITH_A_NUMBER)
def test_numbers_are_equal_by_their_bits(make):
    """0.0 and -0.0 differ, as their results may, and NaN equals NaN."""
    for number in (0.0, 1.5, np.nan):
        one, other = (decode_operator_desc(make(number)).desc for _ in range(2))
        assert one == other
        assert hash(one) == hash(other)
    zero, negative, one = (decode_operator_desc(make(number)).desc for number in (0.0, -0.0, 1.0))
    assert zero != negative
    assert zero != one


def test_kernels_do_not_share_memory(device):
    """Two dispatches of one kernel, bound before either runs."""
    one, two = np.ones((1, 1, 2, 3), np.float32), np.full((1, 1, 2, 3), 2, np.float32)
    results = [dml.evaluate(join(), [array, array])[0] for array in (one, two)]
    assert (results[0] == 1).all()
    assert (results[1] == 2).all()
