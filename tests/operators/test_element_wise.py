"""Element-wise operators: results, also where their pages are silent or disagree."""

from __future__ import annotations

import itertools
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
    random_values,
    run,
    scalar,
    tensor,
)

INF, NAN = math.inf, math.nan
INTEGERS = SIGNED + UNSIGNED
TO_32 = [name for name in DATA_TYPES if not name.endswith("64")]


def single(x):
    return x.astype(np.float32)


ONE = {
    "ABS": np.abs,
    "ACOS": np.arccos,
    "ACOSH": np.arccosh,
    "ASIN": np.arcsin,
    # The sum is rounded to FLOAT32.
    "ASINH": lambda x: np.log((np.float32(x) + np.sqrt(np.float32(x) ** 2 + 1)).astype(np.float64)),
    "ATAN": np.arctan,
    "ATANH": np.arctanh,
    "CEIL": np.ceil,
    "COS": np.cos,
    "COSH": np.cosh,
    "ERF": np.vectorize(math.erf),
    "EXP": np.exp,
    "FLOOR": np.floor,
    "LOG": np.log,
    "RECIP": lambda x: 1 / x,
    "SIN": np.sin,
    "SINH": np.sinh,
    "SQRT": np.sqrt,
    "TAN": np.tan,
    "TANH": np.tanh,
}
TWO = {
    "ADD": np.add,
    "ADD1": np.add,
    "ATAN_YX": np.arctan2,
    "DIFFERENCE_SQUARE": lambda a, b: (single(a) - single(b)) ** 2,
    "DIVIDE": np.divide,
    "MAX": np.maximum,
    "MEAN": lambda a, b: (single(a) + single(b)) / 2,
    "MIN": np.minimum,
    "MODULUS_FLOOR": lambda a, b: single(a) - single(b) * np.floor(single(a) / single(b)),
    "MODULUS_TRUNCATE": lambda a, b: single(a) - single(b) * np.trunc(single(a) / single(b)),
    "MULTIPLY": np.multiply,
    "POW": np.power,
    "SUBTRACT": np.subtract,
}


