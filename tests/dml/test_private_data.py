"""Private data and names, the same on every object (IDMLObject)."""

from __future__ import annotations

import gc
import weakref

import pytest

import directml_py as dml

from .helpers import Bench, identity

FIRST, SECOND = (
    dml.GUID("00112233-4455-6677-8899-aabbccddeeff"),
    dml.GUID("00112233-4455-6677-8899-aabbccddeefe"),
)


@pytest.fixture(params=["device", "operator", "compiled", "initializer", "table", "recorder"])
def thing(request):
    bench = Bench()
    op = bench.dml.CreateOperator(identity())
    compiled = bench.dml.CompileOperator(op)
    return {
        "device": bench.dml,
        "operator": op,
        "compiled": compiled,
        "initializer": bench.dml.CreateOperatorInitializer(),
        "table": bench.dml.CreateBindingTable(None),
        "recorder": bench.recorder,
    }[request.param]


def not_found(thing, guid):
    with pytest.raises(dml.DMLError) as caught:
        thing.GetPrivateData(guid)
    assert caught.value.hresult == dml.DXGI_ERROR_NOT_FOUND


def test_bytes(thing):
    not_found(thing, FIRST)
    thing.SetPrivateData(FIRST, 4, b"data")
    thing.SetPrivateData(SECOND, 2, b"other")
    assert thing.GetPrivateData(dml.GUID(str(FIRST))) == b"data"
    assert thing.GetPrivateData(SECOND) == b"ot"
    thing.SetPrivateData(FIRST, b"new")
    assert thing.GetPrivateData(FIRST) == b"new"
    thing.SetPrivateData(FIRST, 0, None)
    not_found(thing, FIRST)
    assert thing.GetPrivateData(SECOND) == b"ot"


def test_bytes_are_copied(thing):
    data = bytearray(b"data")
    thing.SetPrivateData(FIRST, 4, data)
    data[:] = b"gone"
    assert thing.GetPrivateData(FIRST) == b"data"


def test_interfaces_are_kept_alive(thing):
    fence = dml.D3D12CreateDevice().CreateFence(0)
    alive = weakref.ref(fence)
    thing.SetPrivateDataInterface(FIRST, fence)
    del fence
    gc.collect()
    assert thing.GetPrivateData(FIRST) is alive()
    thing.SetPrivateDataInterface(FIRST, None)
    gc.collect()
    assert alive() is None
    not_found(thing, FIRST)


def test_names(thing):
    thing.SetName("Größe")
    assert thing.name == "Größe"
    assert "Größe" in str(thing)
    assert thing.GetPrivateData(dml.WKPDID_D3DDebugObjectNameW).decode("utf-16-le") == "Größe"


def test_wrong_arguments(thing):
    thing.SetPrivateData(FIRST, 4, b"data")
    for arguments in ((FIRST, 5, b"data"), (FIRST, -1, b"data")):
        with pytest.raises(dml.DMLError) as caught:
            thing.SetPrivateData(*arguments)
        assert caught.value.hresult == dml.E_INVALIDARG
    for wrong in (
        lambda: thing.SetPrivateData("guid", 4, b"data"),
        lambda: thing.SetPrivateData(FIRST, 4, "data"),
    ):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: thing.SetPrivateDataInterface(FIRST, b"data"), lambda: thing.SetName(None)):
        with pytest.raises(TypeError):
            wrong()
    assert thing.GetPrivateData(FIRST) == b"data"


@pytest.mark.kind_device
def test_removing_what_is_not_there(thing):
    """S_FALSE, whatever the size of the data that is null."""
    assert thing.SetPrivateData(FIRST, 4, None) == dml.S_FALSE
    assert thing.SetPrivateData(FIRST, 0, None) == dml.S_FALSE
    assert thing.SetPrivateDataInterface(FIRST, None) == dml.S_FALSE
    for remove in (
        lambda: thing.SetPrivateData(FIRST, 4, None),
        lambda: thing.SetPrivateData(FIRST, 0, None),
        lambda: thing.SetPrivateDataInterface(FIRST, None),
    ):
        for store in (
            lambda: thing.SetPrivateData(FIRST, 4, b"data"),
            lambda: thing.SetPrivateData(FIRST, 0, b""),
            lambda: thing.SetPrivateDataInterface(FIRST, thing),
        ):
            assert store() == dml.S_OK
            assert remove() == dml.S_OK
            not_found(thing, FIRST)
            assert remove() == dml.S_FALSE


def test_a_size_of_nothing_on_a_strict_device():
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), profile="strict")
    device.SetPrivateData(FIRST, 4, b"data")
    with pytest.raises(dml.DMLError, match="DML-SetPrivateData-null-size") as caught:
        device.SetPrivateData(FIRST, 4, None)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert device.GetPrivateData(FIRST) == b"data"


def test_objects_do_not_share(bench):
    bench.dml.SetPrivateData(FIRST, 1, b"x")
    not_found(bench.recorder, FIRST)
    not_found(dml.DMLCreateDevice(bench.d3d12), FIRST)
