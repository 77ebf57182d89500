"""Removed devices: what their methods do, and which objects are affected."""

from __future__ import annotations

import pytest
from generators.catalog import Catalog

import directml_py as dml
from directml_py.abi.arguments import WrongObject

from .helpers import DEBUG, Bench, binding, identity, join

GUID = dml.GUID("00112233-4455-6677-8899-aabbccddeeff")
TypeQuery, TypeData = (
    dml.DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT,
    dml.DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
)

# A valid call of each method of each interface, by the names of the objects in a Family.
CALLS = {
    "IDMLObject.GetPrivateData": lambda x, f: x.GetPrivateData(GUID),
    "IDMLObject.SetPrivateData": lambda x, f: x.SetPrivateData(GUID, 1, b"x"),
    "IDMLObject.SetPrivateDataInterface": lambda x, f: x.SetPrivateDataInterface(GUID, f.queue),
    "IDMLObject.SetName": lambda x, f: x.SetName("name"),
    "IDMLDevice.CheckFeatureSupport": lambda x, f: x.CheckFeatureSupport(0, TypeQuery(1), TypeData()),
    "IDMLDevice.CreateOperator": lambda x, f: x.CreateOperator(identity()),
    "IDMLDevice.CompileOperator": lambda x, f: x.CompileOperator(f.op),
    "IDMLDevice.CreateOperatorInitializer": lambda x, f: x.CreateOperatorInitializer([f.compiled]),
    "IDMLDevice.CreateCommandRecorder": lambda x, f: x.CreateCommandRecorder(),
    "IDMLDevice.CreateBindingTable": lambda x, f: x.CreateBindingTable(None),
    "IDMLDevice.Evict": lambda x, f: x.Evict([f.compiled]),
    "IDMLDevice.MakeResident": lambda x, f: x.MakeResident([f.compiled]),
    "IDMLDevice.GetParentDevice": lambda x, f: x.GetParentDevice(),
    "IDMLDevice1.CompileGraph": lambda x, f: x.CompileGraph(None),
    "IDMLDeviceChild.GetDevice": lambda x, f: x.GetDevice(),
    "IDMLOperatorInitializer.Reset": lambda x, f: x.Reset([f.compiled]),
    "IDMLBindingTable.Reset": lambda x, f: x.Reset(None),
    "IDMLBindingTable.BindInputs": lambda x, f: x.BindInputs([binding(f.source)]),
    "IDMLBindingTable.BindOutputs": lambda x, f: x.BindOutputs([binding(f.source)]),
    "IDMLBindingTable.BindTemporaryResource": lambda x, f: x.BindTemporaryResource(f.temporary_binding),
    "IDMLBindingTable.BindPersistentResource": lambda x, f: x.BindPersistentResource(f.persistent_binding),
    "IDMLCommandRecorder.RecordDispatch": lambda x, f: x.RecordDispatch(f.commands, f.compiled, f.full),
}
OBJECTS = ("dml", "op", "compiled", "initializer", "empty", "recorder")


