// Newer versions of interfaces: their tables, and what they add.

#include "messages.h"

namespace
{
    template <typename T, typename U>
    ComPtr<T> as(const char* name, U* object)
    {
        ComPtr<T> found;
        hresult(std::string(name) + " is there", object->QueryInterface(IID_PPV_ARGS(&found)), Fine);
        check(std::string(name) + " is the same object", found && unknown(found.Get()) == unknown(object));
        return found;
    }

#define AS(type, object) as<type>(#type, object)

    D3D12_RESOURCE_DESC1 newer_desc(UINT64 width)
    {
        const D3D12_RESOURCE_DESC older = buffer_desc(width);
        D3D12_RESOURCE_DESC1 desc = {};
        std::memcpy(&desc, &older, sizeof older);
        return desc;
    }

    // Each call goes through the last slots of its table: one slot too many or too few, and another method runs.
    void test_device(Bench& bench)
    {
        ID3D12Device* const base = bench.d3d12.Get();
        AS(ID3D12Device2, base);
        AS(ID3D12Device6, base);
        AS(ID3D12Device7, base);
        auto buffer = bench.buffer(16);
        ID3D12Pageable* const pageables[] = {buffer.Get()};

        const auto device1 = AS(ID3D12Device1, base);
        const D3D12_RESIDENCY_PRIORITY priority = D3D12_RESIDENCY_PRIORITY_HIGH;
        hresult("SetResidencyPriority", device1->SetResidencyPriority(1, pageables, &priority), Fine);

        const auto device3 = AS(ID3D12Device3, base);
        ComPtr<ID3D12Fence1> fence;
        need(base->CreateFence(0, D3D12_FENCE_FLAG_SHARED, IID_PPV_ARGS(&fence)), "CreateFence");
        equal("GetCreationFlags", fence->GetCreationFlags(), D3D12_FENCE_FLAG_SHARED);
        hresult(
            "EnqueueMakeResident",
            device3->EnqueueMakeResident(D3D12_RESIDENCY_FLAG_NONE, 1, pageables, fence.Get(), 5),
            Fine);
        equal("EnqueueMakeResident signals", fence->GetCompletedValue(), 5u);

        const auto device4 = AS(ID3D12Device4, base);
        ComPtr<ID3D12GraphicsCommandList4> list;
        hresult(
            "CreateCommandList1",
            device4->CreateCommandList1(
                0, D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_FLAG_NONE, IID_PPV_ARGS(&list)),
            Fine);
        check("a list without an allocator is closed", FAILED(list->Close()));
        const D3D12_RESOURCE_DESC descs[] = {buffer_desc(65537), buffer_desc(1)};
        D3D12_RESOURCE_ALLOCATION_INFO1 places[2] = {};
        const auto allocation = &ID3D12Device4::GetResourceAllocationInfo1;
        const auto whole = returned(allocation, device4.Get(), 0, 2, descs, places);
        equal("GetResourceAllocationInfo1", whole.SizeInBytes, UINT64(3 * 65536));
        equal("GetResourceAllocationInfo1: the second place", places[1].Offset, UINT64(2 * 65536));
        const auto without = returned(allocation, device4.Get(), 0, 2, descs, nullptr);
        equal("without places", without.Alignment, UINT64(65536));

        const auto device8 = AS(ID3D12Device8, base);
        const auto heap = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
        const auto desc = newer_desc(100);
        ComPtr<ID3D12Resource2> resource;
        hresult(
            "CreateCommittedResource2",
            device8->CreateCommittedResource2(
                &heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, nullptr, IID_PPV_ARGS(&resource)),
            Fine);
        equal("GetDesc1", returned(&ID3D12Resource2::GetDesc1, resource.Get()).Width, 100u);
        UINT64 total = 0;
        device8->GetCopyableFootprints1(&desc, 0, 1, 0, nullptr, nullptr, nullptr, &total);
        equal("GetCopyableFootprints1", total, 100u);

        const auto device9 = AS(ID3D12Device9, base);
        const D3D12_COMMAND_QUEUE_DESC queue_desc = {D3D12_COMMAND_LIST_TYPE_COPY, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
        ComPtr<ID3D12CommandQueue> queue;
        hresult(
            "CreateCommandQueue1",
            device9->CreateCommandQueue1(&queue_desc, __uuidof(IUnknown), IID_PPV_ARGS(&queue)),
            Fine);
        const auto found = returned(&ID3D12CommandQueue::GetDesc, queue.Get());
        equal("CreateCommandQueue1: its type", found.Type, D3D12_COMMAND_LIST_TYPE_COPY);
        hresult(
            "ShaderCacheControl",
            device9->ShaderCacheControl(D3D12_SHADER_CACHE_KIND_FLAGS(0), D3D12_SHADER_CACHE_CONTROL_FLAGS(0)),
            E_NOTIMPL);
    }

    void test_several_fences(Bench& bench)
    {
        const auto device = AS(ID3D12Device1, bench.d3d12.Get());
        ComPtr<ID3D12Fence> first, second;
        need(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&first)), "CreateFence");
        need(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&second)), "CreateFence");
        ID3D12Fence* const fences[] = {first.Get(), second.Get()};
        const UINT64 targets[] = {1, 2};
        const HANDLE event = new_event();
        hresult(
            "SetEventOnMultipleFenceCompletion",
            device->SetEventOnMultipleFenceCompletion(fences, targets, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL, event),
            Fine);
        first->Signal(1);
        equal("one of two is not all", wait_for(event, 0), 0u);
        second->Signal(2);
        equal("both are", wait_for(event, 0), 1u);
        close_event(event);
        const UINT64 later[] = {5, 4};
        const HANDLE either = new_event();
        hresult(
            "SetEventOnMultipleFenceCompletion for any",
            device->SetEventOnMultipleFenceCompletion(fences, later, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, either),
            Fine);
        equal("none of two is not any", wait_for(either, 0), 0u);
        second->Signal(4);
        equal("one is", wait_for(either, 0), 1u);
        close_event(either);
        first->Signal(5);
        hresult(
            "a wait without an event for any",
            device->SetEventOnMultipleFenceCompletion(fences, targets, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, nullptr),
            Fine);
        hresult(
            "null fences",
            device->SetEventOnMultipleFenceCompletion(nullptr, targets, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL, nullptr),
            E_INVALIDARG);
        hresult(
            "null values",
            device->SetEventOnMultipleFenceCompletion(fences, nullptr, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL, nullptr),
            E_INVALIDARG);
    }

    void test_lists(Bench& bench)
    {
        ID3D12GraphicsCommandList* const base = bench.list.Get();
        AS(ID3D12GraphicsCommandList1, base);
        AS(ID3D12GraphicsCommandList3, base);
        const auto list = AS(ID3D12GraphicsCommandList4, base);
        list->DispatchRays(nullptr);
        hresult("Close after DispatchRays", list->Close(), E_INVALIDARG);
        Bench other;
        const auto list2 = AS(ID3D12GraphicsCommandList2, other.list.Get());
        const auto target = other.buffer(16);
        const auto address = target->GetGPUVirtualAddress();
        const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER writes[] = {{address + 4, 5}, {address + 12, 0xFFFFFFFF}};
        const D3D12_WRITEBUFFERIMMEDIATE_MODE modes[] = {
            D3D12_WRITEBUFFERIMMEDIATE_MODE_MARKER_IN, D3D12_WRITEBUFFERIMMEDIATE_MODE_MARKER_OUT};
        list2->WriteBufferImmediate(2, writes, modes);
        other.run();
        check(
            "WriteBufferImmediate",
            other.read<UINT>(target.Get(), 4) == std::vector<UINT>{0, 5, 0, 0xFFFFFFFF});
        const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER outside = {address + 16, 5};
        list2->WriteBufferImmediate(1, &outside, nullptr);
        hresult("Close after WriteBufferImmediate", list2->Close(), E_INVALIDARG);
    }

    std::vector<std::string> heard;

    void listen(D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID, LPCSTR text, void* context)
    {
        heard.push_back(std::to_string(int(severity)) + " " + text + " " + static_cast<const char*>(context));
    }

    void test_debug()
    {
        ComPtr<ID3D12Debug1> debug1;
        hresult("D3D12GetDebugInterface(ID3D12Debug1)", D3D12GetDebugInterface(IID_PPV_ARGS(&debug1)), Fine);
        debug1->SetEnableGPUBasedValidation(FALSE);
        debug1->SetEnableSynchronizedCommandQueueValidation(TRUE);
        AS(ID3D12Debug2, debug1.Get())->SetGPUBasedValidationFlags(D3D12_GPU_BASED_VALIDATION_FLAGS_NONE);
        AS(ID3D12Debug3, debug1.Get())->SetGPUBasedValidationFlags(D3D12_GPU_BASED_VALIDATION_FLAGS_NONE);

        Bench bench(Bench::Debug::On);
        const auto device = AS(ID3D12DebugDevice, bench.d3d12.Get());
        hresult("SetFeatureMask", device->SetFeatureMask(D3D12_DEBUG_FEATURE_NONE), Fine);
        equal("GetFeatureMask", device->GetFeatureMask(), D3D12_DEBUG_FEATURE_NONE);

        const auto queue = AS(ID3D12InfoQueue1, bench.d3d12.Get());
        DWORD cookies[2] = {0, 0xffffffff};
        DWORD& cookie = cookies[0];
        static char context[] = "(context)";
        hresult(
            "RegisterMessageCallback",
            queue->RegisterMessageCallback(listen, D3D12_MESSAGE_CALLBACK_FLAG_NONE, context, &cookie),
            Fine);
        check("a cookie", cookie != 0);
        equal("what lies behind it", cookies[1], 0xffffffffu);
        queue->AddApplicationMessage(D3D12_MESSAGE_SEVERITY_WARNING, "hello");
        hresult("UnregisterMessageCallback", queue->UnregisterMessageCallback(cookie), Fine);
        queue->AddApplicationMessage(D3D12_MESSAGE_SEVERITY_WARNING, "again");
        check(
            "a callback hears messages",
            heard == std::vector<std::string>{std::to_string(int(D3D12_MESSAGE_SEVERITY_WARNING)) + " hello (context)"},
            all_texts(queue.Get()));
        const auto leftover = bench.buffer(64);
        need(leftover->SetName(L"leftover"), "SetName");
        leftover->AddRef();
        hresult("ReportLiveDeviceObjects", device->ReportLiveDeviceObjects(D3D12_RLDO_DETAIL), Fine);
        leftover->Release();
        const std::string said = all_texts(queue.Get());
        check("the device lives", said.find("Live ID3D12Device at 0x") != said.npos, said);
        check("its buffer does, with two references", said.find(", Name: leftover, Refcount: 2") != said.npos, said);
        hresult("an old cookie", queue->UnregisterMessageCallback(cookie), E_INVALIDARG);
        hresult(
            "a null callback",
            queue->RegisterMessageCallback(nullptr, D3D12_MESSAGE_CALLBACK_FLAG_NONE, nullptr, &cookie),
            E_INVALIDARG);
        hresult(
            "no place for a cookie",
            queue->RegisterMessageCallback(listen, D3D12_MESSAGE_CALLBACK_FLAG_NONE, nullptr, nullptr),
            E_POINTER);
    }

    void test_removal(Bench& bench)
    {
        AS(ID3D12Device5, bench.d3d12.Get())->RemoveDevice();
        hresult("RemoveDevice", bench.d3d12->GetDeviceRemovedReason(), DeviceRemoved);
    }

    void versions(const std::vector<std::string>&)
    {
        Bench bench;
        test_device(bench);
        test_several_fences(bench);
        test_lists(bench);
        test_removal(bench);
        test_debug();
    }

    const Registration registration("versions", versions);
}
