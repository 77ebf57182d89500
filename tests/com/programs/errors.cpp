// What HRESULTs say to wrong arguments. Nothing here removes a device.

#include "world.h"

namespace
{
    // The call of an out parameter fails like this and nulls it.
    template <typename Call>
    void refused(const std::string& name, HRESULT expected, Call call)
    {
        void* found = poison();
        hresult(name, call(&found), expected);
        check(name + ": null", found == nullptr);
    }

    void test_operators(World& world)
    {
        IDMLDevice* const device = world.bench.dml.Get();
        const auto create = [device](DML_OPERATOR_TYPE type, const void* desc) {
            return [=](void** found) {
                const DML_OPERATOR_DESC whole = {type, desc};
                return device->CreateOperator(&whole, __uuidof(IDMLOperator), found);
            };
        };
        refused("CreateOperator without a desc", E_INVALIDARG, [device](void** found) {
            return device->CreateOperator(nullptr, __uuidof(IDMLOperator), found);
        });
        refused("CreateOperator, null desc inside", E_INVALIDARG, create(DML_OPERATOR_JOIN, nullptr));

        const Tensor a(Float32, {1, 1, 2, 3}), b(Float32, {1, 1, 2, 4}), both(Float32, {1, 1, 2, 7});
        const DML_TENSOR_DESC inputs[] = {*a.desc(), *b.desc()};
        DML_JOIN_OPERATOR_DESC join = {2, inputs, both.desc(), 3};
        refused("CreateOperator, unknown type", E_INVALIDARG, create(DML_OPERATOR_TYPE(99999), &join));
        refused("CreateOperator, type -1", Unsupported, create(DML_OPERATOR_TYPE(-1), &join));
        refused("CreateOperator, type -1 of nothing", E_INVALIDARG, create(DML_OPERATOR_TYPE(-1), nullptr));
        refused("CreateOperator, type INVALID", E_INVALIDARG, create(DML_OPERATOR_INVALID, &join));
        join.Axis = 4;
        refused("JOIN, axis outside", E_INVALIDARG, create(DML_OPERATOR_JOIN, &join));
        join.Axis = 2;
        refused("JOIN, sizes that do not fit", E_INVALIDARG, create(DML_OPERATOR_JOIN, &join));
        join = {2, inputs, nullptr, 3};
        refused("JOIN without an output", E_INVALIDARG, create(DML_OPERATOR_JOIN, &join));
        join = {2, nullptr, both.desc(), 3};
        refused("JOIN without inputs", E_INVALIDARG, create(DML_OPERATOR_JOIN, &join));
        join = {0, inputs, both.desc(), 3};
        refused("JOIN of no inputs", E_INVALIDARG, create(DML_OPERATOR_JOIN, &join));
        Tensor small(Float32, {1, 1, 2, 3});
        small.buffer().TotalTensorSizeInBytes = 20;
        const DML_REDUCE_OPERATOR_DESC reduce = {DML_REDUCE_FUNCTION_SUM, small.desc(), a.desc(), 0, nullptr};
        refused("REDUCE, total size too small", E_INVALIDARG, create(DML_OPERATOR_REDUCE, &reduce));
        const DML_GATHER_OPERATOR_DESC gather = {both.desc(), b.desc(), both.desc(), 3, 1};
        refused("GATHER, indices of a float type", E_INVALIDARG, create(DML_OPERATOR_GATHER, &gather));
        const Tensor long_double(DML_TENSOR_DATA_TYPE(200), {1, 1, 2, 3});
        const DML_SPLIT_OPERATOR_DESC split = {long_double.desc(), 1, long_double.desc(), 3};
        refused("SPLIT of no data type", E_INVALIDARG, create(DML_OPERATOR_SPLIT, &split));

        join = {2, inputs, both.desc(), 3};
        const DML_OPERATOR_DESC valid = {DML_OPERATOR_JOIN, &join};
        refused("CreateOperator as a resource", E_NOINTERFACE, [&](void** found) {
            return device->CreateOperator(&valid, __uuidof(ID3D12Resource), found);
        });
        hresult(
            "CreateOperator without ppv", device->CreateOperator(&valid, __uuidof(IDMLOperator), nullptr), E_POINTER);
        ComPtr<IDMLDeviceChild> base;
        hresult("CreateOperator as a base", device->CreateOperator(&valid, IID_PPV_ARGS(&base)), Fine);
    }

