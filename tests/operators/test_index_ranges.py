"""Indices of every type at and beyond the limits: reads and writes stay inside their tensors.

Reads beyond a dimension follow the strides, as in Microsoft's library; beyond the tensor they give 0.
"""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.operators import kernel_of
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from .dispatch import FILL, Dispatch
from .helpers import LAYOUTS, arrays_for, numpy_type, tensor, tensor_of

OPERATORS = [
    "GATHER",
    "GATHER_ELEMENTS",
    "GATHER_ND",
    "GATHER_ND1",
    "SCATTER",
    "SCATTER_ND",
    "ONE_HOT",
    "NONZERO_COORDINATES",
    "MAX_UNPOOLING",
]
I32, I64 = 2**31, 2**63
U32, U64 = 2**32, 2**64
# index type, an index into four elements, the element that is written if any
INDICES = [
    ("INT32", 3, 3),
    ("INT32", -1, 3),
    ("INT32", -4, 0),
    ("INT32", 4, None),
    ("INT32", -5, None),
    ("INT32", I32 - 1, None),
    ("INT32", -I32, None),
    ("INT64", -4, 0),
    ("INT64", 4, None),
    ("INT64", -5, None),
    ("INT64", I64 - 1, None),
    ("INT64", -I64, None),
    # these are in range once cut to 32 bits
    ("INT64", U32 + 1, None),
    ("INT64", -U32 - 1, None),
    ("UINT64", U32 + 1, None),
    ("UINT32", 3, 3),
    ("UINT32", 4, None),
    # these would be negative, were the type signed
    ("UINT32", U32 - 1, None),
    ("UINT32", I32, None),
    ("UINT64", 3, 3),
    ("UINT64", U64 - 1, None),
    ("UINT64", U64 - 4, None),
    ("UINT64", I64, None),
]
every_index = swept("index_type, index, written", INDICES)
every_layout = swept("layout", LAYOUTS)


def wrapped(index, size=4):
    """Negative indices count from the end, once."""
    return index + size if index < 0 else index


def read_by(operator, layout, arrays, output_sizes, **attributes):
    """An operator's result, and a function from coordinates of the input to the memory there."""
    found = dispatched(operator, layout, arrays, output_sizes, **attributes)
    x = arrays[0]
    whole = tensor_of(x, LAYOUTS[layout](x.shape))
    decoded = dml.decode_operator_desc(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(whole, whole))[
        0
    ].InputTensor
    strides = decoded.effective_strides
    reach = sum((size - 1) * step for size, step in zip(x.shape, strides))
    elements = np.full((1 + reach) * x.itemsize, FILL, np.uint8).view(x.dtype)
    for place in np.ndindex(x.shape):
        elements[np.dot(place, strides)] = x[place]

    def at(*coordinates):
        address = sum(one * step for one, step in zip(coordinates, strides))
        return elements[address] if 0 <= address < len(elements) else 0

    return found, at


def dispatched(operator, layout, arrays, output_sizes, **attributes):
    """An operator's result, after checking that neither inputs nor bytes around the output's elements are written."""
    fields = {
        name: tensor_of(array, LAYOUTS[layout](array.shape))
        for name, array in zip(("InputTensor", "IndicesTensor", "UpdatesTensor"), arrays)
    }
    output = tensor(arrays[0].dtype.name.upper(), output_sizes, LAYOUTS[layout](output_sizes))
    struct = getattr(dml, f"DML_{operator}_OPERATOR_DESC")
    done = Dispatch(struct(**fields, OutputTensor=output, **attributes), arrays)
    for before, memory in zip(done.before, done.inputs):
        np.testing.assert_array_equal(memory.bytes, before)
    (memory,) = done.outputs
    assert (memory.outside == FILL).all()
    found, untouched = memory.array.copy(), memory.inside.copy()
    memory.tensor.store(
        untouched, np.full(found.shape, FILL, np.uint8).repeat(found.itemsize, -1).view(found.dtype)
    )
    assert (untouched == FILL).all()
    return found


def matrix(index_type, index, rows=2):
    """The same index in every row, between two that are in range."""
    return np.array([[1, index, 2]] * rows, numpy_type(index_type))


@every_layout
@every_index
def test_gather_elements(index_type, index, written, layout):
    x = np.array([[10, 11, 12, 13], [20, 21, 22, 23]], np.uint8)
    found, at = read_by("GATHER_ELEMENTS", layout, [x, matrix(index_type, index)], (2, 3), Axis=1)
    assert found.tolist() == [[11, at(0, wrapped(index)), 12], [21, at(1, wrapped(index)), 22]]


