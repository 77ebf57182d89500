// Prints two times in microseconds: from the start of main to the end of the first dispatch, and of one round of
// RecordDispatch, Close, ExecuteCommandLists, Signal, wait and both Resets, the median of five series.
#include "client.h"

#include <algorithm>

int main()
{
    const auto start = Clock::now();
    ComPtr<ID3D12Device> direct3d;
    check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&direct3d)));
    ComPtr<IDMLDevice> device;
    check(DMLCreateDevice(direct3d.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)));

    // JOIN of three tensors of 4 x 8 along rows.
    const UINT sizes[] = {1, 1, 4, 8}, joined[] = {1, 1, 12, 8};
    const UINT64 bytes = 4 * 8 * 4;
    DML_BUFFER_TENSOR_DESC part{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, bytes, 0};
    DML_BUFFER_TENSOR_DESC whole{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, joined, nullptr, 3 * bytes, 0};
    DML_TENSOR_DESC input{DML_TENSOR_TYPE_BUFFER, &part}, output{DML_TENSOR_TYPE_BUFFER, &whole};
    const DML_TENSOR_DESC inputs[] = {input, input, input};
    DML_JOIN_OPERATOR_DESC join{3, inputs, &output, 2};
    DML_OPERATOR_DESC desc{DML_OPERATOR_JOIN, &join};
    ComPtr<IDMLOperator> op;
    check(device->CreateOperator(&desc, IID_PPV_ARGS(&op)));
    ComPtr<IDMLCompiledOperator> compiled;
    check(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));

    D3D12_COMMAND_QUEUE_DESC queueDesc{};
    ComPtr<ID3D12CommandQueue> queue;
    check(direct3d->CreateCommandQueue(&queueDesc, IID_PPV_ARGS(&queue)));
    ComPtr<ID3D12CommandAllocator> allocator;
    check(direct3d->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)));
    ComPtr<ID3D12GraphicsCommandList> list;
    check(direct3d->CreateCommandList(
        0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr, IID_PPV_ARGS(&list)));
    ComPtr<ID3D12Fence> fence;
    check(direct3d->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
    D3D12_DESCRIPTOR_HEAP_DESC heapDesc{};
    heapDesc.NumDescriptors = compiled->GetBindingProperties().RequiredDescriptorCount;
    heapDesc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    ComPtr<ID3D12DescriptorHeap> heap;
    check(direct3d->CreateDescriptorHeap(&heapDesc, IID_PPV_ARGS(&heap)));

    D3D12_HEAP_PROPERTIES properties{};
    properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    D3D12_RESOURCE_DESC buffer{};
    buffer.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    buffer.Width = 1024;
    buffer.Height = buffer.DepthOrArraySize = buffer.MipLevels = 1;
    buffer.SampleDesc.Count = 1;
    buffer.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    buffer.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
    ComPtr<ID3D12Resource> memory[4];
    DML_BUFFER_BINDING ranges[4];
    DML_BINDING_DESC bindings[4];
    for (int i = 0; i < 4; i++)
    {
        check(direct3d->CreateCommittedResource(
            &properties, D3D12_HEAP_FLAG_NONE, &buffer, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, nullptr,
            IID_PPV_ARGS(&memory[i])));
        ranges[i] = {memory[i].Get(), 0, 1024};
        bindings[i] = {DML_BINDING_TYPE_BUFFER, &ranges[i]};
    }
    DML_BINDING_TABLE_DESC tableDesc{
        compiled.Get(), heap->GetCPUDescriptorHandleForHeapStart(), heap->GetGPUDescriptorHandleForHeapStart(),
        heapDesc.NumDescriptors};
    ComPtr<IDMLBindingTable> table;
    check(device->CreateBindingTable(&tableDesc, IID_PPV_ARGS(&table)));
    table->BindInputs(3, bindings);
    table->BindOutputs(1, &bindings[3]);
    ComPtr<IDMLCommandRecorder> recorder;
    check(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));

    UINT64 value = 0;
    const auto round = [&] {
        ID3D12DescriptorHeap* heaps[] = {heap.Get()};
        list->SetDescriptorHeaps(1, heaps);
        recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
        check(list->Close());
        ID3D12CommandList* lists[] = {list.Get()};
        queue->ExecuteCommandLists(1, lists);
        check(queue->Signal(fence.Get(), ++value));
        check(fence->SetEventOnCompletion(value, nullptr));
        check(allocator->Reset());
        check(list->Reset(allocator.Get(), nullptr));
    };
    round();
    const double first = since(start);

    constexpr int series = 5, rounds = 2000;
    double times[series];
    for (double& time : times)
    {
        const auto begin = Clock::now();
        for (int i = 0; i < rounds; i++)
            round();
        time = since(begin) / rounds;
    }
    std::sort(times, times + series);
    check(device->GetDeviceRemovedReason());
    std::printf("%.1f %.2f\n", first, times[series / 2]);
}
