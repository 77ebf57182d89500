"""Shared handles within the process: whom they lead to, how long, and what cannot be shared."""

from __future__ import annotations

import gc
import os
import threading
import weakref

import numpy as np
import pytest

from directml_py import d3d12
from directml_py.abi.hresult import (
    DXGI_ERROR_NAME_ALREADY_EXISTS,
    E_HANDLE,
    E_INVALIDARG,
    E_NOTIMPL,
    DMLError,
)
from directml_py.api import d3d12_enums as e

GENERIC_ALL = 0x10000000
FILE_NOT_FOUND = 0x80070002
SHARED = e.D3D12_HEAP_FLAG_SHARED


def refused(code, call, *arguments):
    with pytest.raises(DMLError) as caught:
        call(*arguments)
    assert caught.value.hresult == code
    return str(caught.value)


def shared_buffer(device, size=64, flags=SHARED):
    return device.CreateCommittedResource(
        d3d12.CD3DX12_HEAP_PROPERTIES(e.D3D12_HEAP_TYPE_UPLOAD),
        flags,
        d3d12.CD3DX12_RESOURCE_DESC.Buffer(size),
        e.D3D12_RESOURCE_STATE_GENERIC_READ,
    )


@pytest.fixture
def device():
    return d3d12.D3D12CreateDevice()


@pytest.fixture
def other():
    return d3d12.D3D12CreateDevice()


@pytest.fixture
def close():
    """Descriptors to close at the end."""
    handles = []
    yield handles.append
    for handle in handles:
        os.close(handle)


def test_a_device_opens_its_own_objects(device, close):
    heap = device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(1 << 16, e.D3D12_HEAP_TYPE_DEFAULT, 0, SHARED))
    for item in (shared_buffer(device), heap, device.CreateFence(0, e.D3D12_FENCE_FLAG_SHARED)):
        handle = device.CreateSharedHandle(item, None, GENERIC_ALL, None)
        close(handle)
        assert device.OpenSharedHandle(handle) is item


def test_an_object_is_released_outside_the_lock(device, close):
    """A callback that is notified of the release may share handles itself."""
    buffer, other_buffer = shared_buffer(device), shared_buffer(device)
    told = threading.Event()

    def release():
        thread = threading.Thread(target=lambda: close(device.CreateSharedHandle(other_buffer)), daemon=True)
        thread.start()
        thread.join(10)
        if not thread.is_alive():
            told.set()

    weakref.finalize(buffer, release)
    handle = device.CreateSharedHandle(buffer)
    del buffer
    os.close(handle)
    close(device.CreateSharedHandle(other_buffer))
    gc.collect()
    assert told.is_set()


def test_another_device_sees_the_same_memory(device, other, close):
    buffer = shared_buffer(device, 16)
    handle = device.CreateSharedHandle(buffer)
    close(handle)
    opened = other.OpenSharedHandle(handle)
    assert (opened.device, opened.GetDesc().Width) == (other, 16)
    buffer.array()[:] = np.arange(16)
    assert opened.array().tolist() == list(range(16))
    heap = device.CreateHeap(d3d12.CD3DX12_HEAP_DESC(1 << 16, e.D3D12_HEAP_TYPE_UPLOAD, 0, SHARED))
    shared = device.CreateSharedHandle(heap)
    close(shared)
    desc = d3d12.CD3DX12_RESOURCE_DESC.Buffer(8)
    state = e.D3D12_RESOURCE_STATE_GENERIC_READ
    one = device.CreatePlacedResource(heap, 0, desc, state)
    two = other.CreatePlacedResource(other.OpenSharedHandle(shared), 0, desc, state)
    one.array()[3] = 7
    assert two.array()[3] == 7


def test_a_fence_of_another_device_is_not_emulated(device, other, close):
    handle = device.CreateSharedHandle(device.CreateFence(0, e.D3D12_FENCE_FLAG_SHARED))
    close(handle)
    refused(E_NOTIMPL, other.OpenSharedHandle, handle)


def test_a_handle_keeps_its_object_until_the_last_copy_is_closed(device):
    buffer = shared_buffer(device)
    alive = weakref.ref(buffer)
    handle = device.CreateSharedHandle(buffer)
    copy = os.dup(handle)
    del buffer
    gc.collect()
    os.close(handle)
    refused(E_HANDLE, device.OpenSharedHandle, handle)
    assert device.OpenSharedHandle(copy) is alive()
    os.close(copy)
    refused(E_HANDLE, device.OpenSharedHandle, copy)
    gc.collect()
    assert alive() is None


def test_names(device, other, close):
    buffer = shared_buffer(device)
    refused(FILE_NOT_FOUND, device.OpenSharedHandleByName, "weights")
    first = device.CreateSharedHandle(buffer, None, GENERIC_ALL, "weights")
    refused(DXGI_ERROR_NAME_ALREADY_EXISTS, device.CreateSharedHandle, buffer, None, GENERIC_ALL, "weights")
    second = other.OpenSharedHandleByName("weights", GENERIC_ALL)
    close(second)
    os.close(first)
    assert device.OpenSharedHandle(second) is buffer


def test_what_cannot_be_shared(device, other, close):
    message = refused(E_INVALIDARG, device.CreateSharedHandle, shared_buffer(device, flags=0))
    assert "D3D12_HEAP_FLAG_SHARED" in message
    refused(E_INVALIDARG, device.CreateSharedHandle, device.CreateFence(0))
    refused(E_INVALIDARG, device.CreateSharedHandle, shared_buffer(other))
    refused(E_INVALIDARG, device.CreateSharedHandle, shared_buffer(device), None, 1)
    with pytest.raises(TypeError, match="object"):
        device.CreateSharedHandle(None)
    for handle in (-1, 0, 1 << 40):
        refused(E_HANDLE, device.OpenSharedHandle, handle)
    reader, writer = os.pipe()
    close(reader)
    close(writer)
    refused(E_HANDLE, device.OpenSharedHandle, writer)