@every_layout
@every_index
def test_scatter(index_type, index, written, layout):
    x = np.array([[10, 11, 12, 13], [20, 21, 22, 23]], np.uint8)
    updates = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    found = dispatched("SCATTER", layout, [x, matrix(index_type, index), updates], x.shape, Axis=1)
    expected = [[10, 1, 3, 13], [20, 4, 6, 23]]
    if written is not None:
        expected[0][written], expected[1][written] = 2, 5
    assert found.tolist() == expected


@every_layout
@swept("coordinate", [0, 1])
@every_index
def test_gather_nd(index_type, index, written, layout, coordinate):
    """Reads beyond a row continue in the next one."""
    x = np.arange(32, dtype=np.int16).reshape(4, 4, 2)
    indices = np.array([[2, 2], [1, 1]], numpy_type(index_type))
    indices[0, coordinate] = index
    attributes = {"InputDimensionCount": 3, "IndicesDimensionCount": 2}
    found, at = read_by("GATHER_ND", layout, [x, indices[np.newaxis]], (1, 2, 2), **attributes)
    place = (wrapped(index), 2) if coordinate == 0 else (2, wrapped(index))
    assert found.tolist() == [[[at(*place, 0), at(*place, 1)], [10, 11]]]


@every_layout
@every_index
def test_gather_nd1(index_type, index, written, layout):
    """Reads beyond a batch continue in the next one."""
    x = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    indices = np.array([[2], [index], [0]], numpy_type(index_type)).reshape(3, 1, 1)
    counts = {"InputDimensionCount": 3, "IndicesDimensionCount": 3, "BatchDimensionCount": 1}
    found, at = read_by("GATHER_ND1", layout, [x, indices], (3, 1, 2), **counts)
    assert found.tolist() == [[[4, 5]], [[at(1, wrapped(index), 0), at(1, wrapped(index), 1)]], [[16, 17]]]


@every_layout
@swept("coordinate", [0, 1])
@every_index
def test_scatter_nd(index_type, index, written, layout, coordinate):
    """A tuple with one coordinate out of range writes nothing, even if its offset is inside."""
    x = np.zeros((4, 4, 2), np.int16)
    indices = np.array([[2, 2], [1, 1]], numpy_type(index_type))
    indices[0, coordinate] = index
    updates = np.array([[[5, 6], [7, 8]]], np.int16)
    counts = {"InputDimensionCount": 3, "IndicesDimensionCount": 2}
    found = dispatched("SCATTER_ND", layout, [x, indices[np.newaxis], updates], x.shape, **counts)
    expected = x.copy()
    expected[1, 1] = 7, 8
    if written is not None:
        expected[(written, 2) if coordinate == 0 else (2, written)] = 5, 6
    assert found.tolist() == expected.tolist()


@every_layout
@every_index
def test_one_hot(index_type, index, written, layout):
    """An index out of range sets nothing."""
    indices = np.array([[0], [index]], numpy_type(index_type))
    values = np.array([[3, 8]], np.uint16)
    desc = dml.DML_ONE_HOT_OPERATOR_DESC(
        IndicesTensor=tensor_of(indices, LAYOUTS[layout](indices.shape)),
        ValuesTensor=tensor_of(values, LAYOUTS[layout](values.shape)),
        OutputTensor=tensor("UINT16", (2, 4), LAYOUTS[layout]((2, 4))),
        Axis=1,
    )
    (memory,) = Dispatch(desc, [indices, values]).outputs
    assert (memory.outside == FILL).all()
    assert memory.array.tolist() == [[8, 3, 3, 3], [8 if one == written else 3 for one in range(4)]]


@every_layout
@swept("index_type, index", [("UINT32", 8), ("UINT32", U32 - 1), ("UINT64", U32 + 1), ("UINT64", U64 - 1)])
@swept("sizes", [(1, 2, 2, 2), (2, 1, 1, 4)])
def test_max_unpooling(index_type, index, sizes, layout):
    """Indices count the elements of the whole tensor, not memory."""
    x = np.array([1, 2, 3, 4], np.int16).reshape(1, 2, 2, 1)
    indices = np.array([7, index, 2, 4], numpy_type(index_type)).reshape(x.shape)
    found = dispatched("MAX_UNPOOLING", layout, [x, indices], sizes)
    assert found.ravel().tolist() == [0, 0, 3, 0, 4, 0, 0, 1]


