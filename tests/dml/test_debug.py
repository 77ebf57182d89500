"""DML_CREATE_DEVICE_FLAG_DEBUG: where messages go, and which calls raise."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import directml_py as dml
from directml_py.graph import Graph

from ..rules.layer import debug_layer
from .helpers import Bench, binding, identity, join

ERROR = dml.D3D12_MESSAGE_SEVERITY_ERROR


def messages(bench):
    queue = bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    return [queue.GetMessage(index) for index in range(queue.GetNumStoredMessages())]


def mistake(bench):
    """Two rules broken in one call of a void method."""
    table = bench.table(bench.compile(join(4, 4)))
    table.BindInputs([binding(bench.buffer(32), 8, 16), binding(bench.buffer(16), 0, 12)])


RULES = ["DML-BufferBinding-alignment", "DML-BufferBinding-size"]


def test_messages_of_the_info_queue(layer_bench, caplog):
    with pytest.raises(dml.DMLError) as caught, caplog.at_level(logging.DEBUG, "directml_py"):
        mistake(layer_bench)
    assert [found.rule for found in caught.value.diagnostics] == RULES
    found = messages(layer_bench)
    assert [message.Severity for message in found] == [ERROR] * 2
    for message, rule, path in zip(found, RULES, ("bindings[0].Offset", "bindings[1].SizeInBytes")):
        assert rule in message.pDescription
        assert path in message.pDescription
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert all(rule in record.getMessage() for rule, record in zip(RULES, caplog.records))
    assert layer_bench.removed


def test_breaking_can_be_switched_off(layer_bench):
    """The message remains, but nothing is raised; the device is still removed."""
    queue = layer_bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    queue.SetBreakOnSeverity(ERROR, False)
    mistake(layer_bench)
    assert len(messages(layer_bench)) == 2
    assert layer_bench.dml.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_REMOVED


def test_methods_that_can_fail_raise_in_any_case(layer_bench):
    queue = layer_bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    queue.SetBreakOnSeverity(ERROR, False)
    with pytest.raises(dml.DMLError) as caught:
        layer_bench.dml.CreateOperator(None)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert ["DML-Desc-null" in message.pDescription for message in messages(layer_bench)] == [True]


def test_a_filter_keeps_messages_and_breaks_back(layer_bench):
    queue = layer_bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    deny = dml.D3D12_INFO_QUEUE_FILTER_DESC(pSeverityList=[ERROR])
    queue.PushStorageFilter(dml.D3D12_INFO_QUEUE_FILTER(DenyList=deny))
    mistake(layer_bench)
    assert messages(layer_bench) == []
    assert layer_bench.removed


def test_devices_without_the_flag_log_their_removal(layer_bench, caplog):
    plain = Bench(d3d12=layer_bench.d3d12)
    mistake(plain)
    assert plain.removed
    assert messages(plain) == []
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("directml_py", logging.ERROR)
    assert f"removed at {__file__}:" in record.getMessage()
    assert all(rule in record.getMessage() for rule in RULES)


SILENT = """
import logging, sys
import directml_py as dml
from tests.dml.helpers import VOLATILE, Bench, identity

for flags in (dml.DML_CREATE_DEVICE_FLAG_NONE, dml.DML_CREATE_DEVICE_FLAG_DEBUG):
    if "quiet" in sys.argv:
        logging.getLogger("directml_py").setLevel(logging.CRITICAL)
    bench = Bench(flags)
    op = bench.compile(identity(), VOLATILE)
    bench.initialize(op)
    table = bench.table(op, [bench.buffer(16)])
    bench.record(op, table)
    bench.execute()
    assert bench.removed
