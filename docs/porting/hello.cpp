#include <DirectML.h>
#include <directx/d3dx12.h>
#include <wrl/client.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>

using Microsoft::WRL::ComPtr;

void must(HRESULT result)
{
    if (FAILED(result))
        throw std::runtime_error("a call failed");
}

int main()
{

ComPtr<ID3D12Debug> debug;
must(D3D12GetDebugInterface(
    IID_PPV_ARGS(&debug)));
debug->EnableDebugLayer();

ComPtr<ID3D12Device> d3d12;
must(D3D12CreateDevice(
    nullptr, D3D_FEATURE_LEVEL_11_0,
    IID_PPV_ARGS(&d3d12)));

D3D12_COMMAND_QUEUE_DESC queueDesc = {};
queueDesc.Type = D3D12_COMMAND_LIST_TYPE_DIRECT;
ComPtr<ID3D12CommandQueue> queue;
must(d3d12->CreateCommandQueue(
    &queueDesc, IID_PPV_ARGS(&queue)));

ComPtr<ID3D12CommandAllocator> allocator;
must(d3d12->CreateCommandAllocator(
    D3D12_COMMAND_LIST_TYPE_DIRECT,
    IID_PPV_ARGS(&allocator)));

ComPtr<ID3D12GraphicsCommandList> list;
must(d3d12->CreateCommandList(
    0, D3D12_COMMAND_LIST_TYPE_DIRECT,
    allocator.Get(), nullptr,
    IID_PPV_ARGS(&list)));

const auto run = [&] {
    must(list->Close());
    ID3D12CommandList* lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);

    ComPtr<ID3D12Fence> fence;
    must(d3d12->CreateFence(
        0, D3D12_FENCE_FLAG_NONE,
        IID_PPV_ARGS(&fence)));
    must(queue->Signal(fence.Get(), 1));
    must(fence->SetEventOnCompletion(1, nullptr));

    must(allocator->Reset());
    must(list->Reset(allocator.Get(), nullptr));
};

ComPtr<IDMLDevice> device;
must(DMLCreateDevice(
    d3d12.Get(),
    DML_CREATE_DEVICE_FLAG_DEBUG,
    IID_PPV_ARGS(&device)));

const UINT sizes[] = {1, 2, 3, 4};
const UINT64 bytes = DMLCalcBufferTensorSize(
    DML_TENSOR_DATA_TYPE_FLOAT32,
    4, sizes, nullptr);

DML_BUFFER_TENSOR_DESC bufferDesc = {};
bufferDesc.DataType = DML_TENSOR_DATA_TYPE_FLOAT32;
bufferDesc.DimensionCount = 4;
bufferDesc.Sizes = sizes;
bufferDesc.TotalTensorSizeInBytes = bytes;

const DML_TENSOR_DESC tensor = {
    DML_TENSOR_TYPE_BUFFER, &bufferDesc};

DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity = {};
identity.InputTensor = &tensor;
identity.OutputTensor = &tensor;

const DML_OPERATOR_DESC desc = {
    DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity};

ComPtr<IDMLOperator> op;
must(device->CreateOperator(
    &desc, IID_PPV_ARGS(&op)));

ComPtr<IDMLCompiledOperator> compiled;
must(device->CompileOperator(
    op.Get(), DML_EXECUTION_FLAG_NONE,
    IID_PPV_ARGS(&compiled)));

IDMLCompiledOperator* operators[] = {compiled.Get()};
ComPtr<IDMLOperatorInitializer> initializer;
must(device->CreateOperatorInitializer(
    1, operators, IID_PPV_ARGS(&initializer)));

const auto first = initializer->GetBindingProperties();
const auto then = compiled->GetBindingProperties();
const UINT count = std::max({
    1u,
    first.RequiredDescriptorCount,
    then.RequiredDescriptorCount});

D3D12_DESCRIPTOR_HEAP_DESC heapDesc = {};
heapDesc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
heapDesc.NumDescriptors = count;
heapDesc.Flags =
    D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
ComPtr<ID3D12DescriptorHeap> heap;
must(d3d12->CreateDescriptorHeap(
    &heapDesc, IID_PPV_ARGS(&heap)));

ID3D12DescriptorHeap* heaps[] = {heap.Get()};
list->SetDescriptorHeaps(1, heaps);

DML_BINDING_TABLE_DESC tableDesc = {};
tableDesc.Dispatchable = initializer.Get();
tableDesc.CPUDescriptorHandle =
    heap->GetCPUDescriptorHandleForHeapStart();
tableDesc.GPUDescriptorHandle =
    heap->GetGPUDescriptorHandleForHeapStart();
