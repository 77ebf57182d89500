"""The photograph sample: compared with Pillow and NumPy, and as a program."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from toolchain import need_package

from directml_py.samples import photograph

SIZE = HEIGHT, WIDTH = 160, 240


@pytest.fixture(scope="module")
def original():
    need_package("sklearn")
    need_package("PIL")
    return photograph.load()


@pytest.fixture(scope="module")
def results(original):
    return photograph.process(original)


@pytest.fixture(scope="module")
def small(original):
    """What Pillow makes of the photograph, {3,160,240} FLOAT64, with its edges extended: Pillow itself stops there."""
    from PIL import Image

    edge = 8
    height, width = (size / photograph.SCALE for size in SIZE)
    channels = [
        Image.fromarray(np.pad(channel, edge, "edge").astype(np.float32)).resize(
            (WIDTH, HEIGHT), Image.Resampling.BILINEAR, (edge, edge, edge + width, edge + height)
        )
        for channel in np.moveaxis(original, -1, 0)
    ]
    return np.array(channels, np.float64)


@pytest.fixture(scope="module")
def values(small):
    mean, variance = (function((1, 2), keepdims=True) for function in (small.mean, small.var))
    return (small - mean) / np.sqrt(variance + 1e-5)


def rounded(pixels):
    """{C,H,W} as bytes {H,W,C}; integers, so that their differences can be negative."""
    return np.moveaxis(np.rint(np.clip(pixels, 0, 255)), 0, -1).astype(int)


def test_the_small_photograph_is_pillows(results, small):
    assert results["small"].dtype == np.uint8
    np.testing.assert_allclose(results["small"], rounded(small), rtol=0, atol=1)
    # Not more than what lies next to a half.
    assert np.mean(results["small"] != rounded(small)) < 0.001


def test_each_channel_is_normalized(results, values):
    np.testing.assert_allclose(results["values"][0], values, rtol=0, atol=1e-4)
    np.testing.assert_allclose(results["normalized"], rounded(values * 50 + 128), rtol=0, atol=1)


def test_edges_are_where_the_image_is_steep(results, values):
    """Both filters as NumPy products over sliding windows, with reflected edges."""
    smooth, slope = np.array([1, 4, 6, 4, 1]) / 16, np.array([-1, 0, 1]) / 2
    broad = np.array([1, 2, 1]) / 4
    padded = np.pad(values, ((0, 0), (3, 3), (3, 3)), "reflect")
    for axis in (1, 2):
        padded = sliding_window_view(padded, 5, axis) @ smooth
    across, down = (
        sliding_window_view(sliding_window_view(padded, 3, 2) @ x, 3, 1) @ y
        for x, y in ((slope, broad), (broad, slope))
    )
    steepness = np.hypot(across, down).max(0, keepdims=True)
    assert results["edges"].shape == (HEIGHT, WIDTH, 1)
    expected = rounded(255 * (1 - steepness / steepness.max()))
    np.testing.assert_allclose(results["edges"], expected, rtol=0, atol=1)
    assert np.mean(results["edges"] != expected) < 0.001


def test_the_bytes_of_the_photograph_are_read_as_they_lie(original):
    """Only strides describe the interleaved channels, and no node copies to transpose them."""
    height, width, _ = original.shape
    graph = photograph.photograph_graph(height, width)
    tensor = graph.inputs["photograph"]
    assert tensor.sizes == (1, 3, height, width)
    assert tensor.effective_strides == (original.nbytes, *(original.strides[axis] for axis in (2, 0, 1)))
    assert tensor.total_size == original.nbytes
    assert graph.plan.steps[0].operator == "CAST"
    for name in ("small", "normalized"):
        assert graph.outputs[name].effective_strides[1] == 1


def test_photograph(python, tmp_path, original, results):
    process = python("-m", "directml_py.samples.photograph", str(tmp_path))
    assert (process.returncode, process.stderr) == (0, "")
    _, before, small, normalized, _ = process.stdout.splitlines()
    for line, name, pixels in (before, "photograph", original), (small, "small", results["small"]):
        assert line.startswith(name)
        numbers = [float(number) for number in re.findall(r"\d+\.\d+", line)]
        means, variances = pixels.mean((0, 1)), pixels.var((0, 1))
        np.testing.assert_allclose(numbers, np.stack([means, variances], 1).reshape(-1), atol=6e-4)
    assert re.findall(r"-?\d+\.\d+", normalized) == ["0.000", "1.000"] * 3

    expected = {"photograph": original, **{name: results[name] for name in ("small", "normalized", "edges")}}
    from PIL import Image

    assert {path.stem for path in tmp_path.iterdir()} == set(expected)
    for name, pixels in expected.items():
        with Image.open(tmp_path / f"{name}.png") as image:
            assert image.format == "PNG"
            assert image.size == pixels.shape[1::-1]
            np.testing.assert_array_equal(np.asarray(image), pixels.squeeze())