class Family(Bench):
    """A bench with one object of every kind."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.op = self.dml.CreateOperator(identity())
        self.compiled = self.dml.CompileOperator(self.op)
        self.initializer = self.dml.CreateOperatorInitializer([self.compiled])
        self.source = self.buffer(16)
        self.temporary_binding = binding(self.temporary(self.compiled))
        self.persistent_binding = binding(self.persistent(self.compiled))
        self.full = self.table(self.compiled, [self.source], [self.source])
        self.empty = self.table(self.compiled)
        for name in OBJECTS:
            getattr(self, name).SetPrivateData(GUID, 1, b"x")

    def remove(self):
        """A silent error in a void method."""
        self.dml.CreateBindingTable(None).BindInputs([])
        assert self.removed

    def calls(self, methods):
        """(object, call) for the methods of every object that has them."""
        for name, call in methods:
            kind = getattr(dml, name.partition(".")[0])
            for each in OBJECTS:
                if isinstance(getattr(self, each), kind):
                    yield getattr(self, each), call


def methods(returns):
    return {
        f"{interface.name}.{method.name}"
        for interface in Catalog().interfaces
        for method in interface.methods
        if interface.name.startswith("IDML") and method.returns == returns
    } - {"IDMLDevice.GetDeviceRemovedReason", "IDMLDebugDevice.SetMuteDebugOutput"}


HRESULTS = sorted(methods("HRESULT"))
VOIDS = sorted(methods("void"))


def test_the_table_of_calls_is_complete():
    assert set(HRESULTS) | set(VOIDS) == set(CALLS)
    assert len(VOIDS) == 5


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"IDMLDevice1.CompileGraph"}))
def test_the_calls_are_right(name):
    """On a device that is not removed none of them fails."""
    family = Family(DEBUG)
    found = list(family.calls([(name, CALLS[name])]))
    assert found
    for thing, call in found:
        call(thing, family)
    assert not family.removed


@pytest.mark.parametrize("name", HRESULTS)
def test_methods_that_can_fail_do(name):
    family = Family()
    family.remove()
    for thing, call in family.calls([(name, CALLS[name])]):
        with pytest.raises(dml.DMLError) as caught:
            call(thing, family)
        assert caught.value.hresult == dml.DXGI_ERROR_DEVICE_REMOVED
        assert "DML-BindingTable-empty" in str(caught.value)
        assert [diagnostic.rule for diagnostic in caught.value.diagnostics] == ["DML-BindingTable-empty"]


@pytest.mark.parametrize("name", VOIDS)
@pytest.mark.parametrize("flags", [0, DEBUG])
def test_void_methods_do_nothing(name, flags):
    family = Family(flags)
    if flags:
        with pytest.raises(dml.DMLError):
            family.remove()
    else:
        family.remove()
    before = family.slots()
    for thing, call in family.calls([(name, CALLS[name])]):
        assert call(thing, family) is None
    assert family.slots() == before
    assert family.dml.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_REMOVED


def test_void_methods_do_not_even_look(bench):
    """The second error is not reported: the first reason is kept."""
    table = bench.table(bench.compile(identity()))
    table.BindInputs([])
    table.BindInputs([binding(None)] * 2)
    table.BindInputs(5, None)
    table.BindOutputs(5, None)
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.GetParentDevice()
    assert [(found.rule, found.path) for found in caught.value.diagnostics] == [
        ("DML-BindInputs-count", "bindingCount")
    ]


def test_nothing_is_recorded_on_a_removed_device(bench):
    op, target = bench.compile(identity()), bench.buffer(16)
    table = bench.table(op, [bench.holding(1, 2, 3, 4)], [target])
    bench.dml.CreateBindingTable(None).BindInputs([])
    assert bench.removed
    bench.record(op, table)
    bench.execute()
    assert bench.read(target).tolist() == [0] * 4


def test_a_refused_dispatch_is_not_recorded(bench):
    target = bench.buffer(32)
    op = bench.compile(join(4, 4))
    bench.record(op, bench.table(op, [bench.holding(1, 2, 3, 4), None], [target]))
    assert bench.removed
    bench.execute()
    assert bench.read(target).tolist() == [0] * 8


def test_what_was_recorded_before_runs(bench):
    """It belongs to the Direct3D 12 device, which is not removed."""
    op, target = bench.compile(identity()), bench.buffer(16)
    bench.initialize(op)
    table = bench.table(op, [bench.holding(1, 2, 3, 4)], [target])
    bench.record(op, table)
    table.BindInputs(7, None)
    assert bench.removed
    bench.execute()
    assert bench.d3d12.GetDeviceRemovedReason() == dml.S_OK
    assert bench.read(target).tolist() == [1, 2, 3, 4]


def test_removal_is_per_device(bench):
    other = Bench(d3d12=bench.d3d12)
    bench.table(bench.compile(identity())).BindInputs(1, None)
    assert bench.removed
    assert not other.removed
    op, target = other.compile(identity()), other.buffer(16)
    other.initialize(op)
    other.record(op, other.table(op, [other.holding(1, 2, 3, 4)], [target]))
    other.execute()
    assert other.read(target).tolist() == [1, 2, 3, 4]
    assert not Bench(d3d12=bench.d3d12).removed


def remove_direct3d(bench):
    """Executing an open list removes the Direct3D 12 device."""
    bench.queue.ExecuteCommandLists([bench.commands])
    assert bench.d3d12.GetDeviceRemovedReason() != dml.S_OK


@pytest.mark.parametrize("name", HRESULTS)
def test_the_removal_of_direct3d_12_removes_directml(name):
    family = Family()
    other = dml.DMLCreateDevice(family.d3d12)
    remove_direct3d(family)
    for device in (family.dml, other):
        assert device.GetDeviceRemovedReason() == family.d3d12.GetDeviceRemovedReason()
    for thing, call in family.calls([(name, CALLS[name])]):
        with pytest.raises(dml.DMLError, match="Direct3D 12") as caught:
            call(thing, family)
        assert caught.value.hresult == dml.DXGI_ERROR_DEVICE_REMOVED


@pytest.mark.parametrize("name", VOIDS)
def test_void_methods_after_the_removal_of_direct3d_12(name):
    family = Family(DEBUG)
    remove_direct3d(family)
    for thing, call in family.calls([(name, CALLS[name])]):
        assert call(thing, family) is None


def test_what_is_no_object_is_not_raised():
    """C callers cannot catch exceptions: the device is removed, also under the debug layer."""
    bench = Bench(DEBUG)
    bench.dml.removal.fail_call("BindInputs failed:", WrongObject("bindings[0].Buffer", "is no resource"))
    assert bench.removed
    with pytest.raises(dml.DMLError, match=r"bindings\[0\]\.Buffer is no resource"):
        bench.dml.removal.check()
