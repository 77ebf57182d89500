"""The flow of Microsoft's HelloDirectML: upload a tensor, run the identity operator over it, read it back.

It follows the C++ sample step by step, with the same names, so that the two can be read side by side.
"""

from __future__ import annotations

import sys
import threading

import numpy as np

from directml_py import *


def InitializeDirect3D12() -> tuple[
    ID3D12Device, ID3D12CommandQueue, ID3D12CommandAllocator, ID3D12GraphicsCommandList
]:
    d3d12Debug = D3D12GetDebugInterface()
    d3d12Debug.EnableDebugLayer()

    d3d12Device = D3D12CreateDevice(None, D3D_FEATURE_LEVEL_11_0)

    commandQueueDesc = D3D12_COMMAND_QUEUE_DESC()
    commandQueueDesc.Type = D3D12_COMMAND_LIST_TYPE_DIRECT
    commandQueueDesc.Flags = D3D12_COMMAND_QUEUE_FLAG_NONE

    commandQueue = d3d12Device.CreateCommandQueue(commandQueueDesc)
    commandAllocator = d3d12Device.CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT)
    commandList = d3d12Device.CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, commandAllocator, None)
    return d3d12Device, commandQueue, commandAllocator, commandList


def CloseExecuteResetWait(
    d3d12Device: ID3D12Device,
    commandQueue: ID3D12CommandQueue,
    commandAllocator: ID3D12CommandAllocator,
    commandList: ID3D12GraphicsCommandList,
) -> None:
    commandList.Close()

    commandQueue.ExecuteCommandLists(1, [commandList])

    d3d12Fence = d3d12Device.CreateFence(0, D3D12_FENCE_FLAG_NONE)
    fenceEvent = threading.Event()

    commandQueue.Signal(d3d12Fence, 1)
    d3d12Fence.SetEventOnCompletion(1, fenceEvent)

    fenceEvent.wait()

    commandAllocator.Reset()
    commandList.Reset(commandAllocator, None)


