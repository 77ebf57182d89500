"""DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE: bindings may come after recording, up to execution."""

from __future__ import annotations

import pytest

import directml_py as dml

from ..rules.layer import messages
from .helpers import VOLATILE, Bench, binding, identity, join, split


@pytest.fixture
def op(bench):
    made = bench.compile(identity(), VOLATILE)
    bench.initialize(made)
    return made


def reason(bench):
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.GetParentDevice()
    assert caught.value.hresult == dml.DXGI_ERROR_DEVICE_REMOVED
    return {(diagnostic.rule, diagnostic.path) for diagnostic in caught.value.diagnostics}


def test_binding_after_recording(bench, op):
    table, target = bench.table(op), bench.buffer(16)
    bench.record(op, table)
    table.BindInputs([binding(bench.holding(1, 2, 3, 4))])
    table.BindOutputs([binding(target)])
    bench.execute()
    assert not bench.removed
    assert bench.read(target).tolist() == [1, 2, 3, 4]


def test_rebinding_after_recording(bench, op):
    first, second = bench.buffer(16), bench.buffer(16)
    table = bench.table(op, [bench.holding(1, 2, 3, 4)], [first])
    bench.record(op, table)
    table.BindInputs([binding(bench.holding(5, 6, 7, 8))])
    table.BindOutputs([binding(second)])
    bench.execute()
    assert bench.read(first).tolist() == [0] * 4
    assert bench.read(second).tolist() == [5, 6, 7, 8]


def test_a_list_runs_again_with_other_bindings(bench, op):
    target = bench.buffer(16)
    table = bench.table(op, None, [target])
    bench.record(op, table)
    bench.commands.Close()
    for value in (1, 2, 3):
        table.BindInputs([binding(bench.holding(*[value] * 4))])
        bench.queue.ExecuteCommandLists([bench.commands])
        bench.wait()
        assert bench.read(target).tolist() == [value] * 4


def test_without_the_flag_recording_needs_everything(bench):
    op = bench.compile(identity())
    table = bench.table(op, None, [bench.buffer(16)])
    bench.record(op, table)
    assert bench.removed
    assert reason(bench) == {("DML-RecordDispatch-unbound", "InputTensor")}


def test_unbound_at_execution(bench, op):
    """Recording succeeds, execution removes the device; the Direct3D 12 device is not removed."""
    target = bench.buffer(16)
    bench.record(op, bench.table(op, None, [target]))
    assert not bench.removed
    bench.execute()
    assert bench.removed
    assert reason(bench) == {("DML-RecordDispatch-unbound", "InputTensor")}
    assert bench.d3d12.GetDeviceRemovedReason() == dml.S_OK
    assert bench.read(target).tolist() == [0] * 4


def test_unbound_again_at_execution(bench, op):
    table = bench.table(op, [bench.buffer(16)], [bench.buffer(16)])
    bench.record(op, table)
    table.BindOutputs(0, None)
    bench.execute()
    assert reason(bench) == {("DML-RecordDispatch-unbound", "OutputTensor")}


def test_debug_devices_do_not_raise_from_execute(debug_bench):
    """The executing call is Direct3D 12's, and does not fail."""
    bench = debug_bench
    op = bench.compile(identity(), VOLATILE)
    bench.record(op, bench.table(op))
    bench.execute()
    assert bench.removed
    assert {path for _, path in reason(bench)} == {"InputTensor", "OutputTensor"}


@pytest.mark.kind_device
def test_memory_that_is_shared_at_execution(layer_bench):
    """The dispatch runs, on a copy of its input, and the debug layer tells that its results are undefined."""
    bench = layer_bench
    info = bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    info.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_ERROR, False)
    op, buffer, other = bench.compile(split(2, 2), VOLATILE), bench.holding(1, 2, 3, 4), bench.buffer(8)
    bench.initialize(op)
    bench.record(op, bench.table(op, [buffer], [other, binding(buffer, 0, 8)]))
    assert not messages(bench)
    bench.execute()
    assert not bench.removed
    assert {(found.rule, found.path) for found in messages(bench)} == {("DML-Binding-in-place", "outputs[1]")}
    assert bench.read(other).tolist() == [1, 2]
    assert bench.read(buffer).tolist() == [3, 4, 3, 4]


def test_strict_devices_refuse_it_at_execution():
    bench = Bench(profile="strict")
    op, buffer = bench.compile(join(4), VOLATILE), bench.holding(1, 2, 3, 4)
    bench.record(op, bench.table(op, [buffer], [buffer]))
    assert not bench.removed
    bench.execute()
    assert reason(bench) == {("DML-Binding-in-place", "outputs[0]")}


def test_descriptors_of_another_dispatchable(bench, op):
    """Its smaller tensors were bound over the same descriptors."""
    desc = bench.table_desc(op)
    table = bench.dml.CreateBindingTable(desc)
    table.BindInputs([binding(bench.buffer(16))])
    table.BindOutputs([binding(bench.buffer(16))])
    bench.record(op, table)
    desc.Dispatchable = small = bench.compile(identity(2), VOLATILE)
    table.Reset(desc)
    table.BindInputs([binding(bench.buffer(8))])
    table.BindOutputs([binding(bench.buffer(8))])
    bench.execute()
    assert reason(bench) == {
        ("DML-BufferBinding-size", "InputTensor.SizeInBytes"),
        ("DML-BufferBinding-size", "OutputTensor.SizeInBytes"),
    }
    assert bench.d3d12.GetDeviceRemovedReason() == dml.S_OK
    assert small is not None


def test_a_reset_table_leaves_its_descriptors(bench, op):
    target = bench.buffer(16)
    table = bench.table(op, [bench.holding(1, 2, 3, 4)], [target])
    bench.record(op, table)
    table.Reset(None)
    bench.execute()
    assert not bench.removed
    assert bench.read(target).tolist() == [1, 2, 3, 4]