    void test_compiling(World& world)
    {
        IDMLDevice* const device = world.bench.dml.Get();
        const auto compile = [device](IDMLOperator* op, DML_EXECUTION_FLAGS flags) {
            return [=](void** found) {
                return device->CompileOperator(op, flags, __uuidof(IDMLCompiledOperator), found);
            };
        };
        refused("CompileOperator without an operator", E_INVALIDARG, compile(nullptr, DML_EXECUTION_FLAG_NONE));
        refused(
            "CompileOperator, unknown flags", E_INVALIDARG, compile(world.op.Get(), DML_EXECUTION_FLAGS(0x1000)));
        refused(
            "CompileOperator of a resource",
            E_INVALIDARG,
            compile(reinterpret_cast<IDMLOperator*>(world.committed.Get()), DML_EXECUTION_FLAG_NONE));
        hresult(
            "CompileOperator without ppv",
            device->CompileOperator(
                world.op.Get(), DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), nullptr),
            Fine);
        const Bench other;
        refused("CompileOperator of another device's", E_INVALIDARG, [&](void** found) {
            return other.dml->CompileOperator(
                world.op.Get(), DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), found);
        });
    }

    void test_initializers(World& world)
    {
        IDMLDevice* const device = world.bench.dml.Get();
        const IID& iid = __uuidof(IDMLOperatorInitializer);
        refused("CreateOperatorInitializer, null array", E_INVALIDARG, [&](void** found) {
            return device->CreateOperatorInitializer(1, nullptr, iid, found);
        });
        IDMLCompiledOperator* const operators[] = {world.compiled.Get(), nullptr};
        refused("CreateOperatorInitializer, null operator", E_INVALIDARG, [&](void** found) {
            return device->CreateOperatorInitializer(2, operators, iid, found);
        });
        hresult(
            "CreateOperatorInitializer without ppv",
            device->CreateOperatorInitializer(1, operators, iid, nullptr),
            E_POINTER);
        hresult(
            "CreateCommandRecorder without ppv",
            device->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), nullptr),
            E_POINTER);
        refused("CreateCommandRecorder as a table", E_NOINTERFACE, [&](void** found) {
            return device->CreateCommandRecorder(__uuidof(IDMLBindingTable), found);
        });
        IDMLPageable* pageables[] = {world.compiled.Get(), world.initializer.Get()};
        hresult("MakeResident", device->MakeResident(2, pageables), Fine);
        hresult("Evict", device->Evict(2, pageables), Fine);
        pageables[1] = nullptr;
        hresult("MakeResident of null", device->MakeResident(2, pageables), E_INVALIDARG);
        hresult("Evict of a null array", device->Evict(2, nullptr), E_INVALIDARG);
        hresult("Evict of no objects in a null array", device->Evict(0, nullptr), E_INVALIDARG);
        hresult("MakeResident of no objects in a null array", device->MakeResident(0, nullptr), E_INVALIDARG);
        hresult("MakeResident of no objects", device->MakeResident(0, pageables), Fine);
    }

    void test_tables(World& world)
    {
        IDMLDevice* const device = world.bench.dml.Get();
        DML_BINDING_TABLE_DESC desc = {};
        desc.Dispatchable = world.compiled.Get();
        desc.CPUDescriptorHandle = world.descriptors->GetCPUDescriptorHandleForHeapStart();
        desc.GPUDescriptorHandle = world.descriptors->GetGPUDescriptorHandleForHeapStart();
        desc.SizeInDescriptors = 8;
        const auto create = [&](void** found) {
            return device->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), found);
        };
        hresult(
            "CreateBindingTable without ppv",
            device->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), nullptr),
            E_POINTER);
        desc.SizeInDescriptors = 1;
        refused("CreateBindingTable, too few descriptors", E_INVALIDARG, create);
        desc.SizeInDescriptors = 9;
        refused("CreateBindingTable, more than the heap has", E_INVALIDARG, create);
        desc.SizeInDescriptors = 8;
        desc.CPUDescriptorHandle.ptr += 1;
        refused("CreateBindingTable, handle of nothing", E_INVALIDARG, create);
        desc.CPUDescriptorHandle.ptr -= 1;
        desc.Dispatchable = reinterpret_cast<IDMLDispatchable*>(world.op.Get());
        refused("CreateBindingTable of an operator", E_INVALIDARG, create);
    }

    void test_d3d12(World& world)
    {
        ID3D12Device* const device = world.bench.d3d12.Get();
        const D3D12_HEAP_PROPERTIES heap = heap_properties(D3D12_HEAP_TYPE_UPLOAD);
        D3D12_RESOURCE_DESC desc = buffer_desc(16);
        const auto create = [&](D3D12_RESOURCE_STATES state) {
            return [=, &desc, &heap](void** found) {
                return device->CreateCommittedResource(
                    &heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, __uuidof(ID3D12Resource), found);
            };
        };
        const auto read = D3D12_RESOURCE_STATE_GENERIC_READ;
        hresult("CreateCommittedResource without ppv", create(read)(nullptr), False);
        refused("a state that an UPLOAD heap has not", E_INVALIDARG, create(D3D12_RESOURCE_STATE_COPY_DEST));
        desc.Width = 0;
        refused("a buffer of no bytes", E_INVALIDARG, create(read));
        hresult("a buffer of no bytes, without ppv", create(read)(nullptr), E_INVALIDARG);
        desc = buffer_desc(16);
        desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
        desc.Layout = D3D12_TEXTURE_LAYOUT_UNKNOWN;
        desc.Format = DXGI_FORMAT_R8_UNORM;
        refused("a texture", E_NOTIMPL, create(read));
        desc = buffer_desc(16);
        refused("CreateCommittedResource without properties", E_INVALIDARG, [&](void** found) {
            return device->CreateCommittedResource(
                nullptr, D3D12_HEAP_FLAG_NONE, &desc, read, nullptr, __uuidof(ID3D12Resource), found);
        });
        refused("CreateCommittedResource without a desc", E_INVALIDARG, [&](void** found) {
            return device->CreateCommittedResource(
                &heap, D3D12_HEAP_FLAG_NONE, nullptr, read, nullptr, __uuidof(ID3D12Resource), found);
        });
        refused("CreateCommittedResource as a heap", E_NOINTERFACE, [&](void** found) {
            return device->CreateCommittedResource(
                &heap, D3D12_HEAP_FLAG_NONE, &desc, read, nullptr, __uuidof(ID3D12Heap), found);
        });
        D3D12_HEAP_DESC heaps = {1 << 16, heap, 0, D3D12_HEAP_FLAG_NONE};
        hresult("CreateHeap without ppv", device->CreateHeap(&heaps, __uuidof(ID3D12Heap), nullptr), False);
        heaps.SizeInBytes = 0;
        refused("CreateHeap of no bytes", E_INVALIDARG, [&](void** found) {
            return device->CreateHeap(&heaps, __uuidof(ID3D12Heap), found);
        });
        refused("CreateHeap without a desc", E_INVALIDARG, [&](void** found) {
            return device->CreateHeap(nullptr, __uuidof(ID3D12Heap), found);
        });
    }

    void test_d3d12_required(World& world)
    {
        ID3D12Device* const device = world.bench.d3d12.Get();
        const auto direct = D3D12_COMMAND_LIST_TYPE_DIRECT;
        D3D12_COMMAND_QUEUE_DESC queue = {direct, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
        D3D12_DESCRIPTOR_HEAP_DESC heap = world.descriptors->GetDesc();
        const IID &queues = __uuidof(ID3D12CommandQueue), &heaps = __uuidof(ID3D12DescriptorHeap);
        const IID &fences = __uuidof(ID3D12Fence), &allocators = __uuidof(ID3D12CommandAllocator);
        hresult("CreateCommandQueue without ppv", device->CreateCommandQueue(&queue, queues, nullptr), E_POINTER);
        hresult(
            "CreateCommandAllocator without ppv",
            device->CreateCommandAllocator(direct, allocators, nullptr),
            E_POINTER);
        hresult("CreateDescriptorHeap without ppv", device->CreateDescriptorHeap(&heap, heaps, nullptr), S_FALSE);
        hresult("CreateFence without ppv", device->CreateFence(0, D3D12_FENCE_FLAG_NONE, fences, nullptr), E_POINTER);
        refused("CreateCommandQueue without a desc", E_INVALIDARG, [&](void** found) {
            return device->CreateCommandQueue(nullptr, queues, found);
        });
        queue.Priority = 5;
        refused("CreateCommandQueue, no priority", E_INVALIDARG, [&](void** found) {
            return device->CreateCommandQueue(&queue, queues, found);
        });
        refused("CreateCommandAllocator, no type", E_INVALIDARG, [&](void** found) {
            return device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE(77), allocators, found);
        });
        refused("CreateCommandAllocator, a type that is not emulated", E_NOTIMPL, [&](void** found) {
            return device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_BUNDLE, allocators, found);
        });
        heap.NumDescriptors = 0;
        refused("CreateDescriptorHeap of none", E_INVALIDARG, [&](void** found) {
            return device->CreateDescriptorHeap(&heap, heaps, found);
        });
        refused("CreateFence, unknown flags", E_INVALIDARG, [&](void** found) {
            return device->CreateFence(0, D3D12_FENCE_FLAGS(0x100), fences, found);
        });
        const IID& lists = __uuidof(ID3D12GraphicsCommandList);
        refused("CreateCommandList without an allocator", E_INVALIDARG, [&](void** found) {
            return device->CreateCommandList(0, direct, nullptr, nullptr, lists, found);
        });
        refused("CreateCommandList over a resource", E_INVALIDARG, [&](void** found) {
            auto* wrong = reinterpret_cast<ID3D12CommandAllocator*>(world.committed.Get());
            return device->CreateCommandList(0, direct, wrong, nullptr, lists, found);
        });
        const Bench other;
        refused("CreateCommandList over another device's allocator", E_INVALIDARG, [&](void** found) {
            return device->CreateCommandList(0, direct, other.allocator.Get(), nullptr, lists, found);
        });
    }

    void errors(const std::vector<std::string>&)
    {
        World world;
        test_operators(world);
        test_compiling(world);
        test_initializers(world);
        test_tables(world);
        test_d3d12(world);
        test_d3d12_required(world);
        hresult("the DirectML device is well", world.bench.dml->GetDeviceRemovedReason(), Fine);
        hresult("the Direct3D 12 device is well", world.bench.d3d12->GetDeviceRemovedReason(), Fine);
    }

    const Registration registration("errors", errors);
}
