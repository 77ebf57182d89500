"""Corner cases that random values may miss, in a few elements and in enough for every loop."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from toolchain import later

from directml_py.kernels.cache_blocks import BLOCK
from directml_py.operators import SCHEMAS

from .corners import activation, conversion, element_wise
from .corners.corner import column
from .helpers import FLOATS, computed, data_type, run, scalar

CORNERS = [corner for family in (element_wise, conversion, activation) for corner in family.CORNERS]


def assert_same(result, expected, case=""):
    """Equal down to the sign of zero; NaN is NaN."""
    np.testing.assert_array_equal(result, expected, strict=True, err_msg=str(case))
    if expected.dtype.kind == "f":
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result)[known], np.signbit(expected)[known], str(case))


@pytest.mark.parametrize("operator", sorted({corner.operator for corner in CORNERS}))
@pytest.mark.parametrize("counts", [(1, 199), *later(((BLOCK + 99,),))])
def test_corner(operator, counts):
    """Repeated, every row falls into SIMD vectors, the scalar tail, and several blocks."""
    for corner in CORNERS:
        if corner.operator == operator:
            for kind, count in product(corner.kinds, counts):
                check(corner, kind, count)


def check(corner, kind, count):
    """By the kernel that runs, and by the function in NumPy that says what it computes."""
    columns = [np.resize(one, max(one.size, count)) for one in corner.columns(kind)]
    *inputs, expected = columns
    tensors = [field for field in SCHEMAS[corner.operator].struct.tensors if field.role == "input"]
    inputs += [None] * (len(tensors) - len(inputs))
    for way in (run, computed):
        result = way(corner.operator, *inputs, output=expected.dtype.name.upper(), **corner.attributes)
        assert_same(result, expected, (corner, kind, way.__name__))


@pytest.mark.parametrize("corner", [one for one in element_wise.CLIPS if "Max" in one.attributes])
def test_typed_limits(corner):
    """CLIP1 and CLIP_GRAD1 do with numbers of the tensor's type what CLIP and CLIP_GRAD do with FLOATs."""
    for kind in corner.kinds:
        *inputs, expected = corner.columns(kind)
        if kind not in FLOATS and not all(map(math.isfinite, corner.attributes.values())):
            continue
        limits = {name: scalar(kind, value) for name, value in corner.attributes.items()}
        result = run(f"{corner.operator}1", *inputs, **limits, MinMaxDataType=data_type(kind))
        assert_same(result, expected)


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["SOFTMAX", "LOG_SOFTMAX", "HARDMAX"])
@pytest.mark.parametrize("version", ["", "1"])
def test_rows(name, version, kind):
    """Each row of the table by itself, whatever the others are."""
    place = ["SOFTMAX", "LOG_SOFTMAX", "HARDMAX"].index(name) + 1
    rows = [column(kind, row[0]) for row in activation.ROWS]
    expected = [column(kind, row[place]) for row in activation.ROWS]
    attributes = {"Axes": [1]} if version else {}
    result = run(f"ACTIVATION_{name}{version}", np.stack(rows), **attributes)
    assert_same(result, np.stack(expected))


def test_the_sum_of_quantized_tensors():
    """Ties round to even, results saturate, and differences of bytes do not wrap."""
    a = np.array([0, 255, 131, 130, 129, 127, 128], np.uint8)
    b = np.array([-128, 127, 0, 0, 0, 0, 0], np.int8)
    one = {"FLOAT32": np.float32, "UINT8": np.uint8, "INT8": np.int8}

    def single(kind, value):
        return np.array([value], one[kind])

    inputs = [a, single("FLOAT32", 0.5), single("UINT8", 128), b, single("FLOAT32", 2), None]
    inputs += [single("FLOAT32", 1), single("INT8", 3)]
    # (a - 128) / 2 + 2 * b: -320, 317.5, 1.5, 1, 0.5, -0.5 and 0, and 3 more.
    result = run("ELEMENT_WISE_QUANTIZED_LINEAR_ADD", *inputs, output="INT8")
    assert result.tolist() == [-128, 127, 5, 4, 3, 3, 3]
