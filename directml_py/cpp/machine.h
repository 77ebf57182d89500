// Both devices, a queue and a list: the part that the generated C++ programs have in common.

#pragma once

#include <DirectML.h>
#include <d3d12.h>
#include <wrl/client.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using Microsoft::WRL::ComPtr;

inline void Check(HRESULT result)
{
    if (FAILED(result))
    {
        std::fprintf(stderr, "failed: 0x%08x\n", static_cast<unsigned>(result));
        std::exit(1);
    }
}

// A tensor's desc. It points into itself: it can neither be copied nor moved.
struct TensorDesc
{
    std::vector<UINT> sizes, strides;
    DML_BUFFER_TENSOR_DESC buffer = {};
    DML_TENSOR_DESC desc = {DML_TENSOR_TYPE_BUFFER, &buffer};

    TensorDesc(DML_TENSOR_DATA_TYPE type, std::vector<UINT> theSizes, std::vector<UINT> theStrides = {})
        : sizes(std::move(theSizes)), strides(std::move(theStrides))
    {
        const UINT count = static_cast<UINT>(sizes.size());
        const UINT* steps = strides.empty() ? nullptr : strides.data();
        const UINT64 size = DMLCalcBufferTensorSize(type, count, sizes.data(), steps);
        buffer = {type, DML_TENSOR_FLAG_NONE, count, sizes.data(), steps, size, 0};
    }

    TensorDesc(const TensorDesc&) = delete;
    TensorDesc& operator=(const TensorDesc&) = delete;
};

// Both devices, a queue and a list.
class Machine
{
public:
    Machine()
    {
        Check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)));
        Check(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)));
        const D3D12_COMMAND_QUEUE_DESC desc = {D3D12_COMMAND_LIST_TYPE_DIRECT, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
        Check(d3d12->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)));
        Check(d3d12->CreateCommandAllocator(desc.Type, IID_PPV_ARGS(&allocator)));
        Check(d3d12->CreateCommandList(0, desc.Type, allocator.Get(), nullptr, IID_PPV_ARGS(&list)));
        Check(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
        Check(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));
    }

    ComPtr<ID3D12Resource> Buffer(UINT64 size, D3D12_HEAP_TYPE type, D3D12_RESOURCE_STATES state)
    {
        D3D12_HEAP_PROPERTIES heap = {};
        heap.Type = type;
        D3D12_RESOURCE_DESC desc = {};
        desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
        desc.Width = size;
        desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
        desc.SampleDesc.Count = 1;
        desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
        if (type == D3D12_HEAP_TYPE_DEFAULT)
            desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
        ComPtr<ID3D12Resource> made;
        Check(d3d12->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_PPV_ARGS(&made)));
        kept.push_back(made);
        return made;
    }

    ComPtr<ID3D12Resource> Scratch(UINT64 size)
    {
        return Buffer(size, D3D12_HEAP_TYPE_DEFAULT, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    }

    // A buffer in the default heap, once the list has run; `fill` writes what will be in it.
    template <typename Fill>
    ComPtr<ID3D12Resource> Upload(UINT64 size, const Fill& fill)
    {
        auto source = Buffer(size, D3D12_HEAP_TYPE_UPLOAD, D3D12_RESOURCE_STATE_GENERIC_READ);
        void* memory = nullptr;
        Check(source->Map(0, nullptr, &memory));
        fill(memory);
        source->Unmap(0, nullptr);
        auto target = Buffer(size, D3D12_HEAP_TYPE_DEFAULT, D3D12_RESOURCE_STATE_COPY_DEST);
        list->CopyBufferRegion(target.Get(), 0, source.Get(), 0, size);
        Transition(target.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        return target;
    }

    // A buffer that the processor reads, once the list has run.
    ComPtr<ID3D12Resource> Readback(ID3D12Resource* result)
    {
        const UINT64 size = result->GetDesc().Width;
        auto target = Buffer(size, D3D12_HEAP_TYPE_READBACK, D3D12_RESOURCE_STATE_COPY_DEST);
        Transition(result, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
        list->CopyBufferRegion(target.Get(), 0, result, 0, size);
        return target;
    }

    void Transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after)
    {
        D3D12_RESOURCE_BARRIER barrier = {};
        barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
        barrier.Transition = {resource, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, before, after};
        list->ResourceBarrier(1, &barrier);
    }

    // Records a dispatch of an operator or an initializer behind a barrier that orders it after all before.
    void Record(
        IDMLDispatchable* dispatchable,
        const std::vector<DML_BINDING_DESC>& inputs,
        const std::vector<DML_BINDING_DESC>& outputs,
        ID3D12Resource* persistent)
    {
        const DML_BINDING_PROPERTIES needs = dispatchable->GetBindingProperties();
        D3D12_DESCRIPTOR_HEAP_DESC heapDesc = {};
        heapDesc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
        heapDesc.NumDescriptors = needs.RequiredDescriptorCount ? needs.RequiredDescriptorCount : 1;
        heapDesc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
        ComPtr<ID3D12DescriptorHeap> heap;
        Check(d3d12->CreateDescriptorHeap(&heapDesc, IID_PPV_ARGS(&heap)));
        kept.push_back(heap);
        ID3D12DescriptorHeap* heaps[] = {heap.Get()};
        list->SetDescriptorHeaps(1, heaps);

        const DML_BINDING_TABLE_DESC tableDesc = {
            dispatchable,
            heap->GetCPUDescriptorHandleForHeapStart(),
            heap->GetGPUDescriptorHandleForHeapStart(),
            heapDesc.NumDescriptors};
        ComPtr<IDMLBindingTable> table;
        Check(dml->CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table)));
        kept.push_back(table);
        if (!inputs.empty())
            table->BindInputs(static_cast<UINT>(inputs.size()), inputs.data());
        if (!outputs.empty())
            table->BindOutputs(static_cast<UINT>(outputs.size()), outputs.data());
        if (needs.TemporaryResourceSize)
        {
            const DML_BUFFER_BINDING span = {
                Scratch(needs.TemporaryResourceSize).Get(), 0, needs.TemporaryResourceSize};
            const DML_BINDING_DESC binding = {DML_BINDING_TYPE_BUFFER, &span};
            table->BindTemporaryResource(&binding);
        }
        if (persistent)
        {
            const DML_BUFFER_BINDING span = {persistent, 0, persistent->GetDesc().Width};
            const DML_BINDING_DESC binding = {DML_BINDING_TYPE_BUFFER, &span};
            table->BindPersistentResource(&binding);
        }
        D3D12_RESOURCE_BARRIER barrier = {};
        barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
        list->ResourceBarrier(1, &barrier);
        recorder->RecordDispatch(list.Get(), dispatchable, table.Get());
    }

    void Run()
    {
        Check(list->Close());
        ID3D12CommandList* lists[] = {list.Get()};
        queue->ExecuteCommandLists(1, lists);
        Check(queue->Signal(fence.Get(), ++signaled));
        // Without an event the call returns when the fence has the value.
        Check(fence->SetEventOnCompletion(signaled, nullptr));
        Check(allocator->Reset());
        Check(list->Reset(allocator.Get(), nullptr));
        kept.clear();
    }

    ComPtr<ID3D12Device> d3d12;
    ComPtr<IDMLDevice> dml;
    ComPtr<ID3D12CommandQueue> queue;
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
    ComPtr<ID3D12Fence> fence;
    ComPtr<IDMLCommandRecorder> recorder;

private:
    UINT64 signaled = 0;
    // What recorded commands use lives until they have run.
    std::vector<ComPtr<IUnknown>> kept;
};
