"""Structs as values: equality, copies, pickles, and what copies keep alive."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import directml_py as dml
from directml_py.abi.arguments import WrongObject
from directml_py.abi.memory import MemoryFault
from directml_py.descs import OperatorDesc, Scalar, decode_operator_desc, encode
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc
from directml_py.text.json_reading import JsonError

from ..api.helpers import Thing, buffer_of, churn, sizes_of

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


def tensor(*sizes):
    return dml.tensor_desc(FLOAT32, sizes)


def join(axis=3):
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(1, 1, 2, 3), tensor(1, 1, 2, 4)], OutputTensor=tensor(1, 1, 2, 7), Axis=axis
    )


def addresses(desc):
    """The addresses of a JOIN's arrays and of the structs that they point to."""
    first = desc.InputTensors[0]
    return {ctypes.addressof(desc), ctypes.addressof(desc.InputTensors.contents), first.Desc} | {
        desc.OutputTensor.contents.Desc
    }


class TestEquality:
    def test_by_value_wherever_they_point(self):
        assert join() == join()
        assert join() != join(axis=2)

    @pytest.mark.parametrize(
        "change",
        [
            lambda desc: setattr(desc, "OutputTensor", None),
            lambda desc: setattr(desc, "InputCount", 1),
            lambda desc: setattr(desc.InputTensors[1], "Type", 0),
            lambda desc: buffer_of(desc.InputTensors[1]).Sizes.__setitem__(3, 5),
            lambda desc: setattr(buffer_of(desc.OutputTensor.contents), "Strides", [14, 14, 7, 1]),
            lambda desc: setattr(buffer_of(desc.OutputTensor.contents), "TotalTensorSizeInBytes", 60),
        ],
    )
    def test_a_difference_behind_a_pointer(self, change):
        changed = join()
        change(changed)
        assert changed != join()

    def test_floats_by_their_bits(self):
        celu = dml.DML_ACTIVATION_CELU_OPERATOR_DESC
        assert celu(Alpha=float("nan")) == celu(Alpha=float("nan"))
        assert celu(Alpha=0.0) != celu(Alpha=-0.0)
        assert dml.DML_SCALAR_UNION(Float32=1.0) == dml.DML_SCALAR_UNION(UInt32=0x3F800000)
        assert dml.DML_SCALAR_UNION(Float32=1.0) != dml.DML_SCALAR_UNION(UInt32=1)

    def test_of_different_types(self):
        """SIN and COS have the same fields but differ; a d3dx12.h helper equals its base struct."""
        sin, cos = dml.DML_ELEMENT_WISE_SIN_OPERATOR_DESC(), dml.DML_ELEMENT_WISE_COS_OPERATOR_DESC()
        assert bytes(sin) == bytes(cos)
        assert sin != cos
        assert sin != 0
        assert sin != bytes(sin)
        upload = dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_UPLOAD)
        assert upload == dml.D3D12_HEAP_PROPERTIES(2, CreationNodeMask=1, VisibleNodeMask=1)
        assert dml.D3D12_HEAP_PROPERTIES(2, CreationNodeMask=1, VisibleNodeMask=1) == upload

    def test_interfaces_are_themselves(self):
        one, other = Thing(), Thing()
        assert dml.DML_BUFFER_BINDING(one) == dml.DML_BUFFER_BINDING(one)
        assert dml.DML_BUFFER_BINDING(one) != dml.DML_BUFFER_BINDING(other)

    def test_what_cannot_be_read_is_told_apart(self):
        gemm = dml.DML_GEMM_OPERATOR_DESC
        assert gemm() == gemm()
        assert gemm(ATensor=0xDEAD0000) == gemm(ATensor=0xDEAD0000)
        assert gemm(ATensor=0xDEAD0000) != gemm(ATensor=0xDEAE0000)
        assert gemm(ATensor=0xDEAD0000) != gemm()

    @pytest.mark.parametrize("item", [join(), dml.DML_SCALAR_UNION(), dml.CD3DX12_RANGE()])
    def test_what_can_change_does_not_hash(self, item):
        with pytest.raises(TypeError, match="unhashable"):
            hash(item)

    def test_decoded_descs_hash(self):
        assert len({decode_operator_desc(join()).desc, decode_operator_desc(join()).desc}) == 1


