// Initializers: OWNED_BY_DML tensors, several operators, Reset; tables that are filled late or reset.

#include "bench.h"

namespace
{
    const Tensor Four(Float32, {1, 1, 1, 4});

    void test_owned(Bench& bench)
    {
        IDMLDevice* const device = bench.dml.Get();
        const Tensor weights(Float32, {1, 1, 1, 4}, {}, DML_TENSOR_FLAG_OWNED_BY_DML), both(Float32, {1, 1, 1, 8});
        auto compiled = compile(device, join(device, {Four, weights}, both, 3));
        const UINT64 size = compiled->GetBindingProperties().PersistentResourceSize;
        check("an owned input has a persistent resource", size >= 16);
        auto weight = bench.holding<float>({10, 20, 30, 40});
        auto persistent = bench.initialize(compiled.Get(), {nullptr, weight.Get()});
        // Execution reads the persistent resource: the program may let go of the weights.
        weight.Reset();
        auto output = bench.buffer(32);
        for (float first : {1.0f, 5.0f})
        {
            auto input = bench.holding<float>({first, 2, 3, 4});
            bench.record(compiled.Get(), {input.Get(), nullptr}, {output.Get()}, persistent.Get());
            bench.run();
            values<float>(
                "JOIN with an owned input",
                bench.read<float>(output.Get(), 8),
                {first, 2, 3, 4, 10, 20, 30, 40});
        }
    }

