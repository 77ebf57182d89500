"""Arrays and types of NumPy and other libraries, and pointers, as arguments."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import directml_py as dml
from directml_py.cffi import ffi
from directml_py.descs.data_types import DATA_TYPES
from directml_py.graph import Graph

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


class Elsewhere:
    """An array of another library: without ``__array__``, only with the DLPack protocol."""

    def __init__(self, array, requires_grad=False, device=(1, 0)):
        self.array = array
        self.requires_grad = requires_grad
        self.device = device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **keywords):
        if self.requires_grad:
            raise RuntimeError("this is not the sentence that is wanted")
        if self.device != (1, 0):
            raise BufferError("nor this")
        return self.array.__dlpack__()


def negate(sizes=(2, 3)):
    x = dml.tensor_desc(FLOAT32, sizes)
    return dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(x, x)


NUMBERS = np.arange(6, dtype=np.float32).reshape(2, 3)


class TestViewsOfBuffers:
    """Without a copy: what is written through one view shows in the others."""

    @pytest.fixture
    def upload(self):
        device = dml.D3D12CreateDevice()
        return device.CreateCommittedResource(
            dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_UPLOAD),
            dml.D3D12_HEAP_FLAG_NONE,
            dml.CD3DX12_RESOURCE_DESC.Buffer(16),
            dml.D3D12_RESOURCE_STATE_GENERIC_READ,
        )

    def test_numpy(self, upload):
        view = np.asarray(upload)
        view[3] = 7
        assert (view.dtype, view.shape) == (np.uint8, (16,))
        assert upload.Map().tolist() == [0, 0, 0, 7, *[0] * 12]
        assert np.shares_memory(view, upload.memory)

    def test_dlpack(self, upload):
        upload.Map()[5] = 9
        view = np.from_dlpack(upload)
        assert view.tolist() == [0] * 5 + [9] + [0] * 10
        assert np.shares_memory(view, upload.memory)
        assert upload.__dlpack_device__() == (1, 0)

    @pytest.mark.skipif(sys.version_info < (3, 12), reason="classes take part in buffers from Python 3.12 on")
    def test_memoryview(self, upload):
        memoryview(upload)[2] = 5
        assert upload.Map()[2] == 5

    def test_memory_without_cpu_access_is_read_only(self):
        device = dml.D3D12CreateDevice()
        made = device.CreateCommittedResource(
            dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT),
            dml.D3D12_HEAP_FLAG_NONE,
            dml.CD3DX12_RESOURCE_DESC.Buffer(16),
            dml.D3D12_RESOURCE_STATE_COMMON,
        )
        view = np.asarray(made)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1

    def test_a_view_keeps_the_memory(self, upload):
        view = np.asarray(upload)
        view[0] = 3
        del upload
        assert view[0] == 3

    def test_a_resource_is_no_struct(self, upload):
        """It is memory, but not what a pointer to a desc means."""
        with pytest.raises(TypeError, match="must be"):
            dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, upload)


class TestDLPack:
    def test_evaluate(self):
        (result,) = dml.evaluate(negate(), [Elsewhere(NUMBERS)])
        assert result.tolist() == [[0, -1, -2], [-3, -4, -5]]
        (result,) = dml.evaluate(negate((3, 2)), [Elsewhere(NUMBERS.T)])
        assert result.tolist() == [[0, -3], [-1, -4], [-2, -5]]

    def test_graphs(self):
        graph = Graph()
        x = graph.input_tensor("x", np.float32, [2, 3])
        compiled = graph.compile(x + graph.constant(Elsewhere(NUMBERS)))
        assert compiled.run([Elsewhere(NUMBERS)])[0].tolist() == [[0, 2, 4], [6, 8, 10]]

    def test_of_another_type(self):
        """An array has a type of its own, where a list of numbers takes the tensor's."""
        with pytest.raises(TypeError, match=r"^InputTensor holds float32 elements, not float64$"):
            dml.evaluate(negate(), [Elsewhere(NUMBERS.astype(np.float64))])

    def test_that_requires_gradients(self):
        with pytest.raises(TypeError, match=r"^InputTensor: the Elsewhere requires gradients.*detach\(\)"):
            dml.evaluate(negate(), [Elsewhere(NUMBERS, requires_grad=True)])
        with pytest.raises(TypeError, match=r"^Graph\.constant: array: the Elsewhere requires gradients"):
            Graph().constant(Elsewhere(NUMBERS, requires_grad=True))

    def test_on_a_device(self):
        with pytest.raises(TypeError, match=r"^InputTensor: the Elsewhere is on a device \(DLPack type 2\)"):
            dml.evaluate(negate(), [Elsewhere(NUMBERS, device=(2, 0))])

    def test_that_does_not_keep_the_protocol(self):
        class Broken:
            def __dlpack__(self, **keywords):
                raise BufferError("the reason")

        with pytest.raises(TypeError, match=r"^InputTensor: NumPy cannot view the Broken: "):
            dml.evaluate(negate(), [Broken()])

    @pytest.mark.slow
    @pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
    def test_torch(self):
        """In a separate process: PyTorch would fill this one with objects that warn when inspected."""
        told = subprocess.run([sys.executable, "-c", TORCH], capture_output=True, text=True, check=True)
        assert told.stdout.splitlines() == [
            "[[0.0, -1.0, -2.0], [-3.0, -4.0, -5.0]]",
            "InputTensor: the Tensor requires gradients, which are not computed here; pass its detach()",
            "InputTensor holds float32 elements, not float64",
            "InputTensor: NumPy cannot view the Tensor",
        ]


