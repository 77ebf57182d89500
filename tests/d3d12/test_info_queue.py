"""The debug layer: its switch, messages, filters and breaks."""

from __future__ import annotations

import logging

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, E_NOINTERFACE, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.api.iids import IID_ID3D12InfoQueue

INFO, WARNING = e.D3D12_MESSAGE_SEVERITY_INFO, e.D3D12_MESSAGE_SEVERITY_WARNING
ERROR, CORRUPTION = e.D3D12_MESSAGE_SEVERITY_ERROR, e.D3D12_MESSAGE_SEVERITY_CORRUPTION


def texts(queue):
    return [queue.GetMessage(index).pDescription for index in range(queue.GetNumStoredMessages())]


def send(bench, severity, text, category=e.D3D12_MESSAGE_CATEGORY_EXECUTION, id=0):
    bench.device.report(severity, category, id, text)


def severities(*values):
    return s.D3D12_INFO_QUEUE_FILTER_DESC(pSeverityList=list(values))


def test_there_is_none_without_the_debug_layer(bench):
    with pytest.raises(DMLError) as caught:
        bench.device.QueryInterface(d3d12.ID3D12InfoQueue)
    assert caught.value.hresult == E_NOINTERFACE


def test_the_switch_works_for_devices_created_afterwards(bench, debug_layer):
    with pytest.raises(DMLError):
        bench.device.QueryInterface(d3d12.ID3D12InfoQueue)
    later = d3d12.D3D12CreateDevice()
    queue = later.QueryInterface(IID_ID3D12InfoQueue)
    debug_layer.DisableDebugLayer()
    assert later.QueryInterface(d3d12.ID3D12InfoQueue) is queue
    assert queue.QueryInterface(d3d12.ID3D12Device) is later
    assert queue.QueryInterface(d3d12.ID3D12InfoQueue) is queue


@pytest.mark.parametrize(
    ("call", "category", "id", "text"),
    [
        (
            lambda bench: bench.allocator.Reset(),
            e.D3D12_MESSAGE_CATEGORY_EXECUTION,
            e.D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_CANNOT_RESET,
            "recording into it",
        ),
        (
            lambda bench: bench.buffer(16).Map(),
            e.D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
            e.D3D12_MESSAGE_ID_MAP_INVALIDHEAP,
            "no access to a D3D12_HEAP_TYPE_DEFAULT heap",
        ),
        (
            lambda bench: bench.device.CreateHeap(None),
            e.D3D12_MESSAGE_CATEGORY_STATE_CREATION,
            e.D3D12_MESSAGE_ID_CREATEHEAP_NULLDESC,
            "desc is null",
        ),
    ],
    ids=["Reset", "Map", "CreateHeap"],
)
def test_calls_that_fail_tell_why(debug_bench, info_queue, call, category, id, text):
    with pytest.raises(DMLError, match=text) as caught:
        call(debug_bench)
    assert caught.value.reported
    message = info_queue.GetMessage(0)
    assert (message.Severity, message.Category, message.ID) == (ERROR, category, id)
    assert text in message.pDescription
    assert info_queue.GetNumStoredMessages() == 1


def test_messages(debug_bench, info_queue):
    send(debug_bench, WARNING, "careful", id=e.D3D12_MESSAGE_ID_RESOURCE_BARRIER_ZERO_BARRIERS)
    message = info_queue.GetMessage(0)
    assert message.Severity == WARNING
    assert message.Category == e.D3D12_MESSAGE_CATEGORY_EXECUTION
    assert message.ID == e.D3D12_MESSAGE_ID_RESOURCE_BARRIER_ZERO_BARRIERS
    assert message.pDescription == "careful"
    assert message.DescriptionByteLength == 8
    with pytest.raises(DMLError, match="messageIndex") as caught:
        info_queue.GetMessage(1)
    assert caught.value.hresult == E_INVALIDARG
    info_queue.ClearStoredMessages()
    assert info_queue.GetNumStoredMessages() == 0


def test_breaking_starts_with_errors_and_corruption(debug_bench, info_queue):
    breaking = [info_queue.GetBreakOnSeverity(severity) for severity in e.D3D12_MESSAGE_SEVERITY]
    assert breaking == [True, True, False, False, False]
    send(debug_bench, WARNING, "w")
    for severity in (ERROR, CORRUPTION):
        with pytest.raises(DMLError, match="bad") as caught:
            send(debug_bench, severity, "bad")
        assert caught.value.reported
    assert texts(info_queue) == ["w", "bad", "bad"]


def test_breaking_can_be_switched(debug_bench, info_queue):
    info_queue.SetBreakOnSeverity(ERROR, False)
    info_queue.SetBreakOnSeverity(INFO, True)
    send(debug_bench, ERROR, "e")
    with pytest.raises(DMLError, match="i"):
        send(debug_bench, INFO, "i")
    with pytest.raises(DMLError, match="severity"):
        info_queue.SetBreakOnSeverity(17, True)


def test_application_messages(debug_bench, info_queue):
    info_queue.AddApplicationMessage(INFO, "hello")
    message = info_queue.GetMessage(0)
    assert message.Category == e.D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED
    assert message.ID == e.D3D12_MESSAGE_ID_STRING_FROM_APPLICATION
    with pytest.raises(TypeError, match="description"):
        info_queue.AddApplicationMessage(INFO, b"hello")


