"""DFT and STFT beside NumPy's and ONNX Runtime's."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
from onnx import helper

import directml_py as dml

from .onnx_runtime import results_of

RANDOM = np.random.default_rng(22)


def transform(kind, opset, x, constants, dtype=np.float32, **attributes):
    """A model of one node: its inputs are x and arrays that are constants, None if absent."""
    names = ["x", *("" if array is None else f"c{index}" for index, array in enumerate(constants))]
    node = helper.make_node(kind, names, ["y"], **attributes)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    tensors = [
        helper.make_tensor(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.tobytes(), raw=True
        )
        for name, array in zip(names[1:], constants)
        if array is not None
    ]
    given = [helper.make_tensor_value_info("x", element, x.shape)]
    wanted = [helper.make_tensor_value_info("y", element, None)]
    graph = helper.make_graph([node], "g", given, wanted, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def numbers(*sizes):
    return RANDOM.standard_normal(sizes).astype(np.float32)


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0]


def as_parts(x):
    return np.stack([x.real, x.imag], -1)


def close(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * max(1, abs(expected).max()))


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("length", [None, 5, 8, 13])
@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("inverse", [0, 1])
def test_whole_spectra(parts, length, axis, inverse):
    """Of a length that is the signal's, shorter, and longer, along an axis with and without others after it."""
    x = numbers(2, 8, 6, parts)
    given = [None if length is None else np.array(length), np.array(axis)]
    found = dml.onnx.load(transform("DFT", 20, x, given, inverse=inverse)).run(x=x)["y"]
    function = np.fft.ifft if inverse else np.fft.fft
    close(found, as_parts(function(as_complex(x).astype(np.complex128), length, axis)))


@pytest.mark.parametrize("axis", [1, 2])
def test_doubles(axis):
    """The copy of elements along an axis is one of bytes, which are not to be taken for integers."""
    x = numbers(2, 8, 6, 1).astype(np.float64)
    model = transform("DFT", 20, x, [None, np.array(axis)], dtype=np.float64)
    found = dml.onnx.load(model).run(x=x)["y"]
    assert found.dtype == np.float64
    close(found, as_parts(np.fft.fft(x[..., 0], axis=axis)))


@pytest.mark.parametrize("length", [7, 8])
@pytest.mark.parametrize("opset", [17, 20])
def test_half_a_spectrum_and_back(opset, length):
    x = numbers(3, length, 4, 1)
    settings = {"axis": 1} if opset == 17 else {}
    place = [] if opset == 17 else [np.array(1)]
    half = transform("DFT", opset, x, [None, *place], onesided=1, **settings)
    spectrum = dml.onnx.load(half).run(x=x)["y"]
    close(spectrum, as_parts(np.fft.rfft(x[..., 0], axis=1)))
    back = transform("DFT", opset, spectrum, [np.array(length), *place], onesided=1, inverse=1, **settings)
    if opset == 20:
        close(dml.onnx.load(back).run(x=spectrum)["y"], x)


def test_halves_are_transformed_as_floats():
    x = numbers(1, 64, 1).astype(np.float16)
    found = dml.onnx.load(transform("DFT", 20, x, [], np.float16)).run(x=x)["y"]
    expected = as_parts(np.fft.fft(x[..., 0].astype(np.float64), axis=1))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("has_window", [False, True])
def test_frames(has_window, onesided):
    x, window = numbers(2, 100, 1), np.hanning(16).astype(np.float32)
    given = [np.array(6), window if has_window else None, np.array(16)]
    model = transform("STFT", 17, x, given, onesided=onesided)
    close(dml.onnx.load(model).run(x=x)["y"], results_of(model, {"x": x})[0])


def test_a_window_that_is_known_when_the_model_runs():
    x, window = numbers(2, 20, 2), numbers(5)
    node = helper.make_node("STFT", ["x", "step", "window"], ["y"], onesided=0)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, x.shape), helper.make_tensor_value_info("window", 1, [5])],
        [helper.make_tensor_value_info("y", 1, None)],
        [helper.make_tensor("step", 7, [], [3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    frames = np.lib.stride_tricks.sliding_window_view(as_complex(x), 5, -1)[:, ::3] * window
    close(dml.onnx.load(model).run(x=x, window=window)["y"], as_parts(np.fft.fft(frames)))


@pytest.mark.parametrize(
    ("kind", "constants", "text"),
    [
        ("DFT", [np.array(-3)], "input dft_length: is -3; it must be at least 1"),
        ("DFT", [np.array(1 << 24)], "matrix of 20 x 33554432 elements would have 2560 MiB; at most 256 are"),
        ("STFT", [np.array(0)], "input frame_step: is 0"),
        ("STFT", [np.array(1), None, np.array(30)], "input frame_length: is 30; the signal has 20"),
    ],
)
def test_transforms_that_are_refused(kind, constants, text):
    x = np.zeros((1, 20, 1), np.float32)
    with pytest.raises(dml.onnx.OnnxError) as error:
        dml.onnx.load(transform(kind, 20 if kind == "DFT" else 17, x, constants))
    assert text in str(error.value)
    assert "\n" not in str(error.value)
