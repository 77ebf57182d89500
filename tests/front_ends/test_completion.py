"""Attribute completion of objects: COM methods and Python's additions, and nothing else."""

from __future__ import annotations

import directml_py as dml
from directml_py.com.interfaces import INTERFACES
from directml_py.graph import Graph
from directml_py.graph.operator_functions import method_names

EVERY = {"IID", "QueryInterface", "handle", "from_handle"}
ADDITIONS = {
    "ID3D12Resource": {"array", "memory"},
    "IDMLDevice": {"d3d12_device", "feature_level", "flags", "profile"},
    "IDMLOperator": {"desc"},
}


def public(value):
    return {name for name in dir(value) if not name.startswith("_")}


def methods_of(name):
    """Those of an interface and its bases, as in its header, except for reference counting."""
    interface = INTERFACES[name]
    own = {method.name for method in interface.methods}
    return own | (methods_of(interface.base) if interface.base else set())


def objects():
    device = dml.D3D12CreateDevice()
    queue = device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC())
    allocator = device.CreateCommandAllocator(dml.D3D12_COMMAND_LIST_TYPE_DIRECT)
    yield device
    yield queue
    yield allocator
    yield device.CreateCommandList(0, dml.D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, None)
    yield device.CreateFence(0, dml.D3D12_FENCE_FLAG_NONE)
    yield device.CreateDescriptorHeap(
        dml.D3D12_DESCRIPTOR_HEAP_DESC(dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4)
    )
    yield device.CreateCommittedResource(
        dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT),
        dml.D3D12_HEAP_FLAG_NONE,
        dml.CD3DX12_RESOURCE_DESC.Buffer(16),
        dml.D3D12_RESOURCE_STATE_COMMON,
        None,
    )
    factory = dml.DMLCreateDevice(device, dml.DML_CREATE_DEVICE_FLAG_NONE)
    tensor = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 4])
    identity = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(InputTensor=tensor, OutputTensor=tensor)
    operator = factory.CreateOperator(identity)
    compiled = factory.CompileOperator(operator, dml.DML_EXECUTION_FLAG_NONE)
    yield factory
    yield operator
    yield compiled
    yield factory.CreateOperatorInitializer([compiled])
    yield factory.CreateCommandRecorder()


def test_an_object_shows_methods_and_documented_additions():
    for value in objects():
        own = next(kind.__name__ for kind in type(value).__mro__ if kind.__name__ in INTERFACES)
        additions = EVERY | ADDITIONS.get(own.rstrip("12"), set())
        names, methods = public(value), methods_of(own)
        assert names - {"name"} <= methods | additions, own
        assert {name for name in methods if hasattr(value, name)} | additions <= names, own
        assert ("name" in names) == hasattr(value, "name")


def test_a_graph_shows_its_functions_and_none_of_what_the_package_asks():
    names = public(Graph())
    assert set(method_names()) | {"compile", "input_tensor", "constant", "inputs", "nodes"} <= names
    assert not {"own", "output_tensor", "add_operator"} & names
