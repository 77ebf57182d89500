"""The first few elements of rows against sorting all, byte for byte: also what lies around the elements."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.top_k import top

from .test_gather import laid_out
from .variants import LAYOUTS

pytestmark = pytest.mark.usefixtures("native")

TYPES = [np.dtype(f"{kind}{item}") for kind in "iu" for item in (1, 2, 4, 8)]
FLOATS = [np.dtype(f"f{item}") for item in (2, 4, 8)]


def elements(rng, sizes, dtype):
    """Many equal ones, the extremes, and of floats NaN, infinities and both zeros."""
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        values = rng.integers(limits.min, limits.max, sizes, dtype, endpoint=True)
        return np.where(rng.random(sizes) < 0.5, rng.choice(values.reshape(-1), sizes), values)
    values = rng.standard_normal(sizes).astype(dtype)
    special = np.array(
        [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, np.finfo(dtype).smallest_subnormal], dtype
    )
    return np.where(rng.random(sizes) < 0.6, rng.choice(special, sizes), values)


def expected(row, count, decreasing):
    """Python's sort is stable."""

    def key(index):
        value = row[index].item()
        return (value != value, 0 if value != value else -value if decreasing else value)

    return sorted(range(len(row)), key=key)[:count]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [*FLOATS, *TYPES], ids=str)
@swept(
    "sizes, count",
    [
        ((3, 4, 500), 10),
        ((7, 64), 64),
        ((2, 1), 1),
        ((5, 130), 1),
        ((3, 127), 64),
        ((3, 128), 64),
        ((2, 1000), 63),
    ],
)
def test_every_type_and_layout(dtype, sizes, count):
    rng = np.random.default_rng(count)
    for layout in LAYOUTS[:-1]:
        wide, _ = laid_out(rng, (*sizes[:-1], sizes[-1] + 3), dtype, "packed")
        x = wide[..., 2:-1]
        x[...] = elements(rng, sizes, dtype)
        x = x[(slice(None, None, -1),) * (len(sizes) - 1)]
        for index_type, decreasing in ((np.uint32, True), (np.uint64, False)):
            values, value_memory = laid_out(rng, (*sizes[:-1], count), dtype, layout)
            indices, index_memory = laid_out(rng, (*sizes[:-1], count), index_type, layout)
            run = top(x, values, indices, len(sizes) - 1, decreasing=decreasing)
            assert run
            before = value_memory.copy(), index_memory.copy()
            for place in np.ndindex(*sizes[:-1]):
                indices[place] = expected(x[place], count, decreasing)
                values[place] = x[place][indices[place].astype(np.intp)]
            right = value_memory.copy(), index_memory.copy()
            value_memory[:], index_memory[:] = before
            run()
            np.testing.assert_array_equal(value_memory, right[0])
            np.testing.assert_array_equal(index_memory, right[1])


@pytest.mark.parametrize("dtype", [*FLOATS, *TYPES], ids=str)
@swept("count", [1, 10, 64])
def test_rows_of_one_value_but_for_the_last(dtype, count):
    """Extremes have no key before or behind them; of equal elements the first come first."""
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    special = [np.nan, np.inf, -np.inf] if dtype.kind == "f" else []
    rows = np.array([limits.min, limits.max, 0, 1, *special], dtype)
    x = np.repeat(rows[:, None], 300, 1)
    x[:, -1] = 1
    values, indices = np.empty((len(rows), count), dtype), np.empty((len(rows), count), np.uint32)
    for decreasing in (False, True):
        run = top(x, values, indices, 1, decreasing=decreasing)
        assert run
        run()
        right = np.array([expected(row, count, decreasing) for row in x])
        np.testing.assert_array_equal(indices, right)
        np.testing.assert_array_equal(values, np.take_along_axis(x, right, 1))


def test_rows_are_shared_by_threads(threads):
    x = np.random.default_rng(0).integers(-1000, 1000, (3000, 500)).astype(np.int32)
    values, indices = np.empty((3000, 10), np.int32), np.empty((3000, 10), np.uint32)
    run = top(x, values, indices, 1, decreasing=True)
    assert run
    run()
    right = np.argsort(-x, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(indices, right)
    np.testing.assert_array_equal(values, np.take_along_axis(x, right, 1))
