"""Every hazard is reported by its rule, and correct programs are clean."""

from __future__ import annotations

import pytest
from sweeps import swept

import directml_py as dml
from directml_py.operators import every_rule
from directml_py.validation import Severity

from .content_cases import identity
from .every_case import HAZARDS
from .hazard import HazardBench

LEVELS = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING"}
# Operators declare their rules on first use.
RULES = {rule.id: rule for rule in every_rule()}
every_hazard = pytest.mark.parametrize("hazard", [pytest.param(found, id=found.id) for found in HAZARDS])

ONE_OF_EACH_RULE = {hazard.rule: hazard for hazard in reversed(HAZARDS)}.values()

# Only reported without the debug layer that the hazards need.
ELSEWHERE = {"DML-CreateDevice-debug-layer"}


def test_every_rule_of_the_debug_layers_has_a_hazard():
    assert {found.rule for found in HAZARDS} | ELSEWHERE == {rule.id for rule in every_rule() if rule.debug}


@every_hazard
def test_found(hazard, caplog):
    bench = HazardBench()
    hazard.scenario(bench, hazard.way)
    found = bench.messages()
    assert {(message.rule, message.path) for message in found} == {(hazard.rule, hazard.path)}
    for name in hazard.names:
        assert name in found[0].message
    assert {message.severity for message in found} == {RULES[hazard.rule].severity}
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("directml_py", LEVELS[message.severity]) for message in found
    ]
    assert [record.getMessage() for record in caplog.records] == [str(message) for message in found]
    assert not bench.removed
    assert bench.d3d12.GetDeviceRemovedReason() == dml.S_OK


@swept("hazard", HAZARDS)
def test_clean(hazard, caplog):
    bench = HazardBench(breaks=True)
    hazard.scenario(bench, None)
    assert bench.messages() == []
    assert not caplog.records


@swept("hazard", ONE_OF_EACH_RULE)
def test_raised(hazard):
    """Raised by the call that read too early or let the commands run; the device keeps working."""
    assert_raised(hazard)


@pytest.mark.slow
@swept("hazard", HAZARDS)
def test_every_hazard_is_raised(hazard):
    assert_raised(hazard)


def assert_raised(hazard):
    bench = HazardBench(breaks=True)
    if RULES[hazard.rule].severity is Severity.WARNING:
        bench.info.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_WARNING, True)
    with pytest.raises(dml.DMLError, match=hazard.rule) as caught:
        hazard.scenario(bench, hazard.way)
    assert {found.rule for found in caught.value.diagnostics} == {hazard.rule}
    assert bench.d3d12.GetDeviceRemovedReason() == dml.S_OK
    bench.wait()
    source = bench.holding(1, 2)
    assert bench.read(source).tolist() == [1, 2]


@swept("hazard", ONE_OF_EACH_RULE)
def test_muted_by_identifier(hazard, caplog):
    assert_muted(hazard, caplog)


@pytest.mark.slow
@swept("hazard", HAZARDS)
def test_every_hazard_is_muted_by_identifier(hazard, caplog):
    assert_muted(hazard, caplog)


def assert_muted(hazard, caplog):
    bench = HazardBench(breaks=True)
    deny = dml.D3D12_INFO_QUEUE_FILTER_DESC(pIDList=[dml.message_id(hazard.rule)])
    bench.info.PushStorageFilter(dml.D3D12_INFO_QUEUE_FILTER(DenyList=deny))
    hazard.scenario(bench, hazard.way)
    assert bench.messages() == []
    assert not caplog.records
    assert bench.info.GetNumMessagesDeniedByStorageFilter() > 0


def test_identifiers_have_numbers_of_their_own():
    numbers = {dml.message_id(rule) for rule in RULES}
    assert len(numbers) == len(RULES)
    assert not numbers & set(dml.D3D12_MESSAGE_ID)


OF_DISPATCHES = [
    "DML-RecordDispatch-initialized-never_initialized",
    "DML-GATHER-index-range-gather_indices-INT32",
    "D3D12-UAVBarrier-missing-two_writes",
    "D3D12-Contents-undefined-memory_written_in_part",
    "D3D12-ResourceState-mismatch-dispatching_what_was_copied",
    "D3D12-Object-released-a_resource_of_a_dispatch-input",
]
OF_DIRECT3D = [
    "D3D12-ResourceState-mismatch-copying_what_a_dispatch_wrote",
    "D3D12-Readback-read-in-flight-reading_before_the_wait-Map",
    "D3D12-Upload-written-in-flight-writing_an_upload_buffer",
]


@pytest.mark.parametrize(
    "hazard",
    [found for found in HAZARDS if found.id in OF_DISPATCHES + OF_DIRECT3D],
    ids=lambda found: found.id,
)
def test_muted_device(hazard, caplog):
    """A muted DirectML device suppresses the messages about its dispatches."""
    bench = HazardBench()
    switch = bench.dml.QueryInterface(dml.IDMLDebugDevice)
    switch.SetMuteDebugOutput(True)
    hazard.scenario(bench, hazard.way)
    assert bool(bench.messages()) == bool(caplog.records) == (hazard.id in OF_DIRECT3D)
    again = HazardBench()
    again.dml.QueryInterface(dml.IDMLDebugDevice).SetMuteDebugOutput(True)
    again.dml.QueryInterface(dml.IDMLDebugDevice).SetMuteDebugOutput(False)
    hazard.scenario(again, hazard.way)
    assert {message.rule for message in again.messages()} == {hazard.rule}


def test_the_named_hazards_exist():
    assert set(OF_DISPATCHES + OF_DIRECT3D) <= {found.id for found in HAZARDS}


def test_a_device_without_debug_layers_checks_nothing():
    """The same programs run without messages."""
    from ..dml.helpers import Bench

    bench = Bench()
    assert bench.d3d12.sync_validator is None
    op, buffer = bench.compile(identity()), bench.buffer(16)
    bench.record(op, bench.table(op, [buffer], [bench.buffer(16)]))
    bench.execute()
    assert not bench.removed
