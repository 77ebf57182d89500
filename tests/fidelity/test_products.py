"""What Microsoft's library does between the factors of MATRIX_MULTIPLY_INTEGER_TO_FLOAT and a result of FLOAT16."""

from __future__ import annotations

import numpy as np
import pytest

from .recorded import cases

NAME = "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"
CASES = {case.name: case for case in cases() if case.desc.name == NAME and not case.refused}
HALVES = [name for name, case in CASES.items() if case.outputs[0].dtype == np.float16]


def rounded(values):
    """To FLOAT16. Where the software device packs elements, in tensors of whole groups of four, it truncates."""
    halves = values.astype(np.float16)
    if values.size % 4 == 0:
        beyond = np.abs(halves.astype(np.float64)) > np.abs(values)
        halves = np.where(beyond, np.nextafter(halves, np.float16(0)), halves)
    return halves.astype(np.float32)


def meant(integers, scale, zero_point, sizes):
    """The exact values that the integers represent; parameters are reshaped to ``sizes``."""
    less = 0 if zero_point is None else zero_point.reshape(sizes).astype(np.float64)
    return (integers.astype(np.float64) - less) * scale.reshape(sizes).astype(np.float64)


@pytest.mark.operator(NAME)
@pytest.mark.parametrize("name", HALVES)
def test_factors_are_halves(name):
    """Bit by bit: the factors in FLOAT16, their products and the bias added up in FLOAT32, and that rounded."""
    a, a_scale, a_zero, b, b_scale, b_zero, bias = CASES[name].inputs
    left = rounded(meant(a, a_scale, a_zero, (-1, 1)))
    right = rounded(meant(b, b_scale, b_zero, (1, -1)))
    sums = np.matmul(left, right)
    if bias is not None:
        sums = sums + bias.astype(np.float32)
    np.testing.assert_array_equal(sums.astype(np.float16), CASES[name].outputs[0])


def test_there_are_such_cases():
    """One of them has factors of both kinds, and a bias."""
    assert len(HALVES) == 3
    assert any(
        case.inputs[0].size % 4 and case.inputs[3].size % 4 == 0 and case.inputs[-1] is not None
        for case in CASES.values()
    )
