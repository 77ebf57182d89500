#include "world.h"

World::World(Bench::Debug debug)
    : bench(debug)
{
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = 1 << 16;
    desc.Properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
    need(bench.d3d12->CreateHeap(&desc, IID_PPV_ARGS(&heap)), "CreateHeap");
    const D3D12_RESOURCE_DESC buffer = buffer_desc(256, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    need(
        bench.d3d12->CreatePlacedResource(
            heap.Get(), 0, &buffer, D3D12_RESOURCE_STATE_COMMON, nullptr, IID_PPV_ARGS(&placed)),
        "CreatePlacedResource");
    committed = bench.buffer(256);
    descriptors = bench.descriptors(8);
    const D3D12_ROOT_SIGNATURE_DESC nothing = {};
    ComPtr<ID3DBlob> blob;
    need(
        D3D12SerializeRootSignature(&nothing, D3D_ROOT_SIGNATURE_VERSION_1, &blob, nullptr),
        "D3D12SerializeRootSignature");
    need(
        bench.d3d12->CreateRootSignature(
            0, blob->GetBufferPointer(), blob->GetBufferSize(), IID_PPV_ARGS(&signature)),
        "CreateRootSignature");
    const Tensor four(Float32, {1, 1, 1, 4});
    op = identity(bench.dml.Get(), four, four);
    compiled = compile(bench.dml.Get(), op);
    initializer = bench.initializer({compiled.Get()});
    table = bench.table(compiled.Get(), descriptors.Get());
}

namespace
{
    template <typename T>
    Object object(const char* name, const ComPtr<T>& pointer, std::vector<Interface> chain)
    {
        chain.insert(chain.begin(), NAMED(IUnknown));
        // Not by QueryInterface: that is what the topics test.
        return {name, ComPtr<IUnknown>(static_cast<IUnknown*>(pointer.Get())), std::move(chain)};
    }

    std::vector<Interface> d3d12_pageable(Interface last)
    {
        return {NAMED(ID3D12Object), NAMED(ID3D12DeviceChild), NAMED(ID3D12Pageable), last};
    }

    std::vector<Interface> dml_child(std::vector<Interface> rest)
    {
        rest.insert(rest.begin(), {NAMED(IDMLObject), NAMED(IDMLDeviceChild)});
        return rest;
    }

    std::vector<Interface> dispatchable(Interface last)
    {
        return dml_child({NAMED(IDMLPageable), NAMED(IDMLDispatchable), last});
    }
}

std::vector<Object> World::objects() const
{
    return {
        object("d3d12 device", bench.d3d12, {NAMED(ID3D12Object), NAMED(ID3D12Device)}),
        object("queue", bench.queue, d3d12_pageable(NAMED(ID3D12CommandQueue))),
        object("allocator", bench.allocator, d3d12_pageable(NAMED(ID3D12CommandAllocator))),
        object(
            "list",
            bench.list,
            {NAMED(ID3D12Object),
             NAMED(ID3D12DeviceChild),
             NAMED(ID3D12CommandList),
             NAMED(ID3D12GraphicsCommandList)}),
        object("fence", bench.fence, d3d12_pageable(NAMED(ID3D12Fence))),
        object("heap", heap, d3d12_pageable(NAMED(ID3D12Heap))),
        object("committed resource", committed, d3d12_pageable(NAMED(ID3D12Resource))),
        object("placed resource", placed, d3d12_pageable(NAMED(ID3D12Resource))),
        object("descriptor heap", descriptors, d3d12_pageable(NAMED(ID3D12DescriptorHeap))),
        object(
            "root signature",
            signature,
            {NAMED(ID3D12Object), NAMED(ID3D12DeviceChild), NAMED(ID3D12RootSignature)}),
        object(
            "dml device", bench.dml, {NAMED(IDMLObject), NAMED(IDMLDevice), NAMED(IDMLDevice1)}),
        object("operator", op, dml_child({NAMED(IDMLOperator)})),
        object("compiled operator", compiled, dispatchable(NAMED(IDMLCompiledOperator))),
        object("initializer", initializer, dispatchable(NAMED(IDMLOperatorInitializer))),
        object("binding table", table, dml_child({NAMED(IDMLBindingTable)})),
        object("recorder", bench.recorder, dml_child({NAMED(IDMLCommandRecorder)})),
    };
}

std::vector<ID3D12DeviceChild*> World::d3d12_children() const
{
    return {
        bench.queue.Get(),
        bench.allocator.Get(),
        bench.list.Get(),
        bench.fence.Get(),
        heap.Get(),
        committed.Get(),
        placed.Get(),
        descriptors.Get(),
        signature.Get()};
}

std::vector<IDMLDeviceChild*> World::dml_children() const
{
    return {op.Get(), compiled.Get(), initializer.Get(), table.Get(), bench.recorder.Get()};
}
