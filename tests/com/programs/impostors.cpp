// Pointers that are passed as interfaces of the library and lead to something else: none is ever called through.

#include "messages.h"
#include "world.h"

namespace
{
    const GUID Key = {0xd1, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};

    // An object of the program with all the methods that a caller could mistake it to have; none may be called.
    class Impostor
    {
    public:
        virtual HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void**) { return called(); }
        virtual ULONG STDMETHODCALLTYPE AddRef() { return static_cast<ULONG>(called()); }
        virtual ULONG STDMETHODCALLTYPE Release() { return static_cast<ULONG>(called()); }
        virtual HRESULT fourth() { return called(); }
        virtual ~Impostor() = default;

        HRESULT called()
        {
            calls++;
            return E_UNEXPECTED;
        }

        int calls = 0;
    };

    // Readable memory that is no object: pointers to itself, as a freed block may hold.
    struct Garbage
    {
        void* words[16];

        Garbage()
        {
            for (void*& word : words)
                word = words;
        }
    };

    template <typename T>
    T* as(void* memory)
    {
        return static_cast<T*>(memory);
    }

    // A command list that a bad pointer was recorded in does not close, and the debug layer names the parameter.
    void refuses_recording(
        const std::string& name, const char* parameter, const std::function<void(Bench&, void*)>& record, void* memory)
    {
        Bench bench(Bench::Debug::On);
        auto queue = info_queue(bench);
        record(bench, memory);
        check(name + ": the list does not close", FAILED(bench.list->Close()));
        check(name + " names " + parameter, told(queue.Get(), parameter), all_texts(queue.Get()));
    }

    void test_commands(const std::string& kind, void* memory)
    {
        refuses_recording(
            kind + " as CopyResource's source",
            "pSrcResource",
            [](Bench& bench, void* it) {
                bench.list->CopyResource(bench.buffer(16).Get(), as<ID3D12Resource>(it));
            },
            memory);
        refuses_recording(
            kind + " as CopyBufferRegion's destination",
            "pDstBuffer",
            [](Bench& bench, void* it) {
                bench.list->CopyBufferRegion(as<ID3D12Resource>(it), 0, bench.buffer(16).Get(), 0, 16);
            },
            memory);
        refuses_recording(
            kind + " among SetDescriptorHeaps' heaps",
            "ppDescriptorHeaps[0]",
            [](Bench& bench, void* it) {
                ID3D12DescriptorHeap* const heaps[] = {as<ID3D12DescriptorHeap>(it)};
                bench.list->SetDescriptorHeaps(1, heaps);
            },
            memory);
    }

    void test_results(Bench& bench, const std::string& kind, void* memory)
    {
        ComPtr<ID3D12GraphicsCommandList> list;
        hresult(
            kind + " as an allocator",
            bench.d3d12->CreateCommandList(
                0,
                D3D12_COMMAND_LIST_TYPE_DIRECT,
                as<ID3D12CommandAllocator>(memory),
                nullptr,
                IID_PPV_ARGS(&list)),
            E_INVALIDARG);
        hresult(kind + " as a fence", bench.queue->Signal(as<ID3D12Fence>(memory), 1), E_INVALIDARG);
        ID3D12Pageable* const objects[] = {as<ID3D12Pageable>(memory)};
        hresult(kind + " to make resident", bench.d3d12->MakeResident(1, objects), E_INVALIDARG);
        ComPtr<IDMLCompiledOperator> compiled;
        hresult(
            kind + " as an operator",
            bench.dml->CompileOperator(as<IDMLOperator>(memory), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
            E_INVALIDARG);
        ComPtr<IDMLOperatorInitializer> initializer;
        IDMLCompiledOperator* const operators[] = {as<IDMLCompiledOperator>(memory)};
        hresult(
            kind + " to initialize",
            bench.dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)),
            E_INVALIDARG);
        ComPtr<ID3D12Device> device;
        hresult(
            kind + " as an adapter",
            D3D12CreateDevice(as<IUnknown>(memory), D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)),
            E_INVALIDARG);
        ComPtr<IDMLDevice> dml;
        hresult(
            kind + " as a Direct3D device",
            DMLCreateDevice(as<ID3D12Device>(memory), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)),
            E_INVALIDARG);
        hresult("the device is well after " + kind, bench.d3d12->GetDeviceRemovedReason(), Fine);
        hresult("the DirectML device is well after " + kind, bench.dml->GetDeviceRemovedReason(), Fine);
    }

    // Void methods of DirectML remove the device.
    void test_removal(const std::string& kind, void* memory)
    {
        World world;
        world.bench.recorder->RecordDispatch(
            as<ID3D12CommandList>(memory), world.compiled.Get(), world.table.Get());
        check(kind + " to record in removes the device", FAILED(world.bench.dml->GetDeviceRemovedReason()));
        World other;
        const DML_BUFFER_BINDING buffer = {as<ID3D12Resource>(memory), 0, 16};
        const DML_BINDING_DESC desc = {DML_BINDING_TYPE_BUFFER, &buffer};
        other.table->BindInputs(1, &desc);
        check(kind + " as a bound buffer removes the device", FAILED(other.bench.dml->GetDeviceRemovedReason()));
    }

    void test_memory(Bench& bench, const std::string& kind, void* memory)
    {
        test_commands(kind, memory);
        test_results(bench, kind, memory);
        test_removal(kind, memory);
    }

    // Where any object may be stored, an address is one if its first word leads to functions.
    void test_any_object(Bench& bench, void* garbage)
    {
        hresult(
            "garbage as private data",
            bench.d3d12->SetPrivateDataInterface(Key, as<IUnknown>(garbage)),
            E_INVALIDARG);
        ComPtr<ID3D12Resource> a = bench.buffer(16);
        hresult(
            "the address of a pointer as private data",
            bench.d3d12->SetPrivateDataInterface(Key, as<IUnknown>(a.GetAddressOf())),
            E_INVALIDARG);
        hresult(
            "an object of the library as private data",
            bench.d3d12->SetPrivateDataInterface(Key, a.Get()),
            Fine);
        hresult("and no longer", bench.d3d12->SetPrivateDataInterface(Key, nullptr), Fine);
    }

    void impostors(const std::vector<std::string>&)
    {
        Bench bench(Bench::Debug::On);
        Garbage garbage;
        test_memory(bench, "garbage", &garbage);
        auto resource = bench.buffer(16);
        test_memory(bench, "the address of a pointer", resource.GetAddressOf());
        Impostor impostor;
        test_memory(bench, "an object of the program", &impostor);
        equal("calls of the program's object", impostor.calls, 0);
        test_any_object(bench, &garbage);
    }

    const Registration registration("impostors", impostors);
}
