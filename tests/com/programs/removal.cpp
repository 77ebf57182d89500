// Wrong use of methods that return nothing removes the DirectML device; an invalid list removes Direct3D's.

#include "world.h"

namespace
{
    void test_removed_methods(World& world)
    {
        IDMLDevice1* const device = world.bench.dml.Get();
        const Tensor four(Float32, {1, 1, 1, 4});
        const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity = {four.desc(), four.desc(), nullptr};
        const DML_OPERATOR_DESC desc = {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity};
        void* found = poison();
        const HRESULT created = device->CreateOperator(&desc, __uuidof(IDMLOperator), &found);
        hresult("removed: CreateOperator", created, DeviceRemoved);
        check("removed: null", found == nullptr);
        hresult(
            "removed: CompileOperator",
            device->CompileOperator(
                world.op.Get(), DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &found),
            DeviceRemoved);
        IDMLCompiledOperator* const operators[] = {world.compiled.Get()};
        hresult(
            "removed: CreateOperatorInitializer",
            device->CreateOperatorInitializer(1, operators, __uuidof(IDMLOperatorInitializer), &found),
            DeviceRemoved);
        hresult(
            "removed: CreateCommandRecorder",
            device->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), &found),
            DeviceRemoved);
        hresult(
            "removed: CreateBindingTable",
            device->CreateBindingTable(nullptr, __uuidof(IDMLBindingTable), &found),
            DeviceRemoved);
        const DML_GRAPH_DESC graph = {};
        hresult(
            "removed: CompileGraph",
            device->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &found),
            DeviceRemoved);
        const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query = {Float32};
        DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support = {};
        hresult(
            "removed: CheckFeatureSupport",
            device->CheckFeatureSupport(
                DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support, &support),
            DeviceRemoved);
        IDMLPageable* const pageables[] = {world.compiled.Get()};
        hresult("removed: MakeResident", device->MakeResident(1, pageables), DeviceRemoved);
        hresult("removed: Evict", device->Evict(1, pageables), DeviceRemoved);
        hresult("removed: GetParentDevice", device->GetParentDevice(__uuidof(ID3D12Device), &found), DeviceRemoved);
        hresult("removed: GetDevice", world.op->GetDevice(__uuidof(IDMLDevice), &found), DeviceRemoved);
        hresult("removed: SetName", world.op->SetName(L"name"), DeviceRemoved);
        hresult("removed: initializer Reset", world.initializer->Reset(0, nullptr), DeviceRemoved);
        hresult("removed: table Reset", world.table->Reset(nullptr), DeviceRemoved);
        // COM goes on.
        hresult("removed: QueryInterface", device->QueryInterface(__uuidof(IDMLDevice), &found), Fine);
        device->Release();
    }

    void test_bind_inputs()
    {
        World world;
        Bench other(world.bench.d3d12);
        world.table->BindInputs(2, nullptr);
        hresult("BindInputs with a wrong count", world.bench.dml->GetDeviceRemovedReason(), DeviceRemoved);
        test_removed_methods(world);
        // Methods that return nothing do nothing.
        const Binding whole(world.committed.Get());
        const DML_BINDING_DESC desc = whole.desc();
        world.table->BindInputs(1, &desc);
        world.table->BindOutputs(1, &desc);
        world.table->BindTemporaryResource(&desc);
        world.table->BindPersistentResource(&desc);
        world.bench.recorder->RecordDispatch(world.bench.list.Get(), world.compiled.Get(), world.table.Get());
        hresult("the first reason stays", world.bench.dml->GetDeviceRemovedReason(), DeviceRemoved);
        hresult("the Direct3D 12 device is well", world.bench.d3d12->GetDeviceRemovedReason(), Fine);
        hresult("another DirectML device is well", other.dml->GetDeviceRemovedReason(), Fine);
        world.bench.run();
        ComPtr<IDMLDevice> fresh;
        hresult(
            "a new DirectML device on the same Direct3D 12 device",
            DMLCreateDevice(world.bench.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&fresh)),
            Fine);
        hresult("is well", fresh->GetDeviceRemovedReason(), Fine);
    }

    // One device each, that one mistake removes.
    template <typename Mistake>
    void removes(const char* name, Mistake mistake)
    {
        World world;
        mistake(world);
        hresult(name, world.bench.dml->GetDeviceRemovedReason(), DeviceRemoved);
    }

    void test_mistakes()
    {
        removes("BindOutputs with too small a range", [](World& world) {
            const Binding part(world.committed.Get(), 0, 8);
            const DML_BINDING_DESC desc = part.desc();
            world.table->BindOutputs(1, &desc);
        });
        removes("BindInputs with an offset that is not aligned", [](World& world) {
            const Binding part(world.committed.Get(), 4, 16);
            const DML_BINDING_DESC desc = part.desc();
            world.table->BindInputs(1, &desc);
        });
        removes("BindInputs of an upload buffer", [](World& world) {
            auto upload = world.bench.buffer(16, D3D12_HEAP_TYPE_UPLOAD);
            const Binding whole(upload.Get());
            const DML_BINDING_DESC desc = whole.desc();
            world.table->BindInputs(1, &desc);
        });
        removes("BindInputs of nothing where something is needed", [](World& world) {
            const DML_BINDING_DESC desc = {DML_BINDING_TYPE_NONE, nullptr};
            world.table->BindInputs(1, &desc);
        });
        removes("BindOutputs of a null buffer", [](World& world) {
            const DML_BUFFER_BINDING null = {nullptr, 0, 0};
            const DML_BINDING_DESC desc = {DML_BINDING_TYPE_BUFFER, &null};
            world.table->BindOutputs(1, &desc);
        });
        removes("BindTemporaryResource without need", [](World& world) {
            const Binding whole(world.committed.Get());
            const DML_BINDING_DESC desc = whole.desc();
            world.table->BindTemporaryResource(&desc);
        });
        removes("BindPersistentResource without need", [](World& world) {
            const Binding whole(world.committed.Get());
            const DML_BINDING_DESC desc = whole.desc();
            world.table->BindPersistentResource(&desc);
        });
        removes("BindInputs of a null array", [](World& world) { world.table->BindInputs(1, nullptr); });
        removes("BindInputs of what is no resource", [](World& world) {
            const DML_BUFFER_BINDING wrong = {reinterpret_cast<ID3D12Resource*>(world.op.Get()), 0, 16};
            const DML_BINDING_DESC desc = {DML_BINDING_TYPE_BUFFER, &wrong};
            world.table->BindInputs(1, &desc);
        });
        removes("BindTemporaryResource of no binding type", [](World& world) {
            const DML_BINDING_DESC desc = {DML_BINDING_TYPE(9), nullptr};
            world.table->BindTemporaryResource(&desc);
        });
        removes("RecordDispatch without bindings", [](World& world) {
            world.bench.recorder->RecordDispatch(world.bench.list.Get(), world.compiled.Get(), world.table.Get());
        });
        removes("RecordDispatch into null", [](World& world) {
            world.bench.recorder->RecordDispatch(nullptr, world.compiled.Get(), world.table.Get());
        });
        removes("RecordDispatch of null", [](World& world) {
            world.bench.recorder->RecordDispatch(world.bench.list.Get(), nullptr, nullptr);
        });
        removes("RecordDispatch with another's table", [](World& world) {
            world.bench.recorder->RecordDispatch(
                world.bench.list.Get(), world.initializer.Get(), world.table.Get());
        });
    }

    void test_no_mistakes()
    {
        World world;
        const DML_BINDING_DESC none = {DML_BINDING_TYPE_NONE, nullptr};
        world.table->BindInputs(0, &none);
        world.table->BindOutputs(0, nullptr);
        world.table->BindTemporaryResource(&none);
        world.table->BindPersistentResource(&none);
        auto odd = world.bench.buffer(32);
        const Binding part(odd.Get(), 0, 17);
        const DML_BINDING_DESC desc = part.desc();
        world.table->BindInputs(1, &desc);
        hresult("nothing of that removes", world.bench.dml->GetDeviceRemovedReason(), Fine);
    }

    void test_d3d12()
    {
        World world;
        Bench& bench = world.bench;
        ID3D12CommandList* const lists[] = {bench.list.Get()};
        // The list is open.
        bench.queue->ExecuteCommandLists(1, lists);
        hresult("ExecuteCommandLists of an open list", bench.d3d12->GetDeviceRemovedReason(), InvalidCall);
        hresult("the DirectML device goes with it", bench.dml->GetDeviceRemovedReason(), InvalidCall);
        check("fences are complete", bench.fence->GetCompletedValue() == UINT64_MAX);
        hresult("nobody waits", bench.fence->SetEventOnCompletion(1000, nullptr), Fine);
        void* found = poison();
        hresult(
            "removed: CreateFence",
            bench.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &found),
            DeviceRemoved);
        check("removed: null fence", found == nullptr);
        hresult(
            "removed: CreateCommandAllocator",
            bench.d3d12->CreateCommandAllocator(
                D3D12_COMMAND_LIST_TYPE_DIRECT, __uuidof(ID3D12CommandAllocator), &found),
            DeviceRemoved);
        hresult("removed: Close", bench.list->Close(), DeviceRemoved);
        hresult("removed: Signal", bench.queue->Signal(bench.fence.Get(), 1), DeviceRemoved);
        hresult("removed: allocator Reset", bench.allocator->Reset(), DeviceRemoved);
        auto upload = world.committed;
        hresult("removed: Map", upload->Map(0, nullptr, &found), DeviceRemoved);
        const Bench other;
        hresult("other Direct3D 12 devices are well", other.d3d12->GetDeviceRemovedReason(), Fine);
    }

    void removal(const std::vector<std::string>&)
    {
        test_bind_inputs();
        test_mistakes();
        test_no_mistakes();
        test_d3d12();
    }

    const Registration registration("removal", removal);
}