def main() -> int:
    # Set up Direct3D 12.
    d3d12Device, commandQueue, commandAllocator, commandList = InitializeDirect3D12()

    # Create the DirectML device, with its debug layer.
    dmlDevice = DMLCreateDevice(d3d12Device, DML_CREATE_DEVICE_FLAG_DEBUG)

    tensorSizes = [1, 2, 3, 4]
    tensorElementCount = 1 * 2 * 3 * 4

    dmlBufferTensorDesc = DML_BUFFER_TENSOR_DESC()
    dmlBufferTensorDesc.DataType = DML_TENSOR_DATA_TYPE_FLOAT32
    dmlBufferTensorDesc.Flags = DML_TENSOR_FLAG_NONE
    dmlBufferTensorDesc.DimensionCount = len(tensorSizes)
    dmlBufferTensorDesc.Sizes = tensorSizes
    dmlBufferTensorDesc.Strides = None
    dmlBufferTensorDesc.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(
        dmlBufferTensorDesc.DataType, dmlBufferTensorDesc.DimensionCount, tensorSizes, None
    )

    # Create the operator: identity, f(x) = x.
    dmlTensorDesc = DML_TENSOR_DESC()
    dmlTensorDesc.Type = DML_TENSOR_TYPE_BUFFER
    dmlTensorDesc.Desc = dmlBufferTensorDesc

    dmlIdentityOperatorDesc = DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC()
    dmlIdentityOperatorDesc.InputTensor = dmlTensorDesc
    dmlIdentityOperatorDesc.OutputTensor = dmlTensorDesc

    dmlOperatorDesc = DML_OPERATOR_DESC()
    dmlOperatorDesc.Type = DML_OPERATOR_ELEMENT_WISE_IDENTITY
    dmlOperatorDesc.Desc = dmlIdentityOperatorDesc

    dmlOperator = dmlDevice.CreateOperator(dmlOperatorDesc)

    # Compile it into an object that can be dispatched.
    dmlCompiledOperator = dmlDevice.CompileOperator(dmlOperator, DML_EXECUTION_FLAG_NONE)

    # 24 elements of 4 bytes each.
    tensorBufferSize = dmlBufferTensorDesc.TotalTensorSizeInBytes

    dmlOperatorInitializer = dmlDevice.CreateOperatorInitializer(1, [dmlCompiledOperator])

    # One descriptor heap, large enough for initialization and for execution. A device may need no descriptors, but a
    # heap has at least one.
    initializeBindingProperties = dmlOperatorInitializer.GetBindingProperties()
    executeBindingProperties = dmlCompiledOperator.GetBindingProperties()
    descriptorCount = max(
        initializeBindingProperties.RequiredDescriptorCount,
        executeBindingProperties.RequiredDescriptorCount,
        1,
    )

    descriptorHeapDesc = D3D12_DESCRIPTOR_HEAP_DESC()
    descriptorHeapDesc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
    descriptorHeapDesc.NumDescriptors = descriptorCount
    descriptorHeapDesc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
    descriptorHeap = d3d12Device.CreateDescriptorHeap(descriptorHeapDesc)

    commandList.SetDescriptorHeaps(1, [descriptorHeap])

    # A binding table over that heap, for the initializer first.
    dmlBindingTableDesc = DML_BINDING_TABLE_DESC()
    dmlBindingTableDesc.Dispatchable = dmlOperatorInitializer
    dmlBindingTableDesc.CPUDescriptorHandle = descriptorHeap.GetCPUDescriptorHandleForHeapStart()
    dmlBindingTableDesc.GPUDescriptorHandle = descriptorHeap.GetGPUDescriptorHandleForHeapStart()
    dmlBindingTableDesc.SizeInDescriptors = descriptorCount
    dmlBindingTable = dmlDevice.CreateBindingTable(dmlBindingTableDesc)

    # The temporary resource is scratch memory; the persistent one is filled by the initializer.
    temporaryResourceSize = max(
        initializeBindingProperties.TemporaryResourceSize, executeBindingProperties.TemporaryResourceSize
    )
    persistentResourceSize = executeBindingProperties.PersistentResourceSize

    temporaryBuffer: ID3D12Resource | None = None
    if temporaryResourceSize != 0:
        temporaryBuffer = d3d12Device.CreateCommittedResource(
            CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT),
            D3D12_HEAP_FLAG_NONE,
            CD3DX12_RESOURCE_DESC.Buffer(temporaryResourceSize, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
            D3D12_RESOURCE_STATE_COMMON,
            None,
        )
        if initializeBindingProperties.TemporaryResourceSize != 0:
            bufferBinding = DML_BUFFER_BINDING(temporaryBuffer, 0, temporaryResourceSize)
            dmlBindingTable.BindTemporaryResource(DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, bufferBinding))

    persistentBuffer: ID3D12Resource | None = None
    if persistentResourceSize != 0:
        persistentBuffer = d3d12Device.CreateCommittedResource(
            CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT),
            D3D12_HEAP_FLAG_NONE,
            CD3DX12_RESOURCE_DESC.Buffer(persistentResourceSize, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
            D3D12_RESOURCE_STATE_COMMON,
            None,
        )
        # The persistent resource is the initializer's output.
        bufferBinding = DML_BUFFER_BINDING(persistentBuffer, 0, persistentResourceSize)
        dmlBindingTable.BindOutputs(1, [DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, bufferBinding)])

    # Record and run the initialization.
    dmlCommandRecorder = dmlDevice.CreateCommandRecorder()
    dmlCommandRecorder.RecordDispatch(commandList, dmlOperatorInitializer, dmlBindingTable)

    CloseExecuteResetWait(d3d12Device, commandQueue, commandAllocator, commandList)

    # Bind and execute the operator.
    commandList.SetDescriptorHeaps(1, [descriptorHeap])

    dmlBindingTableDesc.Dispatchable = dmlCompiledOperator
    dmlBindingTable.Reset(dmlBindingTableDesc)

    if temporaryResourceSize != 0:
        bufferBinding = DML_BUFFER_BINDING(temporaryBuffer, 0, temporaryResourceSize)
        dmlBindingTable.BindTemporaryResource(DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, bufferBinding))

    if persistentResourceSize != 0:
        bufferBinding = DML_BUFFER_BINDING(persistentBuffer, 0, persistentResourceSize)
        dmlBindingTable.BindPersistentResource(DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, bufferBinding))

    uploadBuffer = d3d12Device.CreateCommittedResource(
        CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_UPLOAD),
        D3D12_HEAP_FLAG_NONE,
        CD3DX12_RESOURCE_DESC.Buffer(tensorBufferSize),
        D3D12_RESOURCE_STATE_GENERIC_READ,
        None,
    )

    inputBuffer = d3d12Device.CreateCommittedResource(
        CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT),
        D3D12_HEAP_FLAG_NONE,
        CD3DX12_RESOURCE_DESC.Buffer(tensorBufferSize, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
        D3D12_RESOURCE_STATE_COPY_DEST,
        None,
    )

    inputTensorElementArray = np.full(tensorElementCount, 1.618, np.float32)
    print("input tensor:", *(f"{element:.4f}" for element in inputTensorElementArray))

    tensorSubresourceData = D3D12_SUBRESOURCE_DATA()
    tensorSubresourceData.pData = inputTensorElementArray
    tensorSubresourceData.RowPitch = tensorBufferSize
    tensorSubresourceData.SlicePitch = tensorSubresourceData.RowPitch

    # Upload the input tensor.
    UpdateSubresources(commandList, inputBuffer, uploadBuffer, 0, 0, 1, tensorSubresourceData)

    commandList.ResourceBarrier(
        1,
        CD3DX12_RESOURCE_BARRIER.Transition(
            inputBuffer, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS
        ),
    )

    inputBufferBinding = DML_BUFFER_BINDING(inputBuffer, 0, tensorBufferSize)
    dmlBindingTable.BindInputs(1, [DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, inputBufferBinding)])

    outputBuffer = d3d12Device.CreateCommittedResource(
        CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT),
        D3D12_HEAP_FLAG_NONE,
        CD3DX12_RESOURCE_DESC.Buffer(tensorBufferSize, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
        D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
        None,
    )

    outputBufferBinding = DML_BUFFER_BINDING(outputBuffer, 0, tensorBufferSize)
    dmlBindingTable.BindOutputs(1, [DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, outputBufferBinding)])

    # Record and run the operator.
    dmlCommandRecorder.RecordDispatch(commandList, dmlCompiledOperator, dmlBindingTable)

    CloseExecuteResetWait(d3d12Device, commandQueue, commandAllocator, commandList)

    # Read the result back.
    readbackBuffer = d3d12Device.CreateCommittedResource(
        CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_READBACK),
        D3D12_HEAP_FLAG_NONE,
        CD3DX12_RESOURCE_DESC.Buffer(tensorBufferSize),
        D3D12_RESOURCE_STATE_COPY_DEST,
        None,
    )

    commandList.ResourceBarrier(
        1,
        CD3DX12_RESOURCE_BARRIER.Transition(
            outputBuffer, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE
        ),
    )

    commandList.CopyResource(readbackBuffer, outputBuffer)

    CloseExecuteResetWait(d3d12Device, commandQueue, commandAllocator, commandList)

    tensorBufferRange = D3D12_RANGE(0, tensorBufferSize)
    outputBufferData = readbackBuffer.Map(0, tensorBufferRange).view(np.float32)

    print("output tensor:", *(f"{element:.6f}" for element in outputBufferData))

    emptyRange = D3D12_RANGE(0, 0)
    readbackBuffer.Unmap(0, emptyRange)
    return 0


if __name__ == "__main__":
    sys.exit(main())
