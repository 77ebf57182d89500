#include "bench.h"

D3D12_RESOURCE_DESC buffer_desc(UINT64 width, D3D12_RESOURCE_FLAGS flags)
{
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = width;
    desc.Height = 1;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 1;
    desc.SampleDesc.Count = 1;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    desc.Flags = flags;
    return desc;
}

D3D12_HEAP_PROPERTIES heap_properties(D3D12_HEAP_TYPE type)
{
    D3D12_HEAP_PROPERTIES properties = {};
    properties.Type = type;
    return properties;
}

D3D12_RESOURCE_BARRIER transition(
    ID3D12Resource* resource,
    D3D12_RESOURCE_STATES before,
    D3D12_RESOURCE_STATES after)
{
    D3D12_RESOURCE_BARRIER barrier = {};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    barrier.Transition = {resource, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, before, after};
    return barrier;
}

Binding::Binding(ID3D12Resource* resource, UINT64 offset, UINT64 size)
    : span{resource, offset, size}
{
    if (resource && !size)
        span.SizeInBytes = resource->GetDesc().Width - offset;
}

DML_BINDING_DESC Binding::desc() const
{
    if (!span.Buffer)
        return {DML_BINDING_TYPE_NONE, nullptr};
    return {DML_BINDING_TYPE_BUFFER, &span};
}

std::vector<DML_BINDING_DESC> bindings(const std::vector<Binding>& all)
{
    std::vector<DML_BINDING_DESC> found;
    for (const Binding& one : all)
        found.push_back(one.desc());
    return found;
}

void enable_debug_layer()
{
    ComPtr<ID3D12Debug> debug;
    need(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), "D3D12GetDebugInterface");
    debug->EnableDebugLayer();
}

// Buffers are made in the state that the program accounts them in, as DirectML's samples do it.
static void deny_notes_on_initial_states(ID3D12Device* device)
{
    D3D12_MESSAGE_ID ids[] = {D3D12_MESSAGE_ID_CREATERESOURCE_STATE_IGNORED};
    D3D12_INFO_QUEUE_FILTER filter = {};
    filter.DenyList.NumIDs = 1;
    filter.DenyList.pIDList = ids;
    ComPtr<ID3D12InfoQueue> queue;
    need(device->QueryInterface(IID_PPV_ARGS(&queue)), "QueryInterface(ID3D12InfoQueue)");
    need(queue->AddStorageFilterEntries(&filter), "AddStorageFilterEntries");
}

Bench::Bench(Debug debug)
{
    if (debug == Debug::On)
        enable_debug_layer();
    need(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), "D3D12CreateDevice");
    const auto flags = debug == Debug::On ? DML_CREATE_DEVICE_FLAG_DEBUG : DML_CREATE_DEVICE_FLAG_NONE;
    need(DMLCreateDevice(d3d12.Get(), flags, IID_PPV_ARGS(&dml)), "DMLCreateDevice");
    if (debug == Debug::On)
        deny_notes_on_initial_states(d3d12.Get());
    fill();
}

Bench::Bench(const ComPtr<ID3D12Device>& device, const ComPtr<IDMLDevice1>& shared)
    : d3d12(device), dml(shared)
{
    if (!dml)
        need(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), "DMLCreateDevice");
    fill();
}

void Bench::fill()
{
    const auto direct = D3D12_COMMAND_LIST_TYPE_DIRECT;
    const D3D12_COMMAND_QUEUE_DESC desc = {direct, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
    need(d3d12->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)), "CreateCommandQueue");
    need(d3d12->CreateCommandAllocator(direct, IID_PPV_ARGS(&allocator)), "CreateCommandAllocator");
    need(d3d12->CreateCommandList(0, direct, allocator.Get(), nullptr, IID_PPV_ARGS(&list)), "CreateCommandList");
    need(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
    need(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), "CreateCommandRecorder");
}

