// Methods that DirectML programs do not use: E_NOTIMPL; a list that recorded one is invalid, a queue removes its
// device.

#include "messages.h"
#include "world.h"

namespace
{
    template <typename T, typename Call>
    void not_emulated(const char* name, Call call)
    {
        void* found = poison();
        hresult(name, call(__uuidof(T), &found), E_NOTIMPL);
        check(std::string(name) + ": null", found == nullptr);
    }

    void test_device(World& world)
    {
        ID3D12Device* const device = world.bench.d3d12.Get();
        not_emulated<ID3D12PipelineState>("CreateGraphicsPipelineState", [device](const IID& iid, void** found) {
            const D3D12_GRAPHICS_PIPELINE_STATE_DESC desc = {};
            return device->CreateGraphicsPipelineState(&desc, iid, found);
        });
        not_emulated<ID3D12QueryHeap>("CreateQueryHeap, for what is drawn", [device](const IID& iid, void** found) {
            const D3D12_QUERY_HEAP_DESC desc = {D3D12_QUERY_HEAP_TYPE_OCCLUSION, 1, 0};
            return device->CreateQueryHeap(&desc, iid, found);
        });
        not_emulated<ID3D12CommandSignature>("CreateCommandSignature", [device](const IID& iid, void** found) {
            const D3D12_COMMAND_SIGNATURE_DESC desc = {};
            return device->CreateCommandSignature(&desc, nullptr, iid, found);
        });
        ComPtr<ID3D12Device5> device5;
        need(device->QueryInterface(IID_PPV_ARGS(&device5)), "QueryInterface");
        UINT count = 7;
        hresult("EnumerateMetaCommands", device5->EnumerateMetaCommands(&count, nullptr), S_OK);
        equal("the number of meta commands", count, 0U);
        not_emulated<ID3D12MetaCommand>("CreateMetaCommand", [&](const IID& iid, void** found) {
            return device5->CreateMetaCommand(GUID{}, 0, nullptr, 0, iid, found);
        });
        not_emulated<ID3D12LifetimeTracker>("CreateLifetimeTracker", [&](const IID& iid, void** found) {
            return device5->CreateLifetimeTracker(nullptr, iid, found);
        });
        // Memory is always resident: either answer will do.
        ID3D12Pageable* const pageables[] = {world.committed.Get()};
        hresult_among("ID3D12Device::MakeResident", device->MakeResident(1, pageables), {Fine, E_NOTIMPL});
        hresult_among("ID3D12Device::Evict", device->Evict(1, pageables), {Fine, E_NOTIMPL});

        const auto start = &ID3D12DescriptorHeap::GetCPUDescriptorHandleForHeapStart;
        const auto slot = returned(start, world.descriptors.Get());
        device->CreateConstantBufferView(nullptr, slot);
        device->CreateShaderResourceView(world.committed.Get(), nullptr, slot);
        UINT tiles = 0, tilings = 0;
        device->GetResourceTiling(world.committed.Get(), &tiles, nullptr, nullptr, &tilings, 0, nullptr);
        check("views that nobody reads do no harm", SUCCEEDED(device->GetDeviceRemovedReason()));
        // A view of a buffer has no default, and a sampler has heaps of its own.
        device->CreateUnorderedAccessView(world.committed.Get(), nullptr, nullptr, slot);
        hresult("a wrong view removes the device", device->GetDeviceRemovedReason(), InvalidCall);
        World other;
        const D3D12_SAMPLER_DESC sampler = {};
        other.bench.d3d12->CreateSampler(&sampler, returned(start, other.descriptors.Get()));
        hresult("so does a view in a wrong heap", other.bench.d3d12->GetDeviceRemovedReason(), InvalidCall);
    }

    using Call = std::function<void(ID3D12GraphicsCommandList*)>;

    struct NamedCall
    {
        std::string name;
        Call call;
    };

#define CALL(...) NamedCall{#__VA_ARGS__, [=](ID3D12GraphicsCommandList* list) { list->__VA_ARGS__; }}

