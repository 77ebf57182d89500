"""NONZERO_COORDINATES: what counts as zero, which dimensions have coordinates, and the undefined rest."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.graph import Graph

from .dispatch import FILL, Dispatch
from .helpers import tensor, tensor_of


def nonzero(x, width=None, strides=None):
    """The count, and the coordinates as lists."""
    desc = dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(
        InputTensor=tensor_of(x, strides),
        OutputCountTensor=tensor("UINT32", (1,)),
        OutputCoordinatesTensor=tensor("UINT32", (x.size, x.ndim if width is None else width)),
    )
    count, coordinates = dml.evaluate(desc, [x])
    return count.tolist(), coordinates.tolist()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_floats(dtype):
    """Zeros of both signs are zero; NaN and the smallest subnormal are not."""
    least = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, np.nan, least, -least, np.inf, 1], dtype)
    assert nonzero(x) == ([5], [[2], [3], [4], [5], [6], [0], [0]])


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32])
def test_integers(dtype):
    """Every bit counts, also the highest or lowest alone."""
    highest = np.array(1 << (8 * np.dtype(dtype).itemsize - 1)).astype(np.uint64).astype(dtype)
    assert nonzero(np.array([0, highest, 0, 1], dtype)) == ([2], [[1], [3], [0], [0]])


def test_none_and_all():
    assert nonzero(np.zeros((2, 1), np.uint8)) == ([0], [[0, 0], [0, 0]])
    assert nonzero(np.ones((2, 1), np.uint8)) == ([2], [[0, 0], [1, 0]])


@pytest.mark.parametrize(("width", "found"), [(2, [[1, 2]]), (3, [[0, 1, 2]]), (4, [[0, 0, 1, 2]])])
def test_leading_dimensions_that_coordinates_leave_out(width, found):
    """Coordinates are those of the last dimensions, as many as fit."""
    x = np.zeros((1, 1, 2, 3), np.float32)
    x[0, 0, 1, 2] = 1
    assert nonzero(x, width) == ([1], found + [[0] * width] * 5)


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_a_count_of_any_rank(rank):
    desc = dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(
        InputTensor=tensor("UINT8", (3,)),
        OutputCountTensor=tensor("UINT32", (1,) * rank),
        OutputCoordinatesTensor=tensor("UINT32", (3, 1)),
    )
    count, coordinates = dml.evaluate(desc, [np.array([0, 7, 0], np.uint8)])
    assert count.shape == (1,) * rank
    assert (count.item(), coordinates[0].item()) == (1, 1)


def test_inferred_sizes_are_those_of_directmlx():
    graph = Graph()
    x = graph.input_tensor(0, dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 2, 3])
    assert [one.desc.sizes for one in graph.nonzero_coordinates(x)] == [(1,), (6, 3)]


def test_only_ones_are_left_out():
    with pytest.raises(dml.DMLError, match=r"must be \{6,2\} \[DML-NONZERO_COORDINATES-sizes\]"):
        nonzero(np.zeros((2, 3), np.float32), 1)


def test_the_order_is_that_of_coordinates():
    """Not that of memory, as in the page's text."""
    x = np.zeros((2, 6), np.int16)
    x[1, 0] = x[1, 2] = x[0, 5] = 1
    assert nonzero(x, strides=[1, 2])[1][:3] == [[0, 5], [1, 0], [1, 2]]


def test_a_broadcast_input():
    assert nonzero(np.full((2, 2), 3, np.int8), strides=[0, 0])[0] == [4]


def test_coordinates_side_by_side_in_every_second_element():
    """ONNX Runtime has the coordinates of each dimension together, as the lower halves of INT64; zeros behind the last
    are written, too, and the upper halves are not."""
    x = np.array([[0, 5, 0], [7, 0, 0]], np.float32)
    desc = dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(
        InputTensor=tensor_of(x),
        OutputCountTensor=tensor("UINT32", (1,)),
        OutputCoordinatesTensor=tensor("UINT32", (6, 2), [2, 12]),
    )
    _, memory = Dispatch(desc, [x]).outputs
    found = memory.inside.view(np.uint32)
    assert found[:12:2].tolist() == [0, 1, 0, 0, 0, 0]
    assert found[12::2].tolist() == [1, 0, 0, 0, 0, 0]
    assert (found[1::2] == FILL * 0x01010101).all()
    assert (memory.outside == FILL).all()