ComPtr<ID3D12Resource> Bench::buffer(UINT64 size, D3D12_HEAP_TYPE type)
{
    D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    if (type == D3D12_HEAP_TYPE_UPLOAD)
        state = D3D12_RESOURCE_STATE_GENERIC_READ;
    else if (type == D3D12_HEAP_TYPE_READBACK)
        state = D3D12_RESOURCE_STATE_COPY_DEST;
    const bool writable = type == D3D12_HEAP_TYPE_DEFAULT;
    const D3D12_HEAP_PROPERTIES heap = heap_properties(type);
    const D3D12_RESOURCE_DESC desc =
        buffer_desc(size, writable ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS : D3D12_RESOURCE_FLAG_NONE);
    ComPtr<ID3D12Resource> made;
    need(
        d3d12->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_PPV_ARGS(&made)),
        "CreateCommittedResource");
    return made;
}

ComPtr<ID3D12Resource> Bench::upload(const void* data, UINT64 size)
{
    auto made = buffer(size, D3D12_HEAP_TYPE_UPLOAD);
    const D3D12_RANGE nothing = {0, 0};
    void* memory = nullptr;
    need(made->Map(0, &nothing, &memory), "Map of an upload buffer");
    std::memcpy(memory, data, size);
    made->Unmap(0, nullptr);
    return made;
}