    // What a list cannot record: methods that are not emulated, and arguments that nobody can use.
    std::vector<NamedCall> refused_calls(World& world)
    {
        ID3D12Resource* const resource = world.committed.Get();
        ID3D12DescriptorHeap* const heap = world.descriptors.Get();
        ID3D12DescriptorHeap* const missing = nullptr;
        ID3D12PipelineState* const state = reinterpret_cast<ID3D12PipelineState*>(heap);
        const auto gpu = returned(&ID3D12DescriptorHeap::GetGPUDescriptorHandleForHeapStart, heap);
        const auto cpu = returned(&ID3D12DescriptorHeap::GetCPUDescriptorHandleForHeapStart, heap);
        D3D12_RESOURCE_BARRIER strange = {};
        strange.Type = D3D12_RESOURCE_BARRIER_TYPE(77);
        static const UINT numbers[4] = {};
        static const FLOAT colors[4] = {};
        return {
            CALL(DrawInstanced(3, 1, 0, 0)),
            CALL(DrawIndexedInstanced(3, 1, 0, 0, 0)),
            CALL(Dispatch(1, 1, 1)),
            CALL(CopyTextureRegion(nullptr, 0, 0, 0, nullptr, nullptr)),
            CALL(CopyTiles(resource, nullptr, nullptr, resource, 0, D3D12_TILE_COPY_FLAG_NONE)),
            CALL(ResolveSubresource(resource, 0, resource, 0, DXGI_FORMAT_UNKNOWN)),
            CALL(IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST)),
            CALL(RSSetViewports(0, nullptr)),
            CALL(RSSetScissorRects(0, nullptr)),
            CALL(OMSetBlendFactor(colors)),
            CALL(OMSetStencilRef(1)),
            CALL(SetPipelineState(nullptr)),
            CALL(ExecuteBundle(nullptr)),
            CALL(SetComputeRootSignature(nullptr)),
            CALL(SetGraphicsRootSignature(nullptr)),
            CALL(SetComputeRootDescriptorTable(0, gpu)),
            CALL(SetGraphicsRootDescriptorTable(0, gpu)),
            CALL(SetComputeRoot32BitConstant(0, 1, 0)),
            CALL(SetGraphicsRoot32BitConstant(0, 1, 0)),
            CALL(SetComputeRoot32BitConstants(0, 4, numbers, 0)),
            CALL(SetGraphicsRoot32BitConstants(0, 4, numbers, 0)),
            CALL(SetComputeRootConstantBufferView(0, resource->GetGPUVirtualAddress())),
            CALL(SetGraphicsRootConstantBufferView(0, resource->GetGPUVirtualAddress())),
            CALL(SetComputeRootShaderResourceView(0, resource->GetGPUVirtualAddress())),
            CALL(SetGraphicsRootShaderResourceView(0, resource->GetGPUVirtualAddress())),
            CALL(SetComputeRootUnorderedAccessView(0, resource->GetGPUVirtualAddress())),
            CALL(SetGraphicsRootUnorderedAccessView(0, resource->GetGPUVirtualAddress())),
            CALL(IASetIndexBuffer(nullptr)),
            CALL(IASetVertexBuffers(0, 0, nullptr)),
            CALL(SOSetTargets(0, 0, nullptr)),
            CALL(OMSetRenderTargets(0, nullptr, FALSE, nullptr)),
            CALL(ClearDepthStencilView(cpu, D3D12_CLEAR_FLAG_DEPTH, 1.0f, 0, 0, nullptr)),
            CALL(ClearRenderTargetView(cpu, colors, 0, nullptr)),
            CALL(ClearUnorderedAccessViewUint(gpu, cpu, resource, numbers, 0, nullptr)),
            CALL(ClearUnorderedAccessViewFloat(gpu, cpu, resource, colors, 0, nullptr)),
            CALL(DiscardResource(resource, nullptr)),
            CALL(BeginQuery(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0)),
            CALL(EndQuery(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0)),
            CALL(ResolveQueryData(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0, 0, resource, 0)),
            CALL(SetPredication(nullptr, 0, D3D12_PREDICATION_OP_EQUAL_ZERO)),
            CALL(ExecuteIndirect(nullptr, 0, resource, 0, nullptr, 0)),
            CALL(CopyResource(nullptr, nullptr)),
            CALL(CopyResource(resource, nullptr)),
            CALL(CopyBufferRegion(nullptr, 0, resource, 0, 4)),
            CALL(ResourceBarrier(1, nullptr)),
            CALL(ResourceBarrier(1, &strange)),
            CALL(SetDescriptorHeaps(1, nullptr)),
            CALL(SetDescriptorHeaps(1, &missing)),
            CALL(ClearState(state)),
        };
    }

