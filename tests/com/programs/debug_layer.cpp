// The debug layers: messages that name the field, and who switches them.

#include "messages.h"

namespace
{
    void test_refused_operator(Bench& bench, ID3D12InfoQueue* queue)
    {
        const Tensor a(Float32, {1, 1, 2, 3}), b(Float32, {1, 1, 2, 4}), both(Float32, {1, 1, 2, 8});
        const DML_TENSOR_DESC inputs[] = {*a.desc(), *b.desc()};
        const DML_JOIN_OPERATOR_DESC join = {2, inputs, both.desc(), 3};
        ComPtr<IDMLOperator> op;
        queue->ClearStoredMessages();
        hresult("a JOIN that is one too wide", create(bench.dml.Get(), DML_OPERATOR_JOIN, &join, op), E_INVALIDARG);
        check("is told", stored(queue) > 0);
        check("the message names the field", told(queue, "OutputTensor.Sizes is {1,1,2,8}"), all_texts(queue));
        check("the message names the rule", told(queue, "DML-JOIN-sizes"), all_texts(queue));
        const auto first = message(queue, 0);
        equal("its severity", int(first.severity), int(D3D12_MESSAGE_SEVERITY_ERROR));
        // One call reports every problem.
        const DML_JOIN_OPERATOR_DESC worse = {2, inputs, both.desc(), 2};
        queue->ClearStoredMessages();
        hresult("a JOIN on a wrong axis", create(bench.dml.Get(), DML_OPERATOR_JOIN, &worse, op), E_INVALIDARG);
        check("the second input", told(queue, "InputTensors[1].Sizes is {1,1,2,4}"), all_texts(queue));
        check("the output", told(queue, "OutputTensor.Sizes is {1,1,2,8}"), all_texts(queue));
        queue->ClearStoredMessages();
    }

    void test_mute(Bench& bench, ID3D12InfoQueue* queue)
    {
        ComPtr<IDMLDebugDevice> debug;
        need(bench.dml->QueryInterface(IID_PPV_ARGS(&debug)), "IDMLDebugDevice");
        ComPtr<IDMLOperator> op;
        debug->SetMuteDebugOutput(TRUE);
        hresult(
            "a muted mistake fails all the same",
            create(bench.dml.Get(), DML_OPERATOR_JOIN, nullptr, op),
            E_INVALIDARG);
        equal("and is not told", stored(queue), 0u);
        debug->SetMuteDebugOutput(FALSE);
        hresult("no longer muted", create(bench.dml.Get(), DML_OPERATOR_JOIN, nullptr, op), E_INVALIDARG);
        check("it is told", stored(queue) > 0);
        queue->ClearStoredMessages();
    }

