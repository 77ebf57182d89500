// Runs one DirectML operator and prints its outputs: the common part of the C++ examples on the operators' pages.
//
// On Linux: g++ -std=c++17 example.cpp $(python -m directml_py config --cflags --libs) -o example
// On Windows: cl /std:c++17 /EHsc example.cpp directml.lib d3d12.lib

#pragma once

#include <DirectML.h>
#include <d3d12.h>
#include <wrl/client.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
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

// A FLOAT16. Only numbers that it represents exactly are converted without loss.
struct Half
{
    uint16_t bits;

    Half(float value = 0) : bits(0)
    {
        uint32_t u;
        std::memcpy(&u, &value, 4);
        const uint32_t sign = u >> 16 & 0x8000u, mantissa = u & 0x7fffffu;
        const int exponent = static_cast<int>(u >> 23 & 0xff) - 112;
        if ((u >> 23 & 0xff) == 0xff)
            bits = static_cast<uint16_t>(sign | 0x7c00u | (mantissa ? 0x200u : 0));
        else if (exponent >= 31)
            bits = static_cast<uint16_t>(sign | 0x7c00u);
        else if (exponent > 0)
        {
            // Ties go to the even neighbour; a carry correctly propagates into the exponent.
            const uint32_t kept = static_cast<uint32_t>(exponent) << 10 | mantissa >> 13, rest = mantissa & 0x1fffu;
            bits = static_cast<uint16_t>(sign | (kept + (rest > 0x1000u || (rest == 0x1000u && (kept & 1)))));
        }
        else
            bits = static_cast<uint16_t>(sign | static_cast<uint32_t>(std::lrint(std::fabs(value) * 16777216.0f)));
    }

    operator double() const
    {
        const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
        double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                       : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                      : std::ldexp(mantissa, -24);
        return bits & 0x8000 ? -value : value;
    }
};

// A tensor with its desc and its memory. Descs point into it: it can neither be copied nor moved.
struct Tensor
{
    std::vector<UINT> sizes, strides;
    DML_BUFFER_TENSOR_DESC buffer = {};
    DML_TENSOR_DESC desc = {DML_TENSOR_TYPE_BUFFER, &buffer};
    std::vector<uint8_t> bytes;

    Tensor(DML_TENSOR_DATA_TYPE type, std::vector<UINT> theSizes, std::vector<UINT> theStrides = {})
        : sizes(std::move(theSizes)), strides(std::move(theStrides))
    {
        const UINT count = static_cast<UINT>(sizes.size());
        const UINT* steps = strides.empty() ? nullptr : strides.data();
        const UINT64 size = DMLCalcBufferTensorSize(type, count, sizes.data(), steps);
        buffer = {type, DML_TENSOR_FLAG_NONE, count, sizes.data(), steps, size, 0};
        bytes.resize(static_cast<size_t>(size));
    }

    Tensor(const Tensor&) = delete;
    Tensor& operator=(const Tensor&) = delete;

    // The elements in memory order, which is row by row for a packed tensor.
    template <typename T>
    void Set(std::initializer_list<T> elements)
    {
        std::memcpy(bytes.data(), elements.begin(), elements.size() * sizeof(T));
    }

    void Print() const
    {
        switch (buffer.DataType)
        {
        case DML_TENSOR_DATA_TYPE_FLOAT64: return PrintAs<double>();
        case DML_TENSOR_DATA_TYPE_FLOAT32: return PrintAs<float>();
        case DML_TENSOR_DATA_TYPE_FLOAT16: return PrintAs<Half>();
        case DML_TENSOR_DATA_TYPE_UINT64: return PrintAs<uint64_t>();
        case DML_TENSOR_DATA_TYPE_UINT32: return PrintAs<uint32_t>();
        case DML_TENSOR_DATA_TYPE_UINT16: return PrintAs<uint16_t>();
        case DML_TENSOR_DATA_TYPE_INT64: return PrintAs<int64_t>();
        case DML_TENSOR_DATA_TYPE_INT32: return PrintAs<int32_t>();
        case DML_TENSOR_DATA_TYPE_INT16: return PrintAs<int16_t>();
        case DML_TENSOR_DATA_TYPE_INT8: return PrintAs<int8_t>();
        // 4-bit elements as bytes of two.
        default: return PrintAs<uint8_t>();
        }
    }

private:
    static void PrintOne(double value) { std::printf("%.7g", value); }
    static void PrintOne(uint64_t value) { std::printf("%llu", static_cast<unsigned long long>(value)); }
    static void PrintOne(int64_t value) { std::printf("%lld", static_cast<long long>(value)); }
    static void PrintOne(Half value) { PrintOne(static_cast<double>(value)); }
    static void PrintOne(float value) { PrintOne(static_cast<double>(value)); }
    static void PrintOne(uint32_t value) { PrintOne(static_cast<uint64_t>(value)); }
    static void PrintOne(uint16_t value) { PrintOne(static_cast<uint64_t>(value)); }
    static void PrintOne(uint8_t value) { PrintOne(static_cast<uint64_t>(value)); }
    static void PrintOne(int32_t value) { PrintOne(static_cast<int64_t>(value)); }
    static void PrintOne(int16_t value) { PrintOne(static_cast<int64_t>(value)); }
    static void PrintOne(int8_t value) { PrintOne(static_cast<int64_t>(value)); }

