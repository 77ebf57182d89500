// Reference counts, and which objects keep others alive.

#include "world.h"

namespace
{
    void test_counts(const World& world)
    {
        for (const Object& object : world.objects())
        {
            IUnknown* const pointer = object.pointer.Get();
            const ULONG count = references(pointer);
            check(object.name + " has references", count > 0);
            equal(object.name + ": AddRef counts up", pointer->AddRef(), count + 1);
            equal(object.name + ": AddRef counts up again", pointer->AddRef(), count + 2);
            equal(object.name + ": Release counts down", pointer->Release(), count + 1);
            equal(object.name + ": Release counts down again", pointer->Release(), count);
            for (const Interface& one : object.chain)
            {
                void* found = nullptr;
                if (FAILED(pointer->QueryInterface(one.iid, &found)))
                    continue;
                equal(object.name + ": one reference more as " + one.name, references(pointer), count + 1);
                equal(
                    object.name + ": released as " + one.name, static_cast<IUnknown*>(found)->Release(), count);
            }
        }
    }

    void test_parents(const World& world)
    {
        for (ID3D12DeviceChild* child : world.d3d12_children())
        {
            ComPtr<ID3D12Device> device;
            hresult("ID3D12DeviceChild::GetDevice", child->GetDevice(IID_PPV_ARGS(&device)), Fine);
            check("GetDevice gives the program's pointer", device.Get() == world.bench.d3d12.Get());
            void* none = poison();
            hresult("GetDevice as a fence", child->GetDevice(__uuidof(ID3D12Fence), &none), E_NOINTERFACE);
            check("GetDevice as a fence: null", none == nullptr);
        }
        for (IDMLDeviceChild* child : world.dml_children())
        {
            ComPtr<IDMLDevice1> device;
            hresult("IDMLDeviceChild::GetDevice", child->GetDevice(IID_PPV_ARGS(&device)), Fine);
            check("GetDevice gives the program's DirectML pointer", device.Get() == world.bench.dml.Get());
            void* none = poison();
            hresult("GetDevice as an operator", child->GetDevice(__uuidof(IDMLOperator), &none), E_NOINTERFACE);
            check("GetDevice as an operator: null", none == nullptr);
            hresult("GetDevice with a null ppv", child->GetDevice(__uuidof(IDMLDevice), nullptr), E_POINTER);
        }
        ComPtr<ID3D12Device> parent;
        hresult("GetParentDevice", world.bench.dml->GetParentDevice(IID_PPV_ARGS(&parent)), Fine);
        check("GetParentDevice gives the program's pointer", parent.Get() == world.bench.d3d12.Get());
        hresult(
            "GetParentDevice with a null ppv",
            world.bench.dml->GetParentDevice(__uuidof(ID3D12Device), nullptr),
            E_POINTER);
        void* none = poison();
        hresult(
            "GetParentDevice as an IDMLDevice",
            world.bench.dml->GetParentDevice(__uuidof(IDMLDevice), &none),
            E_NOINTERFACE);
        check("GetParentDevice as an IDMLDevice: null", none == nullptr);
        ComPtr<ID3D12Object> base;
        hresult("GetParentDevice as an ID3D12Object", world.bench.dml->GetParentDevice(IID_PPV_ARGS(&base)), Fine);
    }

