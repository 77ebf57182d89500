"""Reductions over no axes, which programs request: each element is reduced by itself."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml

from .helpers import FLOATS, arg, function, numpy_type, reduce

VALUES = [[-1.5, 2.0, 3.0], [4.0, -5.0, 0.25]]
OF_EACH = {
    "AVERAGE": lambda x: x,
    "L1": abs,
    "L2": abs,
    "LOG_SUM_EXP": lambda x: x,
    "MAX": lambda x: x,
    "MIN": lambda x: x,
    "MULTIPLY": lambda x: x,
    "SUM": lambda x: x,
    "SUM_SQUARE": lambda x: x * x,
}


@pytest.mark.parametrize("name", OF_EACH)
@swept("data_type", FLOATS)
def test_reduce(name, data_type):
    x = np.array(VALUES, numpy_type(data_type))
    np.testing.assert_allclose(reduce(name, x, []), np.vectorize(OF_EACH[name])(x), rtol=1e-3)


def test_log_sum():
    x = np.array([[1.0, np.e, 0.0]], np.float32)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(reduce("LOG_SUM", x, []), np.log(x), atol=1e-6)


@pytest.mark.parametrize("struct", [dml.DML_ARGMIN_OPERATOR_DESC, dml.DML_ARGMAX_OPERATOR_DESC])
def test_the_only_element_is_the_first(struct):
    x = np.array(VALUES, np.float32)
    np.testing.assert_array_equal(arg(struct, x, []), np.zeros((2, 3), np.uint32))


def test_the_functions_are_all_there():
    names = {kind.name.removeprefix("DML_REDUCE_FUNCTION_") for kind in dml.DML_REDUCE_FUNCTION}
    assert names == {*OF_EACH, "LOG_SUM", "ARGMIN", "ARGMAX"}
    assert function("SUM") == dml.DML_REDUCE_FUNCTION_SUM
