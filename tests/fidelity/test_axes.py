"""Axes that a page forbids but Microsoft's library accepts: a repeated axis counts once, and without axes each element
is reduced by itself."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from ..operators.helpers import tensor_of

X = np.array([[1, 3, 2], [4, 0, 4]], np.float32)
SUMS = np.exp(X.astype(float) - [[3], [4]]).sum(1, keepdims=True)
ALONG = {
    "SOFTMAX": np.exp(X.astype(float) - [[3], [4]]) / SUMS,
    "LOG_SOFTMAX": X - [[3], [4]] - np.log(SUMS),
    "HARDMAX": [[0, 1, 0], [1, 0, 0]],
}
ALONE = {"SOFTMAX": 1, "LOG_SOFTMAX": 0, "HARDMAX": 1}
REDUCED = {
    "ARGMAX": [1, 0],
    "ARGMIN": [0, 1],
    "AVERAGE": [2, 8 / 3],
    "L1": [6, 8],
    "L2": [14**0.5, 32**0.5],
    "LOG_SUM": np.log([6, 8]),
    "LOG_SUM_EXP": np.log(SUMS.ravel()) + np.array([3, 4]),
    "MAX": [3, 4],
    "MIN": [1, 0],
    "MULTIPLY": [6, 0],
    "SUM": [6, 8],
    "SUM_SQUARE": [14, 32],
}


def rules(desc):
    assert dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL_6_2) == []
    return {one.rule for one in dml.validate(desc, strict=True)}


def activation(name, dtype, axes):
    x = tensor_of(X.astype(dtype))
    return getattr(dml, f"DML_ACTIVATION_{name}1_OPERATOR_DESC")(x, x, Axes=axes)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", ALONG)
def test_activations(name, dtype):
    again, alone = activation(name, dtype, [1, 1, 1]), activation(name, dtype, [])
    assert rules(again) == {f"DML-ACTIVATION_{name}1-axes-unique"}
    assert rules(alone) == {f"DML-ACTIVATION_{name}1-axis-count"}
    rounding = 1e-6 if dtype is np.float32 else 2e-3
    np.testing.assert_allclose(dml.evaluate(again, [X.astype(dtype)])[0], ALONG[name], rtol=rounding)
    assert (dml.evaluate(alone, [X.astype(dtype)])[0] == ALONE[name]).all()


@pytest.mark.parametrize("name", REDUCED)
def test_reductions(name):
    output = np.zeros((2, 1), np.uint32 if name.startswith("ARG") else np.float32)
    function = getattr(dml, f"DML_REDUCE_FUNCTION_{name}")
    desc = dml.DML_REDUCE_OPERATOR_DESC(function, tensor_of(X), tensor_of(output), Axes=[1, 1])
    assert rules(desc) == {"DML-REDUCE-axes-unique"}
    np.testing.assert_allclose(dml.evaluate(desc, [X])[0].ravel(), REDUCED[name], rtol=1e-6)


@pytest.mark.parametrize("name", ["ARGMIN", "ARGMAX"])
def test_indices(name):
    output = tensor_of(np.zeros((2, 1), np.uint32))
    desc = getattr(dml, f"DML_{name}_OPERATOR_DESC")(tensor_of(X), output, Axes=[1, 1])
    assert rules(desc) == {f"DML-{name}-axes-unique"}
    assert dml.evaluate(desc, [X])[0].ravel().tolist() == REDUCED[name]


def test_normalization():
    x = tensor_of(X)
    desc = dml.DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC(
        InputTensor=x, OutputTensor=x, Axes=[1, 1], NormalizeVariance=True, Epsilon=0
    )
    assert rules(desc) == {"DML-MEAN_VARIANCE_NORMALIZATION1-axes-unique"}
    deviations = X - [[2], [8 / 3]]
    expected = deviations / np.sqrt([[2 / 3], [32 / 9]])
    np.testing.assert_allclose(dml.evaluate(desc, [X, None, None])[0], expected, rtol=1e-6)
