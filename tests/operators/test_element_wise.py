"""Element-wise operators: results, also where their pages are silent or disagree."""

from __future__ import annotations

import math

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs.decode import decode_operator_desc
from directml_py.operators.attributes import activated

from .helpers import (
    DATA_TYPES,
    FLOATS,
    SIGNED,
    UNSIGNED,
    array,
    data_type,
    generator,
    numpy_type,
    run,
    scalar,
    tensor,
)

INF, NAN = math.inf, math.nan
INTEGERS = SIGNED + UNSIGNED


@pytest.mark.parametrize("kind", FLOATS)
def test_value_scale_adds_zeros_of_either_sign(kind):
    x = array(kind, *[-0.0] * 3).reshape(1, 3, 1, 1)
    result = run("VALUE_SCALE_2D", x, Scale=1.0, ChannelCount=3, Bias=[-0.0, 0.0, -0.0])
    assert np.signbit(result).ravel().tolist() == [True, False, True]


class TestClip:
    """``max(Min, min(x, Max))``"""

    @pytest.mark.parametrize("kind", INTEGERS)
    def test_limits_are_cast_toward_zero(self, kind):
        low = 1.9 if kind in UNSIGNED else -1.9
        x = array(kind, 0, 1, 5, 100)
        assert run("ELEMENT_WISE_CLIP", x, Min=low, Max=5.9).tolist() == [1 if low > 0 else 0, 1, 5, 5]
        # Limits out of range saturate; NaN is 0.
        lowest, largest = np.finfo(np.float32).min, np.finfo(np.float32).max
        assert run("ELEMENT_WISE_CLIP", x, Min=lowest, Max=largest).tolist() == x.tolist()
        assert run("ELEMENT_WISE_CLIP", x, Min=NAN, Max=INF).tolist() == x.tolist()

    def test_limits_of_float16(self):
        """They are rounded to the nearest FLOAT16, which may be infinite."""
        x = array("FLOAT16", 1, 2049, INF)
        limits = {"Min": 1 + 2**-11 + 2**-20, "Max": 1e9}
        assert run("ELEMENT_WISE_CLIP", x, **limits).tolist() == [1 + 2**-10, 2048, INF]

    @pytest.mark.parametrize("kind", ["INT64", "UINT64"])
    def test_typed_limits_are_exact(self, kind):
        most = np.iinfo(numpy_type(kind)).max
        limits = {"Min": scalar(kind, 0), "Max": scalar(kind, most - 1), "MinMaxDataType": data_type(kind)}
        assert run("ELEMENT_WISE_CLIP1", array(kind, most, most - 2), **limits).tolist() == [
            most - 1,
            most - 2,
        ]

    def test_fused(self):
        """It has no tensors then; GEMM and CONVOLUTION may have it."""
        x = tensor("FLOAT16", (1, 1, 1, 1))
        clip = dml.DML_ELEMENT_WISE_CLIP_OPERATOR_DESC(ScaleBias=dml.DML_SCALE_BIAS(2, 0), Min=-1, Max=2.5)
        gemm = dml.DML_GEMM_OPERATOR_DESC(x, x, None, x, 0, 0, 1, 0, clip)
        desc, _ = decode_operator_desc(gemm, "desc")
        results = activated(desc.FusedActivation)(array("FLOAT32", -4, 1, 4))
        assert results.tolist() == [-1, 2, 2.5]

    def test_scale_bias_comes_first(self):
        scale_bias = dml.DML_SCALE_BIAS(-2, 1)
        x = array("FLOAT32", -3, 0, 0.5)
        assert run("ELEMENT_WISE_CLIP", x, ScaleBias=scale_bias, Min=0.5, Max=2).tolist() == [2, 1, 0.5]
        x = array("INT8", -100, 0, 100)
        assert run("ELEMENT_WISE_CLIP", x, ScaleBias=scale_bias, Min=-50, Max=120).tolist() == [120, 1, -50]
        assert run("ELEMENT_WISE_THRESHOLD", x, ScaleBias=scale_bias, Min=-50).tolist() == [127, 1, -50]
        assert run("ELEMENT_WISE_ABS", x, ScaleBias=scale_bias).tolist() == [127, 1, -128]


class TestPow:
    def test_constant_exponents(self):
        """0^0 is NaN in Microsoft's library, as 2^(0 * log2(0)) is, and so is NaN^0."""
        x = array("FLOAT32", -2, 0, 3, NAN)
        for exponent in (0, 1, 2, 3, -1):
            with np.errstate(all="ignore"):
                expected = np.power(x.astype(np.float64), exponent or NAN).astype(np.float32)
                expected[0] = (-2) ** exponent
                expected[2] = 3**exponent
            np.testing.assert_array_equal(run("ELEMENT_WISE_CONSTANT_POW", x, Exponent=exponent), expected)
        assert np.isnan(run("ELEMENT_WISE_CONSTANT_POW", array("FLOAT32", -2), Exponent=0.5)).all()

    @pytest.mark.parametrize("exponent", ["INT8", "UINT32", "FLOAT32", "FLOAT16"])
    def test_exponents_of_another_type(self, exponent):
        x = array("INT32", 2, -3, 10)
        assert run("ELEMENT_WISE_POW", x, array(exponent, 3, 3, 2)).tolist() == [8, -27, 100]

    def test_the_exponent_is_scaled_too(self):
        """Like the base: 5^5, and for integers the saturated value."""
        scale_bias = dml.DML_SCALE_BIAS(2, 1)
        two = array("FLOAT32", 2)
        assert run("ELEMENT_WISE_POW", two, two, ScaleBias=scale_bias).tolist() == [5**5]
        assert run("ELEMENT_WISE_POW", two, array("INT8", 1), ScaleBias=scale_bias).tolist() == [5**3]
        below = dml.DML_SCALE_BIAS(1, -9)
        assert run("ELEMENT_WISE_POW", two, array("UINT8", 2), ScaleBias=below).tolist() == [1]


@pytest.mark.parametrize("kind", DATA_TYPES)
def test_if(kind):
    """Every nonzero value is true; selected elements are copied unchanged, NaN too."""
    width = numpy_type(kind).itemsize
    bits = generator("if", kind).integers(0, 256, (2, 40, width), np.uint8)
    a, b = bits.view(numpy_type(kind)).reshape(2, 40)
    condition = np.arange(40, dtype=np.uint8) % 3
    expected = np.where(condition[:, None] != 0, *bits)
    assert run("ELEMENT_WISE_IF", condition, a, b, output=kind).tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", DATA_TYPES)
def test_a_cast_to_the_same_type_keeps_all_bits(kind):
    bits = generator("same", kind).integers(0, 256, 30 * numpy_type(kind).itemsize, np.uint8)
    x = bits.view(numpy_type(kind))
    assert run("CAST", x, output=kind).tobytes() == x.tobytes()
