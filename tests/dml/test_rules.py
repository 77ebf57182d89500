"""Violations of object model rules on devices with and without the debug flag."""

from __future__ import annotations

import pytest

import directml_py as dml

from . import binding_violations, dispatch_violations, object_violations, thread_violations  # noqa: F401
from .helpers import UPLOAD, Bench, binding, join
from .rule_violations import cases


def found_in(error):
    return {(diagnostic.rule, diagnostic.path) for diagnostic in error.diagnostics}


@pytest.mark.parametrize("violation", cases())
def test_debug_devices_raise(debug_bench, violation):
    call = violation.prepare(debug_bench, True)
    before = debug_bench.slots()
    with pytest.raises(dml.DMLError) as caught:
        call()
    assert caught.value.hresult == dml.E_INVALIDARG
    assert found_in(caught.value) == {(violation.rule, violation.path)}
    assert violation.rule in str(caught.value)
    assert violation.path in str(caught.value)
    assert debug_bench.removed == violation.void
    assert debug_bench.slots() == before


@pytest.mark.parametrize("violation", [case for case in cases() if case.values[0].void])
def test_other_devices_are_removed_and_tell_the_log_alone(bench, caplog, violation):
    call = violation.prepare(bench, True)
    before = bench.slots()
    assert call() is None
    assert bench.slots() == before
    (record,) = caplog.records
    assert f"[{violation.rule}]" in record.getMessage()
    assert bench.dml.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_REMOVED
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.CreateCommandRecorder()
    assert caught.value.hresult == dml.DXGI_ERROR_DEVICE_REMOVED
    assert found_in(caught.value) == {(violation.rule, violation.path)}
    assert violation.rule in str(caught.value)


@pytest.mark.parametrize("violation", [case for case in cases() if not case.values[0].void])
def test_methods_that_can_fail_do_not_remove(bench, violation):
    call = violation.prepare(bench, True)
    with pytest.raises(dml.DMLError) as caught:
        call()
    assert caught.value.hresult == dml.E_INVALIDARG
    assert found_in(caught.value) == {(violation.rule, violation.path)}
    assert bench.dml.GetDeviceRemovedReason() == dml.S_OK
    bench.dml.CreateCommandRecorder()


def test_one_call_reports_all(debug_bench):
    """Each of three bindings breaks rules of its own, one of them three."""
    table = debug_bench.table(debug_bench.compile(join(4, 4, 4)))
    upload, small, foreign = debug_bench.buffer(32, UPLOAD), debug_bench.buffer(8), Bench().buffer(16)
    with pytest.raises(dml.DMLError) as caught:
        table.BindInputs([binding(upload, 8, 8), binding(small, 0, 16), binding(foreign)])
    assert found_in(caught.value) == {
        ("DML-BufferBinding-alignment", "bindings[0].Offset"),
        ("DML-BufferBinding-size", "bindings[0].SizeInBytes"),
        ("DML-BufferBinding-heap-type", "bindings[0].Buffer"),
        ("DML-BufferBinding-range", "bindings[1]"),
        ("DML-BufferBinding-device", "bindings[2].Buffer"),
    }