    template <typename T>
    void PrintAs() const
    {
        for (size_t offset = 0; offset + sizeof(T) <= bytes.size(); offset += sizeof(T))
        {
            T value;
            std::memcpy(&value, bytes.data() + offset, sizeof(T));
            std::printf("%s", offset ? " " : "");
            PrintOne(value);
        }
        std::printf("\n");
    }
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

    ComPtr<ID3D12Resource> Upload(const Tensor& tensor)
    {
        const UINT64 size = tensor.bytes.size();
        auto source = Buffer(size, D3D12_HEAP_TYPE_UPLOAD, D3D12_RESOURCE_STATE_GENERIC_READ);
        void* memory = nullptr;
        Check(source->Map(0, nullptr, &memory));
        std::memcpy(memory, tensor.bytes.data(), tensor.bytes.size());
        source->Unmap(0, nullptr);
        auto target = Buffer(size, D3D12_HEAP_TYPE_DEFAULT, D3D12_RESOURCE_STATE_COPY_DEST);
        list->CopyBufferRegion(target.Get(), 0, source.Get(), 0, size);
        Transition(target.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        return target;
    }

    void Transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after)
    {
        D3D12_RESOURCE_BARRIER barrier = {};
        barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
        barrier.Transition = {resource, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, before, after};
        list->ResourceBarrier(1, &barrier);
    }

    // Records a dispatch of an operator or an initializer after a barrier that orders it after all previous commands.
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
        // Without an event the call blocks until the fence has the value.
        Check(fence->SetEventOnCompletion(signaled, nullptr));
        Check(allocator->Reset());
        Check(list->Reset(allocator.Get(), nullptr));
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
    // Everything that recorded commands use must live until they have run.
    std::vector<ComPtr<IUnknown>> kept;
};

// Creates, compiles, initializes and executes the operator; null stands for an absent tensor.
inline void RunOperator(
    const DML_OPERATOR_DESC& desc,
    const std::vector<const Tensor*>& inputs,
    const std::vector<Tensor*>& outputs)
{
    Machine machine;
    ComPtr<IDMLOperator> op;
    ComPtr<IDMLCompiledOperator> compiled;
    ComPtr<IDMLOperatorInitializer> initializer;
    Check(machine.dml->CreateOperator(&desc, IID_PPV_ARGS(&op)));
    Check(machine.dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
    IDMLCompiledOperator* operators[] = {compiled.Get()};
    Check(machine.dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)));

    std::vector<DML_BUFFER_BINDING> spans(inputs.size() + outputs.size());
    std::vector<DML_BINDING_DESC> bound(spans.size(), {DML_BINDING_TYPE_NONE, nullptr});
    std::vector<ComPtr<ID3D12Resource>> results;
    const auto bind = [&](size_t index, const ComPtr<ID3D12Resource>& resource) {
        spans[index] = {resource.Get(), 0, resource->GetDesc().Width};
        bound[index] = {DML_BINDING_TYPE_BUFFER, &spans[index]};
    };
    for (size_t i = 0; i < inputs.size(); i++)
        if (inputs[i])
            bind(i, machine.Upload(*inputs[i]));
    for (size_t i = 0; i < outputs.size(); i++)
    {
        results.push_back(outputs[i] ? machine.Upload(*outputs[i]) : nullptr);
        if (outputs[i])
            bind(inputs.size() + i, results.back());
    }
    const auto split = bound.begin() + static_cast<std::ptrdiff_t>(inputs.size());

    ComPtr<ID3D12Resource> persistent;
    if (const UINT64 size = compiled->GetBindingProperties().PersistentResourceSize)
        persistent = machine.Scratch(size);
    std::vector<DML_BINDING_DESC> initialized;
    DML_BUFFER_BINDING persistentSpan = {};
    if (persistent)
    {
        persistentSpan = {persistent.Get(), 0, persistent->GetDesc().Width};
        initialized.push_back({DML_BINDING_TYPE_BUFFER, &persistentSpan});
    }
    machine.Record(initializer.Get(), {}, initialized, nullptr);
    machine.Record(compiled.Get(), {bound.begin(), split}, {split, bound.end()}, persistent.Get());

    std::vector<ComPtr<ID3D12Resource>> readback(outputs.size());
    for (size_t i = 0; i < outputs.size(); i++)
    {
        if (!outputs[i])
            continue;
        const UINT64 size = outputs[i]->bytes.size();
        readback[i] = machine.Buffer(size, D3D12_HEAP_TYPE_READBACK, D3D12_RESOURCE_STATE_COPY_DEST);
        machine.Transition(
            results[i].Get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
        machine.list->CopyBufferRegion(readback[i].Get(), 0, results[i].Get(), 0, size);
    }
    machine.Run();
    for (size_t i = 0; i < outputs.size(); i++)
    {
        void* memory = nullptr;
        if (!outputs[i])
            continue;
        Check(readback[i]->Map(0, nullptr, &memory));
        std::memcpy(outputs[i]->bytes.data(), memory, outputs[i]->bytes.size());
        readback[i]->Unmap(0, nullptr);
    }
}
