// Memory and command lists without DirectML: Map, copies, barriers, placed resources, lists and allocators.

#include "bench.h"

namespace
{
    void test_map(Bench& bench)
    {
        auto upload = bench.buffer(64, D3D12_HEAP_TYPE_UPLOAD);
        void *first = nullptr, *second = nullptr;
        hresult("Map", upload->Map(0, nullptr, &first), Fine);
        hresult("Map again", upload->Map(0, nullptr, &second), Fine);
        check("the same memory", first && first == second);
        check("zeros at first", static_cast<unsigned char*>(first)[63] == 0);
        std::memset(first, 7, 64);
        const D3D12_RANGE all = {0, 64}, nothing = {0, 0}, outside = {0, 65};
        upload->Unmap(0, &all);
        upload->Unmap(0, nullptr);
        hresult("Map once more", upload->Map(0, &nothing, &second), Fine);
        check("memory stays where it is", first == second && static_cast<unsigned char*>(second)[63] == 7);
        upload->Unmap(0, &nothing);
        hresult("Map without a pointer", upload->Map(0, nullptr, nullptr), Fine);
        upload->Unmap(0, nullptr);
        hresult("Map of a range outside", upload->Map(0, &outside, &second), E_INVALIDARG);
        hresult("Map of a subresource that is not there", upload->Map(1, nullptr, &second), E_INVALIDARG);
        auto hidden = bench.buffer(64);
        hresult("Map of a DEFAULT heap", hidden->Map(0, nullptr, &second), E_INVALIDARG);
    }

    void test_copies(Bench& bench)
    {
        const UINT numbers[] = {1, 2, 3, 4};
        auto source = bench.upload(numbers, sizeof numbers);
        auto target = bench.buffer(16, D3D12_HEAP_TYPE_READBACK), part = bench.buffer(16, D3D12_HEAP_TYPE_READBACK);
        bench.list->CopyResource(target.Get(), source.Get());
        bench.list->CopyBufferRegion(part.Get(), 8, source.Get(), 4, 8);
        bench.run();
        void* memory = nullptr;
        need(target->Map(0, nullptr, &memory), "Map");
        check("CopyResource", std::memcmp(memory, numbers, sizeof numbers) == 0);
        target->Unmap(0, nullptr);
        need(part->Map(0, nullptr, &memory), "Map");
        const UINT expected[] = {0, 0, 2, 3};
        check("CopyBufferRegion", std::memcmp(memory, expected, sizeof expected) == 0);
        part->Unmap(0, nullptr);
    }

    void test_barriers(Bench& bench)
    {
        auto buffer = bench.buffer(16);
        D3D12_RESOURCE_BARRIER barriers[3] = {};
        barriers[0] = transition(buffer.Get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_DEST);
        barriers[1].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
        barriers[1].UAV.pResource = buffer.Get();
        barriers[2].Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
        bench.list->ResourceBarrier(3, barriers);
        barriers[1].UAV.pResource = nullptr;
        bench.list->ResourceBarrier(1, &barriers[1]);
        hresult("Close after barriers", bench.list->Close(), Fine);
        need(bench.list->Reset(bench.allocator.Get(), nullptr), "Reset");
        // No state and no resource: the list becomes invalid.
        barriers[0].Transition.pResource = nullptr;
        bench.list->ResourceBarrier(1, barriers);
        hresult("Close after a barrier without a resource", bench.list->Close(), E_INVALIDARG);
        const auto direct = D3D12_COMMAND_LIST_TYPE_DIRECT;
        need(bench.allocator->Reset(), "Reset");
        need(
            bench.d3d12->CreateCommandList(
                0, direct, bench.allocator.Get(), nullptr, IID_PPV_ARGS(&bench.list)),
            "CreateCommandList");
    }

