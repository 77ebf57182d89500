"""What the shorter samples share: buffers with data, and running recorded work to its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from directml_py import *


class Harness:
    """A Direct3D 12 device with a DirectML device, one command list, and one heap for descriptors."""

    def __init__(self, descriptors: int = 64) -> None:
        self.d3d12 = D3D12CreateDevice()
        self.dml = DMLCreateDevice(self.d3d12)
        self.queue = self.d3d12.CreateCommandQueue(D3D12_COMMAND_QUEUE_DESC())
        self.allocator = self.d3d12.CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT)
        self.commands = self.d3d12.CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, self.allocator)
        self.recorder = self.dml.CreateCommandRecorder()
        self.heap = self.d3d12.CreateDescriptorHeap(
            D3D12_DESCRIPTOR_HEAP_DESC(
                D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, descriptors, D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
            )
        )
        self.commands.SetDescriptorHeaps([self.heap])
        self._next_descriptor = 0
        self._keep: list[object] = []

    def buffer(
        self,
        size: int,
        state: D3D12_RESOURCE_STATES = D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
        heap_type: D3D12_HEAP_TYPE = D3D12_HEAP_TYPE_DEFAULT,
    ) -> ID3D12Resource:
        """A buffer of ``size`` bytes, kept alive as long as the harness."""
        is_default = heap_type == D3D12_HEAP_TYPE_DEFAULT
        flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS if is_default else D3D12_RESOURCE_FLAG_NONE
        buffer = self.d3d12.CreateCommittedResource(
            CD3DX12_HEAP_PROPERTIES(heap_type),
            D3D12_HEAP_FLAG_NONE,
            CD3DX12_RESOURCE_DESC.Buffer(size, flags),
            state,
        )
        self._keep.append(buffer)
        return buffer

    def upload(self, array: npt.NDArray[Any]) -> ID3D12Resource:
        """A buffer in state UNORDERED_ACCESS that will hold the bytes of ``array``."""
        size = (array.nbytes + 3) // 4 * 4
        target = self.buffer(size, D3D12_RESOURCE_STATE_COPY_DEST)
        staging = self.buffer(size, D3D12_RESOURCE_STATE_GENERIC_READ, D3D12_HEAP_TYPE_UPLOAD)
        staging.Map()[: array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
        staging.Unmap()
        self.commands.CopyResource(target, staging)
        self.commands.ResourceBarrier(
            CD3DX12_RESOURCE_BARRIER.Transition(
                target, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS
            )
        )
        return target

    def record(self, desc: Any, inputs: Sequence[ID3D12Resource], outputs: Sequence[ID3D12Resource]) -> None:
        """Compile the operator ``desc`` and record its initialization and its dispatch."""
        self.dispatch(self.dml.CompileOperator(self.dml.CreateOperator(desc)), inputs, outputs)

    def dispatch(
        self,
        compiled: IDMLCompiledOperator,
        inputs: Sequence[ID3D12Resource],
        outputs: Sequence[ID3D12Resource],
    ) -> None:
        """Record the initialization of ``compiled``, which owns no inputs, and its dispatch, barriers behind both."""
        initializer = self.dml.CreateOperatorInitializer([compiled])
        self.recorder.RecordDispatch(self.commands, initializer, self._table(initializer))
        self.commands.ResourceBarrier(CD3DX12_RESOURCE_BARRIER.UAV(None))
        table = self._table(compiled)
        table.BindInputs([_binding(buffer) for buffer in inputs])
        table.BindOutputs([_binding(buffer) for buffer in outputs])
        temporary_size = compiled.GetBindingProperties().TemporaryResourceSize
        if temporary_size:
            table.BindTemporaryResource(_binding(self.buffer(temporary_size)))
        self.recorder.RecordDispatch(self.commands, compiled, table)
        self.commands.ResourceBarrier(CD3DX12_RESOURCE_BARRIER.UAV(None))
        self._keep += [compiled, initializer]

    def _table(self, dispatchable: IDMLDispatchable) -> IDMLBindingTable:
        count = dispatchable.GetBindingProperties().RequiredDescriptorCount
        step = self.d3d12.GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV)
        first = self._next_descriptor
        self._next_descriptor += count
        return self.dml.CreateBindingTable(
            DML_BINDING_TABLE_DESC(
                dispatchable,
                CD3DX12_CPU_DESCRIPTOR_HANDLE(self.heap.GetCPUDescriptorHandleForHeapStart(), first, step),
                CD3DX12_GPU_DESCRIPTOR_HANDLE(self.heap.GetGPUDescriptorHandleForHeapStart(), first, step),
                count,
            )
        )

    def run(self, *buffers: ID3D12Resource) -> list[npt.NDArray[np.uint8]]:
        """Execute what was recorded and return the bytes of ``buffers``."""
        readbacks = []
        for buffer in buffers:
            self.commands.ResourceBarrier(
                CD3DX12_RESOURCE_BARRIER.Transition(
                    buffer, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE
                )
            )
            size = buffer.GetDesc().Width
            readback = self.buffer(size, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_HEAP_TYPE_READBACK)
            self.commands.CopyResource(readback, buffer)
            readbacks.append(readback)
        self.commands.Close()
        self.queue.ExecuteCommandLists([self.commands])
        fence = self.d3d12.CreateFence(0)
        self.queue.Signal(fence, 1)
        fence.SetEventOnCompletion(1, None)
        return [readback.Map().copy() for readback in readbacks]


def _binding(buffer: ID3D12Resource) -> DML_BINDING_DESC:
    return DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, DML_BUFFER_BINDING(buffer, 0, buffer.GetDesc().Width))
