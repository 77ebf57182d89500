"""ELEMENT_WISE_IDENTITY: layouts transformed by strides, and ScaleBias."""

from __future__ import annotations

import math

import numpy as np
import pytest

import directml_py as dml

from .dispatch import Dispatch
from .helpers import DATA_TYPES, generator, numpy_type, random_values, tensor, tensor_of

INF, NAN = math.inf, math.nan


def scaled(x, scale, bias, strides=None, output_strides=None):
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
        InputTensor=tensor_of(x, strides),
        OutputTensor=tensor_of(x, output_strides),
        ScaleBias=dml.DML_SCALE_BIAS(scale, bias),
    )
    return dml.evaluate(desc, [x])[0]


@pytest.mark.parametrize("name", DATA_TYPES)
def test_nchw_to_nhwc(name):
    """The memory of a packed NCHW tensor, read as {N,C,H,W} with NHWC strides on the output."""
    n, c, h, w = 2, 3, 4, 5
    x = random_values(generator("nhwc", name), name, (n, c, h, w))
    run = Dispatch(
        dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
            InputTensor=tensor(name, (n, c, h, w)),
            OutputTensor=tensor(name, (n, c, h, w), [h * w * c, 1, w * c, c]),
        ),
        [x],
    )
    memory = run.outputs[0].inside.view(numpy_type(name))
    assert memory.tobytes() == np.ascontiguousarray(x.transpose(0, 2, 3, 1)).tobytes()


@pytest.mark.parametrize("name", DATA_TYPES)
def test_broadcast_by_stride_zero(name):
    row = random_values(generator("broadcast", name), name, (4,))
    x = np.broadcast_to(row, (3, 4)).copy()
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
        InputTensor=tensor_of(x, [0, 1]), OutputTensor=tensor_of(x)
    )
    assert dml.evaluate(desc, [x])[0].tobytes() == x.tobytes()


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_nan_payloads_and_zero_signs_are_copied(kind):
    bits = np.array([0x7E01, 0xFE55, 0x8000, 0x0001], np.uint16)
    x = bits.view(np.float16) if kind == np.float16 else (bits.astype(np.uint32) << 16).view(np.float32)
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(InputTensor=tensor_of(x), OutputTensor=tensor_of(x))
    assert dml.evaluate(desc, [x])[0].tobytes() == x.tobytes()


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("strides", [None, [2], [7]])
def test_scale_bias_of_floats(kind, strides):
    x = np.array([0, 1, -2, 0.5, INF, -INF, NAN], kind)
    found = scaled(x, 3, -1, strides, strides)
    np.testing.assert_array_equal(found, np.array([-1, 2, -7, 0.5, INF, -INF, NAN], kind), strict=True)


def test_float16_is_rounded_once():
    """683 * 3 = 2049 is not a FLOAT16: rounded to 2048, plus 1 it would stay 2048."""
    assert scaled(np.array([683], np.float16), 3, 1).tolist() == [2050]
    # 300 * 300 overflows FLOAT16 on the way
    assert scaled(np.array([300], np.float16), 300, -60000).tolist() == [30000]
    # 20448 times FLOAT32's 0.1 is 2044.8; times FLOAT16's, 0.09998, it is 2044.3
    assert scaled(np.array([20448], np.float16), 0.1, 0).tolist() == [2045]
    assert scaled(np.array([60000], np.float16), 2, 0).tolist() == [INF]


INTEGERS = [
    # type, values, scale, bias, results
    ("INT32", [1, -2, 7], 3, -1, [2, -7, 20]),
    ("UINT8", [1, 100], 2, 5, [7, 205]),
    # rounded toward zero
    ("INT32", [1, 3, -1, -3], 0.5, 0, [0, 1, 0, -1]),
    ("INT16", [1, -1], 1, 0.75, [1, 0]),
    ("INT8", [-1], 1, -0.75, [-1]),
    # out of range: the nearest value
    ("INT8", [100, -100], 2, 0, [127, -128]),
    ("UINT8", [200, 1], 2, -5, [255, 0]),
    ("UINT16", [65535], 2, 0, [65535]),
    ("INT32", [2**31 - 1, -(2**31)], 2, 0, [2**31 - 1, -(2**31)]),
    ("UINT32", [2**32 - 1, 0], 2, -1, [2**32 - 1, 0]),
    ("INT32", [1, -1, 0], INF, 0, [2**31 - 1, -(2**31), 0]),
    ("UINT32", [1, 0], 1, NAN, [0, 0]),
    # exact where FLOAT32 has no such integer
    ("INT32", [2**24 + 1, -(2**31) + 1], 1, 0, [2**24 + 1, -(2**31) + 1]),
    ("UINT32", [2**32 - 1], 1, -1, [2**32 - 2]),
]


@pytest.mark.parametrize(("name", "values", "scale", "bias", "expected"), INTEGERS)
def test_scale_bias_of_integers(name, values, scale, bias, expected):
    x = np.array(values, numpy_type(name))
    found = scaled(x, scale, bias, [3], [2])
    assert found.dtype == x.dtype
    assert found.tolist() == expected


@pytest.mark.parametrize("name", ["FLOAT64", "INT64", "UINT64"])
def test_scale_bias_of_64_bits_changes_nothing(name):
    """Microsoft's library accepts 1 and 0 of either sign; no bit is lost."""
    x = np.array([2**53 + 1 if name != "FLOAT64" else 2.0**53 - 1], numpy_type(name))
    for bias in (0, -0.0):
        assert scaled(x, 1, bias).tolist() == x.tolist()
    for wrong in ((2, 0), (1, 1), (NAN, 0)):
        with pytest.raises(dml.DMLError) as caught:
            scaled(x, *wrong)
        assert [(found.rule, found.path) for found in caught.value.diagnostics] == [
            ("DML-ELEMENT_WISE_IDENTITY-scale-bias-type", "ScaleBias")
        ]
