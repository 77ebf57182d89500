"""GATHER's indices: negative, out of range, strided; and the output sizes that follow from IndexDimensions."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.gather_scatter_nd import safe_indices
from directml_py.operators import kernel_of

from .helpers import gather, numpy_type, tensor

FOUR = np.array([10, 11, 12, 13], np.float32)
I32, I64 = 2**31, 2**63
U32, U64 = 2**32, 2**64
PICKED = [
    # index type, indices into four elements, the elements read; beyond the tensor they are 0
    ("INT32", [-1, -2, -3, -4, 0, 3], [3, 2, 1, 0, 0, 3]),
    ("INT64", [-1, -2, -3, -4, 0, 3], [3, 2, 1, 0, 0, 3]),
    ("INT32", [4, 100, I32 - 1], [None, None, None]),
    ("INT32", [-5, -100, -I32 + 1, -I32], [None, None, None, None]),
    ("INT64", [4, I64 - 1], [None, None]),
    ("INT64", [-5, -I64 + 1, -I64], [None, None, None]),
    # these are in range once cut to 32 bits
    ("INT64", [U32 + 1, -U32 + 1, -U32 - 1], [None, None, None]),
    ("UINT64", [U32 + 1, U32], [None, None]),
    # these would be negative, were the type signed
    ("UINT32", [U32 - 1, U32 - 2, U32 - 4, I32], [None, None, None, None]),
    ("UINT64", [U64 - 1, U64 - 2, U64 - 4, I64], [None, None, None, None]),
    ("UINT32", [4, 3, 0], [None, 3, 0]),
]


@pytest.mark.parametrize(("index_type", "indices", "elements"), PICKED)
def test_index(index_type, indices, elements):
    found = gather(FOUR, np.array(indices, numpy_type(index_type)), 0, 1, [len(indices)])
    assert found.tolist() == [0 if element is None else 10 + element for element in elements]


def test_indices_beyond_a_row_are_in_the_next_one():
    """As in Microsoft's library, in 3 rows of 4: 4 and 5 run into the next row, -5 into the previous; beyond is 0."""
    x, indices = np.arange(12, dtype=np.float32).reshape(1, 3, 4), np.array([[[4, 5, -5, 2]]], np.int32)
    found = gather(x, indices, 2, 1, (1, 3, 4))
    assert found.tolist() == [[[4, 5, 0, 2], [8, 9, 3, 6], [0, 0, 7, 10]]]


@pytest.mark.parametrize("index_type", ["INT32", "INT64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_negative_indices_count_from_the_end_of_their_axis(axis, index_type):
    """Not from the end of the tensor, nor of another axis."""
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    size = x.shape[axis]
    indices = np.array([-1, -size, 0, size - 1, 1], numpy_type(index_type)).reshape(1, 1, 5)
    sizes = list(x.shape)
    sizes[axis] = 5
    found = gather(x, indices, axis, 1, sizes)
    rows = [size - 1, 0, 0, size - 1, 1]
    for position, row in enumerate(rows):
        assert found.take(position, axis).tolist() == x.take(row, axis).tolist()


@pytest.mark.parametrize(
    ("index", "last", "found"),
    [
        (-I32, U32 - 2, I32 - 1),
        (-1, U32 - 2, U32 - 2),
        (I32 - 1, U32 - 2, I32 - 1),
        (-I32, I32 - 1, 0),
        (-I32 + 1, I32 - 1, 1),
    ],
)
def test_axes_longer_than_int32_reaches(index, last, found):
    """The functions beneath, since such a tensor takes gigabytes: size last + 1, INT32 indices."""
    assert safe_indices(np.array([index], np.int32), last).tolist() == [found]


def test_negative_indices_need_3_0():
    """Below it only UINT32 indices exist."""
    desc = dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", [1, 1, 1, 4]),
        IndicesTensor=tensor("INT32", [1, 1, 1, 1]),
        OutputTensor=tensor("FLOAT32", [1, 1, 1, 1]),
        Axis=3,
        IndexDimensions=1,
    )
    assert [found.rule for found in dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL_2_1)] == [
        "DML-GATHER-data-type"
    ]
    assert dml.validate(desc, feature_level=dml.DML_FEATURE_LEVEL_3_0) == []


