"""Normalizations against their references: in blocks, with non-finite values, and as clients use them."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels import rowwise, threads
from directml_py.kernels.backend import backend
from directml_py.operators import SCHEMAS, kernel_of, operator_of
from directml_py.operators.normalization.axis_normalization import InRows
from directml_py.operators.operator import computing_kernel
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.ulps import ulps_apart
from directml_py.testing.valid_descs import valid_desc

from .helpers import arrays_for, generator, run, run_all
from .records.onnx_node import run as run_node

IN_ROWS = [name for name in sorted(SCHEMAS) if isinstance(operator_of(name), InRows)]
INFINITY, NAN = np.inf, np.nan


def results(desc, kernel, inputs):
    outputs = [
        None if slot.tensor is None else np.empty(slot.tensor.sizes, slot.tensor.dtype)
        for slot in desc.outputs
    ]
    kernel.bind(inputs, outputs, np.empty(kernel.scratch, np.uint8))()
    return outputs


@pytest.mark.parametrize("operator", IN_ROWS)
def test_blocks_and_threads_agree_with_the_twin(operator, monkeypatch):
    """Except for the order of sums."""
    monkeypatch.setattr(rowwise, "BLOCK", 16)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1e-9)
    monkeypatch.setattr(backend, "is_plain", False)
    for seed in range(12):
        desc = valid_desc(RandomSource(seed), operator, max_elements=300)
        inputs = arrays_for(desc, seed)
        reference = computing_kernel(operator_of(operator).compute(desc))
        for one, other in zip(results(desc, kernel_of(desc), inputs), results(desc, reference, inputs)):
            assert (ulps_apart(one, other) <= 1).all()


@pytest.mark.operator("LOCAL_RESPONSE_NORMALIZATION")
@pytest.mark.parametrize("size", [1, 3, 5, 11])
def test_local_response_as_onnx_has_it(size):
    x = generator("local response", size).uniform(-3, 3, (2, 7, 3, 4)).astype(np.float32)
    parts = {"alpha": 0.75, "beta": 0.625, "bias": 1.5}
    (expected,) = run_node("LRN", [x], size=size, **parts)
    named = {name.capitalize(): value for name, value in parts.items()}
    result = run("LOCAL_RESPONSE_NORMALIZATION", x, CrossChannel=True, LocalSize=size, **named)
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.operator("LP_NORMALIZATION")
@pytest.mark.parametrize("order", [1, 2])
def test_norms_as_onnx_has_them(order):
    """Epsilon, which ONNX lacks, has no effect if small relative to the square of the norm."""
    x = generator("norms", order).uniform(-4, 4, (3, 5)).astype(np.float32)
    (expected,) = run_node("LpNormalization", [x], axis=1, p=order)
    result = run("LP_NORMALIZATION", x, Axis=1, Epsilon=1e-7, P=order)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.operator("LP_NORMALIZATION")
def test_epsilon_is_added_to_the_square_of_the_norm():
    """Recorded of Microsoft's library: norms of 10 and sqrt(30)."""
    x = np.array([[1, -2, 3, 4]], np.float32)
    magnitudes = run("LP_NORMALIZATION", x, Axis=1, Epsilon=0.5, P=1)
    np.testing.assert_allclose(magnitudes, [[0.09975093, -0.19950186, 0.29925278, 0.3990037]], rtol=3e-7)
    squares = run("LP_NORMALIZATION", abs(x), Axis=1, Epsilon=0.5, P=2)
    np.testing.assert_allclose(squares, [[0.1810715, 0.362143, 0.5432145, 0.724286]], rtol=3e-7)


def assert_rows(result, *expected):
    np.testing.assert_array_equal(result, np.array(expected, np.float32))


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION1")
def test_what_is_not_finite_spoils_its_own_row():
    x = np.array([[NAN, 1], [INFINITY, 1], [3, 1]], np.float32)
    rest = {"Axes": [1], "NormalizeVariance": True, "Epsilon": 0}
    result = run("MEAN_VARIANCE_NORMALIZATION1", x, None, None, **rest)
    assert_rows(result, [NAN, NAN], [NAN, NAN], [1, -1])


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION1")
def test_infinities_less_the_mean_alone():
    x = np.array([[INFINITY, 1], [-INFINITY, 1], [3, 1]], np.float32)
    rest = {"Axes": [1], "NormalizeVariance": False, "Epsilon": 0}
    result = run("MEAN_VARIANCE_NORMALIZATION1", x, None, None, **rest)
    assert_rows(result, [NAN, -INFINITY], [NAN, INFINITY], [1, -1])


@pytest.mark.operator("LP_NORMALIZATION")
@pytest.mark.parametrize("order", [1, 2])
def test_an_infinite_norm(order):
    x = np.array([[INFINITY, 1], [3e38, 3e38], [0, -2]], np.float32)
    result = run("LP_NORMALIZATION", x, Axis=1, Epsilon=0, P=order)
    share = 0.5 if order == 1 else 0.5**0.5
    assert_rows(result, [NAN, 0], [share, share], [0, -1])


