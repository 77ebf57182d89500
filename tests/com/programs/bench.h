// Both devices with everything needed to run an operator.

#ifndef TESTS_COM_BENCH_H
#define TESTS_COM_BENCH_H

#include "harness.h"
#include "tensors.h"

#include <cstring>

D3D12_RESOURCE_DESC buffer_desc(UINT64 width, D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_NONE);

D3D12_HEAP_PROPERTIES heap_properties(D3D12_HEAP_TYPE type);

D3D12_RESOURCE_BARRIER transition(
    ID3D12Resource* resource,
    D3D12_RESOURCE_STATES before,
    D3D12_RESOURCE_STATES after);

// DML_BINDING_DESC with what it points to; to the end of the buffer if no size is given.
struct Binding
{
    Binding(ID3D12Resource* resource, UINT64 offset = 0, UINT64 size = 0);

    DML_BUFFER_BINDING span;

    DML_BINDING_DESC desc() const;
};

std::vector<DML_BINDING_DESC> bindings(const std::vector<Binding>& all);

struct Bench
{
    enum class Debug
    {
        Off,
        On
    };

    explicit Bench(Debug debug = Debug::Off);

    // A bench on an existing Direct3D 12 device, with or without a DirectML device to share.
    explicit Bench(const ComPtr<ID3D12Device>& device, const ComPtr<IDMLDevice1>& shared = nullptr);

    ComPtr<ID3D12Resource> buffer(UINT64 size, D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT);

    ComPtr<ID3D12Resource> upload(const void* data, UINT64 size);

    // A buffer in a DEFAULT heap with these bytes, ready for unordered access.
    ComPtr<ID3D12Resource> filled(const void* data, UINT64 size);

    template <typename T>
    ComPtr<ID3D12Resource> holding(const std::vector<T>& data)
    {
        return filled(data.data(), data.size() * sizeof(T));
    }

    std::vector<unsigned char> bytes(ID3D12Resource* resource, UINT64 size);

    template <typename T>
    std::vector<T> read(ID3D12Resource* resource, size_t count)
    {
        const auto raw = bytes(resource, count * sizeof(T));
        std::vector<T> found(count);
        std::memcpy(found.data(), raw.data(), raw.size());
        return found;
    }

    ComPtr<ID3D12DescriptorHeap> descriptors(UINT count, bool visible = true);

    ComPtr<IDMLOperatorInitializer> initializer(const std::vector<IDMLCompiledOperator*>& operators);

    // A table over the first descriptors of the heap.
    ComPtr<IDMLBindingTable> table(IDMLDispatchable* dispatchable, ID3D12DescriptorHeap* heap);

    // Initializes the operator; the owned inputs go into the persistent resource that comes back (or null).
    ComPtr<ID3D12Resource> initialize(
        IDMLCompiledOperator* op,
        const std::vector<ID3D12Resource*>& inputs = {});

    // Initializes, runs and waits. Null among the inputs binds nothing.
    void dispatch(
        IDMLCompiledOperator* op,
        const std::vector<ID3D12Resource*>& inputs,
        const std::vector<ID3D12Resource*>& outputs);

    // As far as binding and recording; `inputs` are those of the execution.
    void record(
        IDMLCompiledOperator* op,
        const std::vector<ID3D12Resource*>& inputs,
        const std::vector<ID3D12Resource*>& outputs,
        ID3D12Resource* persistent = nullptr);

    // Close, execute, wait, reset.
    void run();

    void finish();

    ComPtr<ID3D12Device> d3d12;
    ComPtr<IDMLDevice1> dml;
    ComPtr<ID3D12CommandQueue> queue;
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
    ComPtr<ID3D12Fence> fence;
    ComPtr<IDMLCommandRecorder> recorder;
    UINT64 signaled = 0;

    // What recorded commands use: it must live until they have run.
    std::vector<ComPtr<IUnknown>> in_use;

private:
    void fill();

    void bind_scratch(IDMLBindingTable* table, UINT64 size);
};

void enable_debug_layer();

#endif
