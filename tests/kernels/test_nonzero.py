"""The places of what is not zero against NumPy's, byte for byte: also what lies around the coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.nonzero import nonzero

from .test_gather import laid_out
from .variants import LAYOUTS, assert_same_bytes

pytestmark = pytest.mark.usefixtures("native")

TYPES = [np.dtype(name) for name in ("f2", "f4", "f8", "i1", "u2", "i4", "u8")]


def assert_found(x, width, layout="packed"):
    """Twice, the second time over other bytes: coordinates in order, then zeros."""
    rng = np.random.default_rng(x.size)
    coordinates, memory = laid_out(rng, (x.size, width), np.uint32, layout)
    search = nonzero(x, coordinates)
    right = np.argwhere(x != 0)[:, x.ndim - width :]
    for _ in range(2):
        before = memory.copy()
        coordinates[: len(right)], coordinates[len(right) :] = right, 0
        expected = memory.copy()
        memory[:] = before
        assert search() == len(right)
        assert_same_bytes(memory, expected)
        memory += 1


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@swept("sizes", [(1,), (2,), (1023,), (1025,), (1, 3, 2050), (40, 300), (3, 5, 7, 2, 11)])
def test_every_type_and_size(dtype, sizes):
    rng = np.random.default_rng(sizes)
    for share in (0, 0.5, 1):
        wide = np.where(rng.random((*sizes[:-1], 2 * sizes[-1])) < share, 1, 0).astype(dtype)
        if dtype.kind == "f":
            # Zeros of both signs, and what is nearest to them.
            wide = np.where(rng.random(wide.shape) < 0.5, -wide, wide * np.finfo(dtype).smallest_subnormal)
        else:
            wide *= dtype.type(1) if share == 1 else dtype.type(np.iinfo(dtype).max // 2 + 1)
        first = next((index for index, size in enumerate(sizes) if size > 1), len(sizes) - 1)
        for x in (wide[..., : sizes[-1]], wide[..., ::2], wide[..., ::-1][..., : sizes[-1]]):
            for width in {len(sizes), len(sizes) - first}:
                assert_found(np.ascontiguousarray(x), width)
                assert_found(x, width)


@pytest.mark.parametrize("layout", LAYOUTS[:-1])
def test_layouts_of_coordinates(layout):
    assert_found(np.random.default_rng(0).integers(0, 2, (9, 300)).astype(np.int16), 2, layout)


def test_a_broadcast_line():
    assert_found(np.broadcast_to(np.array([[1.0], [0], [np.nan]], np.float32), (3, 1500)), 2)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_threads_and_streams(width, threads):
    sizes = {1: (3_000_001,), 2: (1500, 2001), 3: (10, 150, 1999)}[width]
    x = (np.random.default_rng(1).random(sizes, np.float32) < 0.7).astype(np.uint8)
    assert_found(x, width)


def test_more_elements_than_blocks_of_their_least_size():
    x = np.zeros(8192 * 4096 + 5, np.uint8)
    places = [0, 8191, 8193, 12345678, x.size - 1]
    x[places] = 255
    coordinates = np.ones((x.size, 1), np.uint32)
    assert nonzero(x, coordinates)() == len(places)
    np.testing.assert_array_equal(coordinates[: len(places), 0], places)
    assert not coordinates[len(places) :].any()