def test_messages_reach_the_logger(debug_bench, info_queue, caplog):
    with caplog.at_level(logging.DEBUG, "directml_py"):
        send(debug_bench, WARNING, "100% heard")
        info_queue.SetMuteDebugOutput(True)
        assert info_queue.GetMuteDebugOutput()
        send(debug_bench, WARNING, "muted")
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [
        (logging.WARNING, "100% heard")
    ]
    assert texts(info_queue) == ["100% heard", "muted"]


def test_the_oldest_messages_go(debug_bench, info_queue):
    info_queue.SetMessageCountLimit(3)
    for number in range(5):
        send(debug_bench, INFO, str(number))
    assert texts(info_queue) == ["2", "3", "4"]
    assert info_queue.GetNumMessagesDiscardedByMessageCountLimit() == 2
    info_queue.SetMessageCountLimit(1)
    assert texts(info_queue) == ["4"]
    info_queue.SetMessageCountLimit(-1)
    assert info_queue.GetMessageCountLimit() == 0xFFFFFFFFFFFFFFFF
    for number in range(2000):
        send(debug_bench, INFO, str(number))
    assert info_queue.GetNumStoredMessages() == 2001
    with pytest.raises(DMLError, match="messageCountLimit"):
        info_queue.SetMessageCountLimit(-2)


def test_a_queue_that_keeps_nothing(debug_bench, info_queue):
    info_queue.SetMessageCountLimit(0)
    send(debug_bench, INFO, "gone")
    assert (info_queue.GetNumStoredMessages(), info_queue.GetNumMessagesDiscardedByMessageCountLimit()) == (
        0,
        1,
    )


def test_1024_messages_are_the_limit_at_first(debug_bench, info_queue):
    for number in range(1025):
        send(debug_bench, INFO, str(number))
    assert (info_queue.GetNumStoredMessages(), texts(info_queue)[0]) == (1024, "1")


class TestFilters:
    def test_denied_severities(self, debug_bench, info_queue, caplog):
        info_queue.AddStorageFilterEntries(s.D3D12_INFO_QUEUE_FILTER(DenyList=severities(INFO, ERROR)))
        for severity in (INFO, WARNING, ERROR):
            send(debug_bench, severity, severity.name)
        assert texts(info_queue) == [WARNING.name]
        assert info_queue.GetNumMessagesDeniedByStorageFilter() == 2
        assert len(caplog.records) == 1

    def test_allowed_severities(self, debug_bench, info_queue):
        info_queue.PushStorageFilter(s.D3D12_INFO_QUEUE_FILTER(AllowList=severities(WARNING)))
        send(debug_bench, INFO, "i")
        send(debug_bench, WARNING, "w")
        assert texts(info_queue) == ["w"]

    def test_denying_wins(self, debug_bench, info_queue):
        both = s.D3D12_INFO_QUEUE_FILTER(AllowList=severities(INFO), DenyList=severities(INFO))
        info_queue.PushStorageFilter(both)
        send(debug_bench, INFO, "i")
        assert texts(info_queue) == []

    def test_categories_and_ids(self, debug_bench, info_queue):
        info_queue.AddStorageFilterEntries(
            s.D3D12_INFO_QUEUE_FILTER(
                DenyList=s.D3D12_INFO_QUEUE_FILTER_DESC(
                    pCategoryList=[e.D3D12_MESSAGE_CATEGORY_CLEANUP], pIDList=[5]
                )
            )
        )
        send(debug_bench, INFO, "category", category=e.D3D12_MESSAGE_CATEGORY_CLEANUP)
        send(debug_bench, INFO, "id", id=5)
        send(debug_bench, INFO, "passes", id=6)
        assert texts(info_queue) == ["passes"]

    def test_an_allowed_message_meets_every_list(self, debug_bench, info_queue):
        allow = s.D3D12_INFO_QUEUE_FILTER_DESC(pSeverityList=[INFO], pIDList=[5])
        info_queue.PushStorageFilter(s.D3D12_INFO_QUEUE_FILTER(AllowList=allow))
        send(debug_bench, INFO, "severity only", id=4)
        send(debug_bench, WARNING, "id only", id=5)
        send(debug_bench, INFO, "both", id=5)
        assert texts(info_queue) == ["both"]

    def test_the_stack(self, debug_bench, info_queue):
        info_queue.PushStorageFilter(s.D3D12_INFO_QUEUE_FILTER(DenyList=severities(INFO)))
        info_queue.AddStorageFilterEntries(s.D3D12_INFO_QUEUE_FILTER(DenyList=severities(WARNING)))
        info_queue.PushEmptyStorageFilter()
        assert info_queue.GetStorageFilterStackSize() == 2
        send(debug_bench, INFO, "1")
        info_queue.PopStorageFilter()
        send(debug_bench, INFO, "2")
        send(debug_bench, WARNING, "3")
        info_queue.ClearStorageFilter()
        send(debug_bench, INFO, "4")
        info_queue.PopStorageFilter()
        info_queue.PopStorageFilter()
        send(debug_bench, WARNING, "5")
        assert texts(info_queue) == ["1", "4", "5"]

    def test_bad_filters(self, info_queue):
        bad = s.D3D12_INFO_QUEUE_FILTER()
        bad.DenyList.NumIDs = 3
        with pytest.raises(DMLError, match=r"filter\.DenyList\.pIDList is null"):
            info_queue.PushStorageFilter(bad)
        bad.DenyList.pIDList = 0x123456789000
        with pytest.raises(DMLError, match=r"filter\.DenyList\.pIDList"):
            info_queue.AddStorageFilterEntries(bad)
        with pytest.raises(TypeError, match="filter"):
            info_queue.PushStorageFilter("errors")
        assert info_queue.GetStorageFilterStackSize() == 0