class TestCopies:
    def test_a_copy_points_to_the_same(self):
        desc = join()
        new = copy.copy(desc)
        assert type(new) is type(desc)
        assert bytes(new) == bytes(desc)
        assert ctypes.addressof(new) != ctypes.addressof(desc)
        new.Axis = 2
        assert desc.Axis == 3

    def test_a_deep_copy_points_elsewhere(self):
        desc = join()
        new = copy.deepcopy(desc)
        assert new == desc
        assert not addresses(new) & addresses(desc)
        buffer_of(new.InputTensors[0]).Sizes[3] = 99
        assert sizes_of(desc.InputTensors[0]) == [1, 1, 2, 3]

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, dml.DML_JOIN_OPERATOR_DESC])
    def test_a_copy_lives_longer(self, copied):
        desc = join()
        new = copied(desc)
        desc.InputTensors = [tensor(5)]
        desc.OutputTensor = None
        del desc
        churn()
        assert sizes_of(new.InputTensors[1]) == [1, 1, 2, 4]
        assert sizes_of(new.OutputTensor.contents) == [1, 1, 2, 7]

    def test_a_part_copied_lives_longer_than_the_whole(self):
        array = (dml.DML_TENSOR_DESC * 2)(tensor(3), tensor(4))
        part, behind = copy.copy(array[1]), copy.copy(join().InputTensors[1])
        del array
        churn()
        assert sizes_of(part) == [4]
        assert sizes_of(behind) == [1, 1, 2, 4]

    def test_nested_structs_by_value(self):
        transition = dml.D3D12_RESOURCE_TRANSITION_BARRIER(pResource=Thing())
        barrier = dml.D3D12_RESOURCE_BARRIER(Transition=transition)
        helper = dml.CD3DX12_RESOURCE_BARRIER(barrier)
        new = dml.D3D12_RESOURCE_BARRIER(helper)
        assert type(helper) is dml.CD3DX12_RESOURCE_BARRIER
        transition.pResource = None
        barrier.Transition = dml.D3D12_RESOURCE_TRANSITION_BARRIER()
        del helper
        churn()
        assert Thing.from_handle(new.Transition.pResource) is not None
        assert new == copy.deepcopy(new)

    def test_what_was_put_into_others_may_change(self):
        """A struct put into an array or another struct is copied: what the copy points to stays."""
        one = tensor(11, 22, 33)
        desc = dml.DML_JOIN_OPERATOR_DESC(InputTensors=[one, one])
        one.Desc = dml.DML_BUFFER_TENSOR_DESC(Sizes=[1])
        churn()
        assert sizes_of(desc.InputTensors[0]) == sizes_of(desc.InputTensors[1]) == [11, 22, 33]
        array = (dml.DML_TENSOR_DESC * 1)(other := tensor(7, 8))
        desc = dml.DML_JOIN_OPERATOR_DESC(InputTensors=array)
        other.Desc = None
        other.Desc = dml.DML_BUFFER_TENSOR_DESC(Sizes=[1])
        churn()
        assert sizes_of(desc.InputTensors[0]) == [7, 8]
        transition = dml.D3D12_RESOURCE_TRANSITION_BARRIER(pResource=Thing())
        barrier = dml.D3D12_RESOURCE_BARRIER(Transition=transition)
        transition.pResource = Thing()
        churn()
        assert Thing.from_handle(barrier.Transition.pResource) is not None

    def test_copies_of_copies_keep_nothing_more(self):
        """Memory held by an older copy's field is freed with that copy."""
        thing = Thing()
        handle = thing.handle
        table = dml.DML_BINDING_TABLE_DESC(Dispatchable=thing, SizeInDescriptors=1)
        del thing
        table = table.replace(Dispatchable=Thing())
        table = copy.copy(dml.DML_BINDING_TABLE_DESC(table))
        gc.collect()
        assert Thing.from_handle(handle) is None

    def test_as_cpp_constructs_them(self):
        first = dml.DML_BUFFER_TENSOR_DESC(FLOAT32, Sizes=[1, 2], TotalTensorSizeInBytes=8)
        second = dml.DML_BUFFER_TENSOR_DESC(first)
        second.DataType = 2
        assert (first.DataType, second.DimensionCount, second.Sizes[:2]) == (1, 2, [1, 2])
        plain = dml.D3D12_HEAP_PROPERTIES(dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_READBACK))
        assert type(plain) is dml.D3D12_HEAP_PROPERTIES
        assert (plain.Type, plain.CreationNodeMask) == (3, 1)
        helper = dml.CD3DX12_HEAP_PROPERTIES(plain)
        assert (type(helper), helper.Type) == (dml.CD3DX12_HEAP_PROPERTIES, 3)
        heap = dml.CD3DX12_HEAP_DESC(65536, dml.D3D12_HEAP_TYPE_UPLOAD)
        assert dml.CD3DX12_HEAP_DESC(heap) == dml.D3D12_HEAP_DESC(heap) == heap
        assert dml.CD3DX12_RANGE(dml.D3D12_RANGE(3, 5)) == dml.CD3DX12_RANGE(3, 5)
        buffer = dml.CD3DX12_RESOURCE_DESC.Buffer(64)
        assert dml.CD3DX12_RESOURCE_DESC(dml.D3D12_RESOURCE_DESC(buffer)) == buffer
        with pytest.raises(TypeError, match="properties are missing"):
            dml.CD3DX12_HEAP_DESC(65536)

    def test_another_struct_is_no_original(self):
        with pytest.raises(TypeError, match=r"DML_BUFFER_TENSOR_DESC\.DataType must be an integer"):
            dml.DML_BUFFER_TENSOR_DESC(tensor(1))