def assert_rounded(result, exact):
    """``result`` is ``exact``, which is in FLOAT64, to 1 unit in the last place."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(result.dtype)
    np.testing.assert_allclose(result, nearest, rtol=np.finfo(result.dtype).eps, atol=0)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("scale_bias", [None, (0.3, 0.4)])
def test_functions_of_one(name, kind, scale_bias):
    x = np.concatenate([generator(name).uniform(-1, 1, 300), [0, 1, -1, 40, -3, INF, -INF, NAN]])
    x = x.astype(numpy_type(kind))
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64)
        if scale_bias:
            # As in Microsoft's library, the product is rounded, and so is the sum.
            scale, bias = np.array(scale_bias, np.float32)
            exact = (single(x) * scale + bias).astype(np.float64)
        exact = ONE[name](exact)
    attributes = {"ScaleBias": dml.DML_SCALE_BIAS(*scale_bias)} if scale_bias else {}
    assert_rounded(run(f"ELEMENT_WISE_{name}", x, **attributes), exact)


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("kind", FLOATS)
def test_functions_of_two(name, kind):
    rng = generator(name, kind)
    a, b = (random_values(rng, kind, (3, 100)) for _ in range(2))
    a = np.abs(a) if name == "POW" else a
    with np.errstate(all="ignore"):
        exact = TWO[name](a.astype(np.float64), b.astype(np.float64))
    assert_rounded(run(f"ELEMENT_WISE_{name}", a, b), exact)


@pytest.mark.parametrize("kind", ["INT8", "UINT8", "INT32", "UINT32", "INT64", "UINT64"])
@pytest.mark.parametrize("name", ["ADD", "SUBTRACT", "MULTIPLY"])
def test_integers_wrap(name, kind):
    rng = generator(name, kind)
    a, b = (random_values(rng, kind, (200,)) for _ in range(2))
    exact = TWO[name](a.astype(object), b.astype(object))
    bits = 8 * a.itemsize
    np.testing.assert_array_equal(
        run(f"ELEMENT_WISE_{name}", a, b).astype(object) % (1 << bits), exact % (1 << bits)
    )


@pytest.mark.parametrize("kind", INTEGERS)
def test_division_by_zero_has_all_bits_set(kind):
    a, zero = array(kind, 7, 0), array(kind, 0, 0)
    all_bits = [-1] * 2 if kind in SIGNED else [np.iinfo(a.dtype).max] * 2
    for name in ("DIVIDE", "MODULUS_TRUNCATE", "MODULUS_FLOOR"):
        assert run(f"ELEMENT_WISE_{name}", a, zero).tolist() == all_bits


@pytest.mark.parametrize("kind", SIGNED)
def test_the_smallest_integer(kind):
    least = array(kind, np.iinfo(numpy_type(kind)).min)
    for name in ("ABS", "NEGATE"):
        assert run(f"ELEMENT_WISE_{name}", least).tolist() == least.tolist()
    minus_one = array(kind, -1)
    assert run("ELEMENT_WISE_DIVIDE", least, minus_one).tolist() == least.tolist()
    assert run("ELEMENT_WISE_MODULUS_FLOOR", least, minus_one).tolist() == [0]


@pytest.mark.parametrize("kind", FLOATS)
def test_max_and_min_pass_over_nan(kind):
    a, b = array(kind, NAN, 1, NAN, -INF), array(kind, 2, NAN, NAN, NAN)
    for name in ("MAX", "MIN"):
        np.testing.assert_array_equal(
            run(f"ELEMENT_WISE_{name}", a, b), array(kind, 2, 1, NAN, -INF), strict=True
        )


@pytest.mark.parametrize("kind", FLOATS)
def test_sign_and_negate(kind):
    x = array(kind, -2, -0.0, 0, INF, NAN)
    np.testing.assert_array_equal(run("ELEMENT_WISE_SIGN", x), array(kind, -1, 0, 0, 1, 0), strict=True)
    assert np.signbit(run("ELEMENT_WISE_NEGATE", x)).tolist()[:4] == [False, False, True, True]


@pytest.mark.parametrize("kind", FLOATS)
def test_value_scale_adds_zeros_of_either_sign(kind):
    x = array(kind, *[-0.0] * 3).reshape(1, 3, 1, 1)
    result = run("VALUE_SCALE_2D", x, Scale=1.0, ChannelCount=3, Bias=[-0.0, 0.0, -0.0])
    assert np.signbit(result).ravel().tolist() == [True, False, True]


@pytest.mark.parametrize("kind", ["FLOAT32", "FLOAT16", "INT64", "UINT8"])
@pytest.mark.parametrize("output", ["UINT8", "UINT32"])
def test_comparisons(kind, output):
    values = [0, 1, 2, *([NAN, -0.0, INF] if kind in FLOATS else [])]
    a, b = (array(kind, *column) for column in zip(*itertools.product(values, values)))
    comparisons = {
        "EQUALS": np.equal,
        "GREATER_THAN": np.greater,
        "GREATER_THAN_OR_EQUAL": np.greater_equal,
        "LESS_THAN": np.less,
        "LESS_THAN_OR_EQUAL": np.less_equal,
    }
    for name, compare in comparisons.items():
        result = run(f"ELEMENT_WISE_LOGICAL_{name}", a, b, output=output)
        np.testing.assert_array_equal(result, compare(a, b).astype(output.lower()), strict=True)


@pytest.mark.parametrize("kind", ["UINT8", "UINT32"])
def test_logic_of_numbers(kind):
    """Every nonzero number is true; results are 0 and 1."""
    a, b = array(kind, 0, 0, 5, 6), array(kind, 0, 7, 0, 8)
    expected = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "XOR": [0, 1, 1, 0]}
    for name, values in expected.items():
        assert run(f"ELEMENT_WISE_LOGICAL_{name}", a, b).tolist() == values
    assert run("ELEMENT_WISE_LOGICAL_NOT", a).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("kind", FLOATS)
def test_infinity_and_nan(kind):
    x = array(kind, -INF, -1, NAN, 0, INF)
    assert run("ELEMENT_WISE_IS_NAN", x, output="UINT32").tolist() == [0, 0, 1, 0, 0]
    for mode, values in {
        "EITHER": [1, 0, 0, 0, 1],
        "POSITIVE": [0, 0, 0, 0, 1],
        "NEGATIVE": [1, 0, 0, 0, 0],
    }.items():
        mode = dml.DML_IS_INFINITY_MODE[f"DML_IS_INFINITY_MODE_{mode}"]
        assert run("ELEMENT_WISE_IS_INFINITY", x, output="UINT8", InfinityMode=mode).tolist() == values


class TestClip:
    """``max(Min, min(x, Max))``"""

    @pytest.mark.parametrize("kind", FLOATS)
    def test_floats(self, kind):
        x = array(kind, -INF, -3, -0.5, 0.5, 3, INF, NAN)
        result = run("ELEMENT_WISE_CLIP", x, Min=-1, Max=2)
        np.testing.assert_array_equal(result, array(kind, -1, -1, -0.5, 0.5, 2, 2, 2), strict=True)

    @pytest.mark.parametrize("kind", [*FLOATS, "INT32", "UINT8"])
    def test_min_above_max(self, kind):
        """The page's formula gives Min."""
        assert run("ELEMENT_WISE_CLIP", array(kind, 0, 4, 9), Min=5, Max=2).tolist() == [5, 5, 5]

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

    @pytest.mark.parametrize("kind", [*FLOATS, *INTEGERS])
    def test_typed_limits(self, kind):
        x = array(kind, 0, 3, 7)
        limits = {"Min": scalar(kind, 2), "Max": scalar(kind, 5), "MinMaxDataType": data_type(kind)}
        assert run("ELEMENT_WISE_CLIP1", x, **limits).tolist() == [2, 3, 5]

    @pytest.mark.parametrize("kind", ["INT64", "UINT64"])
    def test_typed_limits_are_exact(self, kind):
        most = np.iinfo(numpy_type(kind)).max
        limits = {"Min": scalar(kind, 0), "Max": scalar(kind, most - 1), "MinMaxDataType": data_type(kind)}
        assert run("ELEMENT_WISE_CLIP1", array(kind, most, most - 2), **limits).tolist() == [
            most - 1,
            most - 2,
        ]

    @pytest.mark.parametrize("kind", [*FLOATS, *INTEGERS])
    def test_gradient(self, kind):
        """0 at the limits and beyond; with Min above Max 0 everywhere."""
        x, gradient = array(kind, 1, 2, 3, 4, 5), array(kind, 10, 20, 30, 40, 50)
        assert run("ELEMENT_WISE_CLIP_GRAD", x, gradient, Min=2, Max=4).tolist() == [0, 0, 30, 0, 0]
        assert run("ELEMENT_WISE_CLIP_GRAD", x, gradient, Min=4, Max=2).tolist() == [0] * 5
        limits = {"Min": scalar(kind, 2), "Max": scalar(kind, 4), "MinMaxDataType": data_type(kind)}
        assert run("ELEMENT_WISE_CLIP_GRAD1", x, gradient, **limits).tolist() == [0, 0, 30, 0, 0]

    @pytest.mark.parametrize("kind", FLOATS)
    def test_gradient_at_nan(self, kind):
        """NaN is neither <= Min nor >= Max."""
        assert run("ELEMENT_WISE_CLIP_GRAD", array(kind, NAN), array(kind, 3), Min=0, Max=1).tolist() == [3]

    @pytest.mark.parametrize("kind", TO_32)
    def test_threshold(self, kind):
        assert run("ELEMENT_WISE_THRESHOLD", array(kind, 0, 3, 7), Min=3).tolist() == [3, 3, 7]
        if kind in FLOATS:
            assert run("ELEMENT_WISE_THRESHOLD", array(kind, NAN), Min=3).tolist() == [3]

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