#undef CALL

    ComPtr<ID3D12GraphicsCommandList> open_list(Bench& bench, ComPtr<ID3D12CommandAllocator>& allocator)
    {
        const auto kind = D3D12_COMMAND_LIST_TYPE_DIRECT;
        need(bench.d3d12->CreateCommandAllocator(kind, IID_PPV_ARGS(&allocator)), "CreateCommandAllocator");
        ComPtr<ID3D12GraphicsCommandList> list;
        need(
            bench.d3d12->CreateCommandList(0, kind, allocator.Get(), nullptr, IID_PPV_ARGS(&list)),
            "CreateCommandList");
        return list;
    }

    // Nothing runs as if a call had not been there: Close fails, and says which one it was.
    void test_refusals(Bench::Debug debug)
    {
        World world(debug);
        const bool watched = debug == Bench::Debug::On;
        const std::string layer = watched ? " (debug layer)" : "";
        const auto queue = watched ? info_queue(world.bench) : nullptr;
        for (const NamedCall& refused : refused_calls(world))
        {
            ComPtr<ID3D12CommandAllocator> allocator;
            const auto list = open_list(world.bench, allocator);
            refused.call(list.Get());
            refused.call(list.Get());
            hresult("Close after " + refused.name + layer, list->Close(), E_INVALIDARG);
            if (!watched)
                continue;
            const std::string method = refused.name.substr(0, refused.name.find('('));
            check(refused.name + " is told of", told(queue.Get(), method + ": "), all_texts(queue.Get()));
            queue->ClearStoredMessages();
        }
        hresult("the device is well" + layer, world.bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    void test_refused_lists_never_run()
    {
        Bench bench;
        const UINT numbers[] = {1, 2, 3, 4};
        auto source = bench.upload(numbers, sizeof numbers);
        auto target = bench.buffer(sizeof numbers, D3D12_HEAP_TYPE_READBACK);
        bench.list->Dispatch(1, 1, 1);
        bench.list->CopyResource(target.Get(), source.Get());
        hresult("Close", bench.list->Close(), E_INVALIDARG);
        ID3D12CommandList* const lists[] = {bench.list.Get()};
        bench.queue->ExecuteCommandLists(1, lists);
        hresult("a refused list removes the device", bench.d3d12->GetDeviceRemovedReason(), InvalidCall);
    }

    void test_debuggers_marks()
    {
        Bench bench;
        ID3D12GraphicsCommandList* const list = bench.list.Get();
        list->ClearState(nullptr);
        list->SetMarker(1, "marker", 7);
        list->BeginEvent(1, "event", 6);
        list->EndEvent();
        bench.queue->SetMarker(1, "marker", 7);
        bench.queue->BeginEvent(1, "event", 6);
        bench.queue->EndEvent();
        hresult("Close after marks", list->Close(), Fine);
        hresult("the device is well after marks", bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    template <typename Call>
    void removes(const char* name, Call call)
    {
        World world;
        call(world.bench.queue.Get(), world.committed.Get());
        hresult(name, world.bench.d3d12->GetDeviceRemovedReason(), InvalidCall);
    }

    void test_queue()
    {
        removes("UpdateTileMappings removes the device", [](ID3D12CommandQueue* queue, ID3D12Resource* tiled) {
            const auto none = D3D12_TILE_MAPPING_FLAG_NONE;
            queue->UpdateTileMappings(tiled, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, none);
        });
        removes("CopyTileMappings removes the device", [](ID3D12CommandQueue* queue, ID3D12Resource* tiled) {
            queue->CopyTileMappings(tiled, nullptr, tiled, nullptr, nullptr, D3D12_TILE_MAPPING_FLAG_NONE);
        });
        removes("ExecuteCommandLists of null removes the device", [](ID3D12CommandQueue* queue, ID3D12Resource*) {
            queue->ExecuteCommandLists(1, nullptr);
        });
    }

    void test_clocks_and_memory(World& world)
    {
        UINT64 ticks = 0, gpu = 0, cpu = 0;
        hresult("GetTimestampFrequency", world.bench.queue->GetTimestampFrequency(&ticks), Fine);
        hresult("GetClockCalibration", world.bench.queue->GetClockCalibration(&gpu, &cpu), Fine);
        check("timestamps are taken many times a second", ticks >= 1000000);
        check("the clocks run", gpu > 0 && cpu > 0);
    }

    void unemulated(const std::vector<std::string>&)
    {
        World world;
        test_clocks_and_memory(world);
        test_device(world);
        test_refusals(Bench::Debug::Off);
        test_refusals(Bench::Debug::On);
        test_refused_lists_never_run();
        test_debuggers_marks();
        test_queue();
    }

    const Registration registration("unemulated", unemulated);
}