class TestReplace:
    def test_a_field(self):
        desc = join()
        assert desc.replace(Axis=2) == join(axis=2)
        assert desc.Axis == 3

    def test_a_count_follows_its_array(self):
        desc = join()
        new = desc.replace(InputTensors=[tensor(1)] * 3)
        assert (new.InputCount, desc.InputCount) == (3, 2)
        assert desc.replace(InputTensors=[tensor(1)], InputCount=2).InputCount == 2
        assert desc.replace(InputTensors=[]).InputCount == 0
        assert desc.replace(InputCount=1).InputCount == 1

    def test_refusals(self):
        desc = join()
        with pytest.raises(TypeError, match="DML_JOIN_OPERATOR_DESC has no field Axes"):
            desc.replace(Axes=[1])
        with pytest.raises(TypeError, match=r"Axis must be an integer"):
            desc.replace(Axis="x")
        assert desc == join()

    def test_decoded_descs(self):
        desc = decode_operator_desc(join()).desc
        assert desc.replace(Axis=2) == decode_operator_desc(join(axis=2)).desc
        assert desc.Axis == 3
        three = desc.replace(InputTensors=[desc.OutputTensor] * 3)
        assert (three.InputCount, three.InputTensors[2].sizes) == (3, (1, 1, 2, 7))
        upsample = decode_operator_desc(dml.DML_UPSAMPLE_2D_OPERATOR_DESC(ScaleSize=(2, 3))).desc
        assert upsample.ScaleSize.replace(Width=4) == upsample.replace(ScaleSize=(4, 3)).ScaleSize
        pooling = decode_operator_desc(
            dml.DML_LP_POOLING_OPERATOR_DESC(Strides=[1, 1], WindowSize=[1, 1], P=2)
        ).desc
        for changes, error, text in (
            ({"Axes": [1]}, TypeError, "has no field Axes"),
            ({"DimensionCount": 1}, TypeError, "DimensionCount follows from its array"),
            ({"P": -1}, ValueError, r"DESC\.P must be an unsigned 32-bit number, not -1"),
            ({"Strides": [1]}, ValueError, r"has \d elements; DimensionCount is \d because of another array"),
        ):
            with pytest.raises(error, match=text):
                pooling.replace(**changes)

    @pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is new in Python 3.13")
    def test_by_the_standard_library(self):
        assert copy.replace(join(), Axis=2) == join(axis=2)