@pytest.mark.operator("LP_NORMALIZATION")
def test_norms_of_float16_are_kept_in_float16():
    """300^2 + 400^2 exceeds its range, unlike squares of numbers below 256."""
    x = np.array([[300, 400], [30, 40], [200, 100]], np.float16)
    result = run("LP_NORMALIZATION", x, Axis=1, Epsilon=0, P=2)
    shares = np.float16([[0, 0], [0.6, 0.8], [0.8**0.5, 0.2**0.5]])
    np.testing.assert_array_equal(result, shares)


@pytest.mark.operator("LOCAL_RESPONSE_NORMALIZATION")
def test_what_is_not_finite_spoils_the_regions_that_have_it():
    x = np.array([2, INFINITY, 2, 2, NAN], np.float32)
    rest = {"Alpha": 3, "Beta": 1, "Bias": 2}
    result = run(
        "LOCAL_RESPONSE_NORMALIZATION", x.reshape(1, 5, 1, 1), CrossChannel=True, LocalSize=3, **rest
    )
    assert_rows(result.ravel(), *[0, NAN, 0, NAN, NAN])
    result = run(
        "LOCAL_RESPONSE_NORMALIZATION", x.reshape(1, 1, 5, 1), CrossChannel=True, LocalSize=3, **rest
    )
    assert_rows(result.ravel(), *[2 / 6, NAN, 2 / 6, 2 / 6, NAN])


VERSIONS = [
    pytest.param("MEAN_VARIANCE_NORMALIZATION1", {"NormalizeVariance": True}, id="1"),
    pytest.param("MEAN_VARIANCE_NORMALIZATION2", {"UseMean": True, "UseVariance": True}, id="2"),
]


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
@pytest.mark.parametrize(("name", "uses"), VERSIONS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_variance_of_a_single_element_is_the_element(name, uses, dtype):
    """As in Microsoft's library: 0 / sqrt(x + Epsilon)."""
    x = np.array([[4, -0.5], [-1, -4], [NAN, INFINITY]], dtype)
    bias = np.full((1, 1), 0.25, dtype)
    result = run(name, x[:, :, np.newaxis], None, bias[:, :, np.newaxis], Axes=[2], Epsilon=1, **uses)
    assert_rows(result[:, :, 0], [0.25, 0.25], [NAN, NAN], [NAN, NAN])
    result = run(name, x, None, bias, Axes=[], Epsilon=1, **uses)
    assert_rows(result, [0.25, 0.25], [NAN, NAN], [NAN, NAN])


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION1")
def test_the_mean_alone_of_single_elements():
    x = np.array([[4, -4]], np.float32)
    result = run("MEAN_VARIANCE_NORMALIZATION1", x, None, None, Axes=[0], NormalizeVariance=False, Epsilon=1)
    assert_rows(result, [0, 0])


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION2")
def test_the_mean_square_of_single_elements():
    """Microsoft's library is silent: its 6_2 has no UseMean."""
    x = np.array([[4, -4]], np.float32)
    rest = {"Axes": [0], "UseMean": False, "UseVariance": True, "Epsilon": 9}
    assert_rows(run("MEAN_VARIANCE_NORMALIZATION2", x, None, None, **rest), np.float32([0.8, -0.8]))


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
@pytest.mark.parametrize(("name", "uses"), VERSIONS)
def test_variances_beyond_float16(name, uses):
    """Recorded of Microsoft's library: 1000^2 is infinite in FLOAT16."""
    x = np.array([1000, -1000] * 4, np.float16)
    assert (run(name, x, None, None, Axes=[0], Epsilon=0, **uses) == 0).all()
    assert (abs(run(name, x / 10, None, None, Axes=[0], Epsilon=0, **uses)) == 1).all()


@pytest.mark.operator("BATCH_NORMALIZATION_TRAINING")
def test_statistics_of_float16_are_kept_in_float16():
    x, one = np.array([[1000], [-1000]], np.float16), np.ones((1, 1), np.float16)
    result, mean, variance = run_all(
        "BATCH_NORMALIZATION_TRAINING", [x, one, one, None], [(2, 1), (1, 1), (1, 1)], Epsilon=0
    )
    assert (result.tolist(), mean.item(), variance.item()) == ([[1], [1]], 0, INFINITY)


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION1")
def test_long_rows_of_equal_elements_do_not_vary():
    """FLOAT32 cannot represent 0.1, but a million times the nearest FLOAT32 is exact in FLOAT64."""
    x = np.full((2, 1_000_000), 0.1, np.float32)
    bias = np.full((1, 1), 0.25, np.float32)
    rest = {"Axes": [1], "NormalizeVariance": True, "Epsilon": 1e-30}
    result = run("MEAN_VARIANCE_NORMALIZATION1", x, None, bias, **rest)
    assert (result == 0.25).all()
