"""One dispatch through the object model, with the memory around every tensor in sight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import directml_py as dml

FILL = 0xA5
OFFSET = 256
GUARD = 64


class Memory(NamedTuple):
    """A buffer after the dispatch: all its bytes, and where its tensor lies."""

    bytes: np.ndarray
    tensor: dml.TensorDesc

    @property
    def inside(self):
        """The tensor's TotalTensorSizeInBytes."""
        return self.bytes[OFFSET : OFFSET + self.tensor.total_size]

    @property
    def outside(self):
        return np.concatenate([self.bytes[:OFFSET], self.bytes[OFFSET + self.tensor.total_size :]])

    @property
    def array(self):
        return self.tensor.view(self.inside)


class Dispatch:
    """``desc`` executed on ``arrays``: every tensor in a buffer of its own, OFFSET bytes from its start.

    All bytes that hold no input element are FILL before.
    """

    def __init__(self, desc, arrays):
        self.d3d12 = dml.D3D12CreateDevice()
        self.device = dml.DMLCreateDevice(self.d3d12)
        kind = dml.D3D12_COMMAND_LIST_TYPE_DIRECT
        self.queue = self.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=kind))
        self.list = self.d3d12.CreateCommandList(0, kind, self.d3d12.CreateCommandAllocator(kind))
        decoded, _ = dml.decode_operator_desc(desc)
        compiled = self.device.CompileOperator(self.device.CreateOperator(desc))
        inputs = [self.buffer(slot.tensor, array) for slot, array in zip(decoded.inputs, arrays)]
        outputs = [self.buffer(slot.tensor) for slot in decoded.outputs]
        self.before = [buffer.array().copy() for buffer in inputs]
        self.record(self.device.CreateOperatorInitializer([compiled]))
        self.record(
            compiled,
            inputs=[self.binding(slot.tensor, buffer) for slot, buffer in zip(decoded.inputs, inputs)],
            outputs=[self.binding(slot.tensor, buffer) for slot, buffer in zip(decoded.outputs, outputs)],
        )
        self.list.Close()
        self.queue.ExecuteCommandLists([self.list])
        fence = self.d3d12.CreateFence(0)
        self.queue.Signal(fence, 1)
        fence.SetEventOnCompletion(1, None)
        assert self.device.GetDeviceRemovedReason() == dml.S_OK
        self.inputs = [Memory(buffer.array(), slot.tensor) for slot, buffer in zip(decoded.inputs, inputs)]
        self.outputs = [Memory(buffer.array(), slot.tensor) for slot, buffer in zip(decoded.outputs, outputs)]

    def resource(self, size, heap, state, flags=dml.D3D12_RESOURCE_FLAG_NONE):
        properties = dml.CD3DX12_HEAP_PROPERTIES(heap)
        desc = dml.CD3DX12_RESOURCE_DESC.Buffer(size, flags)
        return self.d3d12.CreateCommittedResource(properties, dml.D3D12_HEAP_FLAG_NONE, desc, state)

    def buffer(self, tensor, array=None):
        """A DEFAULT buffer full of FILL, with ``array`` in its place."""
        size = OFFSET + tensor.total_size + GUARD
        upload = self.resource(size, dml.D3D12_HEAP_TYPE_UPLOAD, dml.D3D12_RESOURCE_STATE_GENERIC_READ)
        memory = upload.Map()
        memory[:] = FILL
        if array is not None:
            tensor.view(memory[OFFSET : OFFSET + tensor.total_size])[...] = array
        upload.Unmap()
        allow = dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
        copy_dest, access = dml.D3D12_RESOURCE_STATE_COPY_DEST, dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
        buffer = self.resource(size, dml.D3D12_HEAP_TYPE_DEFAULT, copy_dest, allow)
        commands = self.d3d12.CreateCommandList(
            0, self.list.GetType(), self.d3d12.CreateCommandAllocator(self.list.GetType())
        )
        commands.CopyResource(buffer, upload)
        commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.Transition(buffer, copy_dest, access)])
        commands.Close()
        self.queue.ExecuteCommandLists([commands])
        return buffer

    def binding(self, tensor, buffer):
        return dml.DML_BINDING_DESC(
            dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(buffer, OFFSET, tensor.total_size)
        )

    def record(self, dispatchable, inputs=(), outputs=()):
        properties = dispatchable.GetBindingProperties()
        heap = self.d3d12.CreateDescriptorHeap(
            dml.D3D12_DESCRIPTOR_HEAP_DESC(
                Type=dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
                NumDescriptors=properties.RequiredDescriptorCount,
                Flags=dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
            )
        )
        table = self.device.CreateBindingTable(
            dml.DML_BINDING_TABLE_DESC(
                dispatchable,
                heap.GetCPUDescriptorHandleForHeapStart(),
                heap.GetGPUDescriptorHandleForHeapStart(),
                properties.RequiredDescriptorCount,
            )
        )
        self.list.SetDescriptorHeaps([heap])
        if inputs or outputs:
            table.BindInputs(list(inputs))
            table.BindOutputs(list(outputs))
        if properties.TemporaryResourceSize:
            temporary = self.resource(
                properties.TemporaryResourceSize,
                dml.D3D12_HEAP_TYPE_DEFAULT,
                dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
            )
            whole = dml.DML_BUFFER_BINDING(temporary, 0, properties.TemporaryResourceSize)
            table.BindTemporaryResource(dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, whole))
        dml_recorder = self.device.CreateCommandRecorder()
        dml_recorder.RecordDispatch(self.list, dispatchable, table)
