"""What structs point to lives as long as they do, and no longer."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

from directml_py.abi.interface import IUnknown
from directml_py.api.d3d12_structs import D3D12_RESOURCE_BARRIER, D3D12_RESOURCE_TRANSITION_BARRIER
from directml_py.api.enums import (
    DML_OPERATOR_ACTIVATION_LEAKY_RELU,
    DML_OPERATOR_JOIN,
    DML_TENSOR_DATA_TYPE_FLOAT32,
    DML_TENSOR_TYPE_BUFFER,
)
from directml_py.api.operator_descs import (
    DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC,
    DML_GEMM_OPERATOR_DESC,
    DML_JOIN_OPERATOR_DESC,
    DML_RNN_OPERATOR_DESC,
)
from directml_py.api.structs import (
    DML_BINDING_DESC,
    DML_BINDING_TABLE_DESC,
    DML_BUFFER_ARRAY_BINDING,
    DML_BUFFER_BINDING,
    DML_BUFFER_TENSOR_DESC,
    DML_INPUT_GRAPH_EDGE_DESC,
    DML_OPERATOR_DESC,
    DML_TENSOR_DESC,
)
from directml_py.cffi import ffi
from directml_py.descs import decode_struct, tensor_desc

from .helpers import Thing, churn, sizes_of

FLOAT32 = DML_TENSOR_DATA_TYPE_FLOAT32
BUFFER = DML_TENSOR_TYPE_BUFFER


class TestKeepAlive:
    def test_arrays_of_numbers(self):
        desc = DML_BUFFER_TENSOR_DESC(Sizes=[11, 22, 33], Strides=np.array([44, 55, 66]))
        churn()
        assert desc.Sizes[:3] == [11, 22, 33]
        assert desc.Strides[:3] == [44, 55, 66]

    def test_a_nested_desc(self):
        tensor = tensor_desc(FLOAT32, [11, 22, 33])
        churn()
        assert sizes_of(tensor) == [11, 22, 33]

    def test_arrays_of_structs(self):
        desc = DML_JOIN_OPERATOR_DESC(
            InputTensors=[tensor_desc(FLOAT32, [n, 7]) for n in range(1, 40)],
            OutputTensor=tensor_desc(FLOAT32, [99, 7]),
        )
        churn()
        assert [sizes_of(desc.InputTensors[n])[0] for n in range(39)] == list(range(1, 40))
        assert sizes_of(desc.OutputTensor.contents) == [99, 7]

    @pytest.mark.parametrize(
        "hold",
        [ctypes.byref, ctypes.pointer, lambda x: ctypes.cast(ctypes.pointer(x), ctypes.c_void_p)],
        ids=["byref", "pointer", "cast"],
    )
    def test_behind_pointers(self, hold):
        desc = DML_GEMM_OPERATOR_DESC(ATensor=hold(tensor_desc(FLOAT32, [5, 6])))
        desc.BTensor = hold(tensor_desc(FLOAT32, [7, 8]))
        join = DML_JOIN_OPERATOR_DESC(InputTensors=[hold(tensor_desc(FLOAT32, [n])) for n in range(1, 9)])
        churn()
        assert sizes_of(desc.ATensor.contents) == [5, 6]
        assert sizes_of(desc.BTensor.contents) == [7, 8]
        assert [sizes_of(join.InputTensors[n]) for n in range(8)] == [[n] for n in range(1, 9)]

    def test_copies(self):
        """A struct put into an array, another struct or a list keeps what the original kept."""
        first = [tensor_desc(FLOAT32, [n]) for n in (3, 4)]
        array = (DML_TENSOR_DESC * 2)()
        array[0], array[1] = first
        by_array = DML_JOIN_OPERATOR_DESC(InputTensors=array)
        assert by_array.InputCount == 2
        wrapped = DML_OPERATOR_DESC(DML_OPERATOR_JOIN, by_array)
        operators = (DML_OPERATOR_DESC * 1)(wrapped)
        del first, array, by_array, wrapped
        churn()
        join = ctypes.cast(operators[0].Desc, ctypes.POINTER(DML_JOIN_OPERATOR_DESC)).contents
        assert [sizes_of(join.InputTensors[n]) for n in range(2)] == [[3], [4]]

    def test_field_to_field(self):
        """A pointer read from one struct and stored in another."""
        source = DML_GEMM_OPERATOR_DESC(ATensor=tensor_desc(FLOAT32, [5, 6]))
        target = DML_GEMM_OPERATOR_DESC(OutputTensor=source.ATensor)
        inner = target.OutputTensor.contents
        del source, target
        churn()
        assert sizes_of(inner) == [5, 6]

    @pytest.mark.parametrize(
        "hold",
        [
            lambda thing: DML_BUFFER_BINDING(thing),
            lambda thing: DML_BINDING_DESC(1, DML_BUFFER_BINDING(thing)),
            lambda thing: DML_BINDING_DESC(1, ctypes.byref(DML_BUFFER_BINDING(thing))),
            lambda thing: DML_BINDING_DESC(1, ctypes.pointer(DML_BUFFER_BINDING(thing))),
            lambda thing: DML_BUFFER_ARRAY_BINDING(Bindings=[DML_BUFFER_BINDING(thing)]),
            lambda thing: DML_BUFFER_ARRAY_BINDING(Bindings=[ctypes.pointer(DML_BUFFER_BINDING(thing))]),
            lambda thing: DML_BUFFER_ARRAY_BINDING(
                Bindings=(DML_BUFFER_BINDING * 1)(DML_BUFFER_BINDING(thing))
            ),
            lambda thing: DML_BUFFER_ARRAY_BINDING(1, ctypes.pointer(DML_BUFFER_BINDING(thing))),
            lambda thing: (DML_BINDING_DESC * 1)(DML_BINDING_DESC(1, DML_BUFFER_BINDING(thing))),
        ],
    )
    def test_let_go_with_the_last_reference(self, hold):
        """Without a reference cycle, for which the garbage collector would be needed."""
        gc.collect()
        gc.disable()
        try:
            thing = Thing()
            handle, struct = thing.handle, hold(thing)
            del thing
            assert IUnknown.from_handle(handle) is not None
            decode_struct(struct, type(struct).__name__.removesuffix("_Array_1"))
            repr(struct)
            assert IUnknown.from_handle(handle) is not None
            del struct
            assert IUnknown.from_handle(handle) is None
        finally:
            gc.enable()

    def test_text(self):
        edge = DML_INPUT_GRAPH_EDGE_DESC(Name="".join(["schn", "ürl"]))
        churn()
        assert edge.Name == "schnürl".encode()

    def test_typed_operator_as_fused_activation(self):
        gemm = DML_GEMM_OPERATOR_DESC(FusedActivation=DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=0.25))
        churn()
        fused = gemm.FusedActivation.contents
        assert fused.Type == DML_OPERATOR_ACTIVATION_LEAKY_RELU
        inner = ctypes.cast(fused.Desc, ctypes.POINTER(DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC)).contents
        assert inner.Alpha == 0.25

    @pytest.mark.parametrize(
        "hold", [lambda x: x, ctypes.byref, ctypes.pointer], ids=["itself", "byref", "pointer"]
    )
    def test_typed_operators_in_an_array(self, hold):
        rnn = DML_RNN_OPERATOR_DESC(
            ActivationDescs=[hold(DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=n)) for n in range(5)]
        )
        churn()
        assert rnn.ActivationDescCount == 5
        for n in range(5):
            item = rnn.ActivationDescs[n]
            assert item.Type == DML_OPERATOR_ACTIVATION_LEAKY_RELU
            inner = ctypes.cast(item.Desc, ctypes.POINTER(DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC)).contents
            assert inner.Alpha == n

    def test_a_cffi_operator_as_fused_activation(self):
        inner = ffi.new("DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC *", {"Alpha": 0.5})
        fused = DML_GEMM_OPERATOR_DESC(FusedActivation=inner).FusedActivation.contents
        assert fused.Type == DML_OPERATOR_ACTIVATION_LEAKY_RELU
        assert fused.Desc == int(ffi.cast("uintptr_t", inner))


class TestInterfaces:
    def test_held_alive_and_found(self):
        things = [Thing() for _ in range(20)]
        structs = [DML_BUFFER_BINDING(thing, n, 2 * n) for n, thing in enumerate(things)]
        numbers = [id(thing) for thing in things]
        del things
        churn()
        found = [Thing.from_handle(struct.Buffer) for struct in structs]
        assert [id(thing) for thing in found] == numbers
        assert [(struct.Offset, struct.SizeInBytes) for struct in structs] == [(n, 2 * n) for n in range(20)]

    def test_held_through_nesting(self):
        """Barrier unions, bindings behind void pointers, arrays."""
        barrier = D3D12_RESOURCE_BARRIER()
        barrier.Transition = D3D12_RESOURCE_TRANSITION_BARRIER(pResource=Thing())
        binding = DML_BINDING_DESC(1, DML_BUFFER_BINDING(Thing()))
        array = (DML_BINDING_DESC * 1)(binding)
        del binding
        churn()
        assert Thing.from_handle(barrier.Transition.pResource) is not None
        inner = ctypes.cast(array[0].Desc, ctypes.POINTER(DML_BUFFER_BINDING)).contents
        assert Thing.from_handle(inner.Buffer) is not None

    def test_gone_when_the_struct_is_gone(self):
        struct = DML_BUFFER_BINDING(Thing())
        handle = struct.Buffer
        assert IUnknown.from_handle(handle) is not None
        del struct
        gc.collect()
        assert IUnknown.from_handle(handle) is None

    def test_handles(self):
        one, other = Thing(), Thing()
        assert one.handle == one.handle != other.handle
        assert IUnknown.from_handle(one.handle) is one
        assert IUnknown.from_handle(other.handle) is other
        assert DML_BINDING_TABLE_DESC(Dispatchable=one).Dispatchable == one.handle
        assert DML_BINDING_TABLE_DESC(Dispatchable=one.handle).Dispatchable == one.handle

    @pytest.mark.parametrize("handle", [None, 0, 1, 0xDEAD0000, 1 << 63, (1 << 64) - 8])
    def test_no_handle(self, handle):
        assert IUnknown.from_handle(handle) is None

    def test_of_another_interface(self):
        class Other(IUnknown):
            pass

        thing = Thing()
        assert Other.from_handle(thing.handle) is None
