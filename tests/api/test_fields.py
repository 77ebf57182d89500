"""What stands for a pointer, an array or a number, and what does not."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from directml_py.abi.hresult import DMLError
from directml_py.api.enums import (
    DML_OPERATOR_GEMM,
    DML_TENSOR_DATA_TYPE_FLOAT32,
    DML_TENSOR_TYPE_BUFFER,
)
from directml_py.api.operator_descs import (
    DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC,
    DML_FILL_VALUE_CONSTANT_OPERATOR_DESC,
    DML_GEMM_OPERATOR_DESC,
    DML_JOIN_OPERATOR_DESC,
    DML_REDUCE_OPERATOR_DESC,
    DML_RESAMPLE_OPERATOR_DESC,
    DML_RNN_OPERATOR_DESC,
    DML_TOP_K1_OPERATOR_DESC,
)
from directml_py.api.structs import (
    DML_BUFFER_BINDING,
    DML_BUFFER_TENSOR_DESC,
    DML_INPUT_GRAPH_EDGE_DESC,
    DML_OPERATOR_DESC,
    DML_SIZE_2D,
    DML_TENSOR_DESC,
)
from directml_py.cffi import ffi
from directml_py.descs import tensor_desc

from .helpers import MirroredTensorDesc, sizes_of

FLOAT32 = DML_TENSOR_DATA_TYPE_FLOAT32
BUFFER = DML_TENSOR_TYPE_BUFFER


class TestForms:
    """Everything that stands for a pointer."""

    def test_of_one_struct(self):
        x = tensor_desc(FLOAT32, [1])
        c_pointer = ffi.new("DML_TENSOR_DESC *")
        mirrored = MirroredTensorDesc()
        address = ctypes.addressof(x)
        forms = [
            (x, address),
            (ctypes.byref(x), address),
            (ctypes.pointer(x), address),
            (ctypes.cast(ctypes.pointer(x), ctypes.c_void_p), address),
            (ctypes.cast(ctypes.pointer(x), ctypes.POINTER(MirroredTensorDesc)), address),
            (address, address),
            (np.uint64(address), address),
            (mirrored, ctypes.addressof(mirrored)),
            (ctypes.byref(mirrored), ctypes.addressof(mirrored)),
            (c_pointer, int(ffi.cast("uintptr_t", c_pointer))),
            (c_pointer[0], int(ffi.cast("uintptr_t", c_pointer))),
            (ffi.cast("void *", c_pointer), int(ffi.cast("uintptr_t", c_pointer))),
            ((DML_TENSOR_DESC * 1).from_buffer(x), address),
            (None, None),
            (0, None),
            (ffi.NULL, None),
            (ctypes.c_void_p(), None),
        ]
        for value, expected in forms:
            desc = DML_GEMM_OPERATOR_DESC(OutputTensor=value)
            assert ctypes.cast(desc.OutputTensor, ctypes.c_void_p).value == expected, value
            wrapped = DML_OPERATOR_DESC(DML_OPERATOR_GEMM, value)
            assert wrapped.Desc == expected, value

    def test_byref_with_an_offset(self):
        array = (DML_TENSOR_DESC * 3)()
        second = DML_GEMM_OPERATOR_DESC(OutputTensor=ctypes.byref(array, ctypes.sizeof(DML_TENSOR_DESC)))
        assert ctypes.cast(second.OutputTensor, ctypes.c_void_p).value == ctypes.addressof(array[1])
        gemm = DML_GEMM_OPERATOR_DESC()
        field = ctypes.byref(gemm, DML_GEMM_OPERATOR_DESC.BTensor.offset)
        wrapped = DML_TENSOR_DESC(BUFFER, field)
        assert wrapped.Desc == ctypes.addressof(gemm) + DML_GEMM_OPERATOR_DESC.BTensor.offset

    def test_arrays_of_numbers(self):
        expected = [5, 6, 7]
        in_c = ffi.new("UINT[3]", expected)
        for value in (
            expected,
            tuple(expected),
            range(5, 8),
            np.array(expected),
            np.array([5, 0, 6, 0, 7], np.uint8)[::2],
            [np.int64(5), np.uint8(6), 7],
            (ctypes.c_uint32 * 3)(*expected),
            (ctypes.c_int32 * 3)(*expected),
            (ctypes.c_uint64 * 3)(*expected),
            ffi.new("UINT[]", expected),
            ffi.new("uint64_t[]", expected),
        ):
            desc = DML_REDUCE_OPERATOR_DESC(Axes=value)
            assert desc.AxisCount == 3
            assert desc.Axes[:3] == expected
        for value in (ffi.cast("UINT *", in_c), ffi.cast("void *", in_c), int(ffi.cast("uintptr_t", in_c))):
            desc = DML_REDUCE_OPERATOR_DESC(AxisCount=3, Axes=value)
            assert desc.Axes[:3] == expected

    def test_an_array_of_the_type_is_shared_and_not_copied(self):
        values = (ctypes.c_uint32 * 3)(5, 6, 7)
        desc = DML_REDUCE_OPERATOR_DESC(Axes=values)
        values[1] = 60
        assert desc.Axes[:3] == [5, 60, 7]

    def test_arrays_of_structs(self):
        x, y = tensor_desc(FLOAT32, [3]), tensor_desc(FLOAT32, [4])
        mirrored_descs = (MirroredTensorDesc * 2)(
            MirroredTensorDesc(x.Type, x.Desc), MirroredTensorDesc(y.Type, y.Desc)
        )
        in_c = ffi.new("DML_TENSOR_DESC[2]")
        for index, tensor in enumerate((x, y)):
            in_c[index].Type, in_c[index].Desc = tensor.Type, ffi.cast("void *", tensor.Desc)
        forms = [
            [x, y],
            [ctypes.byref(x), ctypes.addressof(y)],
            [ffi.addressof(in_c[0]), in_c[1]],
            list(mirrored_descs),
            (DML_TENSOR_DESC * 2)(x, y),
            mirrored_descs,
            in_c,
            ffi.cast("DML_TENSOR_DESC *", in_c),
        ]
        for value in forms:
            desc = DML_JOIN_OPERATOR_DESC(InputCount=2, InputTensors=value)
            assert [sizes_of(desc.InputTensors[n]) for n in range(2)] == [[3], [4]], value

    def test_numbers_of_numpy(self):
        desc = DML_JOIN_OPERATOR_DESC(Axis=np.uint8(3))
        assert desc.Axis == 3
        relu = DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=np.float16(0.5))
        assert relu.Alpha == 0.5
        relu.Alpha = np.int32(2)
        assert relu.Alpha == 2

    def test_numbers_as_in_c(self):
        assert DML_BUFFER_TENSOR_DESC(Flags=0x80000000).Flags == -0x80000000


class TestRefusals:
    @pytest.mark.parametrize("value", [1.5, "3", None, [3], b"3", np.array([1, 2]), object(), 1j])
    def test_integers(self, value):
        with pytest.raises(TypeError, match=r"^DML_JOIN_OPERATOR_DESC\.Axis must be an integer, not "):
            DML_JOIN_OPERATOR_DESC(Axis=value)

    @pytest.mark.parametrize("value", ["3", None, [3], b"3", np.array([1, 2]), object(), 1j])
    def test_floats(self, value):
        with pytest.raises(
            TypeError, match=r"^DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC\.Alpha must be a number"
        ):
            DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=value)

    @pytest.mark.parametrize("value", [-1, -(1 << 31), -(1 << 31) - 1])
    def test_negative_numbers_in_unsigned_fields(self, value):
        """ctypes would take -1 for 4294967295."""
        with pytest.raises(
            ValueError,
            match=rf"^DML_JOIN_OPERATOR_DESC\.Axis must be an unsigned 32-bit number, not {value}$",
        ):
            DML_JOIN_OPERATOR_DESC(Axis=value)
        with pytest.raises(
            ValueError, match=r"^DML_REDUCE_OPERATOR_DESC\.Axes\[1\] must be an unsigned 32-bit"
        ):
            DML_REDUCE_OPERATOR_DESC(Axes=[0, value])
        with pytest.raises(ValueError, match=r"TotalTensorSizeInBytes must be an unsigned 64-bit number"):
            DML_BUFFER_TENSOR_DESC(TotalTensorSizeInBytes=value)
        assert DML_TOP_K1_OPERATOR_DESC(AxisDirection=-1).AxisDirection == -1

    @pytest.mark.parametrize("value", [1 << 32, (1 << 32) + 1])
    def test_numbers_that_do_not_fit(self, value):
        """ctypes would truncate them silently."""
        with pytest.raises(ValueError, match=r"DML_JOIN_OPERATOR_DESC\.Axis must fit in 32 bits"):
            DML_JOIN_OPERATOR_DESC(Axis=value)
        with pytest.raises(ValueError, match=r"DML_REDUCE_OPERATOR_DESC\.Axes\[1\] must fit in 32 bits"):
            DML_REDUCE_OPERATOR_DESC(Axes=[0, value])
        with pytest.raises(ValueError, match=r"Desc must be a 64-bit address"):
            DML_TENSOR_DESC(BUFFER, value << 40)

    @pytest.mark.parametrize("value", [1.5, "123", object(), [1.5], [None], ["1"], [[1]], {"a": 1}])
    def test_arrays_of_integers(self, value):
        with pytest.raises(TypeError, match=r"^DML_REDUCE_OPERATOR_DESC\.Axes"):
            DML_REDUCE_OPERATOR_DESC(Axes=value)

    def test_the_element_is_named(self):
        with pytest.raises(
            TypeError, match=r"^DML_REDUCE_OPERATOR_DESC\.Axes\[1\] must be an integer, not float"
        ):
            DML_REDUCE_OPERATOR_DESC(Axes=[0, 1.0])
        with pytest.raises(
            TypeError, match=r"^DML_RESAMPLE_OPERATOR_DESC\.Scales\[1\] must be a number, not str"
        ):
            DML_RESAMPLE_OPERATOR_DESC(Scales=[0.5, "1"])
        with pytest.raises(TypeError, match=r"^DML_JOIN_OPERATOR_DESC\.InputTensors\[1\] must be a"):
            DML_JOIN_OPERATOR_DESC(InputTensors=[tensor_desc(FLOAT32, [1]), 1.5])

    @pytest.mark.parametrize(
        "value",
        [
            tensor_desc(FLOAT32, [1]),
            (ctypes.c_float * 3)(1, 2, 3),
            ctypes.pointer(ctypes.c_float(1)),
            ctypes.pointer(ctypes.c_uint64(1)),
            ffi.new("float *"),
            ffi.new("uint64_t *"),
            ffi.new("DML_TENSOR_DESC *"),
        ],
    )
    def test_pointers_to_other_numbers(self, value):
        with pytest.raises(TypeError, match=r"^DML_REDUCE_OPERATOR_DESC\.Axes"):
            DML_REDUCE_OPERATOR_DESC(AxisCount=1, Axes=value)

    @pytest.mark.parametrize(
        "value",
        [
            1.5,
            "tensor",
            True,
            [],
            object(),
            DML_BUFFER_TENSOR_DESC(),
            DML_OPERATOR_DESC(),
            ctypes.byref(DML_BUFFER_TENSOR_DESC()),
            ctypes.pointer(DML_BUFFER_TENSOR_DESC()),
            (DML_BUFFER_TENSOR_DESC * 2)(),
            ffi.new("DML_BUFFER_TENSOR_DESC *"),
            ffi.new("DML_OPERATOR_DESC *"),
            ffi.cast("int", 5),
        ],
    )
    def test_structs(self, value):
        """DML_OPERATOR_DESC has the size of DML_TENSOR_DESC, but is not one."""
        with pytest.raises(TypeError, match=r"^DML_GEMM_OPERATOR_DESC\.ATensor must be "):
            DML_GEMM_OPERATOR_DESC(ATensor=value)
        with pytest.raises(TypeError, match=r"^DML_JOIN_OPERATOR_DESC\.InputTensors\[0\] must be "):
            DML_JOIN_OPERATOR_DESC(InputTensors=[value])

    @pytest.mark.parametrize("value", [1, 1.5, None, DML_SIZE_2D(), b"\0" * 8])
    def test_values(self, value):
        with pytest.raises(TypeError, match=r"DESC\.Value must be a DML_SCALAR_UNION, not"):
            DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(Value=value)

    @pytest.mark.parametrize("value", [1.5, "thing", True, object(), DML_SIZE_2D()])
    def test_interfaces(self, value):
        with pytest.raises(
            TypeError, match=r"^DML_BUFFER_BINDING\.Buffer must be an interface object or None"
        ):
            DML_BUFFER_BINDING(Buffer=value)

    @pytest.mark.parametrize("value", [tensor_desc(FLOAT32, [1]), DML_JOIN_OPERATOR_DESC()])
    def test_one_struct_where_a_list_is_meant(self, value):
        with pytest.raises(TypeError, match=r"^DML_JOIN_OPERATOR_DESC\.InputTensors must be a"):
            DML_JOIN_OPERATOR_DESC(InputTensors=value)
        with pytest.raises(TypeError, match=r"^DML_RNN_OPERATOR_DESC\.ActivationDescs must be a"):
            DML_RNN_OPERATOR_DESC(ActivationDescs=value)

    def test_a_text_elsewhere(self):
        """C's own memory is pointed to as it is; the lowest number with a sign is an address, too."""
        text = ffi.new("char[]", b"edge")
        assert DML_INPUT_GRAPH_EDGE_DESC(Name=text).Name == b"edge"
        desc = DML_INPUT_GRAPH_EDGE_DESC(Name=-(1 << 63))
        offset = DML_INPUT_GRAPH_EDGE_DESC.Name.offset
        assert int.from_bytes(bytes(desc)[offset : offset + 8], "little") == 1 << 63

    def test_one_struct_as_in_c(self):
        one = tensor_desc(FLOAT32, [1])
        assert DML_JOIN_OPERATOR_DESC(InputCount=1, InputTensors=one).InputTensors[0] == one

    def test_text(self):
        with pytest.raises(TypeError, match=r"^DML_INPUT_GRAPH_EDGE_DESC\.Name must be"):
            DML_INPUT_GRAPH_EDGE_DESC(Name=1.5)

    @pytest.mark.parametrize("address", [-(1 << 63) - 1, 1 << 64])
    def test_addresses_have_64_bits(self, address):
        with pytest.raises(ValueError, match=f"must be a 64-bit address, not {address}"):
            DML_INPUT_GRAPH_EDGE_DESC(Name=address)

    def test_a_wrong_assignment_changes_nothing(self):
        desc = DML_REDUCE_OPERATOR_DESC(Axes=[1, 2])
        for name, value in (("Axes", [1.5]), ("Axes", "x"), ("AxisCount", 1.5), ("InputTensor", 1.5)):
            before = bytes(desc)
            with pytest.raises(TypeError, match=name):
                setattr(desc, name, value)
            assert bytes(desc) == before

    @pytest.mark.parametrize("address", [1, 0xDEAD0000, 0x8000000000000000, 0xFFFFFFFFFFFFFFF8])
    def test_elements_that_cannot_be_read(self, address):
        """The elements of an array are copied, which must not touch wild memory."""
        with pytest.raises(
            DMLError, match=r"DML_JOIN_OPERATOR_DESC\.InputTensors\[1\].* cannot be read"
        ) as caught:
            DML_JOIN_OPERATOR_DESC(InputTensors=[tensor_desc(FLOAT32, [1]), address])
        assert caught.value.hresult == 0x80070057
        wild = ctypes.cast(address, ctypes.POINTER(DML_TENSOR_DESC))
        with pytest.raises(DMLError, match=r"InputTensors\[0\]"):
            DML_JOIN_OPERATOR_DESC(InputTensors=[wild])

    def test_a_pointer_is_stored_unread(self):
        assert DML_TENSOR_DESC(BUFFER, 0xDEAD0000).Desc == 0xDEAD0000
        desc = DML_GEMM_OPERATOR_DESC(ATensor=0xDEAD0000)
        assert ctypes.cast(desc.ATensor, ctypes.c_void_p).value == 0xDEAD0000