# input sizes, axis, indices sizes, IndexDimensions, output sizes; the output's elements are
# input[..., indices[...], ...] whatever ones are put in front or cropped
SIZES = {
    "0 index dimensions remove the axis": ((2, 3), 1, (1, 1), 0, (1, 2)),
    "0 index dimensions, first axis": ((4, 3), 0, (1, 1), 0, (1, 3)),
    "0 index dimensions in the middle": ((2, 3, 4), 1, (1, 1, 1), 0, (1, 2, 4)),
    "0 index dimensions of a vector": ((4,), 0, (1,), 0, (1,)),
    "1 index dimension keeps the rank": ((2, 3), 0, (1, 1), 1, (1, 3)),
    "1 index dimension, more indices": ((2, 3), 1, (1, 5), 1, (2, 5)),
    "the input's leading one goes": ((1, 3), 1, (4, 2), 2, (4, 2)),
    "the input's leading one goes first": ((1, 3), 1, (1, 2), 2, (1, 2)),
    "two of the input's": ((1, 1, 3), 2, (2, 2, 2), 3, (2, 2, 2)),
    "one of the input's two": ((1, 1, 3), 2, (1, 2, 2), 2, (1, 2, 2)),
    "before the axis": ((1, 2, 3), 1, (1, 2, 2), 2, (2, 2, 3)),
    "padded to the rank": ((1, 1, 4, 3), 2, (1, 1, 1, 2), 1, (1, 1, 2, 3)),
    "eight dimensions": ((1, 1, 1, 1, 1, 1, 3, 2), 6, (1, 1, 1, 1, 1, 2, 1, 2), 3, (1, 1, 1, 1, 2, 1, 2, 2)),
}


@pytest.mark.parametrize("case", SIZES)
def test_output_sizes(case):
    sizes, axis, index_sizes, index_dimensions, output_sizes = SIZES[case]
    x = np.arange(np.prod(sizes), dtype=np.int32).reshape(sizes)
    # Descending, so that neither order nor position is correct by chance.
    indices = (np.arange(np.prod(index_sizes))[::-1] % sizes[axis]).astype(np.uint32).reshape(index_sizes)
    expected = [
        x[(*before, index, *behind)]
        for before in np.ndindex(*sizes[:axis])
        for index in indices.ravel().tolist()
        for behind in np.ndindex(*sizes[axis + 1 :])
    ]
    found = gather(x, indices, axis, index_dimensions, output_sizes)
    assert found.ravel().tolist() == expected


def test_what_overflows_is_cropped():
    """Be it 1 or not, as in DirectMLX: the first row of the page's example 3 stays. Nothing else fits."""
    x, indices = np.array([[1, 2], [3, 4], [5, 6]], np.float32), np.array([[1, 0]], np.uint32)
    assert gather(x, indices, 1, 2, (1, 2)).tolist() == [[2, 1]]
    deep = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    assert gather(deep, np.array([[[1, 2]]], np.uint32), 2, 2, (2, 1, 2)).tolist() == [[[1, 2]], [[4, 5]]]
    assert gather(deep, np.array([[[1, 2]]], np.uint32), 2, 3, (1, 1, 2)).tolist() == [[[1, 2]]]
    assert gather(deep, np.array([[[1, 0]]], np.uint32), 1, 2, (1, 2, 3)).tolist() == [[[3, 4, 5], [0, 1, 2]]]
    with pytest.raises(dml.DMLError, match="DML-GATHER-sizes"):
        gather(x, indices, 1, 2, (3, 2))
    with pytest.raises(dml.DMLError, match="DML-GATHER-index-dimensions-before-axis"):
        gather(x, indices, 0, 2, (2, 2))


X = np.arange(24, dtype=np.float32).reshape(2, 2, 3, 2)


def test_batches_of_indices():
    """output[b, l, n, r] = x[b, l, indices[b, n], r], TensorFlow's batch_dims. A row of x is two consecutive numbers,
    a batch 12 of them."""
    indices = np.array([[[[2, -1, 0, 1], [1, 1, 0, -2]]]], np.int32)
    first = [[4, 5], [4, 5], [0, 1], [2, 3]], [[10, 11], [10, 11], [6, 7], [8, 9]]
    second = [[14, 15], [14, 15], [12, 13], [14, 15]], [[20, 21], [20, 21], [18, 19], [20, 21]]
    assert gather(X, indices, 2, 1, (2, 2, 4, 2)).tolist() == [list(first), list(second)]


def test_one_index_for_each_batch():
    indices = np.array([[[[2, 1]]]], np.uint32)
    found = gather(X, indices, 2, 0, (1, 2, 2, 2))
    assert found.tolist() == [[[[4, 5], [10, 11]], [[14, 15], [20, 21]]]]


