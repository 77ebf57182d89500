"""GridSample beside ONNX Runtime's and ONNX's reference."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
from onnx import helper
from onnx.reference import ReferenceEvaluator

import directml_py as dml

from .onnx_runtime import results_of

RANDOM = np.random.default_rng(21)
MODES = {16: ("nearest", "bilinear", "bicubic"), 20: ("nearest", "linear", "cubic")}
PADDINGS = ("zeros", "border", "reflection")


def sampling(x, grid, opset, **attributes):
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], **attributes)
    element = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in (x, grid)]
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info("x", element[0], x.shape),
            helper.make_tensor_value_info("grid", element[1], grid.shape),
        ],
        [helper.make_tensor_value_info("y", element[0], None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def of_runtime(model, inputs):
    return results_of(model, inputs)[0]


def of_reference(model, inputs):
    return ReferenceEvaluator(model).run(None, inputs)[0]


def compared(model, inputs, expected):
    found = dml.onnx.load(model).run(inputs)["y"]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize(("opset", "mode"), [(opset, mode) for opset in MODES for mode in MODES[opset]])
def test_images(opset, mode, padding, aligned):
    """Positions reach far beyond the image."""
    x = RANDOM.standard_normal((2, 3, 5, 7)).astype(np.float32)
    grid = (RANDOM.random((2, 4, 6, 2), np.float32) - 0.5) * 6
    model = sampling(x, grid, opset, mode=mode, padding_mode=padding, align_corners=aligned)
    # Of a position outside the border ONNX Runtime moves both coordinates of a cubic sample; ONNX that outside.
    if "cubic" in mode and padding == "border":
        newer = sampling(x, grid, 20, mode="cubic", padding_mode=padding, align_corners=aligned)
        expected = of_reference(newer, {"x": x, "grid": grid})
    else:
        expected = of_runtime(model, {"x": x, "grid": grid})
    compared(model, {"x": x, "grid": grid}, expected)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("padding", PADDINGS)
def test_volumes(mode, padding):
    x = RANDOM.standard_normal((1, 2, 3, 4, 5)).astype(np.float32)
    grid = (RANDOM.random((1, 2, 3, 4, 3), np.float32) - 0.5) * 4
    model, inputs = sampling(x, grid, 20, mode=mode, padding_mode=padding), {"x": x, "grid": grid}
    compared(model, inputs, of_runtime(model, inputs))


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_lines(mode):
    """ONNX Runtime has two and three dimensions alone."""
    x, grid = RANDOM.random((2, 1, 6), np.float32), RANDOM.random((2, 4, 1), np.float32) * 2 - 1
    model, inputs = sampling(x, grid, 20, mode=mode), {"x": x, "grid": grid}
    compared(model, inputs, of_reference(model, inputs))


def test_an_axis_of_one_element_reflected_at_its_centre():
    x, grid = RANDOM.random((1, 1, 1, 4), np.float32), RANDOM.random((1, 2, 3, 2), np.float32) * 4 - 2
    model = sampling(x, grid, 20, padding_mode="reflection", align_corners=1)
    found = dml.onnx.load(model).run(x=x, grid=grid)["y"]
    place = np.abs((grid[..., 0] + 1.0) / 2 * 3)
    place = np.where(place > 3, 6 - place, place)
    np.testing.assert_allclose(found[0, 0], np.interp(place[0], range(4), x[0, 0, 0]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.uint8, np.int32, np.int64, np.bool_, np.float64])
def test_elements_that_are_moved(dtype):
    """The nearest element is moved as it is, whatever its type; outside there are zeros."""
    x = np.arange(1, 7).reshape(1, 1, 2, 3).astype(dtype)
    grid = np.float32([[[[-1, -1], [1, 1], [0, -1], [3, 0]]]])
    model = sampling(x, grid, 20, mode="nearest", align_corners=1)
    found = dml.onnx.load(model).run(x=x, grid=grid)["y"]
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found.reshape(-1), np.array([1, 6, 2, 0]).astype(dtype))


def test_halves_are_interpolated_as_floats():
    x = RANDOM.random((1, 2, 4, 4), np.float32)
    grid = (RANDOM.random((1, 3, 3, 2), np.float32) * 2 - 1).astype(np.float16)
    model = sampling(x.astype(np.float16), grid, 20)
    found = dml.onnx.load(model).run(x=x.astype(np.float16), grid=grid)["y"]
    wide = x.astype(np.float16).astype(np.float32), grid.astype(np.float32)
    expected = of_runtime(sampling(*wide, 20), dict(zip(("x", "grid"), wide)))
    np.testing.assert_array_equal(found, expected.astype(np.float16))
