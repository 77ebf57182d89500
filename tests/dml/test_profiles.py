"""Device profiles that require more and grant less than the default."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest

import directml_py as dml
from directml_py.dml.binding_point import PERSISTENT
from directml_py.graph import Graph
from directml_py.session import DESCRIPTORS, Session

from .helpers import VOLATILE, Bench, binding, floats, identity, join, tensor

CHANGED = "DML-BindPersistentResource-unchanged"
INT64, FLOAT64 = dml.DML_TENSOR_DATA_TYPE_INT64, dml.DML_TENSOR_DATA_TYPE_FLOAT64
FLOAT16, UINT64 = dml.DML_TENSOR_DATA_TYPE_FLOAT16, dml.DML_TENSOR_DATA_TYPE_UINT64
ALL = sorted(dml.PROFILES)


def properties(dispatchable):
    found = dispatchable.GetBindingProperties()
    return found.RequiredDescriptorCount, found.TemporaryResourceSize, found.PersistentResourceSize


def copied(data_type):
    same = dml.tensor_desc(data_type, [1, 1, 1, 4])
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(same, same, None)


def is_supported(device, data_type):
    support = dml.DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT()
    query = dml.DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT(data_type)
    device.CheckFeatureSupport(dml.DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, query, support)
    return bool(support.IsSupported)


def reasons(bench):
    """The rules for which the device was removed."""
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.GetParentDevice()
    assert caught.value.hresult == dml.DXGI_ERROR_DEVICE_REMOVED
    return [found.rule for found in caught.value.diagnostics]


@pytest.mark.parametrize("profile", ALL)
def test_the_same_results_on_every_device(profile):
    bench = Bench(profile=profile)
    op = bench.compile(join(2, 3, owned=[1]))
    assert bench.evaluate(op, [floats(1, 2).reshape(1, 1, 1, 2), floats(3, 4, 5).reshape(1, 1, 1, 3)])[
        0
    ].tolist() == [[[[1, 2, 3, 4, 5]]]]


def test_a_kind_device_asks_for_what_is_used():
    bench = Bench(profile="kind")
    op = bench.compile(identity())
    assert properties(op) == (2, 0, 0)
    assert properties(bench.dml.CreateOperatorInitializer([op])) == (1, 0, 0)
    assert properties(bench.compile(join(2, 3, owned=[1]))) == (3, 0, 12)


@pytest.mark.parametrize("profile", ["demanding", "more-memory"])
def test_odd_sizes_and_descriptors_beyond_those_of_bindings(profile):
    bench = Bench(profile=profile)
    op, owning = bench.compile(identity()), bench.compile(join(2, 3, owned=[1]))
    made = [op, owning, bench.dml.CreateOperatorInitializer([op]), bench.compile(identity(), VOLATILE)]
    for dispatchable in made:
        count, temporary, persistent = properties(dispatchable)
        assert temporary % 4 == 0 != temporary % 16
        if isinstance(dispatchable, dml.IDMLOperatorInitializer):
            # One output and the temporary resource; the page says that initializers have no persistent one.
            assert (count, persistent) == (2 + 3, 0)
        else:
            assert persistent % 4 == 0 != persistent % 16
            # An input, an output, and both resources.
            assert count == 4 + 3
    assert properties(owning)[2] > 12
    empty = bench.dml.CreateOperatorInitializer()
    assert properties(empty)[1:] == (0, 0)


def test_a_table_without_the_descriptors_of_the_device_is_refused():
    bench = Bench(profile="demanding")
    op = bench.compile(identity())
    desc = bench.table_desc(op)
    desc.SizeInDescriptors -= 1
    with pytest.raises(dml.DMLError, match=r"SizeInDescriptors is 6; .* RequiredDescriptorCount is 7"):
        bench.dml.CreateBindingTable(desc)


def prepared(profile, *, initialized=True, flags=0):
    """An identity of the values 1 to 4, a table for it, and its output and persistent resource."""
    bench = Bench(profile=profile)
    op = bench.compile(identity(), flags)
    source, target = bench.holding(1, 2, 3, 4), bench.holding(0, 0, 0, 0)
    persistent = bench.buffer(op.persistent_size) if op.persistent_size else None
    if initialized:
        bench.initialize(op, persistent=persistent)
    table = bench.table(op, [source], [target], bench.temporary(op), persistent)
    bench.keep = source, target, persistent
    return bench, op, table


def test_descriptors_of_the_device_are_its_own():
    """The next table begins before the first one ends: on this device its first descriptor is overwritten."""
    bench, op, table = prepared("demanding")
    overlapping = bench.table_desc(op)
    overlapping.CPUDescriptorHandle.ptr -= bench.d3d12.GetDescriptorHandleIncrementSize(
        dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
    )
    overlapping.GPUDescriptorHandle.ptr -= bench.d3d12.GetDescriptorHandleIncrementSize(
        dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
    )
    bench.record(op, table)
    bench.dml.CreateBindingTable(overlapping).BindInputs([binding(bench.keep[0])])
    bench.execute()
    assert reasons(bench) == ["DML-RecordDispatch-descriptors"]
    assert bench.read(bench.keep[1]).tolist() == [0, 0, 0, 0]


def test_binding_writes_over_what_is_left_in_descriptors_of_the_device():
    bench = Bench(profile="demanding")
    op = bench.compile(identity())
    for place in range(DESCRIPTORS):
        bench.heap.write(place, bench.holding(0).range())
    assert bench.evaluate(op, [floats(1, 2, 3, 4).reshape(1, 1, 1, 4)])[0].ravel().tolist() == [1, 2, 3, 4]


def test_no_descriptors():
    bench, op, table = prepared("no-descriptors")
    assert properties(op)[0] == properties(bench.dml.CreateOperatorInitializer([op]))[0] == 0
    assert set(bench.slots()) == {None}
    bench.record(op, table)
    bench.execute()
    assert bench.read(bench.keep[1]).tolist() == [1, 2, 3, 4]
    late = bench.compile(identity(), VOLATILE)
    assert properties(late)[0] == 2


def test_no_descriptors_with_the_debug_flag():
    with_debug = Bench(dml.DML_CREATE_DEVICE_FLAG_DEBUG, profile="no-descriptors")
    op = with_debug.compile(identity())
    assert with_debug.evaluate(op, [floats(1, 2, 3, 4).reshape(1, 1, 1, 4)])[0].ravel().tolist() == [
        1,
        2,
        3,
        4,
    ]


def test_an_operator_that_was_not_initialized():
    bench, op, table = prepared("demanding", initialized=False)
    bench.record(op, table)
    bench.execute()
    assert reasons(bench) == ["DML-RecordDispatch-initialized"]


@pytest.mark.parametrize("place", [0, 24])
def test_persistent_memory_is_the_devices(place):
    """Every operator has some, and all of it counts: its last four bytes too."""
    bench, op, table = prepared("demanding")
    assert op.persistent_size == 28
    held = bench.read(bench.keep[2], np.uint32)
    assert (held == held[0]).all()
    assert held[0]
    bench.record(op, table)
    bench.fill(bench.keep[2], np.array([held[0] + 1], np.uint32), place)
    bench.execute()
    assert reasons(bench) == [CHANGED]


def test_persistent_memory_of_another_operator():
    bench = Bench(profile="more-memory")
    first, second = bench.compile(identity()), bench.compile(identity())
    held = [bench.read(bench.initialize(op), np.uint8).tobytes() for op in (first, second)]
    assert held[0] != held[1]


@pytest.mark.parametrize("flags", [0, VOLATILE])
def test_evicted(flags):
    bench, op, table = prepared("strict", flags=flags)
    bench.dml.Evict([op])
    bench.record(op, table)
    bench.execute()
    assert reasons(bench) == ["DML-RecordDispatch-resident"]
    assert bench.read(bench.keep[1]).tolist() == [0] * 4


def test_a_removal_for_another_reason_stops_nothing_that_was_recorded():
    bench, op, table = prepared("strict")
    bench.record(op, table)
    table.BindInputs(7, None)
    assert reasons(bench) == ["DML-Binding-count"]
    bench.execute()
    assert bench.read(bench.keep[1]).tolist() == [1, 2, 3, 4]


DENIED = {
    "kind": set(),
    "demanding": {INT64, UINT64, FLOAT64},
    "no-optional-types": {INT64, UINT64, FLOAT64, FLOAT16},
}


@pytest.mark.parametrize("profile", sorted(DENIED))
def test_types_that_are_denied(profile):
    bench = Bench(profile=profile)
    for data_type in set(dml.DML_TENSOR_DATA_TYPE) - {dml.DML_TENSOR_DATA_TYPE_UNKNOWN}:
        denied = data_type in DENIED[profile]
        assert is_supported(bench.dml, data_type) is not denied
        if data_type in (dml.DML_TENSOR_DATA_TYPE_INT4, dml.DML_TENSOR_DATA_TYPE_UINT4):
            continue
        if not denied:
            assert bench.dml.CompileOperator(bench.dml.CreateOperator(copied(data_type)))
            continue
        with pytest.raises(dml.DMLError) as caught:
            bench.dml.CreateOperator(copied(data_type))
        # As Microsoft's library does for FLOAT64 on a device without it.
        assert caught.value.hresult == dml.E_INVALIDARG
        assert {(one.rule, one.path) for one in caught.value.diagnostics} == {
            ("DML-CompileOperator-data-type", "InputTensor.DataType"),
            ("DML-CompileOperator-data-type", "OutputTensor.DataType"),
        }
        assert not bench.removed


def test_types_that_are_denied_inside_a_graph():
    device = Bench(profile="no-optional-types").dml
    graph = Graph(device)
    x = graph.input_tensor(0, dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 4])
    with pytest.raises(dml.DMLError) as caught:
        graph.cast(x, output_data_type=dml.DML_TENSOR_DATA_TYPE_FLOAT16)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert {one.path for one in caught.value.diagnostics} == {"OutputTensor.DataType"}


def committed(bench, flags):
    return bench.d3d12.CreateCommittedResource(
        dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT),
        flags,
        dml.CD3DX12_RESOURCE_DESC.Buffer(64),
        dml.D3D12_RESOURCE_STATE_COMMON,
    )


@pytest.mark.parametrize(("profile", "held"), [("kind", 0), ("undefined-memory", 0xCD)])
def test_memory_that_is_not_zeroed(profile, held):
    bench = Bench(profile=profile)
    fresh = committed(bench, dml.D3D12_HEAP_FLAG_CREATE_NOT_ZEROED)
    assert bench.read(fresh, np.uint8).tolist() == [held] * 64
    assert bench.read(committed(bench, dml.D3D12_HEAP_FLAG_NONE), np.uint8).tolist() == [0] * 64


def strided_copy(bench):
    """Two elements, each with a gap behind it, of which the last lies outside the tensor."""
    source = tensor(2)
    target = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 2], strides=[4, 4, 4, 2])
    return bench.compile(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(source, target, None))


@pytest.mark.parametrize("profile", ["kind", "undefined-memory"])
def test_what_lies_between_the_elements_of_an_output(profile):
    bench = Bench(profile=profile)
    op = strided_copy(bench)
    target = bench.holding(7, 7, 7, 7)
    bench.initialize(op)
    bench.dispatch(op, [bench.holding(1, 2)], [binding(target, 0, 12)])
    bench.execute()
    found = bench.read(target)
    assert found[[0, 2, 3]].tolist() == [1, 2, 7]
    gap = np.frombuffer(b"\xcd" * 4, np.float32)[0] if profile == "undefined-memory" else 7
    assert found[1] == gap


def test_temporary_memory_holds_nothing_before_and_after():
    bench = Bench(profile="demanding")
    op = bench.compile(identity())
    persistent, temporary = bench.initialize(op), bench.buffer(64)
    source, target = bench.holding(1, 2, 3, 4), bench.holding(0, 0, 0, 0)
    bench.record(op, bench.table(op, [source], [target], temporary, persistent))
    bench.execute()
    assert bench.read(temporary, np.uint8).tolist() == [0xCD] * 36 + [0] * 28


def test_an_operator_works_in_place_all_the_same():
    bench = Bench(profile="demanding")
    op = bench.compile(identity(scale=2))
    both, persistent = bench.holding(1, 2, 3, 4), bench.initialize(op)
    bench.dispatch(op, [both], [both], persistent)
    bench.execute()
    assert bench.read(both).tolist() == [2, 4, 6, 8]


def test_the_device_is_removed_at_a_call():
    def run(device):
        bench = Session(device)
        arrays = [floats(1, 2).reshape(1, 1, 1, 2), floats(3, 4, 5).reshape(1, 1, 1, 3)]
        return bench.evaluate(bench.compile(join(2, 3, owned=[1])), arrays)

    survivors, codes = 0, set()
    for calls in range(1, 30):
        d3d12 = dml.D3D12CreateDevice()
        profile = dataclasses.replace(dml.PROFILES["demanding"], removal_after=calls)
        device = dml.DMLCreateDevice(d3d12, profile=profile)
        assert device.GetDeviceRemovedReason() == d3d12.GetDeviceRemovedReason() == dml.S_OK
        try:
            (result,) = run(device)
        except dml.DMLError as error:
            codes.add(error.hresult)
            assert device.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_RESET
            assert d3d12.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_RESET
            assert not survivors
        else:
            assert result.ravel().tolist() == [1, 2, 3, 4, 5]
            assert device.GetDeviceRemovedReason() == dml.S_OK
            survivors += 1
    # The program has some ten calls: at each of them it was removed once.
    assert 10 < survivors < 25
    assert codes == {dml.DXGI_ERROR_DEVICE_REMOVED}


def test_calls_are_counted_from_one():
    device = dml.DMLCreateDevice(
        dml.D3D12CreateDevice(), profile=dataclasses.replace(dml.PROFILES["kind"], removal_after=2)
    )
    op = device.CreateOperator(identity())
    with pytest.raises(dml.DMLError, match="removal_after=2"):
        device.CompileOperator(op)
    assert device.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_RESET


def test_the_environment_chooses(monkeypatch):
    def name(**options):
        profile = dml.DMLCreateDevice(dml.D3D12CreateDevice(), **options).profile
        return profile.name, profile.removal_after

    monkeypatch.delenv("DIRECTML_PY_PROFILE", raising=False)
    assert name() == ("kind", None)
    monkeypatch.setenv("DIRECTML_PY_PROFILE", "demanding,removal_after=5")
    assert name() == ("demanding", 5)
    assert name(profile="strict") == ("strict", None)
    assert name(profile=dml.Profile("mine")) == ("mine", None)
    assert dml.DMLCreateDevice1(dml.D3D12CreateDevice()).profile.name == "demanding"
    monkeypatch.setenv("DIRECTML_PY_PROFILE", "gentle")
    with pytest.raises(
        dml.DMLError, match=r"DIRECTML_PY_PROFILE is 'gentle'; the profiles are kind, demanding"
    ):
        name()


@pytest.mark.parametrize(
    "text", ["", "Kind", "kind,removal_after=", "kind,removal_after=0", "kind,removal_after=-1", "kind,x=1"]
)
def test_texts_that_name_no_profile(text):
    with pytest.raises(dml.DMLError) as caught:
        dml.DMLCreateDevice(dml.D3D12CreateDevice(), profile=text)
    assert [one.rule for one in caught.value.diagnostics] == ["DML-CreateDevice-profile"]


def test_sizes_are_whole_units_and_what_is_added():
    """Units are of 16 bytes."""
    profile = dml.Profile("mine", temporary=36, persistent=4)
    assert [profile.temporary_size(size) for size in (0, 4, 16, 20)] == [36, 52, 52, 68]
    assert [profile.persistent_size(size) for size in (0, 4, 16, 20)] == [4, 20, 20, 36]
    assert [dml.Profile("kind").temporary_size(size) for size in (0, 4, 20)] == [0, 4, 20]


@pytest.mark.parametrize(
    "wrong",
    [{"temporary": 2}, {"temporary": -4}, {"persistent": 5}, {"descriptors": -1}, {"removal_after": 0}],
    ids=str,
)
def test_profiles_that_no_device_can_have(wrong):
    (field,) = wrong
    with pytest.raises(ValueError, match=field):
        dml.Profile("wrong", **wrong)


def test_profiles_differ():
    assert all(
        dataclasses.replace(one, name="") != dataclasses.replace(other, name="")
        for one, other in combinations(dml.PROFILES.values(), 2)
    )


@pytest.mark.parametrize("profile", ["kind", "reordered", "demanding"])
@pytest.mark.parametrize("barrier", [False, True])
def test_dispatches_without_a_barrier_run_in_another_order(profile, barrier):
    bench = Bench(profile=profile)
    doubling, copying = bench.compile(identity(scale=2)), bench.compile(identity())
    source, between, target = bench.holding(1, 2, 3, 4), bench.holding(5, 5, 5, 5), bench.holding(0, 0, 0, 0)
    kept = [bench.initialize(op) for op in (doubling, copying)]
    bench.dispatch(doubling, [source], [between], kept[0])
    if barrier:
        bench.barrier(between)
    bench.commands.SetDescriptorHeaps([bench.heap])
    bench.dispatch(copying, [between], [target], kept[1])
    bench.execute()
    assert bench.read(between).tolist() == [2, 4, 6, 8]
    in_order = barrier or profile == "kind"
    assert bench.read(target).tolist() == ([2, 4, 6, 8] if in_order else [5, 5, 5, 5])


@pytest.mark.parametrize("profile", ["kind", "reordered", "demanding"])
@pytest.mark.parametrize("barrier", [False, True])
@pytest.mark.parametrize("together", [True, False])
def test_lists_of_one_call_run_in_another_order(profile, barrier, together):
    """The lists of one ExecuteCommandLists may overlap; those of the next call wait for them."""
    bench = Bench(profile=profile)
    doubling, copying = bench.compile(identity(scale=2)), bench.compile(identity())
    source, between, target = bench.holding(1, 2, 3, 4), bench.holding(5, 5, 5, 5), bench.holding(0, 0, 0, 0)
    kept = [bench.initialize(op) for op in (doubling, copying)]
    lists = []
    steps = [(doubling, source, between), (copying, between, target)]
    for (op, read, written), persistent in zip(steps, kept):
        commands = bench.new_list()
        commands.SetDescriptorHeaps([bench.heap])
        if barrier and lists:
            commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(between)])
        table = bench.table(op, [read], [written], bench.temporary(op), persistent)
        bench.recorder.RecordDispatch(commands, op, table)
        commands.Close()
        lists.append(commands)
    for group in [lists] if together else [lists[:1], lists[1:]]:
        bench.queue.ExecuteCommandLists(group)
    assert bench.read(between).tolist() == [2, 4, 6, 8]
    in_order = barrier or profile == "kind" or not together
    assert bench.read(target).tolist() == ([2, 4, 6, 8] if in_order else [5, 5, 5, 5])


def test_copies_keep_their_order():
    bench = Bench(profile="reordered")
    one, other, target = (bench.holding(value) for value in (1, 2, 3))
    bench.commands.CopyResource(target, one)
    bench.commands.CopyResource(target, other)
    bench.execute()
    assert bench.read(target).tolist() == [2]


def test_accesses_end_with_the_persistent_resource():
    """What the device adds lies behind the owned inputs, up to the last byte."""
    bench = Bench(profile="demanding")
    op = bench.compile(join(2, 3, owned=[1]))
    view = bench.buffer(op.persistent_size + 64).range(32)
    owned, added = op.accesses(PERSISTENT, view)
    assert (owned.range.offset, owned.range.size) == (32, 12)
    assert (added.range.offset, added.range.size) == (44, op.persistent_size - 12)