TORCH = """
import torch
import directml_py as dml

x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [2, 3])
negate = dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(x, x)
numbers = torch.arange(6, dtype=torch.float32).reshape(2, 3)
print((dml.evaluate(negate, [numbers])[0] + 0.0).tolist())
for wrong in (numbers.clone().requires_grad_(), numbers.double(), numbers.bfloat16()):
    try:
        dml.evaluate(negate, [wrong])
    except TypeError as error:
        print(str(error)[:str(error).find(": ", 15) if "bfloat16" in str(wrong.dtype) else None])
"""


class TestInputs:
    @pytest.mark.parametrize(
        "inputs", [NUMBERS, Elsewhere(NUMBERS), {"InputTensor": NUMBERS}, "ab", None, 1.5]
    )
    def test_no_list(self, inputs):
        """Of an array, its first dimension would be taken for the list."""
        with pytest.raises(
            TypeError, match=r"^inputs must be a list .* not (ndarray|Elsewhere|dict|str|None|float)"
        ):
            dml.evaluate(negate(), inputs)

    def test_lists_of_any_kind(self):
        for inputs in ([NUMBERS], (NUMBERS,)):
            assert dml.evaluate(negate(), inputs)[0][1, 2] == -5


class TestTypes:
    @pytest.mark.parametrize(
        ("data_type", "dtype"), [(kind, known.dtype) for kind, known in DATA_TYPES.items() if known.bits >= 8]
    )
    def test_every_type(self, data_type, dtype):
        expected = dml.tensor_desc(data_type, [3])
        for form in (dtype, dtype.type, dtype.newbyteorder()):
            assert dml.tensor_desc(form, [3]) == expected
            assert dml.DMLCalcBufferTensorSize(form, 1, [3]) == (3 * dtype.itemsize + 3) // 4 * 4

    def test_in_graphs(self):
        graph = Graph()
        x = graph.input_tensor("x", np.dtype("float32"), [2])
        assert graph.cast(x, output_data_type=np.int8).desc.data_type == dml.DML_TENSOR_DATA_TYPE_INT8
        assert graph.reinterpret(x, np.uint16, [4]).desc.data_type == dml.DML_TENSOR_DATA_TYPE_UINT16
        filled = graph.fill_value_constant(
            value_data_type=np.float32,
            value=1.5,
            outputs=[graph.input_tensor("y", np.float32, [2]).desc],
        )
        assert graph.compile([filled]).run([None, None])[0].tolist() == [1.5, 1.5]

    @pytest.mark.parametrize("kind", [np.bool_, np.complex64, np.dtype("datetime64[s]"), np.str_])
    def test_types_that_directml_lacks(self, kind):
        with pytest.raises(TypeError, match=r"^data_type: DirectML has no data type for .* elements"):
            dml.tensor_desc(kind, [1])
        with pytest.raises(TypeError, match=r"^Graph\.input_tensor: data_type: DirectML has no data type"):
            Graph().input_tensor("x", kind, [1])

    @pytest.mark.parametrize("kind", [b"float32", float, None, True])
    def test_no_types(self, kind):
        with pytest.raises(TypeError, match=r"^data_type must be (a DML_TENSOR_DATA_TYPE|an integer)"):
            dml.tensor_desc(kind, [1])


class TestSizesBehindPointers:
    """DMLCalcBufferTensorSize(buffer.DataType, buffer.DimensionCount, buffer.Sizes, buffer.Strides)."""

    def test_of_a_buffer_desc(self):
        packed = dml.DML_BUFFER_TENSOR_DESC(FLOAT32, Sizes=[2, 3])
        strided = dml.DML_BUFFER_TENSOR_DESC(FLOAT32, Sizes=[2, 3], Strides=[8, 1])
        for buffer, expected in ((packed, 24), (strided, (8 + 2 + 1) * 4)):
            fields = buffer.DataType, buffer.DimensionCount, buffer.Sizes, buffer.Strides
            assert dml.DMLCalcBufferTensorSize(*fields) == expected

    @pytest.mark.parametrize(
        "pointer",
        [
            lambda values: values,
            lambda values: ctypes.cast(values, ctypes.POINTER(ctypes.c_uint32)),
            lambda values: ctypes.cast(values, ctypes.c_void_p),
            lambda values: ctypes.pointer(ctypes.c_uint32.from_buffer(values)),
            lambda values: ffi.new("uint32_t[]", list(values)),
            lambda values: np.array(values, np.uint32),
        ],
    )
    def test_other_forms(self, pointer):
        sizes, strides = (ctypes.c_uint32 * 3)(2, 3, 99), (ctypes.c_uint32 * 2)(8, 1)
        assert dml.DMLCalcBufferTensorSize(FLOAT32, 2, pointer(sizes), pointer(strides)) == 44

    def test_null(self):
        null = ctypes.POINTER(ctypes.c_uint32)()
        assert dml.DMLCalcBufferTensorSize(FLOAT32, 2, [2, 3], null) == 24
        with pytest.raises(TypeError, match="sizes must not be null"):
            dml.DMLCalcBufferTensorSize(FLOAT32, 2, null)

    def test_refusals(self):
        wild = ctypes.cast(0xDEAD0000, ctypes.POINTER(ctypes.c_uint32))
        with pytest.raises(dml.DMLError, match=r"^strides: 8 bytes at 0xDEAD0000 cannot be read"):
            dml.DMLCalcBufferTensorSize(FLOAT32, 2, [2, 3], wild)
        with pytest.raises(TypeError, match=r"^sizes must be a c_uint"):
            dml.DMLCalcBufferTensorSize(FLOAT32, 2, ctypes.pointer(ctypes.c_double(1)))
        with pytest.raises(ValueError, match="dimension_count is 70000"):
            dml.DMLCalcBufferTensorSize(FLOAT32, 70000, wild)
