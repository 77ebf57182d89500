// Objects that the program uses after it has released them: each use is reported, and none ends the process.

#include "messages.h"
#include "world.h"

#include <cstdlib>

namespace
{
    constexpr UINT ZeroReferences = D3D12_MESSAGE_ID_USE_OF_ZERO_REFCOUNT_OBJECT;

    bool told_of_use(ID3D12InfoQueue* queue, const std::string& call, const std::string& object)
    {
        for (UINT64 i = 0; i < stored(queue); i++)
        {
            const Message found = message(queue, i);
            if (found.id == ZeroReferences && found.severity == D3D12_MESSAGE_SEVERITY_ERROR
                && found.text.find(call) != std::string::npos && found.text.find(object) != std::string::npos)
                return true;
        }
        return false;
    }

    void reported(
        ID3D12InfoQueue* queue, const std::string& call, const std::string& object, const std::function<void()>& use)
    {
        queue->ClearStoredMessages();
        use();
        check(call + " of a released object is reported", told_of_use(queue, call, object), all_texts(queue));
    }

    // What malloc gives back is overwritten, as a program overwrites it.
    void churn()
    {
        std::vector<void*> blocks;
        for (size_t size = 16; size <= 128; size += 16)
            for (int i = 0; i < 200; i++)
            {
                blocks.push_back(std::malloc(size));
                std::memset(blocks.back(), 0x5a, size);
            }
        for (void* block : blocks)
            std::free(block);
    }

    void test_resource(Bench& bench, ID3D12InfoQueue* queue)
    {
        auto owner = bench.buffer(64, D3D12_HEAP_TYPE_UPLOAD);
        need(owner->SetName(L"weights"), "SetName");
        ID3D12Resource* const resource = owner.Detach();
        equal("the last Release", resource->Release(), 0u);
        churn();
        const std::string name = "ID3D12Resource 'weights'";
        reported(queue, "ID3D12Resource::GetDesc", name, [&] { equal("its desc", resource->GetDesc().Width, 0u); });
        reported(queue, "ID3D12Resource::Map", name, [&] {
            void* data = nullptr;
            hresult("its Map", resource->Map(0, nullptr, &data), E_INVALIDARG);
        });
        reported(queue, "ID3D12Resource::Unmap", name, [&] { resource->Unmap(0, nullptr); });
        reported(queue, "ID3D12Object::SetName", name, [&] {
            hresult("its SetName", resource->SetName(L"other"), E_INVALIDARG);
        });
        reported(queue, "ID3D12Resource::GetGPUVirtualAddress", name, [&] {
            equal("its address", resource->GetGPUVirtualAddress(), 0u);
        });
        reported(queue, "IUnknown::QueryInterface", name, [&] {
            void* found = poison();
            hresult("its QueryInterface", resource->QueryInterface(__uuidof(IUnknown), &found), E_INVALIDARG);
            check("which gives null", found == nullptr);
        });
        reported(queue, "IUnknown::AddRef", name, [&] { equal("its AddRef", resource->AddRef(), 0u); });
        reported(queue, "IUnknown::Release", name, [&] { equal("its Release", resource->Release(), 0u); });
        reported(queue, "IUnknown::Release", "released by object_model" PROGRAM_SUFFIX "+0x", [&] { resource->Release(); });
        queue->ClearStoredMessages();
        bench.list->CopyResource(bench.buffer(64).Get(), resource);
        check("as a parameter it is named", told(queue, name), all_texts(queue));
        check("as a parameter the list does not close", FAILED(bench.list->Close()));
        hresult("the device stays", bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    template <typename T>
    T* let_go(ComPtr<T>& owner)
    {
        T* const pointer = owner.Detach();
        while (pointer->Release() != 0)
            continue;
        return pointer;
    }

    void test_other_kinds(World& world, ID3D12InfoQueue* queue)
    {
        ID3D12Device* const device = world.bench.d3d12.Get();
        IDMLBindingTable* const table = let_go(world.table);
        reported(queue, "IDMLBindingTable::BindInputs", "IDMLBindingTable", [&] { table->BindInputs(0, nullptr); });
        IDMLOperatorInitializer* const initializer = let_go(world.initializer);
        reported(queue, "IDMLDispatchable::GetBindingProperties", "IDMLOperatorInitializer", [&] {
            equal("descriptors of none", initializer->GetBindingProperties().RequiredDescriptorCount, 0u);
        });
        ID3D12DescriptorHeap* const heap = let_go(world.descriptors);
        reported(queue, "GetCPUDescriptorHandleForHeapStart", "ID3D12DescriptorHeap", [&] {
            equal("a handle of none", heap->GetCPUDescriptorHandleForHeapStart().ptr, 0u);
        });
        ComPtr<ID3D12Fence> owner;
        need(device->CreateFence(7, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&owner)), "CreateFence");
        ID3D12Fence* const fence = let_go(owner);
        reported(queue, "ID3D12Fence::GetCompletedValue", "ID3D12Fence", [&] {
            equal("the value of none", fence->GetCompletedValue(), 0u);
        });
        ID3D12GraphicsCommandList* const list = let_go(world.bench.list);
        reported(queue, "ID3D12GraphicsCommandList::Close", "ID3D12GraphicsCommandList", [&] {
            check("Close of none", FAILED(list->Close()));
        });
    }

    // An object that others keep works on without a reference of the program, which is reported all the same.
    void test_kept_alive(Bench& bench, ID3D12InfoQueue* queue)
    {
        const Tensor four(Float32, {1, 1, 1, 4});
        auto owner = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four));
        auto heap = bench.descriptors(owner->GetBindingProperties().RequiredDescriptorCount);
        auto table = bench.table(owner.Get(), heap.Get());
        IDMLCompiledOperator* const op = let_go(owner);
        reported(queue, "GetBindingProperties", "IDMLCompiledOperator", [&] { op->GetBindingProperties(); });
        reported(queue, "IUnknown::AddRef", "IDMLCompiledOperator", [&] { equal("its AddRef", op->AddRef(), 1u); });
        queue->ClearStoredMessages();
        op->GetBindingProperties();
        table.Reset();
        op->GetBindingProperties();
        equal("nothing is reported with a reference", stored(queue), 0u);
        equal("which is the last", op->Release(), 0u);
    }

    // The info queue is a part of its device: it needs no references of its own.
    void test_tear_off(Bench& bench)
    {
        auto queue = info_queue(bench);
        ID3D12InfoQueue* const pointer = queue.Detach();
        equal("the reference of an info queue", pointer->Release(), 0u);
        equal("an info queue lives as long as its device", stored(pointer), 0u);
    }

    void released(const std::vector<std::string>&)
    {
        Bench bench(Bench::Debug::On);
        auto queue = info_queue(bench);
        test_resource(bench, queue.Get());
        World world(Bench::Debug::On);
        test_other_kinds(world, info_queue(world.bench).Get());
        Bench fresh(Bench::Debug::On);
        test_kept_alive(fresh, info_queue(fresh).Get());
        test_tear_off(fresh);
    }

    // Without debug layer: nothing but the log has it.
    void released_quietly(const std::vector<std::string>&)
    {
        Bench bench;
        ID3D12Resource* resource = bench.buffer(64).Detach();
        resource->Release();
        resource->GetDesc();
        resource->Unmap(0, nullptr);
        equal("Release of nothing", resource->Release(), 0u);
        hresult("the device stays", bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    const Registration registration("released", released);
    const Registration quiet("released_quietly", released_quietly);
}
