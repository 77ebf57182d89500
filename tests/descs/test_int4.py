"""4-bit elements: two in a byte, the one with the lower index in the low half."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from directml_py.api.enums import DML_TENSOR_DATA_TYPE_INT4, DML_TENSOR_DATA_TYPE_UINT4
from directml_py.descs import TensorDesc

UINT4, INT4 = DML_TENSOR_DATA_TYPE_UINT4, DML_TENSOR_DATA_TYPE_INT4
SHAPES = [
    ((5,), None),
    ((2, 3), None),
    ((2, 3), (1, 2)),
    ((2, 3), (5, 1)),
    ((2, 3), (0, 1)),
    ((3, 1, 2), (2, 7, 9)),
    ((1, 2, 3, 2), None),
]


def memory(*values):
    return np.array(values, np.uint8)


@pytest.mark.parametrize(
    ("data_type", "expected"), [(UINT4, [1, 2, 15, 8, 7]), (INT4, [1, 2, -1, -8, 7])], ids=["UINT4", "INT4"]
)
def test_halves_of_bytes(data_type, expected):
    found = TensorDesc(data_type, (5,)).load(memory(0x21, 0x8F, 0x07, 0xFF))
    assert found.dtype == (np.uint8 if data_type == UINT4 else np.int8)
    assert found.tolist() == expected


@pytest.mark.parametrize("data_type", [UINT4, INT4], ids=["UINT4", "INT4"])
@pytest.mark.parametrize(("sizes", "strides"), SHAPES)
def test_against_one_long_number(data_type, sizes, strides):
    """The memory as one little-endian number, of which every element is four bits."""
    tensor = TensorDesc(data_type, sizes, strides)
    held = np.random.default_rng(3).integers(0, 256, tensor.total_size).astype(np.uint8)
    number = int.from_bytes(held.tobytes(), "little")
    found = tensor.load(held)
    for place in itertools.product(*map(range, sizes)):
        offset = sum(index * stride for index, stride in zip(place, tensor.effective_strides))
        bits = number >> 4 * offset & 15
        assert found[place] == (bits - 16 if data_type == INT4 and bits > 7 else bits)


@pytest.mark.parametrize("data_type", [UINT4, INT4], ids=["UINT4", "INT4"])
@pytest.mark.parametrize(("sizes", "strides"), [case for case in SHAPES if 0 not in (case[1] or ())])
def test_what_is_stored_is_loaded_and_nothing_else_written(data_type, sizes, strides):
    tensor = TensorDesc(data_type, sizes, strides)
    values = (np.arange(tensor.element_count) % 16 - 8 * (data_type == INT4)).reshape(sizes)
    for filling in (0x00, 0xFF, 0xA5):
        held = np.full(tensor.total_size + 2, filling, np.uint8)
        tensor.store(held, values)
        np.testing.assert_array_equal(tensor.load(held), values)
        whole = TensorDesc(UINT4, (2 * held.size,))
        before, after = whole.load(np.full_like(held, filling)), whole.load(held)
        places = {
            sum(index * stride for index, stride in zip(place, tensor.effective_strides))
            for place in itertools.product(*map(range, sizes))
        }
        others = [offset for offset in range(2 * held.size) if offset not in places]
        assert after[others].tolist() == before[others].tolist()


def test_only_the_low_half_of_a_value_counts():
    held = memory(0xFF, 0xFF)
    TensorDesc(UINT4, (3,)).store(held, np.array([0x12, 16, -1]))
    assert held.tolist() == [0x02, 0xFF]


def test_a_view_is_a_copy_that_cannot_be_written():
    held = memory(0x21, 0, 0, 0)
    view = TensorDesc(UINT4, (2,)).view(held)
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 5
    held[0] = 0x43
    assert view.tolist() == [1, 2]


def test_memory_must_reach_the_last_half():
    tensor = TensorDesc(UINT4, (5,))
    assert tensor.load(memory(0x21, 0x43, 0x05)).tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="needs 3 bytes; the buffer has 2"):
        tensor.view(memory(0x21, 0x43))
