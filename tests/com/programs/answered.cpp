// What programs can live without, and call all the same: it is answered as far as buffers need it.

#include "bench.h"

#include <windows.h>

namespace
{
    void test_subresources(Bench& bench)
    {
        const auto upload = bench.buffer(8, D3D12_HEAP_TYPE_UPLOAD);
        const char letters[] = "abcdefgh";
        hresult("WriteToSubresource", upload->WriteToSubresource(0, nullptr, letters, 8, 8), Fine);
        const D3D12_BOX box = {2, 0, 0, 4, 1, 1};
        hresult("WriteToSubresource of a box", upload->WriteToSubresource(0, &box, "XY", 2, 2), Fine);
        char found[9] = {};
        hresult("ReadFromSubresource", upload->ReadFromSubresource(found, 8, 8, 0, nullptr), Fine);
        equal("what was written", std::string(found), std::string("abXYefgh"));
        const D3D12_BOX wide = {0, 0, 0, 9, 1, 1};
        hresult("a box beyond the end", upload->ReadFromSubresource(found, 8, 8, 0, &wide), E_INVALIDARG);
        hresult("a null source", upload->WriteToSubresource(0, nullptr, nullptr, 8, 8), E_INVALIDARG);
        hresult("another subresource", upload->WriteToSubresource(1, nullptr, letters, 8, 8), E_INVALIDARG);
        const auto gpu = bench.buffer(8);
        hresult("without access", gpu->WriteToSubresource(0, nullptr, letters, 8, 8), E_INVALIDARG);
    }

    void test_shared_handles(Bench& bench)
    {
        ID3D12Device* const device = bench.d3d12.Get();
        const auto properties = heap_properties(D3D12_HEAP_TYPE_UPLOAD);
        const auto desc = buffer_desc(8);
        ComPtr<ID3D12Resource> shared, opened;
        need(
            device->CreateCommittedResource(
                &properties,
                D3D12_HEAP_FLAG_SHARED,
                &desc,
                D3D12_RESOURCE_STATE_GENERIC_READ,
                nullptr,
                IID_PPV_ARGS(&shared)),
            "CreateCommittedResource");
        HANDLE handle = nullptr, named = nullptr;
        hresult(
            "CreateSharedHandle", device->CreateSharedHandle(shared.Get(), nullptr, GENERIC_ALL, L"\u00fc", &handle), Fine);
        check("the handle is one", handle != nullptr && handle != INVALID_HANDLE_VALUE);
        hresult("OpenSharedHandleByName", device->OpenSharedHandleByName(L"\u00fc", GENERIC_ALL, &named), Fine);
        hresult("CloseHandle", CloseHandle(handle) ? Fine : E_HANDLE, Fine);
        hresult("OpenSharedHandle", device->OpenSharedHandle(named, IID_PPV_ARGS(&opened)), Fine);
        check("the object is the same", opened == shared);

        Bench other;
        ComPtr<ID3D12Resource> abroad;
        hresult("of another device", other.d3d12->OpenSharedHandle(named, IID_PPV_ARGS(&abroad)), Fine);
        char found[8] = {};
        need(shared->WriteToSubresource(0, nullptr, "01234567", 8, 8), "WriteToSubresource");
        need(abroad->ReadFromSubresource(found, 8, 8, 0, nullptr), "ReadFromSubresource");
        equal("both have the same memory", std::string(found, 8), std::string("01234567"));

        void* none = poison();
        hresult("another interface", device->OpenSharedHandle(named, __uuidof(ID3D12Heap), &none), E_NOINTERFACE);
        CloseHandle(named);
        none = poison();
        hresult("a closed handle", device->OpenSharedHandle(named, __uuidof(ID3D12Resource), &none), E_HANDLE);
        check("a closed handle: null", none == nullptr);
        hresult("null", device->OpenSharedHandle(nullptr, __uuidof(ID3D12Resource), &none), E_HANDLE);
        const auto own = bench.buffer(8);
        handle = shared.Get();
        hresult(
            "what is not shared", device->CreateSharedHandle(own.Get(), nullptr, GENERIC_ALL, nullptr, &handle), E_INVALIDARG);
        check("what is not shared: null", handle == nullptr);
        hresult(
            "nowhere to write", device->CreateSharedHandle(shared.Get(), nullptr, GENERIC_ALL, nullptr, nullptr), E_POINTER);
    }