"""


@pytest.mark.kind_device
@pytest.mark.parametrize("argument", ["", "quiet"])
def test_removals_are_on_stderr_unless_switched_off(argument):
    """An output that was never bound, found while the dispatch executes, where no call can raise."""
    ran = subprocess.run([sys.executable, "-c", SILENT, argument], capture_output=True, text=True, check=True)
    assert ran.stderr.count("DML-RecordDispatch-unbound") == (0 if argument else 2)


def test_without_the_debug_layer_messages_are_logged(debug_bench, caplog):
    with pytest.raises(dml.DMLError):
        mistake(debug_bench)
    assert [(record.name, record.levelno) for record in caplog.records] == [
        ("directml_py", logging.ERROR)
    ] * 2
    assert all(rule in record.getMessage() for rule, record in zip(RULES, caplog.records))


@pytest.mark.parametrize("layer", [True, False])
def test_muting(request, caplog, layer):
    """Messages are suppressed until unmuted; errors are still raised."""
    bench = request.getfixturevalue("layer_bench" if layer else "debug_bench")
    # Making a debug device without the other debug layer gives a warning.
    caplog.clear()
    switch = bench.dml.QueryInterface(dml.IDMLDebugDevice)
    assert switch.SetMuteDebugOutput(True) is None
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.CreateOperator(None)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert not caplog.records
    if layer:
        assert messages(bench) == []
    bench.dml.QueryInterface(dml.IDMLDebugDevice).SetMuteDebugOutput(False)
    with pytest.raises(dml.DMLError):
        bench.dml.CreateOperator(None)
    assert len(caplog.records) == 1
    switch.SetMuteDebugOutput(True)
    with pytest.raises(dml.DMLError):
        mistake(bench)
    assert len(caplog.records) == 1
    if layer:
        assert len(messages(bench)) == 1
    assert bench.removed


def test_muting_leaves_the_switch_of_breaking(layer_bench):
    layer_bench.d3d12.QueryInterface(dml.ID3D12InfoQueue).SetBreakOnSeverity(ERROR, False)
    layer_bench.dml.QueryInterface(dml.IDMLDebugDevice).SetMuteDebugOutput(True)
    mistake(layer_bench)
    assert layer_bench.removed


def test_muting_is_per_device(debug_bench, caplog):
    other = Bench(dml.DML_CREATE_DEVICE_FLAG_DEBUG, d3d12=debug_bench.d3d12)
    caplog.clear()
    debug_bench.dml.QueryInterface(dml.IDMLDebugDevice).SetMuteDebugOutput(True)
    with pytest.raises(dml.DMLError):
        mistake(other)
    assert len(caplog.records) == 2


def test_right_use_says_nothing(layer_bench, caplog):
    op, target = layer_bench.compile(identity()), layer_bench.buffer(16)
    layer_bench.initialize(op)
    source = layer_bench.holding(1, 2, 3, 4)
    layer_bench.record(op, layer_bench.table(op, [source], [target]))
    layer_bench.execute()
    assert messages(layer_bench) == []
    assert not caplog.records


def test_no_memory_for_the_record_of_what_is_defined(monkeypatch):
    """E_OUTOFMEMORY, as without the debug layer."""

    def no_memory(*arguments):
        raise MemoryError

    with debug_layer():
        device = dml.D3D12CreateDevice()
    monkeypatch.setattr("directml_py.sync_validation.shadow_memory.np.full", no_memory)
    with pytest.raises(dml.DMLError) as caught:
        device.CreateCommittedResource(
            dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT),
            dml.D3D12_HEAP_FLAG_NONE,
            dml.CD3DX12_RESOURCE_DESC.Buffer(1 << 16),
            dml.D3D12_RESOURCE_STATE_COMMON,
        )
    assert caught.value.hresult == dml.E_OUTOFMEMORY


def test_no_memory_to_compile_a_graph(monkeypatch):
    """E_OUTOFMEMORY too, and the device is not removed."""
    graph = Graph()
    graph.outputs = graph.identity(graph.input_tensor("x", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 4]))
    desc = graph.desc()

    def no_memory(*arguments, **options):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("directml_py.dml.compiler.graph_program.GraphProgram", no_memory)
        with pytest.raises(dml.DMLError, match="CompileGraph: there is not enough memory") as caught:
            graph.device.CompileGraph(desc)
    assert caught.value.hresult == dml.E_OUTOFMEMORY
    assert graph.device.GetDeviceRemovedReason() == dml.S_OK
    graph.device.CompileGraph(desc)
