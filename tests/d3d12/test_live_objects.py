"""ReportLiveDeviceObjects: objects that a program has not released."""

from __future__ import annotations

import logging

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s

from .conftest import Bench


def reported(bench, flags):
    queue = bench.device.QueryInterface(d3d12.ID3D12InfoQueue)
    queue.ClearStoredMessages()
    bench.device.QueryInterface(d3d12.ID3D12DebugDevice).ReportLiveDeviceObjects(flags)
    return [queue.GetMessage(index) for index in range(queue.GetNumStoredMessages())]


def test_every_object_with_its_kind_and_name(debug_bench, collect):
    kept = [
        debug_bench.buffer(16),
        debug_bench.device.CreateFence(0),
        debug_bench.device.CreateQueryHeap(s.D3D12_QUERY_HEAP_DESC(e.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 1)),
        debug_bench.device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(65536, e.D3D12_HEAP_TYPE_DEFAULT)),
        debug_bench.device.CreateDescriptorHeap(
            s.D3D12_DESCRIPTOR_HEAP_DESC(e.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1)
        ),
        debug_bench.device.CreateRootSignature(
            0, d3d12.D3D12SerializeRootSignature(s.D3D12_ROOT_SIGNATURE_DESC(), 1)
        ),
    ]
    kept[0].SetName("weights")
    gone = debug_bench.buffer(16)
    gone.SetName("gone")
    del gone
    collect()
    messages = reported(debug_bench, e.D3D12_RLDO_DETAIL)
    # d3d12sdklayers.h's numbers, the device first, the others in the order of their creation.
    assert [message.ID for message in messages] == [274, 570, 571, 573, 575, 580, 581, 579, 576, 577]
    assert {message.Category for message in messages} == {e.D3D12_MESSAGE_CATEGORY_STATE_CREATION}
    assert {message.Severity for message in messages} == {e.D3D12_MESSAGE_SEVERITY_WARNING}
    texts = [message.pDescription for message in messages]
    assert texts[0] == f"Live ID3D12Device at 0x{debug_bench.device.handle:X}, held by Python"
    assert texts[4] == f"\tLive ID3D12Resource at 0x{kept[0].handle:X}, Name: weights, held by Python"
    assert all("gone" not in text for text in texts)


def test_a_summary_counts(debug_bench):
    kept = [debug_bench.buffer(16) for _ in range(3)]
    texts = [message.pDescription for message in reported(debug_bench, e.D3D12_RLDO_SUMMARY)]
    assert texts[1:] == [
        "Live ID3D12CommandQueue: 1",
        "Live ID3D12CommandAllocator: 1",
        "Live ID3D12GraphicsCommandList: 1",
        f"Live ID3D12Resource: {len(kept)}",
    ]


def test_the_device_alone(debug_bench):
    assert [message.ID for message in reported(debug_bench, e.D3D12_RLDO_NONE)] == [274]


def test_it_is_printed(debug_bench, caplog):
    caplog.set_level(logging.WARNING, "directml_py")
    debug_bench.buffer(16).SetName("x")
    reported(debug_bench, e.D3D12_RLDO_DETAIL)
    assert any(record.getMessage().startswith("Live ID3D12Device at 0x") for record in caplog.records)


def test_unknown_flags(debug_bench):
    with pytest.raises(DMLError, match="flags") as caught:
        reported(debug_bench, 64)
    assert caught.value.hresult == E_INVALIDARG


def test_nothing_is_kept_without_the_debug_layer():
    assert Bench().device.debug_device is None
