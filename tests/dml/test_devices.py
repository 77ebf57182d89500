"""Device creation, and the interfaces of devices."""

from __future__ import annotations

import pytest

import directml_py as dml

from .helpers import DEBUG, Bench

LEVELS = [
    "1_0",
    "2_0",
    "2_1",
    "3_0",
    "3_1",
    "4_0",
    "4_1",
    "5_0",
    "5_1",
    "5_2",
    "6_0",
    "6_1",
    "6_2",
    "6_3",
    "6_4",
]


def level(name):
    return dml.DML_FEATURE_LEVEL[f"DML_FEATURE_LEVEL_{name}"]


@pytest.fixture
def d3d12():
    return dml.D3D12CreateDevice()


def refused(call, hresult, *words):
    with pytest.raises(dml.DMLError) as caught:
        call()
    assert caught.value.hresult == hresult
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("name", LEVELS)
def test_graphs_from_2_1_on(d3d12, name):
    device = dml.DMLCreateDevice(d3d12, feature_level=level(name))
    has_graphs = name not in ("1_0", "2_0")
    assert isinstance(device, dml.IDMLDevice)
    assert isinstance(device, dml.IDMLDevice1) == has_graphs
    assert device.QueryInterface(dml.IID_IDMLDevice) is device
    if has_graphs:
        assert device.QueryInterface(dml.IID_IDMLDevice1) is device
    else:
        refused(lambda: device.QueryInterface(dml.IID_IDMLDevice1), dml.E_NOINTERFACE)
        refused(lambda: device.QueryInterface(dml.IDMLDevice1), dml.E_NOINTERFACE)


def test_the_highest_level_is_the_default(d3d12):
    device = dml.DMLCreateDevice(d3d12)
    answer = dml.DML_FEATURE_DATA_FEATURE_LEVELS()
    levels = dml.DML_FEATURE_QUERY_FEATURE_LEVELS(RequestedFeatureLevels=list(dml.DML_FEATURE_LEVEL))
    device.CheckFeatureSupport(dml.DML_FEATURE_FEATURE_LEVELS, levels, answer)
    assert answer.MaxSupportedFeatureLevel == 0x6400


@pytest.mark.parametrize("name", LEVELS)
def test_the_minimum_level(d3d12, name):
    """A device may support more than the minimum; less is rejected."""
    make = dml.DMLCreateDevice1
    for emulated in LEVELS[1:]:
        if LEVELS.index(emulated) >= LEVELS.index(name):
            assert make(d3d12, 0, level(name), feature_level=level(emulated)).GetParentDevice() is d3d12
        else:
            refused(
                lambda: make(d3d12, 0, level(name), feature_level=level(emulated)),  # noqa: B023
                dml.DXGI_ERROR_UNSUPPORTED,
                level(name).name,
                level(emulated).name,
            )


def test_wrong_arguments(d3d12):
    for nothing in (None, 0, "device", dml.DMLCreateDevice(d3d12)):
        with pytest.raises(TypeError, match="d3d12Device"):
            dml.DMLCreateDevice(nothing)
    refused(lambda: dml.DMLCreateDevice(d3d12, 2), dml.E_INVALIDARG, "flags", "0x2")
    refused(lambda: dml.DMLCreateDevice(d3d12, feature_level=0x2500), dml.E_INVALIDARG, "feature_level")
    for number in (1 << 32, -(1 << 31) - 1):
        refused(
            lambda: dml.DMLCreateDevice1(d3d12, 0, number),  # noqa: B023
            dml.E_INVALIDARG,
            "minimumFeatureLevel",
        )
    with pytest.raises(TypeError, match="flags"):
        dml.DMLCreateDevice(d3d12, "DEBUG")


@pytest.mark.kind_device
@pytest.mark.parametrize("number", [0, 1, 0x1500, -1, -(1 << 31), 0xFFFFFFFF, 0x80000000, 0x61FF])
def test_minimum_levels_that_are_no_levels(d3d12, number):
    """They are compared as signed numbers; a strict device requires levels."""
    assert dml.DMLCreateDevice1(d3d12, 0, number, feature_level=0x6200).GetParentDevice() is d3d12
    refused(
        lambda: dml.DMLCreateDevice1(d3d12, 0, number, feature_level=0x6200, profile="strict"),
        dml.E_INVALIDARG,
        "minimumFeatureLevel is",
        "DML-CreateDevice-minimum-feature-level-known",
    )


@pytest.mark.parametrize("number", [0x6201, 0x6300, 0x7FFFFFFF])
def test_minimum_levels_above_that_of_the_device(d3d12, number):
    refused(
        lambda: dml.DMLCreateDevice1(d3d12, 0, number, feature_level=0x6200),
        dml.DXGI_ERROR_UNSUPPORTED,
        "minimumFeatureLevel",
    )


