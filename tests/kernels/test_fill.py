"""Fills: elements numbered in the order of coordinates, whatever the layout, in blocks and in threads."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels import fill as module
from directml_py.kernels import threads
from directml_py.kernels.fill import fill, merged


@pytest.fixture(autouse=True)
def _small_work_has_blocks_and_threads(monkeypatch):
    monkeypatch.setattr(module, "BLOCK", 8)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1e-9)
    before = dml.thread_count()
    dml.set_thread_count(3)
    yield
    dml.set_thread_count(before)


def numbers(first, count):
    return np.arange(first, first + count)


LAYOUTS = {
    "packed": lambda: np.full((3, 5, 7), -1, np.int32),
    "gapped": lambda: np.full((3, 5, 14), -1, np.int32)[..., ::2],
    "rows apart": lambda: np.full((3, 5, 9), -1, np.int32)[..., :7],
    "transposed": lambda: np.full((7, 3, 5), -1, np.int32).transpose(1, 2, 0),
    "backwards": lambda: np.full((3, 5, 7), -1, np.int32)[:, ::-1, ::-1],
    "halves": lambda: np.full((3, 1, 7), -1, np.float16),
    "no dimensions": lambda: np.full((), -1, np.int32),
    "wrapping": lambda: np.zeros((2, 600), np.uint8),
    "unaligned": lambda: np.full(4 * 105 + 1, 255, np.uint8)[1:].view(np.int32).reshape(3, 5, 7),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_follow_the_coordinates(layout):
    output = LAYOUTS[layout]()
    fill(numbers, output)()
    expected = np.arange(output.size).reshape(output.shape).astype(output.dtype)
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("layout", ["gapped", "rows apart"])
def test_what_lies_between_the_elements_stays(layout):
    output = LAYOUTS[layout]()
    fill(numbers, output)()
    assert np.count_nonzero(output.base == -1) == output.base.size - output.size


def test_blocks_are_no_larger_than_said():
    counts = []
    output = np.zeros((5, 3, 6), np.int32).transpose(2, 1, 0)
    fill(lambda first, count: counts.append(count) or numbers(first, count), output)()
    assert max(counts) <= 8
    assert sum(counts) == output.size


@pytest.mark.parametrize(
    ("array", "sizes"),
    [
        (np.zeros((2, 1, 3, 4)), (24,)),
        (np.zeros((2, 3, 8))[..., :4], (6, 4)),
        (np.zeros((2, 3, 4)).transpose(0, 2, 1), (2, 4, 3)),
        (np.zeros((1, 1)), (1,)),
        (np.zeros((4, 6))[:, ::-1], (4, 6)),
    ],
)
def test_merged(array, sizes):
    """Only what lies together in the order of the coordinates is joined."""
    view = merged(array)
    assert view.shape == sizes
    assert view.__array_interface__["data"] == array.__array_interface__["data"]
