"""Fixtures: devices and the objects that most tests need."""

from __future__ import annotations

import gc

import pytest

from directml_py import d3d12
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s


class Bench:
    """A device with a queue, an allocator and an open list, and shorthands for buffers."""

    def __init__(self, kind=e.D3D12_COMMAND_LIST_TYPE_DIRECT):
        self.type = kind
        self.device = d3d12.D3D12CreateDevice()
        self.allocators = {}
        self.queue = self.new_queue()
        self.allocator = self.device.CreateCommandAllocator(kind)
        self.list = self.device.CreateCommandList(0, kind, self.allocator, None)

    def new_queue(self):
        return self.device.CreateCommandQueue(s.D3D12_COMMAND_QUEUE_DESC(Type=self.type))

    def new_list(self):
        """An open list with an allocator of its own."""
        allocator = self.device.CreateCommandAllocator(self.type)
        commands = self.device.CreateCommandList(0, self.type, allocator)
        self.allocators[commands.recording.memory] = allocator
        return commands

    def allocator_of(self, commands):
        return self.allocators[commands.recording.memory]

    def buffer(self, size, heap=e.D3D12_HEAP_TYPE_DEFAULT, flags=0, state=None):
        if state is None:
            state = {
                e.D3D12_HEAP_TYPE_UPLOAD: e.D3D12_RESOURCE_STATE_GENERIC_READ,
                e.D3D12_HEAP_TYPE_READBACK: e.D3D12_RESOURCE_STATE_COPY_DEST,
            }.get(heap, e.D3D12_RESOURCE_STATE_COMMON)
        return self.device.CreateCommittedResource(
            d3d12.CD3DX12_HEAP_PROPERTIES(heap),
            e.D3D12_HEAP_FLAG_NONE,
            d3d12.CD3DX12_RESOURCE_DESC.Buffer(size, flags),
            state,
        )

    def upload(self, size):
        return self.buffer(size, e.D3D12_HEAP_TYPE_UPLOAD)

    def filled(self, values):
        """An upload buffer of these bytes."""
        data = bytes(values)
        buffer = self.upload(len(data))
        buffer.WriteToSubresource(0, None, data)
        return buffer

    def readback(self, size):
        return self.buffer(size, e.D3D12_HEAP_TYPE_READBACK)

    def copying(self, destination, source):
        """A closed list that copies one buffer to the other."""
        commands = self.new_list()
        commands.CopyResource(destination, source)
        commands.Close()
        return commands

    def execute(self):
        """Close the list, run it, and open it again."""
        self.list.Close()
        self.queue.ExecuteCommandLists([self.list])
        self.list.Reset(self.allocator)


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def debug_layer():
    """The debug layer, for devices created in the test."""
    switch = d3d12.D3D12GetDebugInterface()
    switch.EnableDebugLayer()
    yield switch
    switch.DisableDebugLayer()


@pytest.fixture
def debug_bench(debug_layer):
    return Bench()


@pytest.fixture
def info_queue(debug_bench):
    return debug_bench.device.QueryInterface(d3d12.ID3D12InfoQueue)


@pytest.fixture
def collect():
    return gc.collect