    void test_reserved(Bench& bench)
    {
        ID3D12Device* const device = bench.d3d12.Get();
        const auto desc = buffer_desc(2 << 16);
        ComPtr<ID3D12Resource> reserved;
        hresult(
            "CreateReservedResource",
            device->CreateReservedResource(&desc, D3D12_RESOURCE_STATE_COMMON, nullptr, IID_PPV_ARGS(&reserved)),
            Fine);
        hresult(
            "CreateReservedResource of nothing",
            device->CreateReservedResource(&desc, D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource), nullptr),
            False);
        hresult("GetHeapProperties", reserved->GetHeapProperties(nullptr, nullptr), E_INVALIDARG);
        D3D12_HEAP_DESC heap_desc = {};
        heap_desc.SizeInBytes = 2 << 16;
        heap_desc.Properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
        ComPtr<ID3D12Heap> heap;
        need(device->CreateHeap(&heap_desc, IID_PPV_ARGS(&heap)), "CreateHeap");
        const D3D12_TILED_RESOURCE_COORDINATE start = {1, 0, 0, 0};
        D3D12_TILE_REGION_SIZE size = {};
        size.NumTiles = 1;
        const D3D12_TILE_RANGE_FLAGS flags = D3D12_TILE_RANGE_FLAG_NONE;
        UINT offset = 1, count = 1;
        const auto none = D3D12_TILE_MAPPING_FLAG_NONE;
        bench.queue->UpdateTileMappings(
            reserved.Get(), 1, &start, &size, heap.Get(), 1, &flags, &offset, &count, none);
        offset = 0;
        bench.queue->UpdateTileMappings(
            reserved.Get(), 1, nullptr, nullptr, heap.Get(), 1, nullptr, &offset, nullptr, none);
        bench.queue->CopyTileMappings(reserved.Get(), &start, reserved.Get(), &start, &size, none);
        hresult("mappings that fit", device->GetDeviceRemovedReason(), Fine);
        offset = 2;
        bench.queue->UpdateTileMappings(
            reserved.Get(), 1, &start, &size, heap.Get(), 1, &flags, &offset, &count, none);
        hresult("a mapping beyond the heap removes the device", device->GetDeviceRemovedReason(), InvalidCall);
    }

    void test_settings(Bench& bench)
    {
        hresult("SetStablePowerState", bench.d3d12->SetStablePowerState(TRUE), Fine);
        ComPtr<ID3D12DeviceRemovedExtendedDataSettings1> settings;
        hresult("the settings of DRED", D3D12GetDebugInterface(IID_PPV_ARGS(&settings)), Fine);
        settings->SetAutoBreadcrumbsEnablement(D3D12_DRED_ENABLEMENT_FORCED_ON);
        settings->SetPageFaultEnablement(D3D12_DRED_ENABLEMENT_FORCED_ON);
        settings->SetBreadcrumbContextEnablement(D3D12_DRED_ENABLEMENT_FORCED_ON);
        ComPtr<ID3D12DeviceRemovedExtendedDataSettings> older;
        hresult("the older interface", settings.As(&older), Fine);
        check("is the same object", older.Get() == settings.Get());
    }

    void answered(const std::vector<std::string>&)
    {
        Bench bench;
        test_subresources(bench);
        test_shared_handles(bench);
        test_settings(bench);
        test_reserved(bench);
    }

    const Registration registration("answered", answered);
}
