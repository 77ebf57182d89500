"""Violations of a page that Microsoft's library accepts: they run with a warning, and are errors if strict."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.testing import assert_valid
from directml_py.validation import RULES, Severity

from .helpers import cast, tensor

# 24 bytes of elements in 25: the page of the helper functions requires a multiple of 4.
ODD = cast(tensor((2, 3), total_size=25))
RULE = "DML-BufferTensor-total-size-multiple"
ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_the_rule():
    assert RULES[RULE].page_only
    assert not RULES["DML-BufferTensor-total-size"].page_only
    debug = [rule for rule in RULES.values() if rule.debug]
    assert debug
    assert not any(rule.page_only for rule in debug)


def test_validate():
    assert dml.validate(ODD) == []
    (found,) = dml.validate(ODD, strict=True)
    assert (found.rule, found.path) == (RULE, "InputTensor.TotalTensorSizeInBytes")
    assert found.severity is Severity.ERROR


def test_it_runs():
    (result,) = dml.evaluate(ODD, [ROWS])
    assert (result == ROWS).all()


@pytest.mark.parametrize("profile", ["strict", "demanding"])
def test_strict_profiles_refuse_it(profile):
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), profile=profile)
    with pytest.raises(dml.DMLError, match=RULE) as raised:
        device.CreateOperator(ODD)
    assert raised.value.hresult == dml.E_INVALIDARG
    kind = dml.DMLCreateDevice(dml.D3D12CreateDevice(), profile="kind")
    assert kind.CreateOperator(ODD).desc.InputTensor.total_size == 25


def test_the_debug_layer_warns():
    switch = dml.D3D12GetDebugInterface()
    switch.EnableDebugLayer()
    try:
        d3d12 = dml.D3D12CreateDevice()
    finally:
        switch.DisableDebugLayer()
    device = dml.DMLCreateDevice(d3d12, dml.DML_CREATE_DEVICE_FLAG_DEBUG)
    device.CreateOperator(ODD)
    queue = d3d12.QueryInterface(dml.ID3D12InfoQueue)
    (message,) = [queue.GetMessage(index) for index in range(queue.GetNumStoredMessages())]
    assert message.Severity == dml.D3D12_MESSAGE_SEVERITY_WARNING
    assert message.rule == RULE


def test_assertions():
    assert_valid(ODD)
    with pytest.raises(AssertionError, match=RULE):
        assert_valid(ODD, strict=True)


def test_an_error_beside_it_is_told_with_it():
    """The warning is part of the exception's message, and is not an error by itself."""
    desc = cast(tensor((2, 3), total_size=25, alignment=4))
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    with pytest.raises(dml.DMLError) as raised:
        device.CreateOperator(desc)
    severities = {found.rule: found.severity for found in raised.value.diagnostics}
    assert severities == {RULE: Severity.WARNING, "DML-BufferTensor-alignment": Severity.ERROR}
    assert [found.rule for found in dml.validate(desc)] == ["DML-BufferTensor-alignment"]


@pytest.mark.parametrize(
    ("betas", "refused"),
    [
        ((0, 1), []),
        ((1.5, 0.999), ["Beta1"]),
        ((0.9, -0.5), ["Beta2"]),
        ((float("nan"), 2), ["Beta1", "Beta2"]),
    ],
)
def test_decay_rates(betas, refused):
    x, step = tensor((1, 1, 1, 4)), dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1, 1, 1, 1])
    desc = dml.DML_ADAM_OPTIMIZER_OPERATOR_DESC(x, x, x, x, step, x, x, x, 0.1, *betas, 1e-8)
    assert dml.validate(desc) == []
    assert [found.path for found in dml.validate(desc, strict=True)] == refused
