"""Normalizations beside their references: in blocks, with what is not finite, and as clients know them."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py.kernels import rows, threads
from directml_py.kernels.backend import backend
from directml_py.operators import SCHEMAS, kernel_of, operator_of
from directml_py.operators.normalization.rows import InRows
from directml_py.operators.operator import computing_kernel
from directml_py.testing.source import RandomSource
from directml_py.testing.tolerances import ulps_apart
from directml_py.testing.valid import valid_desc

from .helpers import generator
from .references.onnx_node import run as run_node
from .running import run
from .values import arrays_for

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
    """But for the order of sums."""
    monkeypatch.setattr(rows, "BLOCK", 16)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1e-9)
    monkeypatch.setattr(backend, "is_plain", False)
    for seed in range(12):
        desc = valid_desc(RandomSource(seed), operator, max_elements=300)
        inputs = arrays_for(desc, seed)
        twin = computing_kernel(operator_of(operator).compute(desc))
        for one, other in zip(results(desc, kernel_of(desc), inputs), results(desc, twin, inputs)):
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
    """Epsilon, which ONNX does not have, takes nothing from small norms either: all of these are some 0.002."""
    x = generator("norms", order).uniform(-1e-3, 1e-3, (3, 5)).astype(np.float32)
    (expected,) = run_node("LpNormalization", [x], axis=1, p=order)
    result = run("LP_NORMALIZATION", x, Axis=1, Epsilon=1e-5, P=order)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


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
    result = run("LP_NORMALIZATION", x, Axis=1, Epsilon=1, P=order)
    share = 0.5 if order == 1 else 0.5**0.5
    assert_rows(result, [NAN, 0], [share, share], [0, -1])


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


@pytest.mark.operator("MEAN_VARIANCE_NORMALIZATION1")
def test_long_rows_of_equal_elements_do_not_vary():
    """0.1 is none of FLOAT32's, but a million times what it has instead is exact in FLOAT64."""
    x = np.full((2, 1_000_000), 0.1, np.float32)
    bias = np.full((1, 1), 0.25, np.float32)
    rest = {"Axes": [1], "NormalizeVariance": True, "Epsilon": 1e-30}
    result = run("MEAN_VARIANCE_NORMALIZATION1", x, None, bias, **rest)
    assert (result == 0.25).all()
