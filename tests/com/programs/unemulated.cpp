// Methods that DirectML programs have no use for: E_NOTIMPL, or nothing at all, and nobody is hurt.

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
        not_emulated<ID3D12PipelineState>("CreateComputePipelineState", [device](const IID& iid, void** found) {
            const D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
            return device->CreateComputePipelineState(&desc, iid, found);
        });
        not_emulated<ID3D12RootSignature>("CreateRootSignature", [device](const IID& iid, void** found) {
            return device->CreateRootSignature(0, "blob", 4, iid, found);
        });
        not_emulated<ID3D12Resource>("CreateReservedResource", [device](const IID& iid, void** found) {
            const D3D12_RESOURCE_DESC desc = buffer_desc(1 << 16);
            return device->CreateReservedResource(&desc, D3D12_RESOURCE_STATE_COMMON, nullptr, iid, found);
        });
        not_emulated<ID3D12QueryHeap>("CreateQueryHeap", [device](const IID& iid, void** found) {
            const D3D12_QUERY_HEAP_DESC desc = {D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 1, 0};
            return device->CreateQueryHeap(&desc, iid, found);
        });
        not_emulated<ID3D12CommandSignature>("CreateCommandSignature", [device](const IID& iid, void** found) {
            const D3D12_COMMAND_SIGNATURE_DESC desc = {};
            return device->CreateCommandSignature(&desc, nullptr, iid, found);
        });
        not_emulated<ID3D12Resource>("OpenSharedHandle", [device](const IID& iid, void** found) {
            return device->OpenSharedHandle(nullptr, iid, found);
        });
        HANDLE handle = nullptr;
        hresult(
            "CreateSharedHandle",
            device->CreateSharedHandle(world.committed.Get(), nullptr, 0, nullptr, &handle),
            E_NOTIMPL);
        hresult("OpenSharedHandleByName", device->OpenSharedHandleByName(L"name", 0, &handle), E_NOTIMPL);
        hresult_among("SetStablePowerState", device->SetStablePowerState(FALSE), {Fine, E_NOTIMPL});
        // Memory is always resident: either answer will do.
        ID3D12Pageable* const pageables[] = {world.committed.Get()};
        hresult_among("ID3D12Device::MakeResident", device->MakeResident(1, pageables), {Fine, E_NOTIMPL});
        hresult_among("ID3D12Device::Evict", device->Evict(1, pageables), {Fine, E_NOTIMPL});

        const auto slot = world.descriptors->GetCPUDescriptorHandleForHeapStart();
        device->CreateConstantBufferView(nullptr, slot);
        device->CreateShaderResourceView(world.committed.Get(), nullptr, slot);
        device->CreateUnorderedAccessView(world.committed.Get(), nullptr, nullptr, slot);
        device->CreateRenderTargetView(nullptr, nullptr, slot);
        device->CreateDepthStencilView(nullptr, nullptr, slot);
        const D3D12_SAMPLER_DESC sampler = {};
        device->CreateSampler(&sampler, slot);
        UINT tiles = 0, tilings = 0;
        device->GetResourceTiling(world.committed.Get(), &tiles, nullptr, nullptr, &tilings, 0, nullptr);
        check("views, samplers and tilings do nothing", SUCCEEDED(device->GetDeviceRemovedReason()));
    }

    void draw(ID3D12GraphicsCommandList* list, ID3D12Resource* resource, ID3D12DescriptorHeap* heap)
    {
        const auto gpu = heap->GetGPUDescriptorHandleForHeapStart();
        const auto cpu = heap->GetCPUDescriptorHandleForHeapStart();
        const UINT numbers[4] = {};
        const FLOAT colors[4] = {};
        list->ClearState(nullptr);
        list->DrawInstanced(3, 1, 0, 0);
        list->DrawIndexedInstanced(3, 1, 0, 0, 0);
        list->Dispatch(1, 1, 1);
        list->CopyTextureRegion(nullptr, 0, 0, 0, nullptr, nullptr);
        list->CopyTiles(resource, nullptr, nullptr, resource, 0, D3D12_TILE_COPY_FLAG_NONE);
        list->ResolveSubresource(resource, 0, resource, 0, DXGI_FORMAT_UNKNOWN);
        list->IASetPrimitiveTopology(D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
        list->RSSetViewports(0, nullptr);
        list->RSSetScissorRects(0, nullptr);
        list->OMSetBlendFactor(colors);
        list->OMSetStencilRef(1);
        list->SetPipelineState(nullptr);
        list->ExecuteBundle(nullptr);
        list->SetComputeRootSignature(nullptr);
        list->SetGraphicsRootSignature(nullptr);
        list->SetComputeRootDescriptorTable(0, gpu);
        list->SetGraphicsRootDescriptorTable(0, gpu);
        list->SetComputeRoot32BitConstant(0, 1, 0);
        list->SetGraphicsRoot32BitConstant(0, 1, 0);
        list->SetComputeRoot32BitConstants(0, 4, numbers, 0);
        list->SetGraphicsRoot32BitConstants(0, 4, numbers, 0);
        list->SetComputeRootConstantBufferView(0, resource->GetGPUVirtualAddress());
        list->SetGraphicsRootConstantBufferView(0, resource->GetGPUVirtualAddress());
        list->SetComputeRootShaderResourceView(0, resource->GetGPUVirtualAddress());
        list->SetGraphicsRootShaderResourceView(0, resource->GetGPUVirtualAddress());
        list->SetComputeRootUnorderedAccessView(0, resource->GetGPUVirtualAddress());
        list->SetGraphicsRootUnorderedAccessView(0, resource->GetGPUVirtualAddress());
        list->IASetIndexBuffer(nullptr);
        list->IASetVertexBuffers(0, 0, nullptr);
        list->SOSetTargets(0, 0, nullptr);
        list->OMSetRenderTargets(0, nullptr, FALSE, nullptr);
        list->ClearDepthStencilView(cpu, D3D12_CLEAR_FLAG_DEPTH, 1.0f, 0, 0, nullptr);
        list->ClearRenderTargetView(cpu, colors, 0, nullptr);
        list->ClearUnorderedAccessViewUint(gpu, cpu, resource, numbers, 0, nullptr);
        list->ClearUnorderedAccessViewFloat(gpu, cpu, resource, colors, 0, nullptr);
        list->DiscardResource(resource, nullptr);
        list->BeginQuery(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0);
        list->EndQuery(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0);
        list->ResolveQueryData(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0, 0, resource, 0);
        list->SetPredication(nullptr, 0, D3D12_PREDICATION_OP_EQUAL_ZERO);
        list->SetMarker(1, "marker", 7);
        list->BeginEvent(1, "event", 6);
        list->EndEvent();
        list->ExecuteIndirect(nullptr, 0, resource, 0, nullptr, 0);
    }

    void test_list_and_queue(World& world)
    {
        Bench& bench = world.bench;
        draw(bench.list.Get(), world.committed.Get(), world.descriptors.Get());
        // What is emulated still works in the same list.
        const UINT numbers[] = {1, 2, 3, 4};
        auto source = bench.upload(numbers, sizeof numbers);
        auto target = bench.buffer(sizeof numbers, D3D12_HEAP_TYPE_READBACK);
        bench.list->CopyResource(target.Get(), source.Get());
        if (!hresult("Close after draws and the like", bench.list->Close(), Fine))
            return;
        ID3D12CommandList* const lists[] = {bench.list.Get()};
        bench.queue->ExecuteCommandLists(1, lists);
        ID3D12Resource* const tiled = world.committed.Get();
        const auto none = D3D12_TILE_MAPPING_FLAG_NONE;
        bench.queue->UpdateTileMappings(tiled, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, none);
        bench.queue->CopyTileMappings(tiled, nullptr, tiled, nullptr, nullptr, none);
        bench.queue->SetMarker(1, "marker", 7);
        bench.queue->BeginEvent(1, "event", 6);
        bench.queue->EndEvent();
        bench.finish();
        void* memory = nullptr;
        need(target->Map(0, nullptr, &memory), "Map");
        check("the copy among them runs", std::memcmp(memory, numbers, sizeof numbers) == 0);
        target->Unmap(0, nullptr);
        UINT64 first = 0, second = 0;
        hresult_among("GetTimestampFrequency", bench.queue->GetTimestampFrequency(&first), {Fine, E_NOTIMPL});
        hresult_among(
            "GetClockCalibration", bench.queue->GetClockCalibration(&first, &second), {Fine, E_NOTIMPL});
        char bytes[4] = {};
        hresult(
            "WriteToSubresource", world.committed->WriteToSubresource(0, nullptr, bytes, 4, 4), E_NOTIMPL);
        hresult(
            "ReadFromSubresource", world.committed->ReadFromSubresource(bytes, 4, 4, 0, nullptr), E_NOTIMPL);
        hresult("the device is well", bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    void unemulated(const std::vector<std::string>&)
    {
        World world;
        test_device(world);
        test_list_and_queue(world);
    }

    const Registration registration("unemulated", unemulated);
}