    void test_two_operators(Bench& bench)
    {
        IDMLDevice* const device = bench.dml.Get();
        const Tensor owned(Float32, {1, 1, 1, 4}, {}, DML_TENSOR_FLAG_OWNED_BY_DML);
        const Tensor one(Float32, {1, 1, 1, 1});
        auto plain = compile(device, identity(device, Four, Four));
        auto sum = compile(device, reduce(device, DML_REDUCE_FUNCTION_SUM, owned, one, {3}));
        auto work = bench.initializer({plain.Get()});
        IDMLCompiledOperator* const operators[] = {plain.Get(), sum.Get()};
        hresult("IDMLOperatorInitializer::Reset", work->Reset(2, operators), Fine);

        auto heap = bench.descriptors(work->GetBindingProperties().RequiredDescriptorCount);
        auto table = bench.table(work.Get(), heap.Get());
        auto weights = bench.holding<float>({1, 2, 3, 4});
        auto persistent = bench.buffer(sum->GetBindingProperties().PersistentResourceSize);
        const DML_BUFFER_BINDING whole = Binding(weights.Get()).span;
        const DML_BUFFER_ARRAY_BINDING array = {1, &whole};
        const DML_BINDING_DESC inputs[] = {
            {DML_BINDING_TYPE_NONE, nullptr}, {DML_BINDING_TYPE_BUFFER_ARRAY, &array}};
        const Binding target(persistent.Get());
        const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_NONE, nullptr}, target.desc()};
        table->BindInputs(2, inputs);
        table->BindOutputs(2, outputs);
        ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
        bench.list->SetDescriptorHeaps(1, heaps);
        bench.recorder->RecordDispatch(bench.list.Get(), work.Get(), table.Get());
        bench.run();

        auto output = bench.buffer(4);
        bench.record(sum.Get(), {nullptr}, {output.Get()}, persistent.Get());
        bench.run();
        values<float>("the second operator of an initializer", bench.read<float>(output.Get(), 1), {10});
        auto input = bench.holding<float>({1, 2, 3, 4});
        auto copy = bench.buffer(16);
        bench.record(plain.Get(), {input.Get()}, {copy.Get()});
        bench.run();
        values<float>("the first operator of an initializer", bench.read<float>(copy.Get(), 4), {1, 2, 3, 4});
        hresult("Reset to no operators", work->Reset(0, nullptr), Fine);
        hresult("Reset to a null array", work->Reset(1, nullptr), E_INVALIDARG);
        hresult("the device is well", bench.dml->GetDeviceRemovedReason(), Fine);
    }

    void test_volatile(Bench& bench)
    {
        auto compiled = compile(
            bench.dml.Get(),
            identity(bench.dml.Get(), Four, Four),
            DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
        bench.initialize(compiled.Get());
        auto first = bench.holding<float>({1, 2, 3, 4}), second = bench.holding<float>({5, 6, 7, 8});
        auto output = bench.buffer(16);
        auto heap = bench.descriptors(compiled->GetBindingProperties().RequiredDescriptorCount);
        auto table = bench.table(compiled.Get(), heap.Get());
        const Binding in(first.Get()), other(second.Get()), out(output.Get());
        DML_BINDING_DESC desc = in.desc();
        table->BindInputs(1, &desc);
        ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
        bench.list->SetDescriptorHeaps(1, heaps);
        bench.recorder->RecordDispatch(bench.list.Get(), compiled.Get(), table.Get());
        // After the recording: another input, and the output for the first time.
        desc = other.desc();
        table->BindInputs(1, &desc);
        desc = out.desc();
        table->BindOutputs(1, &desc);
        bench.run();
        values<float>("DESCRIPTORS_VOLATILE", bench.read<float>(output.Get(), 4), {5, 6, 7, 8});
    }

    // Descriptors that a table wrote into a heap that shaders cannot see, copied to where they can.
    void test_copied_descriptors(Bench& bench)
    {
        auto compiled = compile(
            bench.dml.Get(),
            identity(bench.dml.Get(), Four, Four),
            DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
        bench.initialize(compiled.Get());
        auto input = bench.holding<float>({4, 3, 2, 1});
        auto output = bench.buffer(16), second = bench.buffer(16);
        auto hidden = bench.descriptors(2, false), visible = bench.descriptors(4);
        const auto views = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
        const UINT step = bench.d3d12->GetDescriptorHandleIncrementSize(views);
        DML_BINDING_TABLE_DESC desc = {};
        desc.Dispatchable = compiled.Get();
        desc.CPUDescriptorHandle = hidden->GetCPUDescriptorHandleForHeapStart();
        desc.GPUDescriptorHandle = {visible->GetGPUDescriptorHandleForHeapStart().ptr + 2 * step};
        desc.SizeInDescriptors = 2;
        ComPtr<IDMLBindingTable> table;
        need(bench.dml->CreateBindingTable(&desc, IID_PPV_ARGS(&table)), "CreateBindingTable");
        const Binding in(input.Get()), out(output.Get()), again(second.Get());
        DML_BINDING_DESC binding = in.desc();
        table->BindInputs(1, &binding);
        binding = out.desc();
        table->BindOutputs(1, &binding);
        const D3D12_CPU_DESCRIPTOR_HANDLE source = hidden->GetCPUDescriptorHandleForHeapStart();
        const D3D12_CPU_DESCRIPTOR_HANDLE target = {visible->GetCPUDescriptorHandleForHeapStart().ptr + 2 * step};
        bench.d3d12->CopyDescriptorsSimple(2, target, source, views);
        ID3D12DescriptorHeap* const heaps[] = {visible.Get()};
        bench.list->SetDescriptorHeaps(1, heaps);
        bench.recorder->RecordDispatch(bench.list.Get(), compiled.Get(), table.Get());
        bench.run();
        values<float>("CopyDescriptorsSimple", bench.read<float>(output.Get(), 4), {4, 3, 2, 1});

        binding = again.desc();
        table->BindOutputs(1, &binding);
        // One range of two into two ranges of one; sizes of null are all one.
        const D3D12_CPU_DESCRIPTOR_HANDLE targets[] = {target, {target.ptr + step}};
        const UINT two = 2;
        bench.d3d12->CopyDescriptors(2, targets, nullptr, 1, &source, &two, views);
        bench.list->SetDescriptorHeaps(1, heaps);
        bench.recorder->RecordDispatch(bench.list.Get(), compiled.Get(), table.Get());
        bench.run();
        values<float>("CopyDescriptors", bench.read<float>(second.Get(), 4), {4, 3, 2, 1});
    }

    void test_table_reset(Bench& bench)
    {
        IDMLDevice* const device = bench.dml.Get();
        const DML_SCALE_BIAS scale = {2, 1};
        auto compiled = compile(device, identity(device, Four, Four, &scale));
        bench.initialize(compiled.Get());
        auto input = bench.holding<float>({1, 2, 3, 4});
        auto output = bench.buffer(16);
        ComPtr<IDMLBindingTable> table;
        hresult("CreateBindingTable without a desc", device->CreateBindingTable(nullptr, IID_PPV_ARGS(&table)), Fine);
        auto heap = bench.descriptors(compiled->GetBindingProperties().RequiredDescriptorCount);
        DML_BINDING_TABLE_DESC desc = {};
        desc.Dispatchable = compiled.Get();
        desc.CPUDescriptorHandle = heap->GetCPUDescriptorHandleForHeapStart();
        desc.GPUDescriptorHandle = heap->GetGPUDescriptorHandleForHeapStart();
        desc.SizeInDescriptors = heap->GetDesc().NumDescriptors;
        hresult("IDMLBindingTable::Reset", table->Reset(&desc), Fine);
        // Offsets in the middle of a buffer.
        auto large = bench.holding<float>({0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4});
        const Binding in(large.Get(), 32, 16), out(output.Get());
        DML_BINDING_DESC binding = in.desc();
        table->BindInputs(1, &binding);
        binding = out.desc();
        table->BindOutputs(1, &binding);
        table->BindTemporaryResource(nullptr);
        table->BindPersistentResource(nullptr);
        ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
        bench.list->SetDescriptorHeaps(1, heaps);
        bench.recorder->RecordDispatch(bench.list.Get(), compiled.Get(), table.Get());
        bench.run();
        values<float>("a table that was reset", bench.read<float>(output.Get(), 4), {3, 5, 7, 9});
        desc.SizeInDescriptors = 1;
        hresult("IDMLBindingTable::Reset to too few descriptors", table->Reset(&desc), E_INVALIDARG);
        hresult("IDMLBindingTable::Reset without a desc", table->Reset(nullptr), Fine);
        hresult("the device is well after resets", device->GetDeviceRemovedReason(), Fine);
    }

    void initialization(const std::vector<std::string>&)
    {
        Bench bench;
        test_owned(bench);
        test_two_operators(bench);
        test_volatile(bench);
        test_copied_descriptors(bench);
        test_table_reset(bench);
    }

    const Registration registration("initialization", initialization);
}