def test_batches_behind_a_cropped_dimension():
    """Two index dimensions take the place of a dimension of 1 and the axis."""
    x, indices = np.arange(6, dtype=np.int16).reshape(1, 2, 3), np.array([[[2, 0]], [[1, 1]]], np.uint32)
    assert gather(x, indices, 2, 2, (2, 1, 2)).tolist() == [[[2, 0]], [[4, 4]]]


def test_indices_beyond_a_batch_are_in_the_next_one():
    x, indices = np.arange(6, dtype=np.float32).reshape(2, 1, 3), np.array([[[3, 1], [3, -4]]], np.int32)
    assert gather(x, indices, 2, 1, (2, 1, 2)).tolist() == [[[3, 1]], [[0, 2]]]


def test_strided_batches():
    indices = np.array([[[[2, 0], [1, 1]]]], np.int64)
    strides = [40, 20, 5, 2], [9, 9, 1, 3], [40, 1, 10, 20]
    expected = [[X[b, row][indices[0, 0, b]].tolist() for row in range(2)] for b in range(2)]
    assert gather(X, indices, 2, 1, (2, 2, 2, 2), strides=strides).tolist() == expected


@pytest.mark.parametrize("index_type", ["INT32", "UINT64"])
@pytest.mark.parametrize(
    ("strides", "values"),
    [
        ([3, 1], [[2, 0, 1], [1, 3, 3]]),
        ([1, 2], [[2, 0, 1], [1, 3, 3]]),
        ([10, 3], [[2, 0, 1], [1, 3, 3]]),
        ([0, 1], [[2, 0, 1], [2, 0, 1]]),
        ([1, 0], [[2, 2, 2], [1, 1, 1]]),
        ([0, 0], [[3, 3, 3], [3, 3, 3]]),
    ],
)
def test_strided_and_broadcast_indices(strides, values, index_type):
    x = np.array([[10, 11, 12, 13]], np.float16)
    found = gather(
        x, np.array(values, numpy_type(index_type)), 1, 2, [2, 3], strides=([9, 2], strides, [1, 4])
    )
    assert found.tolist() == [[10 + index for index in row] for row in values]


@pytest.mark.parametrize("strides", [(0,), (2,)], ids=["broadcast", "strided"])
def test_a_few_elements_of_a_large_tensor(strides):
    """No copy of the input is made, even if it is broadcast to far more than its memory."""
    size = 1 << 23
    memory = np.full(size * strides[0] + 1, 7, np.uint8)
    desc, _ = dml.decode_operator_desc(
        dml.DML_GATHER_OPERATOR_DESC(
            InputTensor=tensor("UINT8", [size], list(strides)),
            IndicesTensor=tensor("UINT32", [2]),
            OutputTensor=tensor("UINT8", [2]),
            Axis=0,
            IndexDimensions=1,
        )
    )
    x = np.ndarray((size,), np.uint8, memory, strides=strides)
    output = np.zeros(2, np.uint8)
    kernel = kernel_of(desc)
    scratch = np.empty(kernel.scratch, np.uint8)
    tracemalloc.start()
    try:
        kernel.bind([x, np.array([0, size - 1], np.uint32)], [output], scratch)()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert output.tolist() == [7, 7]
    assert peak < size // 8


@pytest.mark.parametrize(("strides", "further"), [(None, 0), ((12, 4, 1), None)])
def test_any_number_of_slices_without_index_dimensions(strides, further):
    """Microsoft's library checks all sizes of the output but the first. By the strides that it gives its shader,
    further slices repeat the first one; where the input has no strides, they begin where its elements end, and reads
    beyond a buffer give 0."""
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    desc = dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, x.shape, strides),
        IndicesTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, (1, 1, 1)),
        OutputTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, (3, 2, 4)),
        Axis=1,
        IndexDimensions=0,
    )
    assert dml.validate(desc) == []
    assert [found.rule for found in dml.validate(desc, strict=True)] == ["DML-GATHER-page-sizes"]
    (found,) = dml.evaluate(desc, [x, np.full((1, 1, 1), 2, np.uint32)])
    assert found[0].tolist() == x[:, 2].tolist()
    for slices in found[1:]:
        assert (slices == (x[:, 2] if further is None else further)).all()


@pytest.mark.parametrize("output", [(1, 2, 1), (1, 3, 4), (2, 1, 4), (1, 8)])
def test_the_other_sizes_without_index_dimensions(output):
    x, index = np.zeros((2, 3, 4), np.float32), np.zeros((1, 1, 1), np.uint32)
    with pytest.raises(dml.DMLError):
        gather(x, index, 1, 0, output)
