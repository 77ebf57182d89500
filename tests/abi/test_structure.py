"""Initialization and assignment of structs and unions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from directml_py.abi.arguments import uint, unsigned
from directml_py.abi.counted_structs import structs_at
from directml_py.abi.hresult import DMLError
from directml_py.abi.wintypes import GUID
from directml_py.api.enums import (
    DML_TENSOR_DATA_TYPE_FLOAT32,
    DML_TENSOR_TYPE_BUFFER,
)
from directml_py.api.operator_descs import (
    DML_GEMM_OPERATOR_DESC,
    DML_JOIN_OPERATOR_DESC,
    DML_REDUCE_OPERATOR_DESC,
    DML_RESAMPLE_OPERATOR_DESC,
    DML_UPSAMPLE_2D_OPERATOR_DESC,
)
from directml_py.api.structs import (
    DML_BUFFER_TENSOR_DESC,
    DML_CONSTANT_DATA_GRAPH_NODE_DESC,
    DML_SCALAR_UNION,
    DML_SIZE_2D,
)
from directml_py.descs import tensor_desc

from ..api.helpers import churn

FLOAT32 = DML_TENSOR_DATA_TYPE_FLOAT32
BUFFER = DML_TENSOR_TYPE_BUFFER


class TestConstruction:
    def test_by_position_and_keyword(self):
        desc = DML_BUFFER_TENSOR_DESC(FLOAT32, 1, 2, [5, 6], TotalTensorSizeInBytes=1 << 40)
        assert (desc.DataType, desc.Flags, desc.DimensionCount) == (1, 1, 2)
        assert desc.Sizes[:2] == [5, 6]
        assert not desc.Strides
        assert desc.TotalTensorSizeInBytes == 1 << 40
        assert desc.GuaranteedBaseOffsetAlignment == 0

    def test_nothing_given_is_all_zero(self):
        assert bytes(DML_GEMM_OPERATOR_DESC()) == bytes(ctypes.sizeof(DML_GEMM_OPERATOR_DESC))

    def test_too_many_values(self):
        with pytest.raises(TypeError, match="DML_SIZE_2D has 2 fields, but 3 values"):
            DML_SIZE_2D(1, 2, 3)

    def test_a_field_twice(self):
        with pytest.raises(TypeError, match=r"DML_SIZE_2D\.Width was given twice"):
            DML_SIZE_2D(1, Width=2)

    @pytest.mark.parametrize("name", ["Depth", "width", "describe", "_fields_", "_objects", "__class__"])
    def test_unknown_keyword(self, name):
        """Class attributes are not fields."""
        with pytest.raises(TypeError, match=f"DML_SIZE_2D has no field {name}"):
            DML_SIZE_2D(**{name: 1})

    def test_unknown_attribute(self):
        size = DML_SIZE_2D(1, 2)
        with pytest.raises(AttributeError, match="DML_SIZE_2D has no field Depth"):
            size.Depth = 3
        assert (size.Width, size.Height) == (1, 2)

    def test_a_struct_by_value(self):
        desc = DML_UPSAMPLE_2D_OPERATOR_DESC(ScaleSize=DML_SIZE_2D(3, 4))
        assert (desc.ScaleSize.Width, desc.ScaleSize.Height) == (3, 4)
        desc.ScaleSize = (5, 6)
        assert (desc.ScaleSize.Width, desc.ScaleSize.Height) == (5, 6)


class TestCounts:
    def test_filled_in(self):
        x = tensor_desc(FLOAT32, [1])
        assert DML_JOIN_OPERATOR_DESC(InputTensors=[x, x, x]).InputCount == 3
        assert DML_REDUCE_OPERATOR_DESC(Axes=(0, 2)).AxisCount == 2
        assert DML_RESAMPLE_OPERATOR_DESC(Scales=range(1, 5)).ScaleCount == 4
        assert DML_BUFFER_TENSOR_DESC(Sizes=iter([3, 4, 5])).DimensionCount == 3
        assert DML_BUFFER_TENSOR_DESC(Sizes=(n for n in (3, 4))).Sizes[:2] == [3, 4]

    @pytest.mark.parametrize("count", [0, 1, 9])
    def test_an_explicit_count_wins(self, count):
        for fields in ({"AxisCount": count, "Axes": [7, 8]}, {"Axes": [7, 8], "AxisCount": count}):
            assert DML_REDUCE_OPERATOR_DESC(**fields).AxisCount == count

    def test_assigned_later(self):
        desc = DML_REDUCE_OPERATOR_DESC()
        desc.Axes = [1, 2, 3]
        assert desc.AxisCount == 3
        desc.Axes = [4]
        assert desc.AxisCount == 3, "a count that was set already stays"
        desc = DML_REDUCE_OPERATOR_DESC()
        desc.Axes = iter([1, 2])
        assert desc.AxisCount == 2

    @pytest.mark.parametrize("order", [("Sizes", "Strides"), ("Strides", "Sizes")])
    def test_arrays_of_different_length(self, order):
        lengths = dict(zip(order, ([1, 2, 3], [1, 2])))
        with pytest.raises(
            ValueError, match=r"DML_BUFFER_TENSOR_DESC\.\w+ has \d elements, but DimensionCount"
        ):
            DML_BUFFER_TENSOR_DESC(**lengths)
        with pytest.raises(ValueError, match="DimensionCount"):
            DML_BUFFER_TENSOR_DESC(**{name: iter(values) for name, values in lengths.items()})
        assert DML_BUFFER_TENSOR_DESC(**lengths, DimensionCount=2).DimensionCount == 2

    def test_an_empty_and_a_full_array_differ_too(self):
        with pytest.raises(ValueError, match="DimensionCount"):
            DML_BUFFER_TENSOR_DESC(Sizes=[1, 2], Strides=[])

    def test_zero_length_arrays_are_null(self):
        desc = DML_JOIN_OPERATOR_DESC(InputTensors=[])
        assert desc.InputCount == 0
        assert not desc.InputTensors
        desc = DML_REDUCE_OPERATOR_DESC(Axes=np.array([], np.int64))
        assert desc.AxisCount == 0
        assert not desc.Axes

    def test_pointers_have_no_length(self):
        axes = (ctypes.c_uint32 * 2)(5, 6)
        desc = DML_REDUCE_OPERATOR_DESC(Axes=ctypes.cast(axes, ctypes.POINTER(ctypes.c_uint32)))
        assert desc.AxisCount == 0
        assert desc.Axes[1] == 6

    @pytest.mark.parametrize(
        "data",
        [
            bytes(range(24)),
            bytearray(range(24)),
            np.arange(24, dtype=np.uint8).view(np.float32).reshape(2, 3),
            (ctypes.c_uint8 * 24)(*range(24)),
            (ctypes.c_uint32 * 6).from_buffer_copy(bytes(range(24))),
        ],
        ids=["bytes", "bytearray", "numpy", "array", "array of UINT"],
    )
    def test_raw_data_is_counted_in_bytes(self, data):
        desc = DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=data)
        assert desc.DataSize == 24
        del data
        churn()
        assert ctypes.string_at(desc.Data, 24) == bytes(range(24))

    def test_raw_data_assigned_later(self):
        desc = DML_CONSTANT_DATA_GRAPH_NODE_DESC()
        desc.Data = np.zeros((2, 3), np.float64)
        assert desc.DataSize == 48

    def test_raw_data_without_gaps_only(self):
        with pytest.raises(
            TypeError, match=r"DML_CONSTANT_DATA_GRAPH_NODE_DESC\.Data must be a C-contiguous"
        ):
            DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=np.zeros((4, 4))[:, ::2])


class TestUnion:
    def test_members_share_memory(self):
        value = DML_SCALAR_UNION(Float32=1.0)
        assert value.UInt32 == 0x3F800000
        assert list(value.Bytes) == [0, 0, 0x80, 0x3F, 0, 0, 0, 0]
        value.Int64 = -2
        assert value.UInt64 == (1 << 64) - 2
        assert value.Int8 == -2

    def test_refusals(self):
        with pytest.raises(TypeError, match="DML_SCALAR_UNION has no field Flaot32"):
            DML_SCALAR_UNION(Flaot32=1.0)
        with pytest.raises(TypeError, match="holds one member, but Int8, Int16 were given"):
            DML_SCALAR_UNION(Int8=1, Int16=1)
        with pytest.raises(TypeError, match=r"DML_SCALAR_UNION\.Float32 must be a number, not str"):
            DML_SCALAR_UNION(Float32="1")
        with pytest.raises(ValueError, match=r"DML_SCALAR_UNION\.Int8 must fit in 8 bits; 256"):
            DML_SCALAR_UNION(Int8=256)
        value = DML_SCALAR_UNION()
        with pytest.raises(AttributeError, match="DML_SCALAR_UNION has no field Half"):
            value.Half = 1


def test_how_many_structs_are_read():
    """At most 65,536 are read from an address; a larger count is an error."""
    most = 1 << 16
    sizes = (DML_SIZE_2D * (most + 1))()
    sizes[most - 1].Width = 7
    found = structs_at(most, ctypes.addressof(sizes), DML_SIZE_2D, "count", "sizes")
    assert len(found) == most
    assert found[-1].Width == 7
    with pytest.raises(DMLError, match="count is 65537; more than 65536 are not read"):
        structs_at(most + 1, ctypes.addressof(sizes), DML_SIZE_2D, "count", "sizes")


def test_guids_are_equal_by_value():
    text = "c8263aac-9e0c-4a2d-9b8e-007521a3317c"
    assert GUID(text) == GUID(text.upper())
    assert GUID(text) != GUID(text[:-1] + "d")
    assert GUID(text) != text


@pytest.mark.parametrize(("read", "bits"), [(uint, 32), (unsigned, 64)])
def test_unsigned_numbers(read, bits):
    for number in (0, (1 << bits) - 1):
        assert read(np.uint64(number), "Count") == number
    for number in (-1, 1 << bits):
        with pytest.raises(DMLError, match=rf"Count must be an unsigned {bits}-bit number, not {number}"):
            read(number, "Count")


def test_a_field_that_was_meant():
    for wrong in (lambda: DML_JOIN_OPERATOR_DESC(axis=1), lambda: DML_JOIN_OPERATOR_DESC().replace(Axs=1)):
        with pytest.raises(TypeError, match=r"DML_JOIN_OPERATOR_DESC has no field \w+; did you mean Axis\?$"):
            wrong()
    with pytest.raises(AttributeError, match=r"has no field InputTensr; did you mean InputTensors\?$"):
        DML_JOIN_OPERATOR_DESC().InputTensr = []