def test_devices_are_not_singletons(d3d12):
    first, second = dml.DMLCreateDevice(d3d12), dml.DMLCreateDevice(d3d12)
    assert first is not second
    assert first.GetParentDevice() is second.GetParentDevice() is d3d12


@pytest.mark.parametrize("flags", [0, DEBUG])
def test_the_debug_interface(d3d12, flags):
    """Microsoft's library has it without the flag too; there is nothing to mute then."""
    device = dml.DMLCreateDevice(d3d12, flags)
    for riid in (dml.IID_IDMLDebugDevice, dml.IDMLDebugDevice):
        found = device.QueryInterface(riid)
        assert isinstance(found, dml.IDMLDebugDevice)
        found.SetMuteDebugOutput(True)
        assert found.QueryInterface(dml.IID_IDMLDevice) is device
        assert found.QueryInterface(dml.IDMLDebugDevice) is found
        refused(lambda: found.QueryInterface(dml.IID_IDMLOperator), dml.E_NOINTERFACE)  # noqa: B023


def test_every_object_has_its_interfaces_and_no_other():
    bench = Bench()
    op = bench.dml.CreateOperator(dml.DML_JOIN_OPERATOR_DESC(InputTensors=[T], OutputTensor=T, Axis=0))
    compiled = bench.dml.CompileOperator(op)
    initializer = bench.dml.CreateOperatorInitializer([compiled])
    child = {"IUnknown", "IDMLObject", "IDMLDeviceChild"}
    pageable = {*child, "IDMLPageable", "IDMLDispatchable"}
    expected = {
        bench.dml: {"IUnknown", "IDMLObject", "IDMLDevice", "IDMLDevice1"},
        op: {*child, "IDMLOperator"},
        compiled: {*pageable, "IDMLCompiledOperator"},
        initializer: {*pageable, "IDMLOperatorInitializer"},
        bench.table(compiled): {*child, "IDMLBindingTable"},
        bench.recorder: {*child, "IDMLCommandRecorder"},
    }
    names = {name for name in vars(dml) if name.startswith(("IDML", "ID3D12")) or name == "IUnknown"}
    for thing, has in expected.items():
        for name in names:
            kind = getattr(dml, name)
            if thing is bench.dml and kind is dml.IDMLDebugDevice:
                # An object of its own, with the device's identity.
                assert isinstance(thing.QueryInterface(kind), kind)
            elif name in has:
                assert thing.QueryInterface(kind) is thing
                assert thing.QueryInterface(kind.IID) is thing
            else:
                refused(lambda: thing.QueryInterface(kind), dml.E_NOINTERFACE)  # noqa: B023


T = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 4])


def test_children_know_their_device():
    bench = Bench()
    op = bench.dml.CreateOperator(dml.DML_JOIN_OPERATOR_DESC(InputTensors=[T], OutputTensor=T, Axis=0))
    compiled = bench.dml.CompileOperator(op)
    initializer = bench.dml.CreateOperatorInitializer([compiled])
    for thing in (op, compiled, initializer, bench.table(compiled), bench.recorder):
        assert thing.GetDevice() is bench.dml


def test_evict_and_make_resident():
    bench = Bench()
    op = bench.dml.CreateOperator(dml.DML_JOIN_OPERATOR_DESC(InputTensors=[T], OutputTensor=T, Axis=0))
    compiled = bench.dml.CompileOperator(op)
    initializer = bench.dml.CreateOperatorInitializer()
    for method in (bench.dml.Evict, bench.dml.MakeResident):
        assert method(2, [compiled, initializer]) is None
        assert method([compiled]) is None
        # A count of 0 is valid, a null array is not.
        assert method(0, [compiled]) is None
        assert method([]) is None
        refused(lambda: method(0, None), dml.E_INVALIDARG, "ppObjects", "DML-Pageable-null")  # noqa: B023
        refused(lambda: method(0), dml.E_INVALIDARG, "ppObjects", "DML-Pageable-null")  # noqa: B023
        refused(lambda: method(1, None), dml.E_INVALIDARG, "ppObjects", "count")  # noqa: B023
        refused(lambda: method(2, [compiled]), dml.E_INVALIDARG, "count")  # noqa: B023
        for wrong in (op, None, bench.queue, bench.recorder):
            with pytest.raises(TypeError, match=r"ppObjects\[1\]"):
                method(2, [compiled, wrong])


def test_graphs_need_a_desc(bench):
    refused(lambda: bench.dml.CompileGraph(None), dml.E_INVALIDARG, "CompileGraph", "desc is null")