class TestBits:
    """Elements in their own encoding, whatever their type."""

    @pytest.mark.parametrize("kind", DATA_TYPES)
    def test_combinations(self, kind):
        rng = generator("bits", kind)
        width = numpy_type(kind).itemsize
        a, b = (rng.integers(0, 256, (50, width), np.uint8) for _ in range(2))
        x, y = (one.view(numpy_type(kind)).reshape(5, 10) for one in (a, b))
        expected = {"AND": a & b, "OR": a | b, "XOR": a ^ b}
        for name, values in expected.items():
            assert run(f"ELEMENT_WISE_BIT_{name}", x, y).tobytes() == values.tobytes()
        assert run("ELEMENT_WISE_BIT_NOT", x).tobytes() == (~a).tobytes()
        counts = np.unpackbits(a, axis=1).sum(axis=1)
        for output in ("UINT8", "UINT32"):
            assert run("ELEMENT_WISE_BIT_COUNT", x, output=output).ravel().tolist() == counts.tolist()

    @pytest.mark.parametrize("kind", UNSIGNED)
    def test_shifts_are_modulo_32(self, kind):
        """Of 64 bits, which are two words, from 64 on."""
        a, b = array(kind, 5, 5, 5), array(kind, 1, 32, 33)
        left, right = ([10, 5 << 32, 5 << 33], [2, 0, 0]) if kind == "UINT64" else ([10, 5, 10], [2, 5, 2])
        assert run("ELEMENT_WISE_BIT_SHIFT_LEFT", a, b).tolist() == left
        assert run("ELEMENT_WISE_BIT_SHIFT_RIGHT", a, b).tolist() == right


