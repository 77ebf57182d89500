#include "c_harness.h"

D3D12_RESOURCE_DESC buffer_desc(UINT64 width, D3D12_RESOURCE_FLAGS flags)
{
    D3D12_RESOURCE_DESC desc = {0};
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

void bench_open(Bench* bench, int debug)
{
    const D3D12_COMMAND_LIST_TYPE direct = D3D12_COMMAND_LIST_TYPE_DIRECT;
    const D3D12_COMMAND_QUEUE_DESC desc = {direct, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
    memset(bench, 0, sizeof *bench);
    if (debug)
    {
        ID3D12Debug* layer = NULL;
        need("D3D12GetDebugInterface", D3D12GetDebugInterface(&IID_ID3D12Debug, (void**)&layer));
        ID3D12Debug_EnableDebugLayer(layer);
        ID3D12Debug_Release(layer);
    }
    need(
        "D3D12CreateDevice",
        D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void**)&bench->d3d12));
    need(
        "DMLCreateDevice",
        DMLCreateDevice(
            bench->d3d12,
            debug ? DML_CREATE_DEVICE_FLAG_DEBUG : DML_CREATE_DEVICE_FLAG_NONE,
            &IID_IDMLDevice1,
            (void**)&bench->dml));
    need(
        "CreateCommandQueue",
        ID3D12Device_CreateCommandQueue(bench->d3d12, &desc, &IID_ID3D12CommandQueue, (void**)&bench->queue));
    need(
        "CreateCommandAllocator",
        ID3D12Device_CreateCommandAllocator(
            bench->d3d12, direct, &IID_ID3D12CommandAllocator, (void**)&bench->allocator));
    need(
        "CreateCommandList",
        ID3D12Device_CreateCommandList(
            bench->d3d12, 0, direct, bench->allocator, NULL, &IID_ID3D12GraphicsCommandList, (void**)&bench->list));
    need(
        "CreateFence",
        ID3D12Device_CreateFence(
            bench->d3d12, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void**)&bench->fence));
    need(
        "CreateCommandRecorder",
        IDMLDevice1_CreateCommandRecorder(bench->dml, &IID_IDMLCommandRecorder, (void**)&bench->recorder));
}

void bench_close(Bench* bench)
{
    IDMLCommandRecorder_Release(bench->recorder);
    ID3D12Fence_Release(bench->fence);
    ID3D12GraphicsCommandList_Release(bench->list);
    ID3D12CommandAllocator_Release(bench->allocator);
    ID3D12CommandQueue_Release(bench->queue);
    IDMLDevice1_Release(bench->dml);
    ID3D12Device_Release(bench->d3d12);
}

ID3D12Resource* bench_buffer(Bench* bench, UINT64 size, D3D12_HEAP_TYPE type)
{
    D3D12_HEAP_PROPERTIES heap = {0};
    D3D12_RESOURCE_DESC desc = buffer_desc(size, D3D12_RESOURCE_FLAG_NONE);
    D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_COPY_DEST;
    ID3D12Resource* made = NULL;
    heap.Type = type;
    if (type == D3D12_HEAP_TYPE_UPLOAD)
    {
        state = D3D12_RESOURCE_STATE_GENERIC_READ;
    }
    else if (type == D3D12_HEAP_TYPE_DEFAULT)
    {
        desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
        state = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    }
    need(
        "CreateCommittedResource",
        ID3D12Device_CreateCommittedResource(
            bench->d3d12, &heap, D3D12_HEAP_FLAG_NONE, &desc, state, NULL, &IID_ID3D12Resource, (void**)&made));
    return made;
}

static void barrier(
    Bench* bench,
    ID3D12Resource* resource,
    D3D12_RESOURCE_STATES before,
    D3D12_RESOURCE_STATES after)
{
    D3D12_RESOURCE_BARRIER desc = {0};
    desc.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    desc.Transition.pResource = resource;
    desc.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
    desc.Transition.StateBefore = before;
    desc.Transition.StateAfter = after;
    ID3D12GraphicsCommandList_ResourceBarrier(bench->list, 1, &desc);
}

