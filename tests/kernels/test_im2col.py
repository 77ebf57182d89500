"""Products of matrices and convolutions: each way to compute them, and how much memory that takes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels import im2col
from directml_py.kernels.im2col import blocks, convolve, convolve_back, matmul
from directml_py.kernels.windows import Window

from .window_samples import WINDOWS, sizes_for

INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64]


@pytest.fixture(params=["unrolled", "moved", "unrolled in small blocks", "moved in small blocks"])
def way(request, monkeypatch):
    """One of the ways to compute a convolution."""
    monkeypatch.setattr(im2col, "PRODUCTS_COST", 0 if "moved" in request.param else 1 << 40)
    if "small" in request.param:
        monkeypatch.setattr(im2col, "BLOCK_BYTES", 256)


def reference(x, weights, window, steps, groups):
    """A convolution in FLOAT64, element of the window by element."""
    padded = window.padded(x, steps, np.float64)
    view = window.view(padded, steps)
    spatial = "def"[: len(steps)], "xyz"[: len(steps)]
    parts = [
        np.einsum(f"nc{spatial[0]}{spatial[1]},mc{spatial[1]}->nm{spatial[0]}", part, filters)
        for part, filters in zip(
            np.split(view, groups, axis=1), np.split(weights.astype(np.float64), groups, axis=0)
        )
    ]
    return np.concatenate(parts, axis=1)


def operands(window, groups, dtype=np.float32):
    rng = np.random.default_rng(2)
    x = rng.integers(-9, 10, (2, 2 * groups, *sizes_for(window))).astype(dtype)
    return x, rng.integers(-9, 10, (3 * groups, 2, *window.size)).astype(dtype)


@swept("window", WINDOWS)
@swept("groups", [1, 3])
@swept("fewer", [0, 1])
@pytest.mark.usefixtures("way")
def test_convolution(window, groups, fewer):
    """``fewer``: how many steps fewer than fit."""
    x, weights = operands(window, groups)
    steps = tuple(max(1, count - fewer) for count in window.forward(sizes_for(window)))
    found = convolve(x, weights, window, steps, groups)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, reference(x, weights, window, steps, groups))


@swept("window", WINDOWS)
@swept("groups", [1, 3])
@swept("more", [0, 2])
@pytest.mark.usefixtures("way")
def test_backwards_is_the_adjoint(window, groups, more):
    """<convolve(x), y> is <x, convolve_back(y)>. ``more``: elements that no step sees."""
    x, weights = operands(window, groups)
    x = np.pad(x, [(0, 0), (0, 0), *[(0, more)] * len(window.size)], constant_values=7)
    steps = window.forward(sizes_for(window))
    y = np.random.default_rng(3).integers(-9, 10, (2, 3 * groups, *steps)).astype(np.float32)
    back = convolve_back(y, weights, window, x.shape[2:], groups)
    assert back.shape == x.shape
    assert np.vdot(convolve(x, weights, window, steps, groups), y) == np.vdot(x, back)
    behind = window.reach(steps)[-1] - window.start_padding[-1]
    assert not back[..., max(0, behind) :].any()


@pytest.mark.usefixtures("way")
def test_any_layout_of_the_operands():
    window = WINDOWS[3]
    x, weights = operands(window, 1)
    steps = window.forward(sizes_for(window))
    wanted = convolve(x, weights, window, steps)
    others = np.asfortranarray(x), np.flip(np.flip(weights).copy())
    np.testing.assert_array_equal(convolve(*others, window, steps), wanted)
    alike = np.broadcast_to(x[:1, :1], x.shape)
    np.testing.assert_array_equal(
        convolve(alike, weights, window, steps), convolve(alike.copy(), weights, window, steps)
    )


@pytest.mark.usefixtures("way")
def test_integers_are_exact():
    window = Window.of((3, 3), start_padding=(1, 1), end_padding=(1, 1))
    x = np.full((1, 2, 5, 5), -(1 << 15), np.int16)
    weights = np.full((1, 2, 3, 3), (1 << 15) - 1, np.int16)
    found = convolve(x, weights, window, (5, 5))
    assert found.dtype == np.int64
    assert found[0, 0, 2, 2] == -18 * (1 << 15) * ((1 << 15) - 1)


@pytest.mark.usefixtures("way")
def test_padding_is_multiplied():
    """0 times infinity is NaN, however the work is divided."""
    window = Window.of((3,), start_padding=(1,), end_padding=(1,))
    weights = np.array([[[np.inf, 1, 1]]], np.float32)
    with np.errstate(invalid="ignore"):
        found = convolve(np.ones((1, 1, 3), np.float32), weights, window, (3,))
    np.testing.assert_array_equal(found, [[[np.nan, np.inf, np.inf]]])


def test_memory():
    """The input is never unrolled as a whole: that would take 9 times its size."""
    x = np.ones((1, 64, 200, 200), np.float32)
    weights = np.ones((4, 64, 3, 3), np.float32)
    window = Window.of((3, 3))
    for call in (
        lambda: convolve(x, weights, window, (198, 198)),
        lambda: convolve(x, np.ones((32, 64, 3, 3), np.float32), window, (198, 198)),
        lambda: convolve_back(x, np.ones((64, 4, 3, 3), np.float32), window, (202, 202)),
    ):
        tracemalloc.start()
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < result.nbytes + 3 * im2col.BLOCK_BYTES


@swept("a", INTEGERS)
@swept("b", INTEGERS)
def test_products_of_integers_are_exact(a, b):
    rng = np.random.default_rng(4)
    factors = [
        rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, shape, dtype=kind, endpoint=True)
        for kind, shape in ((a, (2, 1, 3, 5)), (b, (4, 5, 2)))
    ]
    found = matmul(*factors)
    wanted = np.matmul(*(factor.astype(object) for factor in factors))
    assert found.dtype == (np.uint64 if np.uint64 in (a, b) else np.int64)
    assert found.shape == (2, 4, 3, 2)
    assert not ((found.astype(object) - wanted) % (1 << 64)).any()


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (np.float16, np.float16, np.float32),
        (np.float32, np.float16, np.float32),
        (np.float32, np.float64, np.float64),
    ],
)
def test_products_of_floats(a, b, wanted):
    found = matmul(np.full((3, 4), 300, a), np.full((4, 2), 300, b))
    assert found.dtype == wanted
    assert (found == 360_000).all()


@swept("sizes", [(5,), (3, 4), (2, 3, 4)])
@swept("limit", [1, 2, 3, 4, 7, 12, 100])
def test_blocks(sizes, limit):
    number = np.arange(np.prod(sizes)).reshape(sizes)
    seen = []
    for start, place in blocks(sizes, limit):
        part = number[tuple(slice(one.start, one.stop) for one in place)].ravel().tolist()
        assert len(part) <= limit
        assert part == list(range(start, start + len(part)))
        seen += part
    assert seen == number.ravel().tolist()