    // A correct program is silent, and its results are right.
    void test_silence(Bench& bench, ID3D12InfoQueue* queue)
    {
        const Tensor four(Float32, {1, 1, 1, 4});
        auto compiled = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four));
        auto input = bench.holding<float>({1, 2, 3, 4});
        auto output = bench.buffer(16);
        bench.dispatch(compiled.Get(), {input.Get()}, {output.Get()});
        values<float>("a dispatch under the debug layer", bench.read<float>(output.Get(), 4), {1, 2, 3, 4});
        equal("without a message", stored(queue), 0u);
        if (stored(queue))
            check("the first message", false, all_texts(queue));
        queue->ClearStoredMessages();
    }

    void test_hazards(Bench& bench, ID3D12InfoQueue* queue)
    {
        const Tensor four(Float32, {1, 1, 1, 4});
        auto compiled = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four));
        auto input = bench.holding<float>({1, 2, 3, 4});
        auto middle = bench.buffer(16), output = bench.buffer(16);
        bench.initialize(compiled.Get());
        bench.record(compiled.Get(), {input.Get()}, {middle.Get()});
        bench.record(compiled.Get(), {middle.Get()}, {output.Get()});
        bench.run();
        check("a missing UAV barrier is told", stored(queue) > 0);
        queue->ClearStoredMessages();
        hresult("and removes nothing", bench.dml->GetDeviceRemovedReason(), Fine);
    }

    void test_void_method(Bench& bench, ID3D12InfoQueue* queue)
    {
        const Tensor four(Float32, {1, 1, 1, 4});
        auto compiled = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four));
        auto heap = bench.descriptors(2);
        auto table = bench.table(compiled.Get(), heap.Get());
        const DML_BINDING_DESC none[] = {{DML_BINDING_TYPE_NONE, nullptr}, {DML_BINDING_TYPE_NONE, nullptr}};
        table->BindInputs(2, none);
        check("a void method names its argument", told(queue, "bindingCount is 2"), all_texts(queue));
        hresult("and removes the device", bench.dml->GetDeviceRemovedReason(), DeviceRemoved);
        hresult("but not Direct3D's", bench.d3d12->GetDeviceRemovedReason(), Fine);
        queue->ClearStoredMessages();
    }

    // A heap that the CPU and operators access, as a program for unified memory makes it.
    ComPtr<ID3D12Resource> unified(Bench& bench)
    {
        const D3D12_HEAP_PROPERTIES heap = {
            D3D12_HEAP_TYPE_CUSTOM, D3D12_CPU_PAGE_PROPERTY_WRITE_BACK, D3D12_MEMORY_POOL_L0, 1, 1};
        const auto desc = bench.buffer(16)->GetDesc();
        ComPtr<ID3D12Resource> made;
        need(
            bench.d3d12->CreateCommittedResource(
                &heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, IID_PPV_ARGS(&made)),
            "CreateCommittedResource");
        return made;
    }

    float* mapped(ID3D12Resource* resource)
    {
        void* memory = nullptr;
        need(resource->Map(0, nullptr, &memory), "Map");
        return static_cast<float*>(memory);
    }

    void test_unified_memory(Bench& bench, ID3D12InfoQueue* queue)
    {
        const Tensor four(Float32, {1, 1, 1, 4});
        auto compiled = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four));
        bench.initialize(compiled.Get());
        auto input = unified(bench), output = unified(bench);
        float *x = mapped(input.Get()), *y = mapped(output.Get());
        const D3D12_RANGE nothing = {0, 0};
        for (const bool early : {false, true})
        {
            for (int index = 0; index < 4; ++index)
                x[index] = float(index);
            bench.record(compiled.Get(), {input.Get()}, {output.Get()});
            need(bench.list->Close(), "Close");
            ID3D12CommandList* const lists[] = {bench.list.Get()};
            bench.queue->ExecuteCommandLists(1, lists);
            if (early)
            {
                x[1] = 7;
                y[2] = 8;
                void* again = nullptr;
                need(output->Map(0, nullptr, &again), "Map");
                check("a read in flight", told(queue, "D3D12-Readback-read-in-flight"), all_texts(queue));
            }
            bench.finish();
            check("a write to what is read", told(queue, "InputTensor (bytes 0 to 16") == early, all_texts(queue));
            check("a write to what is written", told(queue, "OutputTensor (bytes 0 to 16") == early, all_texts(queue));
            equal("the last element", y[3], 3.0f);
            need(bench.allocator->Reset(), "Reset of the allocator");
            need(bench.list->Reset(bench.allocator.Get(), nullptr), "Reset of the list");
            bench.in_use.clear();
        }
        x[1] = 9;
        input->Unmap(0, &nothing);
        check("a write that Unmap does not name", told(queue, "D3D12-Unmap-written-range"), all_texts(queue));
        queue->ClearStoredMessages();
    }

    void test_d3d12(Bench& bench, ID3D12InfoQueue* queue)
    {
        auto upload = bench.buffer(16, D3D12_HEAP_TYPE_UPLOAD);
        ComPtr<ID3D12GraphicsCommandList> list;
        ComPtr<ID3D12CommandAllocator> allocator;
        const auto direct = D3D12_COMMAND_LIST_TYPE_DIRECT;
        need(bench.d3d12->CreateCommandAllocator(direct, IID_PPV_ARGS(&allocator)), "CreateCommandAllocator");
        need(
            bench.d3d12->CreateCommandList(0, direct, allocator.Get(), nullptr, IID_PPV_ARGS(&list)),
            "CreateCommandList");
        list->CopyResource(upload.Get(), upload.Get());
        check("CopyResource onto itself is told", told(queue, "CopyResource"), all_texts(queue));
        hresult("Close of the list", list->Close(), E_INVALIDARG);
        queue->ClearStoredMessages();
        // A name that the messages use.
        need(upload->SetName(L"ladder"), "SetName");
        upload->Unmap(0, nullptr);
        check("messages name objects", told(queue, "ladder"), all_texts(queue));
        queue->ClearStoredMessages();
    }

    // What is there when the layer is enabled goes; once it is on, enabling it again does no harm.
    void test_late_switch(const Bench& early)
    {
        hresult("before the layer is enabled", early.d3d12->GetDeviceRemovedReason(), Fine);
        const Bench late(Bench::Debug::On);
        enable_debug_layer();
        hresult("a device from before", early.d3d12->GetDeviceRemovedReason(), DXGI_ERROR_INVALID_CALL);
        hresult("its DirectML device", early.dml->GetDeviceRemovedReason(), DXGI_ERROR_INVALID_CALL);
        hresult("a device with the layer", late.d3d12->GetDeviceRemovedReason(), Fine);
    }

    void debug_layer(const std::vector<std::string>&)
    {
        {
            // Before the layer was enabled.
            const Bench bench;
            ComPtr<ID3D12InfoQueue> queue;
            hresult("no queue without the layer", bench.d3d12->QueryInterface(IID_PPV_ARGS(&queue)), E_NOINTERFACE);
            test_late_switch(bench);
        }
        Bench bench(Bench::Debug::On);
        auto queue = info_queue(bench);
        test_silence(bench, queue.Get());
        test_refused_operator(bench, queue.Get());
        test_mute(bench, queue.Get());
        test_hazards(bench, queue.Get());
        test_unified_memory(bench, queue.Get());
        test_d3d12(bench, queue.Get());
        test_void_method(bench, queue.Get());
    }

    const Registration registration("debug_layer", debug_layer);
}