ID3D12Resource* bench_holding(Bench* bench, const void* data, UINT64 size)
{
    ID3D12Resource* const source = bench_buffer(bench, size, D3D12_HEAP_TYPE_UPLOAD);
    ID3D12Resource* const made = bench_buffer(bench, size, D3D12_HEAP_TYPE_DEFAULT);
    void* memory = NULL;
    need("Map", ID3D12Resource_Map(source, 0, NULL, &memory));
    memcpy(memory, data, size);
    ID3D12Resource_Unmap(source, 0, NULL);
    barrier(bench, made, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_DEST);
    ID3D12GraphicsCommandList_CopyResource(bench->list, made, source);
    barrier(bench, made, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    bench_run(bench);
    ID3D12Resource_Release(source);
    return made;
}

void bench_read(Bench* bench, ID3D12Resource* resource, void* data, UINT64 size)
{
    ID3D12Resource* const target = bench_buffer(bench, size, D3D12_HEAP_TYPE_READBACK);
    const D3D12_RANGE nothing = {0, 0};
    void* memory = NULL;
    barrier(bench, resource, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
    ID3D12GraphicsCommandList_CopyBufferRegion(bench->list, target, 0, resource, 0, size);
    barrier(bench, resource, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    bench_run(bench);
    need("Map", target->lpVtbl->Map(target, 0, NULL, &memory));
    memcpy(data, memory, size);
    target->lpVtbl->Unmap(target, 0, &nothing);
    target->lpVtbl->Release(target);
}

void bench_run(Bench* bench)
{
    ID3D12CommandList* const lists[] = {(ID3D12CommandList*)bench->list};
    const HANDLE event = new_event();
    need("Close", ID3D12GraphicsCommandList_Close(bench->list));
    ID3D12CommandQueue_ExecuteCommandLists(bench->queue, 1, lists);
    need("Signal", ID3D12CommandQueue_Signal(bench->queue, bench->fence, ++bench->signaled));
    need(
        "SetEventOnCompletion",
        ID3D12Fence_SetEventOnCompletion(bench->fence, bench->signaled, event));
    if (wait_for(event, 20000) != 1)
        check("an event is set once", 0);
    close_event(event);
    need("Reset", ID3D12CommandAllocator_Reset(bench->allocator));
    need("Reset", ID3D12GraphicsCommandList_Reset(bench->list, bench->allocator, NULL));
}

ID3D12DescriptorHeap* bench_descriptors(Bench* bench, UINT count)
{
    const D3D12_DESCRIPTOR_HEAP_DESC desc = {
        D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, count, D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    ID3D12DescriptorHeap* made = NULL;
    need(
        "CreateDescriptorHeap",
        ID3D12Device_CreateDescriptorHeap(bench->d3d12, &desc, &IID_ID3D12DescriptorHeap, (void**)&made));
    return made;
}

IDMLBindingTable* bench_table(Bench* bench, IDMLDispatchable* dispatchable, ID3D12DescriptorHeap* heap)
{
    DML_BINDING_TABLE_DESC desc;
    IDMLBindingTable* made = NULL;
    desc.Dispatchable = dispatchable;
    desc.CPUDescriptorHandle = RETURNED(D3D12_CPU_DESCRIPTOR_HANDLE, heap, GetCPUDescriptorHandleForHeapStart);
    desc.GPUDescriptorHandle = RETURNED(D3D12_GPU_DESCRIPTOR_HANDLE, heap, GetGPUDescriptorHandleForHeapStart);
    desc.SizeInDescriptors = RETURNED(D3D12_DESCRIPTOR_HEAP_DESC, heap, GetDesc).NumDescriptors;
    need(
        "CreateBindingTable",
        IDMLDevice1_CreateBindingTable(bench->dml, &desc, &IID_IDMLBindingTable, (void**)&made));
    return made;
}

static void bind_all(IDMLBindingTable* table, ID3D12Resource* const* resources, UINT count, int outputs)
{
    DML_BUFFER_BINDING spans[8];
    DML_BINDING_DESC descs[8];
    for (UINT i = 0; i < count; i++)
    {
        spans[i].Buffer = resources[i];
        spans[i].Offset = 0;
        spans[i].SizeInBytes = RETURNED(D3D12_RESOURCE_DESC, resources[i], GetDesc).Width;
        descs[i].Type = DML_BINDING_TYPE_BUFFER;
        descs[i].Desc = &spans[i];
    }
    if (outputs)
        IDMLBindingTable_BindOutputs(table, count, descs);
    else
        IDMLBindingTable_BindInputs(table, count, descs);
}

void bench_dispatch(
    Bench* bench,
    IDMLCompiledOperator* op,
    ID3D12Resource* const* inputs,
    UINT inputCount,
    ID3D12Resource* const* outputs,
    UINT outputCount)
{
    ID3D12DescriptorHeap* const heap = bench_descriptors(bench, 16);
    const DML_BINDING_PROPERTIES properties = RETURNED(DML_BINDING_PROPERTIES, op, GetBindingProperties);
    IDMLOperatorInitializer* initializer = NULL;
    ID3D12Resource* temporary = NULL;
    need(
        "CreateOperatorInitializer",
        IDMLDevice1_CreateOperatorInitializer(
            bench->dml, 1, &op, &IID_IDMLOperatorInitializer, (void**)&initializer));
    IDMLBindingTable* const table = bench_table(bench, (IDMLDispatchable*)initializer, heap);
    ID3D12GraphicsCommandList_SetDescriptorHeaps(bench->list, 1, &heap);
    IDMLCommandRecorder_RecordDispatch(
        bench->recorder, (ID3D12CommandList*)bench->list, (IDMLDispatchable*)initializer, table);
    bench_run(bench);

    DML_BINDING_TABLE_DESC desc;
    desc.Dispatchable = (IDMLDispatchable*)op;
    desc.CPUDescriptorHandle = RETURNED(D3D12_CPU_DESCRIPTOR_HANDLE, heap, GetCPUDescriptorHandleForHeapStart);
    desc.GPUDescriptorHandle = RETURNED(D3D12_GPU_DESCRIPTOR_HANDLE, heap, GetGPUDescriptorHandleForHeapStart);
    desc.SizeInDescriptors = properties.RequiredDescriptorCount;
    need("IDMLBindingTable::Reset", IDMLBindingTable_Reset(table, &desc));
    bind_all(table, inputs, inputCount, 0);
    bind_all(table, outputs, outputCount, 1);
    if (properties.TemporaryResourceSize)
    {
        temporary = bench_buffer(bench, properties.TemporaryResourceSize, D3D12_HEAP_TYPE_DEFAULT);
        const DML_BUFFER_BINDING span = {temporary, 0, properties.TemporaryResourceSize};
        const DML_BINDING_DESC binding = {DML_BINDING_TYPE_BUFFER, &span};
        IDMLBindingTable_BindTemporaryResource(table, &binding);
    }
    IDMLBindingTable_BindPersistentResource(table, NULL);
    ID3D12GraphicsCommandList_SetDescriptorHeaps(bench->list, 1, &heap);
    bench->recorder->lpVtbl->RecordDispatch(
        bench->recorder, (ID3D12CommandList*)bench->list, (IDMLDispatchable*)op, table);
    bench_run(bench);
    if (temporary)
        ID3D12Resource_Release(temporary);
    IDMLBindingTable_Release(table);
    IDMLOperatorInitializer_Release(initializer);
    ID3D12DescriptorHeap_Release(heap);
}

const DML_TENSOR_DESC* tensor(
    Tensor* memory,
    DML_TENSOR_DATA_TYPE type,
    const UINT* sizes,
    const UINT* strides)
{
    memset(memory, 0, sizeof *memory);
    memcpy(memory->sizes, sizes, sizeof memory->sizes);
    if (strides)
        memcpy(memory->strides, strides, sizeof memory->strides);
    memory->buffer.DataType = type;
    memory->buffer.DimensionCount = 4;
    memory->buffer.Sizes = memory->sizes;
    memory->buffer.Strides = strides ? memory->strides : NULL;
    memory->buffer.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(type, 4, sizes, strides);
    memory->desc.Type = DML_TENSOR_TYPE_BUFFER;
    memory->desc.Desc = &memory->buffer;
    return &memory->desc;
}

IDMLCompiledOperator* compiled(Bench* bench, DML_OPERATOR_TYPE type, const void* desc)
{
    const DML_OPERATOR_DESC whole = {type, desc};
    IDMLOperator* op = NULL;
    IDMLCompiledOperator* made = NULL;
    need("CreateOperator", IDMLDevice1_CreateOperator(bench->dml, &whole, &IID_IDMLOperator, (void**)&op));
    need(
        "CompileOperator",
        IDMLDevice1_CompileOperator(
            bench->dml, op, DML_EXECUTION_FLAG_NONE, &IID_IDMLCompiledOperator, (void**)&made));
    IDMLOperator_Release(op);
    return made;
}