ComPtr<ID3D12Resource> Bench::filled(const void* data, UINT64 size)
{
    auto source = upload(data, size);
    auto made = buffer(size);
    const auto to = transition(made.Get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_DEST);
    const auto back = transition(made.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    list->ResourceBarrier(1, &to);
    list->CopyResource(made.Get(), source.Get());
    list->ResourceBarrier(1, &back);
    run();
    return made;
}

std::vector<unsigned char> Bench::bytes(ID3D12Resource* resource, UINT64 size)
{
    auto target = buffer(size, D3D12_HEAP_TYPE_READBACK);
    const auto to = transition(resource, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
    const auto back = transition(resource, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    list->ResourceBarrier(1, &to);
    list->CopyBufferRegion(target.Get(), 0, resource, 0, size);
    list->ResourceBarrier(1, &back);
    run();
    void* memory = nullptr;
    need(target->Map(0, nullptr, &memory), "Map of a readback buffer");
    const auto* first = static_cast<const unsigned char*>(memory);
    std::vector<unsigned char> found(first, first + size);
    const D3D12_RANGE nothing = {0, 0};
    target->Unmap(0, &nothing);
    return found;
}

ComPtr<ID3D12DescriptorHeap> Bench::descriptors(UINT count, bool visible)
{
    D3D12_DESCRIPTOR_HEAP_DESC desc = {};
    desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    desc.NumDescriptors = count;
    desc.Flags = visible ? D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE : D3D12_DESCRIPTOR_HEAP_FLAG_NONE;
    ComPtr<ID3D12DescriptorHeap> made;
    need(d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&made)), "CreateDescriptorHeap");
    return made;
}

ComPtr<IDMLOperatorInitializer> Bench::initializer(const std::vector<IDMLCompiledOperator*>& operators)
{
    ComPtr<IDMLOperatorInitializer> made;
    const UINT count = static_cast<UINT>(operators.size());
    need(
        dml->CreateOperatorInitializer(count, operators.data(), IID_PPV_ARGS(&made)),
        "CreateOperatorInitializer");
    return made;
}

ComPtr<IDMLBindingTable> Bench::table(IDMLDispatchable* dispatchable, ID3D12DescriptorHeap* heap)
{
    DML_BINDING_TABLE_DESC desc = {};
    desc.Dispatchable = dispatchable;
    desc.CPUDescriptorHandle = heap->GetCPUDescriptorHandleForHeapStart();
    desc.GPUDescriptorHandle = heap->GetGPUDescriptorHandleForHeapStart();
    desc.SizeInDescriptors = heap->GetDesc().NumDescriptors;
    ComPtr<IDMLBindingTable> made;
    need(dml->CreateBindingTable(&desc, IID_PPV_ARGS(&made)), "CreateBindingTable");
    return made;
}

void Bench::bind_scratch(IDMLBindingTable* table, UINT64 size)
{
    if (!size)
        return;
    auto scratch = buffer(size);
    const Binding whole(scratch.Get());
    const DML_BINDING_DESC desc = whole.desc();
    table->BindTemporaryResource(&desc);
    in_use.push_back(unknown(scratch.Get()));
}

ComPtr<ID3D12Resource> Bench::initialize(
    IDMLCompiledOperator* op,
    const std::vector<ID3D12Resource*>& inputs)
{
    auto work = initializer({op});
    const DML_BINDING_PROPERTIES properties = work->GetBindingProperties();
    auto heap = descriptors(properties.RequiredDescriptorCount);
    ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
    list->SetDescriptorHeaps(1, heaps);
    auto made = table(work.Get(), heap.Get());
    bind_scratch(made.Get(), properties.TemporaryResourceSize);
    if (!inputs.empty())
    {
        std::vector<DML_BUFFER_BINDING> spans;
        for (ID3D12Resource* input : inputs)
            spans.push_back(Binding(input).span);
        const DML_BUFFER_ARRAY_BINDING array = {static_cast<UINT>(spans.size()), spans.data()};
        const DML_BINDING_DESC desc = {DML_BINDING_TYPE_BUFFER_ARRAY, &array};
        made->BindInputs(1, &desc);
    }
    ComPtr<ID3D12Resource> persistent;
    const UINT64 size = op->GetBindingProperties().PersistentResourceSize;
    if (size)
    {
        persistent = buffer(size);
        const Binding whole(persistent.Get());
        const DML_BINDING_DESC desc = whole.desc();
        made->BindOutputs(1, &desc);
    }
    recorder->RecordDispatch(list.Get(), work.Get(), made.Get());
    run();
    return persistent;
}

void Bench::record(
    IDMLCompiledOperator* op,
    const std::vector<ID3D12Resource*>& inputs,
    const std::vector<ID3D12Resource*>& outputs,
    ID3D12Resource* persistent)
{
    const DML_BINDING_PROPERTIES properties = op->GetBindingProperties();
    auto heap = descriptors(properties.RequiredDescriptorCount);
    ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
    list->SetDescriptorHeaps(1, heaps);
    auto made = table(op, heap.Get());
    const std::vector<Binding> ins(inputs.begin(), inputs.end()), outs(outputs.begin(), outputs.end());
    const auto in = bindings(ins), out = bindings(outs);
    made->BindInputs(static_cast<UINT>(in.size()), in.data());
    made->BindOutputs(static_cast<UINT>(out.size()), out.data());
    bind_scratch(made.Get(), properties.TemporaryResourceSize);
    if (persistent)
    {
        const Binding whole(persistent);
        const DML_BINDING_DESC desc = whole.desc();
        made->BindPersistentResource(&desc);
    }
    recorder->RecordDispatch(list.Get(), op, made.Get());
    in_use.push_back(unknown(heap.Get()));
}

void Bench::dispatch(
    IDMLCompiledOperator* op,
    const std::vector<ID3D12Resource*>& inputs,
    const std::vector<ID3D12Resource*>& outputs)
{
    auto persistent = initialize(op);
    record(op, inputs, outputs, persistent.Get());
    run();
}

void Bench::finish()
{
    need(queue->Signal(fence.Get(), ++signaled), "Signal");
    need(fence->SetEventOnCompletion(signaled, nullptr), "SetEventOnCompletion");
}

void Bench::run()
{
    need(list->Close(), "Close");
    ID3D12CommandList* const lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);
    finish();
    need(allocator->Reset(), "Reset of the allocator");
    need(list->Reset(allocator.Get(), nullptr), "Reset of the list");
    in_use.clear();
}