    // The last reference says so.
    void test_last_release(Bench& bench)
    {
        const Tensor four(Float32, {1, 1, 1, 4});
        auto op = identity(bench.dml.Get(), four, four);
        equal("the last Release of an operator", op.Detach()->Release(), 0u);
        auto resource = bench.buffer(16);
        equal("the last Release of a resource", resource.Detach()->Release(), 0u);
        auto heap = bench.descriptors(1);
        equal("the last Release of a descriptor heap", heap.Detach()->Release(), 0u);
        ComPtr<ID3D12Fence> fence;
        need(bench.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
        equal("the last Release of a fence", fence.Detach()->Release(), 0u);
    }

    const GUID Mark = {0xc1, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};

    template <typename T>
    bool is_marked(T* object)
    {
        char found = 0;
        UINT size = 1;
        return object->GetPrivateData(Mark, &size, &found) == Fine && found == 'x';
    }

    // A child's device lives as long as the child, though the program let go of it.
    void test_children_keep_devices()
    {
        ComPtr<IDMLOperator> op;
        {
            Bench bench;
            const Tensor four(Float32, {1, 1, 1, 4});
            op = identity(bench.dml.Get(), four, four);
            need(bench.d3d12->SetPrivateData(Mark, 1, "x"), "SetPrivateData");
            need(bench.dml->SetPrivateData(Mark, 1, "x"), "SetPrivateData");
        }
        ComPtr<IDMLDevice1> device;
        hresult("the device of an operator that is left alone", op->GetDevice(IID_PPV_ARGS(&device)), Fine);
        check("it is the same device", is_marked(device.Get()));
        ComPtr<ID3D12Device> parent;
        hresult("its parent device", device->GetParentDevice(IID_PPV_ARGS(&parent)), Fine);
        check("it is the same parent device", is_marked(parent.Get()));
        Bench bench(parent, device);
        auto compiled = compile(device.Get(), op);
        auto input = bench.holding<float>({1, 2, 3, 4});
        auto output = bench.buffer(16);
        bench.dispatch(compiled.Get(), {input.Get()}, {output.Get()});
        values<float>("and it works", bench.read<float>(output.Get(), 4), {1, 2, 3, 4});
    }

    // Operators, initializers and tables that the program needs no more may go before the dispatch does.
    void test_early_releases()
    {
        Bench bench;
        const Tensor four(Float32, {1, 1, 1, 4});
        auto op = identity(bench.dml.Get(), four, four);
        auto compiled = compile(bench.dml.Get(), op);
        op.Reset();
        auto input = bench.holding<float>({5, 6, 7, 8});
        auto output = bench.buffer(16);
        bench.initialize(compiled.Get());
        // The table and the recorder go as soon as the dispatch is recorded.
        bench.record(compiled.Get(), {input.Get()}, {output.Get()});
        bench.recorder.Reset();
        bench.run();
        values<float>("table and recorder released early", bench.read<float>(output.Get(), 4), {5, 6, 7, 8});
    }

    // A placed resource keeps its heap.
    void test_placed(World& world)
    {
        world.heap.Reset();
        const float numbers[] = {1, 2, 3, 4};
        auto source = world.bench.upload(numbers, sizeof numbers);
        auto to = transition(
            world.placed.Get(), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST);
        auto back = transition(
            world.placed.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        world.bench.list->ResourceBarrier(1, &to);
        world.bench.list->CopyBufferRegion(world.placed.Get(), 0, source.Get(), 0, sizeof numbers);
        world.bench.list->ResourceBarrier(1, &back);
        world.bench.run();
        values<float>(
            "a placed resource whose heap was released",
            world.bench.read<float>(world.placed.Get(), 4),
            {1, 2, 3, 4});
    }

    // A table holds a reference to its dispatchable, which the program may give back before it records.
    void test_dispatchable_of_a_table()
    {
        Bench bench;
        const Tensor four(Float32, {1, 1, 1, 4});
        auto op = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four));
        bench.initialize(op.Get());
        auto heap = bench.descriptors(op->GetBindingProperties().RequiredDescriptorCount);
        auto table = bench.table(op.Get(), heap.Get());
        auto source = bench.holding<float>({1, 2, 3, 4});
        auto target = bench.holding<float>({0, 0, 0, 0});
        const Binding in(source.Get()), out(target.Get());
        const DML_BINDING_DESC bound[] = {in.desc(), out.desc()};
        table->BindInputs(1, &bound[0]);
        table->BindOutputs(1, &bound[1]);
        IDMLCompiledOperator* const released = op.Get();
        op.Reset();
        ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
        bench.list->SetDescriptorHeaps(1, heaps);
        bench.recorder->RecordDispatch(bench.list.Get(), released, table.Get());
        bench.run();
        values<float>("a dispatchable that its table keeps", bench.read<float>(target.Get(), 4), {1, 2, 3, 4});
        hresult("the device is well after it", bench.dml->GetDeviceRemovedReason(), Fine);
        table.Reset();
    }

    void lifetime(const std::vector<std::string>&)
    {
        World world;
        test_counts(world);
        test_parents(world);
        test_last_release(world.bench);
        test_placed(world);
        test_children_keep_devices();
        test_early_releases();
        test_dispatchable_of_a_table();
    }

    const Registration registration("lifetime", lifetime);
}
