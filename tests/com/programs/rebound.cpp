// Memory that is bound as it was before, or nearly: an operator keeps what it knows of earlier bindings, which must not
// be taken for others.

#include "bench.h"

namespace
{
    ComPtr<IDMLCompiledOperator> identity(Bench& bench, UINT width)
    {
        const Tensor tensor(Float32, {1, 1, 1, width});
        const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc = {tensor.desc(), tensor.desc(), nullptr};
        const DML_OPERATOR_DESC whole = {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc};
        ComPtr<IDMLOperator> op;
        ComPtr<IDMLCompiledOperator> compiled;
        need(bench.dml->CreateOperator(&whole, IID_PPV_ARGS(&op)), "CreateOperator");
        need(bench.dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)), "CompileOperator");
        return compiled;
    }

    std::vector<float> run(Bench& bench, IDMLCompiledOperator* op, ID3D12Resource* input, ID3D12Resource* output)
    {
        bench.record(op, {input}, {output});
        bench.run();
        return bench.read<float>(output, 4);
    }

    void test_same_memory()
    {
        Bench bench;
        const auto op = identity(bench, 4);
        const auto input = bench.holding<float>({1, 2, 3, 4}), output = bench.buffer(16);
        values("as bound first", run(bench, op.Get(), input.Get(), output.Get()), {1, 2, 3, 4});
        const auto other = bench.holding<float>({5, 6, 7, 8});
        bench.list->CopyResource(input.Get(), other.Get());
        values("the same memory with another content", run(bench, op.Get(), input.Get(), output.Get()), {5, 6, 7, 8});
        const auto elsewhere = bench.buffer(16);
        values("another output", run(bench, op.Get(), other.Get(), elsewhere.Get()), {5, 6, 7, 8});
    }

    // More assignments than are kept, each with the other content that it has in every round.
    void test_memory_in_turn()
    {
        Bench bench;
        const auto op = identity(bench, 4);
        std::vector<ComPtr<ID3D12Resource>> inputs, outputs;
        for (size_t count : {2, 12})
        {
            while (inputs.size() < count)
            {
                inputs.push_back(bench.buffer(16));
                outputs.push_back(bench.buffer(16));
            }
            for (float round = 0; round < 3; round++)
                for (size_t i = 0; i < count; i++)
                {
                    const std::vector<float> content = {float(i), round, 7, 8};
                    const auto data = bench.holding<float>(content);
                    bench.list->CopyResource(inputs[i].Get(), data.Get());
                    auto& output = outputs[(i + size_t(round)) % count];
                    values(
                        std::to_string(i) + " of " + std::to_string(count),
                        run(bench, op.Get(), inputs[i].Get(), output.Get()), content);
                }
        }
    }

    // The object of a released resource, and of the next one at its address.
    void test_same_address()
    {
        Bench bench;
        const auto op = identity(bench, 4);
        auto input = bench.holding<float>({1, 2, 3, 4});
        const auto output = bench.buffer(16);
        values("before the release", run(bench, op.Get(), input.Get(), output.Get()), {1, 2, 3, 4});
        const auto other = bench.holding<float>({0, 0, 0, 0});
        values("with other memory", run(bench, op.Get(), other.Get(), output.Get()), {0, 0, 0, 0});
        const ID3D12Resource* const address = input.Get();
        input.Reset();
        for (int i = 0; i < 10000 && input.Get() != address; i++)
        {
            input.Reset();
            input = bench.buffer(16);
        }
        const auto data = bench.holding<float>({5, 6, 7, 8});
        bench.list->CopyResource(input.Get(), data.Get());
        values("after it", run(bench, op.Get(), input.Get(), output.Get()), {5, 6, 7, 8});
    }

    void test_other_places()
    {
        Bench bench;
        const auto op = identity(bench, 4);
        const auto input = bench.holding<float>(std::vector<float>(72, 1)), output = bench.buffer(16);
        const auto heap = bench.descriptors(op->GetBindingProperties().RequiredDescriptorCount);
        const auto table = bench.table(op.Get(), heap.Get());
        for (UINT64 offset : {UINT64(0), UINT64(256), UINT64(288)})
        {
            const Binding span(input.Get(), offset, 16);
            const DML_BINDING_DESC desc = span.desc();
            table->BindInputs(1, &desc);
            hresult(
                "offset " + std::to_string(offset), bench.dml->GetDeviceRemovedReason(),
                offset == 288 ? DeviceRemoved : Fine);
        }
    }

    void test_another_operator()
    {
        Bench bench;
        const auto small = identity(bench, 4), large = identity(bench, 8);
        const auto input = bench.holding<float>({1, 2, 3, 4}), output = bench.buffer(16);
        values("of the small operator", run(bench, small.Get(), input.Get(), output.Get()), {1, 2, 3, 4});
        const auto heap = bench.descriptors(small->GetBindingProperties().RequiredDescriptorCount);
        const auto table = bench.table(small.Get(), heap.Get());
        const Binding span(input.Get());
        const DML_BINDING_DESC desc = span.desc();
        table->BindInputs(1, &desc);
        DML_BINDING_TABLE_DESC wants = {};
        wants.Dispatchable = large.Get();
        wants.CPUDescriptorHandle = heap->GetCPUDescriptorHandleForHeapStart();
        wants.GPUDescriptorHandle = heap->GetGPUDescriptorHandleForHeapStart();
        wants.SizeInDescriptors = heap->GetDesc().NumDescriptors;
        need(table->Reset(&wants), "Reset");
        hresult("Reset to the large operator", bench.dml->GetDeviceRemovedReason(), Fine);
        table->BindInputs(1, &desc);
        hresult("16 bytes for 32", bench.dml->GetDeviceRemovedReason(), DeviceRemoved);
    }

    void test_unbound()
    {
        Bench bench;
        const auto op = identity(bench, 4);
        const auto input = bench.holding<float>({1, 2, 3, 4}), output = bench.buffer(16);
        run(bench, op.Get(), input.Get(), output.Get());
        const auto heap = bench.descriptors(op->GetBindingProperties().RequiredDescriptorCount);
        const auto table = bench.table(op.Get(), heap.Get());
        const Binding in(input.Get());
        const DML_BINDING_DESC desc = in.desc();
        table->BindInputs(1, &desc);
        ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
        bench.list->SetDescriptorHeaps(1, heaps);
        bench.recorder->RecordDispatch(bench.list.Get(), op.Get(), table.Get());
        hresult("without an output", bench.dml->GetDeviceRemovedReason(), DeviceRemoved);
    }

    void test_closed_list()
    {
        Bench bench;
        const auto op = identity(bench, 4);
        const auto input = bench.holding<float>({1, 2, 3, 4}), output = bench.buffer(16);
        const auto heap = bench.descriptors(op->GetBindingProperties().RequiredDescriptorCount);
        const auto table = bench.table(op.Get(), heap.Get());
        const Binding in(input.Get()), out(output.Get());
        const DML_BINDING_DESC source = in.desc(), target = out.desc();
        ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
        bench.list->SetDescriptorHeaps(1, heaps);
        for (int time = 0; time < 4; time++)
        {
            hresult("an open list", bench.dml->GetDeviceRemovedReason(), Fine);
            if (time == 3)
                need(bench.list->Close(), "Close");
            table->BindInputs(1, &source);
            table->BindOutputs(1, &target);
            bench.recorder->RecordDispatch(bench.list.Get(), op.Get(), table.Get());
        }
        hresult("a closed list", bench.dml->GetDeviceRemovedReason(), DeviceRemoved);
    }

    void test_handles_of_a_heap_that_is_gone()
    {
        Bench bench, stranger;
        const auto op = identity(bench, 4);
        auto heap = bench.descriptors(op->GetBindingProperties().RequiredDescriptorCount);
        DML_BINDING_TABLE_DESC wants = {};
        wants.Dispatchable = op.Get();
        wants.CPUDescriptorHandle = heap->GetCPUDescriptorHandleForHeapStart();
        wants.GPUDescriptorHandle = heap->GetGPUDescriptorHandleForHeapStart();
        wants.SizeInDescriptors = heap->GetDesc().NumDescriptors;
        ComPtr<IDMLBindingTable> table;
        for (int time = 0; time < 2; time++)
            hresult("handles of a heap", bench.dml->CreateBindingTable(&wants, IID_PPV_ARGS(&table)), Fine);
        hresult(
            "on another device", stranger.dml->CreateBindingTable(&wants, IID_PPV_ARGS(&table)), E_INVALIDARG);
        heap.Reset();
        hresult("after its release", bench.dml->CreateBindingTable(&wants, IID_PPV_ARGS(&table)), E_INVALIDARG);
        const auto successor = bench.descriptors(wants.SizeInDescriptors);
        wants.CPUDescriptorHandle = successor->GetCPUDescriptorHandleForHeapStart();
        wants.GPUDescriptorHandle = successor->GetGPUDescriptorHandleForHeapStart();
        hresult("of the next heap", bench.dml->CreateBindingTable(&wants, IID_PPV_ARGS(&table)), Fine);
    }

    void test_another_heap()
    {
        Bench bench;
        const auto op = identity(bench, 4);
        const auto input = bench.holding<float>({1, 2, 3, 4}), output = bench.buffer(16);
        const UINT count = op->GetBindingProperties().RequiredDescriptorCount;
        const auto heap = bench.descriptors(count), other = bench.descriptors(count);
        const auto table = bench.table(op.Get(), heap.Get());
        const Binding in(input.Get()), out(output.Get());
        const DML_BINDING_DESC source = in.desc(), target = out.desc();
        for (ID3D12DescriptorHeap* set : {heap.Get(), other.Get()})
        {
            table->BindInputs(1, &source);
            table->BindOutputs(1, &target);
            bench.list->SetDescriptorHeaps(1, &set);
            bench.recorder->RecordDispatch(bench.list.Get(), op.Get(), table.Get());
            hresult(
                set == heap.Get() ? "the table's heap" : "another heap", bench.dml->GetDeviceRemovedReason(),
                set == heap.Get() ? Fine : DeviceRemoved);
        }
        // On a removed device nothing is bound and recorded, whatever was before.
        bench.run();
        const auto data = bench.holding<float>({0, 0, 0, 0});
        bench.list->CopyResource(output.Get(), data.Get());
        table->BindInputs(1, &source);
        bench.recorder->RecordDispatch(bench.list.Get(), op.Get(), table.Get());
        bench.run();
        values("of a removed device", bench.read<float>(output.Get(), 4), {0, 0, 0, 0});
    }

    void rebound(const std::vector<std::string>&)
    {
        test_same_memory();
        test_memory_in_turn();
        test_same_address();
        test_other_places();
        test_another_operator();
        test_unbound();
        test_closed_list();
        test_handles_of_a_heap_that_is_gone();
        test_another_heap();
    }

    const Registration registration("rebound", rebound);
}