@every_layout
def test_the_last_of_several_unpooled_elements_wins(layout):
    x = np.arange(1, 9, dtype=np.uint8).reshape(1, 2, 2, 2)
    indices = np.array([0, 1, 1, 0, 1, 0, 0, 1], np.uint32).reshape(x.shape)
    assert dispatched("MAX_UNPOOLING", layout, [x, indices], (1, 1, 1, 2)).ravel().tolist() == [7, 8]


@pytest.mark.parametrize("operator", OPERATORS)
def test_inputs_are_read_at_each_run(operator):
    """A bound kernel runs again over other values: nothing of the first run remains."""
    desc = valid_desc(RandomSource(5), operator, max(dml.DML_FEATURE_LEVEL))
    inputs = arrays_for(desc, 0)
    runs = []
    for _ in range(2):
        outputs = [np.zeros(slot.tensor.sizes, slot.tensor.dtype) for slot in desc.outputs]
        kernel = kernel_of(desc)
        runs.append((kernel.bind(inputs, outputs, np.empty(kernel.scratch, np.uint8)), outputs))
    (first, again), (fresh, expected) = runs
    first()
    for array, other in zip(inputs, arrays_for(desc, 1)):
        array[...] = other
    first()
    fresh()
    for one, other in zip(again, expected):
        np.testing.assert_array_equal(one, other)


@every_layout
@pytest.mark.parametrize("last", [2, -2])
def test_the_last_of_several_updates_wins(layout, last):
    """As in the page's example, in the order of the indices, whatever their layout; and however an index is written."""
    x = np.zeros((4, 3), np.float32)
    indices = np.array([[2, 0, 1], [2, 2, 1], [last, 0, 1]], np.int32)
    updates = np.arange(1, 10, dtype=np.float32).reshape(3, 3)
    found = dispatched("SCATTER", layout, [x, indices, updates], x.shape, Axis=0)
    assert found.tolist() == [[0, 8, 0], [0, 0, 9], [7, 5, 0], [0, 0, 0]]
    pairs = np.array([[[0, 1], [3, 2], [last, 0]], [[3, -1], [last, 0], [0, 1]]], np.int32)[:, :, ::-1]
    counts = {"InputDimensionCount": 2, "IndicesDimensionCount": 3}
    x = np.zeros((1, 3, 4), np.float32)
    values = np.array([[[1, 2, 3], [4, 5, 6]]], np.float32)
    found = dispatched("SCATTER_ND", layout, [x, pairs, values], x.shape, **counts)
    assert found.tolist() == [[[0, 0, 5, 0], [6, 0, 0, 0], [0, 0, 0, 4]]]


@pytest.mark.parametrize(
    ("values", "on"),
    [
        # element 1 of the last dimension that is longer than 1: never of one before it
        (np.arange(12).reshape(2, 2, 3), 1),
        (np.arange(6).reshape(2, 3, 1), 1),
        (np.arange(4).reshape(4, 1, 1), 1),
    ],
)
@pytest.mark.parametrize("strides", [None, (1, 20, 100), (7, 5, 3)], ids=["packed", "turned", "apart"])
def test_the_second_value(values, on, strides):
    """Sizes, not memory, decide which value follows the first."""
    values, indices = values.astype(np.float16), np.array([[[1]]], np.uint32)
    desc = dml.DML_ONE_HOT_OPERATOR_DESC(
        IndicesTensor=tensor_of(indices),
        ValuesTensor=tensor_of(values, strides and list(strides)),
        OutputTensor=tensor("FLOAT16", (1, 3, 1)),
        Axis=1,
    )
    assert dml.evaluate(desc, [indices, values])[0].ravel().tolist() == [0, on, 0]


def test_broadcast_values_are_equal():
    """Both values are one element."""
    indices, values = np.array([[1]], np.int64), np.array([[7, 7]], np.int8)
    desc = dml.DML_ONE_HOT_OPERATOR_DESC(
        IndicesTensor=tensor_of(indices),
        ValuesTensor=tensor_of(values, [0, 0]),
        OutputTensor=tensor("INT8", (1, 3)),
        Axis=1,
    )
    assert dml.evaluate(desc, [indices, values])[0].tolist() == [[7, 7, 7]]


def test_values_of_more_dimensions_than_the_output():
    """Against the page, but accepted by the library: the values are still the first two elements."""
    indices, values = np.array([2], np.uint32), np.array([[[3, 8, 9]]], np.int16)
    desc = dml.DML_ONE_HOT_OPERATOR_DESC(
        IndicesTensor=tensor_of(indices),
        ValuesTensor=tensor_of(values),
        OutputTensor=tensor("INT16", (3,)),
        Axis=0,
    )
    assert dml.evaluate(desc, [indices, values])[0].tolist() == [3, 3, 8]