@pytest.mark.parametrize("kind", DATA_TYPES)
def test_if(kind):
    """Every nonzero value is true; selected elements are copied unchanged, NaN too."""
    width = numpy_type(kind).itemsize
    bits = generator("if", kind).integers(0, 256, (2, 40, width), np.uint8)
    a, b = bits.view(numpy_type(kind)).reshape(2, 40)
    condition = np.arange(40, dtype=np.uint8) % 3
    expected = np.where(condition[:, None] != 0, *bits)
    assert run("ELEMENT_WISE_IF", condition, a, b, output=kind).tobytes() == expected.tobytes()


class TestCast:
    @pytest.mark.parametrize("kind", INTEGERS)
    @pytest.mark.parametrize("source", ["FLOAT64", *FLOATS])
    def test_floats_to_integers(self, source, kind):
        limits = np.iinfo(numpy_type(kind))
        x = array(source, -1.9, 1.9, 100.5, INF, -INF, NAN)
        expected = [-1 if kind in SIGNED else 0, 1, 100, limits.max, limits.min, 0]
        assert run("CAST", x, output=kind).tolist() == expected

    @pytest.mark.parametrize("output", ["FLOAT64", *FLOATS])
    @pytest.mark.parametrize("source", INTEGERS)
    def test_integers_to_floats(self, source, output):
        x = random_values(generator("cast", source), source, (100,))
        result = run("CAST", x, output=output)
        assert result.dtype == numpy_type(output)
        assert_rounded(result, x.astype(np.float64))

    @pytest.mark.parametrize("source", INTEGERS)
    @pytest.mark.parametrize("output", INTEGERS)
    def test_integers_wrap(self, source, output):
        x = random_values(generator("cast", source, output), source, (100,))
        limits = np.iinfo(numpy_type(output))
        expected = [(int(one) - limits.min) % (1 << limits.bits) + limits.min for one in x]
        assert run("CAST", x, output=output).tolist() == expected

    def test_floats_to_floats(self):
        """To the nearest, ties to even, which may be infinite."""
        x = array("FLOAT64", 2049, 65519, 65520, 1 + 2**-11 + 2**-40, NAN)
        expected = array("FLOAT16", 2048, 65504, INF, 1 + 2**-10, NAN)
        np.testing.assert_array_equal(run("CAST", x, output="FLOAT16"), expected, strict=True)

    @pytest.mark.parametrize("kind", DATA_TYPES)
    def test_to_the_same_type(self, kind):
        bits = generator("same", kind).integers(0, 256, 30 * numpy_type(kind).itemsize, np.uint8)
        x = bits.view(numpy_type(kind))
        assert run("CAST", x, output=kind).tobytes() == x.tobytes()


class TestQuantization:
    @pytest.mark.parametrize("kind", ["INT8", "UINT8"])
    @pytest.mark.parametrize("source", [*FLOATS, "INT32"])
    def test_quantize(self, source, kind):
        """Halves go to even."""
        scale = "FLOAT32" if source == "INT32" else source
        x, scales = array(source, 1, 3, 5, 30000, -30000), array(scale, 2, 2, 2, 1, 1)
        limits = np.iinfo(numpy_type(kind))
        result = run("ELEMENT_WISE_QUANTIZE_LINEAR", x, scales, None, output=kind)
        assert result.tolist() == [0, 2, 2, limits.max, limits.min]
        zero_point = array(kind, 1, 1, 1, 1, 1)
        result = run("ELEMENT_WISE_QUANTIZE_LINEAR", x, scales, zero_point, output=kind)
        assert result.tolist() == [1, 3, 3, limits.max, limits.min]

    @pytest.mark.parametrize("output", FLOATS)
    @pytest.mark.parametrize("kind", ["INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32"])
    def test_dequantize(self, kind, output):
        x, scale, zero_point = array(kind, 7, 100), array(output, 0.5, 0.25), array(kind, 5, 104)
        result = run("ELEMENT_WISE_DEQUANTIZE_LINEAR", x, scale, zero_point, output=output)
        np.testing.assert_array_equal(result, array(output, 1, -1), strict=True)
        result = run("ELEMENT_WISE_DEQUANTIZE_LINEAR", x, scale, None, output=output)
        np.testing.assert_array_equal(result, array(output, 3.5, 25), strict=True)


def test_fused_activation():
    relu = dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_ACTIVATION_RELU, dml.DML_ACTIVATION_RELU_OPERATOR_DESC())
    a, b = array("FLOAT16", 1, -3), array("FLOAT16", 2, 1)
    assert run("ELEMENT_WISE_ADD1", a, b, FusedActivation=relu).tolist() == [3, 0]