    void test_lists(Bench& bench)
    {
        hresult("Reset of an allocator in use", bench.allocator->Reset(), E_FAIL);
        hresult("Reset of an open list", bench.list->Reset(bench.allocator.Get(), nullptr), E_FAIL);
        hresult("Close", bench.list->Close(), Fine);
        hresult("Close again", bench.list->Close(), E_FAIL);
        hresult("Reset without an allocator", bench.list->Reset(nullptr, nullptr), E_INVALIDARG);
        ComPtr<ID3D12CommandAllocator> other;
        need(
            bench.d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_COPY, IID_PPV_ARGS(&other)),
            "CreateCommandAllocator");
        hresult("Reset with an allocator of another type", bench.list->Reset(other.Get(), nullptr), E_INVALIDARG);
        hresult("Reset of the allocator", bench.allocator->Reset(), Fine);
        hresult("Reset of the list", bench.list->Reset(bench.allocator.Get(), nullptr), Fine);
        ComPtr<ID3D12GraphicsCommandList> refused;
        hresult(
            "CreateCommandList of another type than its allocator",
            bench.d3d12->CreateCommandList(
                0,
                D3D12_COMMAND_LIST_TYPE_DIRECT,
                other.Get(),
                nullptr,
                IID_PPV_ARGS(&refused)),
            E_INVALIDARG);
        check("a refused list is null", !refused);
        ComPtr<ID3D12GraphicsCommandList> copies;
        hresult(
            "CreateCommandList of type COPY",
            bench.d3d12->CreateCommandList(
                0, D3D12_COMMAND_LIST_TYPE_COPY, other.Get(), nullptr, IID_PPV_ARGS(&copies)),
            Fine);
        equal("its type", int(copies->GetType()), int(D3D12_COMMAND_LIST_TYPE_COPY));
    }

    void test_placed(Bench& bench)
    {
        D3D12_HEAP_DESC desc = {};
        desc.SizeInBytes = 3 << 16;
        desc.Properties = heap_properties(D3D12_HEAP_TYPE_UPLOAD);
        ComPtr<ID3D12Heap> heap;
        need(bench.d3d12->CreateHeap(&desc, IID_PPV_ARGS(&heap)), "CreateHeap");
        const auto state = D3D12_RESOURCE_STATE_GENERIC_READ;
        const D3D12_RESOURCE_DESC two = buffer_desc(2 << 16), one = buffer_desc(1 << 16);
        ComPtr<ID3D12Resource> first, second;
        const auto place = [&](UINT64 offset, const D3D12_RESOURCE_DESC& what, ComPtr<ID3D12Resource>& made) {
            return bench.d3d12->CreatePlacedResource(heap.Get(), offset, &what, state, nullptr, IID_PPV_ARGS(&made));
        };
        hresult("CreatePlacedResource", place(0, two, first), Fine);
        hresult("CreatePlacedResource over its end", place(1 << 16, two, second), Fine);
        equal(
            "GPU addresses are as far apart as the offsets",
            second->GetGPUVirtualAddress() - first->GetGPUVirtualAddress(),
            1u << 16);
        void *low = nullptr, *high = nullptr;
        need(first->Map(0, nullptr, &low), "Map");
        need(second->Map(0, nullptr, &high), "Map");
        equal("and so is the memory", static_cast<char*>(high) - static_cast<char*>(low), 1 << 16);
        hresult("an offset that is not aligned", place(256, one, second), E_INVALIDARG);
        hresult("an offset outside", place(3 << 16, one, second), E_INVALIDARG);
        hresult(
            "CreatePlacedResource without ppv",
            bench.d3d12->CreatePlacedResource(
                heap.Get(), 0, &one, state, nullptr, __uuidof(ID3D12Resource), nullptr),
            False);
        hresult(
            "CreatePlacedResource without a heap",
            bench.d3d12->CreatePlacedResource(nullptr, 0, &one, state, nullptr, IID_PPV_ARGS(&second)),
            E_INVALIDARG);
        check("a refused resource is null", !second);
    }

    void test_footprints(Bench& bench)
    {
        const D3D12_RESOURCE_DESC desc = buffer_desc(100);
        D3D12_PLACED_SUBRESOURCE_FOOTPRINT layout = {};
        UINT rows = 0;
        UINT64 row = 0, total = 0;
        bench.d3d12->GetCopyableFootprints(&desc, 0, 1, 0, &layout, &rows, &row, &total);
        equal("GetCopyableFootprints: rows of a buffer", rows, 1u);
        equal("GetCopyableFootprints: size of its row", row, 100u);
        equal("GetCopyableFootprints: total", total, 100u);
        equal("GetCopyableFootprints: width", layout.Footprint.Width, 100u);
        equal("GetCopyableFootprints: height", layout.Footprint.Height * layout.Footprint.Depth, 1u);
        equal("GetCopyableFootprints: offset", layout.Offset, 0u);
        bench.d3d12->GetCopyableFootprints(&desc, 0, 1, 0, nullptr, nullptr, nullptr, nullptr);
    }

    void commands(const std::vector<std::string>&)
    {
        Bench bench;
        test_map(bench);
        test_copies(bench);
        test_barriers(bench);
        test_lists(bench);
        test_placed(bench);
        test_footprints(bench);
        hresult("the device is well", bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    const Registration registration("commands", commands);
}
