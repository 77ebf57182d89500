// Methods that return structs, small ones in registers and large ones through a hidden pointer.

#include "world.h"

namespace
{
    void test_resources(World& world)
    {
        ID3D12Resource* const resource = world.committed.Get();
        // The second answer comes from C.
        for (int time = 0; time < 2; time++)
        {
            const D3D12_RESOURCE_DESC desc = resource->GetDesc();
            equal("ID3D12Resource::GetDesc: Dimension", int(desc.Dimension), int(D3D12_RESOURCE_DIMENSION_BUFFER));
            equal("GetDesc: Alignment", desc.Alignment, 65536u);
            equal("GetDesc: Width", desc.Width, 256u);
            equal("GetDesc: Height", desc.Height, 1u);
            equal("GetDesc: DepthOrArraySize", desc.DepthOrArraySize, 1u);
            equal("GetDesc: MipLevels", desc.MipLevels, 1u);
            equal("GetDesc: Format", int(desc.Format), int(DXGI_FORMAT_UNKNOWN));
            equal("GetDesc: SampleDesc", desc.SampleDesc.Count * 10 + desc.SampleDesc.Quality, 10u);
            equal("GetDesc: Layout", int(desc.Layout), int(D3D12_TEXTURE_LAYOUT_ROW_MAJOR));
            equal("GetDesc: Flags", int(desc.Flags), int(D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS));
        }

        D3D12_HEAP_PROPERTIES properties = {};
        D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAGS(~0u);
        hresult("GetHeapProperties", resource->GetHeapProperties(&properties, &flags), Fine);
        equal("GetHeapProperties: Type", int(properties.Type), int(D3D12_HEAP_TYPE_DEFAULT));
        equal("GetHeapProperties: flags", int(flags), int(D3D12_HEAP_FLAG_NONE));
        hresult("GetHeapProperties without flags", resource->GetHeapProperties(&properties, nullptr), Fine);
        hresult("GetHeapProperties without properties", resource->GetHeapProperties(nullptr, &flags), Fine);
        hresult("GetHeapProperties without both", resource->GetHeapProperties(nullptr, nullptr), Fine);

        const auto address = resource->GetGPUVirtualAddress();
        check("GetGPUVirtualAddress", address != 0 && address % 65536 == 0);
        check("GetGPUVirtualAddress of another", address != world.placed->GetGPUVirtualAddress());
    }

    void test_heaps(World& world)
    {
        const D3D12_HEAP_DESC heap = world.heap->GetDesc();
        equal("ID3D12Heap::GetDesc: SizeInBytes", heap.SizeInBytes, 65536u);
        equal("ID3D12Heap::GetDesc: Type", int(heap.Properties.Type), int(D3D12_HEAP_TYPE_DEFAULT));
        equal("ID3D12Heap::GetDesc: Alignment", heap.Alignment, 65536u);
        equal("ID3D12Heap::GetDesc: Flags", int(heap.Flags), int(D3D12_HEAP_FLAG_NONE));

        const D3D12_DESCRIPTOR_HEAP_DESC desc = world.descriptors->GetDesc();
        equal(
            "ID3D12DescriptorHeap::GetDesc: Type", int(desc.Type), int(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV));
        equal("ID3D12DescriptorHeap::GetDesc: NumDescriptors", desc.NumDescriptors, 8u);
        equal(
            "ID3D12DescriptorHeap::GetDesc: Flags",
            int(desc.Flags),
            int(D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE));
        equal("ID3D12DescriptorHeap::GetDesc: NodeMask", desc.NodeMask, 0u);
        const auto cpu = world.descriptors->GetCPUDescriptorHandleForHeapStart();
        const auto gpu = world.descriptors->GetGPUDescriptorHandleForHeapStart();
        check("descriptor handles", cpu.ptr != 0 && gpu.ptr != 0);
        check("CPU handles stay", world.descriptors->GetCPUDescriptorHandleForHeapStart().ptr == cpu.ptr);
        check("GPU handles stay", world.descriptors->GetGPUDescriptorHandleForHeapStart().ptr == gpu.ptr);
        auto other = world.bench.descriptors(1);
        check("handles of another heap", other->GetCPUDescriptorHandleForHeapStart().ptr != cpu.ptr);
        auto hidden = world.bench.descriptors(1, false);
        equal("no GPU handle without SHADER_VISIBLE", hidden->GetGPUDescriptorHandleForHeapStart().ptr, 0u);
    }