tableDesc.SizeInDescriptors = count;
ComPtr<IDMLBindingTable> table;
must(device->CreateBindingTable(
    &tableDesc, IID_PPV_ARGS(&table)));

const auto buffer = [&](
    UINT64 size, D3D12_HEAP_TYPE type,
    D3D12_RESOURCE_STATES state) {
    const CD3DX12_HEAP_PROPERTIES properties(type);
    const auto flags = type == D3D12_HEAP_TYPE_DEFAULT
        ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
        : D3D12_RESOURCE_FLAG_NONE;
    const auto desc =
        CD3DX12_RESOURCE_DESC::Buffer(size, flags);
    ComPtr<ID3D12Resource> made;
    must(d3d12->CreateCommittedResource(
        &properties, D3D12_HEAP_FLAG_NONE, &desc,
        state, nullptr, IID_PPV_ARGS(&made)));
    return made;
};
const auto whole = [](ID3D12Resource* resource) {
    return DML_BUFFER_BINDING{
        resource, 0, resource->GetDesc().Width};
};

const auto Default = D3D12_HEAP_TYPE_DEFAULT;
const auto Common = D3D12_RESOURCE_STATE_COMMON;
ComPtr<ID3D12Resource> temporary, persistent;
if (const auto size = std::max(
        first.TemporaryResourceSize,
        then.TemporaryResourceSize))
    temporary = buffer(size, Default, Common);
if (const auto size = then.PersistentResourceSize)
    persistent = buffer(size, Default, Common);

if (first.TemporaryResourceSize)
{
    const auto scratch = whole(temporary.Get());
    const DML_BINDING_DESC binding = {
        DML_BINDING_TYPE_BUFFER, &scratch};
    table->BindTemporaryResource(&binding);
}
if (persistent)
{
    const auto kept = whole(persistent.Get());
    const DML_BINDING_DESC binding = {
        DML_BINDING_TYPE_BUFFER, &kept};
    table->BindOutputs(1, &binding);
}

ComPtr<IDMLCommandRecorder> recorder;
must(device->CreateCommandRecorder(
    IID_PPV_ARGS(&recorder)));
recorder->RecordDispatch(
    list.Get(), initializer.Get(), table.Get());
run();

std::array<float, 24> numbers;
numbers.fill(1.618f);

const auto upload = buffer(
    bytes, D3D12_HEAP_TYPE_UPLOAD,
    D3D12_RESOURCE_STATE_GENERIC_READ);
void* memory = nullptr;
must(upload->Map(0, nullptr, &memory));
std::memcpy(memory, numbers.data(), bytes);
upload->Unmap(0, nullptr);

const auto input = buffer(
    bytes, Default, D3D12_RESOURCE_STATE_COPY_DEST);
list->CopyResource(input.Get(), upload.Get());
const auto written =
    CD3DX12_RESOURCE_BARRIER::Transition(
        input.Get(), D3D12_RESOURCE_STATE_COPY_DEST,
        D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
list->ResourceBarrier(1, &written);

list->SetDescriptorHeaps(1, heaps);
tableDesc.Dispatchable = compiled.Get();
must(table->Reset(&tableDesc));

const auto bind = [&](
    const ComPtr<ID3D12Resource>& resource,
    auto method) {
    const auto all = whole(resource.Get());
    const DML_BINDING_DESC binding = {
        DML_BINDING_TYPE_BUFFER, &all};
    method(binding);
};
if (then.TemporaryResourceSize)
    bind(temporary, [&](const auto& binding) {
        table->BindTemporaryResource(&binding);
    });
if (persistent)
    bind(persistent, [&](const auto& binding) {
        table->BindPersistentResource(&binding);
    });

const auto output = buffer(
    bytes, Default,
    D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
bind(input, [&](const auto& binding) {
    table->BindInputs(1, &binding);
});
bind(output, [&](const auto& binding) {
    table->BindOutputs(1, &binding);
});
recorder->RecordDispatch(
    list.Get(), compiled.Get(), table.Get());

const auto read =
    CD3DX12_RESOURCE_BARRIER::Transition(
        output.Get(),
        D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
        D3D12_RESOURCE_STATE_COPY_SOURCE);
list->ResourceBarrier(1, &read);
const auto readback = buffer(
    bytes, D3D12_HEAP_TYPE_READBACK,
    D3D12_RESOURCE_STATE_COPY_DEST);
list->CopyResource(readback.Get(), output.Get());
run();

must(readback->Map(0, nullptr, &memory));
const auto* found = static_cast<const float*>(memory);
for (int i = 0; i < 4; i++)
    std::printf("%.3f ", found[i]);
std::printf("... %.3f\n", found[23]);
const D3D12_RANGE nothing = {0, 0};
readback->Unmap(0, &nothing);
}