class TestPickles:
    @pytest.mark.parametrize("name", sorted(SCHEMAS))
    def test_every_operator_desc(self, name):
        value = valid_desc(RandomSource(3), name)
        desc = encode(value)
        for again in (pickle.loads(pickle.dumps(desc)), copy.deepcopy(desc)):
            assert type(again) is type(desc)
            assert again == desc
            assert decode_operator_desc(again) == (value, ())

    @pytest.mark.parametrize(
        "item",
        [
            dml.DML_GEMM_OPERATOR_DESC(),
            dml.DML_GEMM_OPERATOR_DESC(FusedActivation=dml.DML_ACTIVATION_CELU_OPERATOR_DESC(Alpha=0.5)),
            dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, join()),
            dml.DML_TENSOR_DESC(),
            dml.DML_BUFFER_TENSOR_DESC(FLOAT32, Sizes=[1, 2], Strides=[0, 1]),
            dml.DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=b"12345", Name="five"),
            dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(
                ValueDataType=1, Value=dml.DML_SCALAR_UNION(Float32=0.1)
            ),
            dml.DML_SCALAR_UNION(Float64=-0.0),
            dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_UPLOAD),
            dml.D3D12_INFO_QUEUE_FILTER_DESC(pSeverityList=[1, 2]),
            dml.GUID("c8263aac-9e0c-4a2d-9b8e-007521a3317c"),
        ],
        ids=lambda item: type(item).__name__,
    )
    def test_structs(self, item):
        for again in (pickle.loads(pickle.dumps(item)), copy.copy(item), copy.deepcopy(item)):
            assert type(again) is type(item)
            assert again == item

    def test_decoded_descs(self):
        desc = decode_operator_desc(join()).desc
        assert copy.copy(desc) is copy.deepcopy(desc) is desc
        again = pickle.loads(pickle.dumps(desc))
        assert type(again) is OperatorDesc
        assert again == desc
        assert again.schema is desc.schema
        assert pickle.loads(pickle.dumps(desc.OutputTensor)) == desc.OutputTensor
        scalar = Scalar(FLOAT32, bytes(8))
        assert pickle.loads(pickle.dumps(scalar)) == scalar

    @pytest.mark.parametrize(
        ("item", "text"),
        [
            (dml.DML_BINDING_DESC(1, dml.DML_BUFFER_BINDING(Thing())), "Desc.Buffer is an Thing"),
            (
                dml.D3D12_RESOURCE_BARRIER(UAV=dml.D3D12_RESOURCE_UAV_BARRIER(Thing())),
                "Barrier holds an address",
            ),
            (dml.D3D12_SUBRESOURCE_DATA(pData=b"1234"), "pData holds an address"),
            (dml.DML_GEMM_OPERATOR_DESC(ATensor=0xDEAD0000), "cannot be pickled: ATensor points to memory"),
            (dml.DML_REDUCE_OPERATOR_DESC(AxisCount=2, Axes=[1]), "AxisCount is 2, but Axes was given"),
        ],
    )
    def test_what_another_process_lacks(self, item, text):
        with pytest.raises(TypeError, match=text):
            pickle.dumps(item)

    def test_a_wild_pointer_is_not_followed_by_a_deep_copy(self):
        with pytest.raises(TypeError, match="DML_GEMM_OPERATOR_DESC cannot be copied: ATensor points to"):
            copy.deepcopy(dml.DML_GEMM_OPERATOR_DESC(ATensor=0xDEAD0000))


def refuse(number):
    """Raises an error in a worker process."""
    raise dml.DMLError(0x80070057, "no", dml.validate(join(axis=number)), reported=True)


class TestErrors:
    def test_from_a_worker_process(self):
        """Spawned workers, since forked ones would inherit the state that unpickling needs."""
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            with pytest.raises(dml.DMLError, match=r"no .E_INVALIDARG") as caught:
                pool.submit(refuse, 2).result(timeout=300)
            assert caught.value.hresult == 0x80070057
            assert caught.value.reported
            assert caught.value.diagnostics == dml.validate(join(axis=2)) != []
            # The pool goes on, and a desc comes and goes.
            assert pool.submit(copy.copy, join()).result(timeout=300) == join()

    def test_as_raised(self):
        with pytest.raises(dml.DMLError) as caught:
            dml.evaluate(join(axis=2), [])
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert again.diagnostics == caught.value.diagnostics

    @pytest.mark.parametrize(
        "error",
        [
            MemoryFault(16, 4),
            WrongObject("device", "must be an ID3D12Device, not None"),
            JsonError("is missing", "nodes[3]"),
        ],
    )
    def test_of_other_kinds(self, error):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