    void test_device(ID3D12Device* device)
    {
        const D3D12_RESOURCE_DESC descs[] = {buffer_desc(1), buffer_desc(65537)};
        const D3D12_RESOURCE_ALLOCATION_INFO info = device->GetResourceAllocationInfo(0, 2, descs);
        equal("GetResourceAllocationInfo: SizeInBytes", info.SizeInBytes, 3u * 65536);
        equal("GetResourceAllocationInfo: Alignment", info.Alignment, 65536u);
        const D3D12_RESOURCE_DESC wrong = buffer_desc(0);
        const auto none = device->GetResourceAllocationInfo(0, 1, &wrong);
        check("GetResourceAllocationInfo of a wrong desc", none.SizeInBytes == UINT64_MAX);

        const auto custom = device->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_READBACK);
        equal("GetCustomHeapProperties: Type", int(custom.Type), int(D3D12_HEAP_TYPE_CUSTOM));
        equal(
            "GetCustomHeapProperties: CPUPageProperty",
            int(custom.CPUPageProperty),
            int(D3D12_CPU_PAGE_PROPERTY_WRITE_BACK));
        equal(
            "GetCustomHeapProperties: MemoryPoolPreference",
            int(custom.MemoryPoolPreference),
            int(D3D12_MEMORY_POOL_L0));
        equal("GetCustomHeapProperties: nodes", custom.CreationNodeMask * 10 + custom.VisibleNodeMask, 11u);
    }

    void test_queues(Bench& bench)
    {
        const D3D12_COMMAND_QUEUE_DESC wanted = {
            D3D12_COMMAND_LIST_TYPE_COMPUTE,
            D3D12_COMMAND_QUEUE_PRIORITY_HIGH,
            D3D12_COMMAND_QUEUE_FLAG_DISABLE_GPU_TIMEOUT,
            0};
        ComPtr<ID3D12CommandQueue> queue;
        need(bench.d3d12->CreateCommandQueue(&wanted, IID_PPV_ARGS(&queue)), "CreateCommandQueue");
        const D3D12_COMMAND_QUEUE_DESC desc = queue->GetDesc();
        equal("ID3D12CommandQueue::GetDesc: Type", int(desc.Type), int(wanted.Type));
        equal("ID3D12CommandQueue::GetDesc: Priority", desc.Priority, wanted.Priority);
        equal("ID3D12CommandQueue::GetDesc: Flags", int(desc.Flags), int(wanted.Flags));
        equal("ID3D12CommandList::GetType", int(bench.list->GetType()), int(D3D12_COMMAND_LIST_TYPE_DIRECT));
    }

    // A struct of 24 bytes; what comes after it on the stack must stay.
    void test_binding_properties(World& world)
    {
        struct
        {
            DML_BINDING_PROPERTIES properties;
            UINT64 guard;
        } found = {{0, 0, 0}, 0x5a5a5a5a5a5a5a5aull};
        found.properties = world.compiled->GetBindingProperties();
        equal("GetBindingProperties: RequiredDescriptorCount", found.properties.RequiredDescriptorCount, 2u);
        equal("GetBindingProperties: TemporaryResourceSize", found.properties.TemporaryResourceSize, 0u);
        equal("GetBindingProperties: PersistentResourceSize", found.properties.PersistentResourceSize, 0u);
        check("GetBindingProperties: nothing behind it", found.guard == 0x5a5a5a5a5a5a5a5aull);
        found.properties = world.initializer->GetBindingProperties();
        check("an initializer needs a descriptor", found.properties.RequiredDescriptorCount >= 1);

        ComPtr<IDMLDispatchable> dispatchable;
        need(world.compiled->QueryInterface(IID_PPV_ARGS(&dispatchable)), "IDMLDispatchable");
        equal(
            "GetBindingProperties of the base", dispatchable->GetBindingProperties().RequiredDescriptorCount, 2u);

        const Tensor in(Float32, {1, 1, 2, 4}, {}, DML_TENSOR_FLAG_OWNED_BY_DML), out(Float32, {1, 1, 2, 1});
        IDMLDevice* const device = world.bench.dml.Get();
        auto compiled = compile(device, reduce(device, DML_REDUCE_FUNCTION_LOG_SUM_EXP, in, out, {3}));
        found.properties = compiled->GetBindingProperties();
        check("a temporary resource", found.properties.TemporaryResourceSize > 0);
        check("a persistent resource", found.properties.PersistentResourceSize >= 32);
        equal("descriptors for them", found.properties.RequiredDescriptorCount, 3u);
    }

    void structs(const std::vector<std::string>&)
    {
        World world;
        test_resources(world);
        test_heaps(world);
        test_device(world.bench.d3d12.Get());
        test_queues(world.bench);
        test_binding_properties(world);
    }

    const Registration registration("structs", structs);
}
