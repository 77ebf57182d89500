"""Messages: call sites, message IDs of Windows, and no duplicates."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import directml_py as dml
from directml_py.session import Session

from ..rules.layer import debug_layer
from .every_case import HAZARDS
from .hazard import HazardBench


def here():
    """The call site of the caller, as in messages."""
    return f"{__file__}:{sys._getframe(1).f_lineno}"


@pytest.fixture
def session():
    with debug_layer():
        made = Session(dml.DMLCreateDevice(dml.D3D12CreateDevice(), dml.DML_CREATE_DEVICE_FLAG_DEBUG))
    made.d3d12.info_queue.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_ERROR, False)
    return made


def said(session):
    queue = session.d3d12.info_queue
    return [queue.GetMessage(index) for index in range(queue.GetNumStoredMessages())]


def four():
    tensor = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [4])
    return dml.DML_ELEMENT_WISE_ABS_OPERATOR_DESC(tensor, tensor)


def buffers(session, count):
    return [session.upload(np.ones(4, np.float32)) for _ in range(count)]


def test_recording_binding_and_creation_are_named(session):
    desc = four()
    op, created = session.compile(desc), here()
    session.initialize(op)
    a, b, c = buffers(session, 3)
    first = session.table(op, [a], [b])
    _, before = session.record(op, first), here()
    second, bound = session.table(op, [b], [c]), here()
    _, recorded = session.record(op, second), here()
    session.execute()
    (message,) = said(session)
    assert f"writes as OutputTensor (recorded at {before}); there is no UAV barrier" in message.pDescription
    assert (
        message.diagnostic.origin == f"recorded at {recorded}, table bound at {bound}, created at {created}"
    )
    assert message.pDescription.endswith(f" [D3D12-UAVBarrier-missing] ({message.diagnostic.origin})")


def test_the_earlier_command_of_another_queue_is_named(session):
    kind = session.commands.type
    second, allocator = (
        session.d3d12.CreateCommandQueue(session.queue.GetDesc()),
        session.d3d12.CreateCommandAllocator(kind),
    )
    a, b, c = buffers(session, 3)
    _, before = session.commands.CopyResource(b, a), here()
    session.commands.Close()
    session.queue.ExecuteCommandLists([session.commands])
    others = session.d3d12.CreateCommandList(0, kind, allocator)
    _, recorded = others.CopyResource(c, b), here()
    others.Close()
    second.ExecuteCommandLists([others])
    session.d3d12.flush()
    (message,) = said(session)
    assert f"writes as the copy's destination (recorded at {before}); neither queue" in message.pDescription
    assert message.diagnostic.origin == f"recorded at {recorded}"


def test_what_directml_finds_is_named_too(session):
    op, created = session.compile(four()), here()
    a, b = buffers(session, 2)
    _, recorded = session.dispatch(op, [a], [b]), here()
    session.execute()
    (message,) = said(session)
    assert message.rule == "DML-RecordDispatch-initialized"
    assert message.diagnostic.origin == f"recorded at {recorded}, created at {created}"


def test_the_copy_of_an_upload_buffer_that_was_written_too_early(session):
    source = session.buffer(16, dml.D3D12_HEAP_TYPE_UPLOAD)
    target = session.buffer(16)
    _, recorded = session.commands.CopyResource(target, source), here()
    session.commands.Close()
    session.queue.ExecuteCommandLists([session.commands])
    source.Map()[0] = 1
    session.wait()
    (message,) = said(session)
    assert (message.rule, message.diagnostic.origin) == (
        "D3D12-Upload-written-in-flight",
        f"recorded at {recorded}",
    )


def test_late_bindings_keep_their_origin(session):
    op = session.compile(four(), dml.DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE)
    a, b = buffers(session, 2)
    _, recorded = session.dispatch(op, [a], [b]), here()
    session.execute()
    (message,) = said(session)
    assert f"recorded at {recorded}" in message.diagnostic.origin


def test_call_sites_are_not_taken_without_the_debug_layer(monkeypatch):
    def asked():
        raise AssertionError

    for module in ("sync_validation.validator", "dml.binding_table", "dml.dml_object"):
        monkeypatch.setattr(f"directml_py.{module}.caller", asked)
    (result,) = dml.evaluate(four(), [np.array([-1, 2, -3, 4], np.float32)])
    assert result.tolist() == [1, 2, 3, 4]


class Terminal(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


@pytest.fixture
def terminal(monkeypatch):
    """The output of a program that has not configured logging."""
    handler = Terminal()
    monkeypatch.setattr(logging, "lastResort", handler)
    return handler


@contextmanager
def no_handlers():
    """Removes the log handlers that pytest installs for the duration of a test."""
    logger = logging.getLogger("directml_py")
    before = logger.handlers, logger.propagate
    logger.handlers, logger.propagate = [], False
    try:
        yield
    finally:
        logger.handlers, logger.propagate = before


@pytest.mark.parametrize("breaks", [True, False])
def test_said_once(session, terminal, breaks):
    """Either by the exception or by the logger."""
    session.d3d12.info_queue.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_ERROR, breaks)
    op = session.compile(four())
    session.dispatch(op, *([one] for one in buffers(session, 2)))
    with no_handlers():
        if breaks:
            with pytest.raises(dml.DMLError, match="DML-RecordDispatch-initialized"):
                session.execute()
        else:
            session.execute()
    assert len(terminal.texts) == (0 if breaks else 1)


def test_said_once_without_direct3d_s_layer(terminal):
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), dml.DML_CREATE_DEVICE_FLAG_DEBUG)
    desc = four()
    desc.OutputTensor = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [5])
    with no_handlers(), pytest.raises(dml.DMLError):
        device.CreateOperator(desc)
    assert terminal.texts == []


# d3d12sdklayers.h's numbers of categories and messages; of DirectML's, what dml-debug-layer prints.
NUMBERS = {
    "D3D12-ClearUAV-descriptor": (9, 1001),
    "D3D12-Object-released": (9, 921),
    "D3D12-Object-resident": (9, 960),
    "D3D12-Query-ended": (9, 1319),
    "D3D12-Readback-read-in-flight": (9, 1047),
    "D3D12-ResourceBarrier-before": (8, 527),
    "D3D12-ResourceBarrier-before-common": (8, 527),
    "D3D12-ResourceBarrier-split": (8, 957),
    "D3D12-ResourceBarrier-split-across": (8, 1329),
    "D3D12-ResourceBarrier-split-begun": (8, 535),
    "D3D12-ResourceState-mismatch": (9, 538),
    "D3D12-ResourceState-split": (9, 538),
    "D3D12-Upload-written-in-flight": (9, 1047),
    "DML-RecordDispatch-initialized": (0, 1),
    "DML-GATHER-index-range": (0, 1),
    "D3D12-UAVBarrier-missing": (9, dml.message_id("D3D12-UAVBarrier-missing")),
}


@pytest.mark.parametrize("rule", NUMBERS)
def test_message_ids_are_those_of_windows_if_it_has_one(rule):
    hazard = next(one for one in HAZARDS if one.rule == rule)
    bench = HazardBench()
    hazard.scenario(bench, hazard.way)
    message = bench.info.GetMessage(0)
    assert (message.rule, message.Category, message.ID) == (rule, *NUMBERS[rule])


def test_denying_a_windows_id_denies_every_rule_that_shares_it(session):
    deny = dml.D3D12_INFO_QUEUE_FILTER_DESC(pIDList=[dml.D3D12_MESSAGE_ID_STRING_FROM_APPLICATION])
    session.d3d12.info_queue.PushStorageFilter(dml.D3D12_INFO_QUEUE_FILTER(DenyList=deny))
    op = session.compile(four())
    a, b, c = buffers(session, 3)
    session.dispatch(op, [a], [b])
    session.dispatch(op, [b], [c])
    session.execute()
    assert [message.rule for message in said(session)] == ["D3D12-UAVBarrier-missing"]
