// Root signatures: serialized, read back, created and set, all of it as data; and the shaders that would need them,
// which nothing executes.

#include "messages.h"
#include "world.h"

namespace
{
    // As ONNX Runtime's DirectML provider describes its shaders: three views, and constants for them.
    struct Described
    {
        Described()
        {
            for (UINT i = 0; i < 3; i++)
            {
                parameters[i] = {};
                parameters[i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
                parameters[i].Descriptor.ShaderRegister = i;
                parameters[i].Descriptor.Flags = D3D12_ROOT_DESCRIPTOR_FLAG_DATA_VOLATILE;
            }
            parameters[3] = {};
            parameters[3].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
            parameters[3].Constants.Num32BitValues = 9;
            range = {D3D12_DESCRIPTOR_RANGE_TYPE_SRV, 2, 4, 1, D3D12_DESCRIPTOR_RANGE_FLAG_DATA_STATIC, 7};
            parameters[4] = {};
            parameters[4].ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE;
            parameters[4].DescriptorTable = {1, &range};
            desc.Version = D3D_ROOT_SIGNATURE_VERSION_1_1;
            desc.Desc_1_1 = {};
            desc.Desc_1_1.NumParameters = 5;
            desc.Desc_1_1.pParameters = parameters;
        }

        D3D12_DESCRIPTOR_RANGE1 range;
        D3D12_ROOT_PARAMETER1 parameters[5];
        D3D12_VERSIONED_ROOT_SIGNATURE_DESC desc;
    };

    ComPtr<ID3DBlob> serialized(const Described& described)
    {
        ComPtr<ID3DBlob> blob, error;
        need(
            D3D12SerializeVersionedRootSignature(&described.desc, &blob, &error),
            "D3D12SerializeVersionedRootSignature");
        check("there is no error", error == nullptr);
        return blob;
    }

    void test_bytes()
    {
        const D3D12_ROOT_SIGNATURE_DESC desc = {};
        ComPtr<ID3DBlob> blob;
        ID3DBlob* error = static_cast<ID3DBlob*>(poison());
        hresult(
            "D3D12SerializeRootSignature",
            D3D12SerializeRootSignature(&desc, D3D_ROOT_SIGNATURE_VERSION_1, &blob, &error),
            Fine);
        check("no error blob", error == nullptr);
        // What Microsoft's compiler writes for an empty root signature.
        const UINT expected[] = {
            0x43425844, 0xd64afc1d, 0x5dc27735, 0x9edacb4a, 0x6bd8a7fa, 1, 68, 1, 36, 0x30535452, 24,
            1, 0, 24, 0, 24, 0};
        equal("the size of an empty root signature", blob->GetBufferSize(), sizeof expected);
        check("its bytes", std::memcmp(blob->GetBufferPointer(), expected, sizeof expected) == 0);
        ComPtr<ID3DBlob> same;
        // ID3D10Blob's, which the DirectX headers do not have for __uuidof.
        const IID kind = {0x8ba5fb08, 0x5195, 0x40e2, {0xac, 0x58, 0x0d, 0x98, 0x9c, 0x3a, 0x01, 0x02}};
        hresult("a blob is a blob", blob->QueryInterface(kind, &same), Fine);
        check("the same one", same == blob);
        ComPtr<ID3D12Object> object;
        hresult("and nothing else", blob->QueryInterface(IID_PPV_ARGS(&object)), E_NOINTERFACE);
    }

    void test_deserializers()
    {
        const Described described;
        const auto blob = serialized(described);
        ComPtr<ID3D12VersionedRootSignatureDeserializer> versioned;
        need(
            D3D12CreateVersionedRootSignatureDeserializer(
                blob->GetBufferPointer(), blob->GetBufferSize(), IID_PPV_ARGS(&versioned)),
            "D3D12CreateVersionedRootSignatureDeserializer");
        const D3D12_VERSIONED_ROOT_SIGNATURE_DESC* own = versioned->GetUnconvertedRootSignatureDesc();
        equal("version", int(own->Version), int(D3D_ROOT_SIGNATURE_VERSION_1_1));
        equal("parameters", own->Desc_1_1.NumParameters, 5U);
        equal("samplers", own->Desc_1_1.NumStaticSamplers, 0U);
        check("no samplers", own->Desc_1_1.pStaticSamplers == nullptr);
        const D3D12_ROOT_PARAMETER1* parameters = own->Desc_1_1.pParameters;
        equal("register", parameters[2].Descriptor.ShaderRegister, 2U);
        equal("flags", int(parameters[2].Descriptor.Flags), int(D3D12_ROOT_DESCRIPTOR_FLAG_DATA_VOLATILE));
        equal("constants", parameters[3].Constants.Num32BitValues, 9U);
        equal("ranges", parameters[4].DescriptorTable.NumDescriptorRanges, 1U);
        const D3D12_DESCRIPTOR_RANGE1& range = parameters[4].DescriptorTable.pDescriptorRanges[0];
        check("the range", std::memcmp(&range, &described.range, sizeof range) == 0);

        const D3D12_VERSIONED_ROOT_SIGNATURE_DESC *same = nullptr, *older = nullptr;
        hresult(
            "at its version", versioned->GetRootSignatureDescAtVersion(D3D_ROOT_SIGNATURE_VERSION_1_1, &same), Fine);
        check("is the same desc", same == own);
        hresult("at 1.0", versioned->GetRootSignatureDescAtVersion(D3D_ROOT_SIGNATURE_VERSION_1_0, &older), Fine);
        const D3D12_DESCRIPTOR_RANGE& old = older->Desc_1_0.pParameters[4].DescriptorTable.pDescriptorRanges[0];
        equal("offset without flags", old.OffsetInDescriptorsFromTableStart, 7U);
        const auto nothing = D3D_ROOT_SIGNATURE_VERSION(77);
        hresult("at no version", versioned->GetRootSignatureDescAtVersion(nothing, &older), E_INVALIDARG);

        ComPtr<ID3D12RootSignatureDeserializer> plain;
        need(
            D3D12CreateRootSignatureDeserializer(
                blob->GetBufferPointer(), blob->GetBufferSize(), IID_PPV_ARGS(&plain)),
            "D3D12CreateRootSignatureDeserializer");
        equal("parameters of 1.0", plain->GetRootSignatureDesc()->NumParameters, 5U);
        check("the same desc again", plain->GetRootSignatureDesc() == plain->GetRootSignatureDesc());
        void* wrong = poison();
        hresult(
            "a deserializer of the other kind",
            D3D12CreateRootSignatureDeserializer(
                blob->GetBufferPointer(),
                blob->GetBufferSize(),
                __uuidof(ID3D12VersionedRootSignatureDeserializer),
                &wrong),
            E_NOINTERFACE);
        check("is null", wrong == nullptr);
    }

    void test_wrong_descs()
    {
        Described described;
        described.parameters[1].Descriptor.ShaderRegister = 2;
        ID3DBlob* blob = static_cast<ID3DBlob*>(poison());
        ComPtr<ID3DBlob> error;
        hresult(
            "two views of a register",
            D3D12SerializeVersionedRootSignature(&described.desc, &blob, &error),
            E_INVALIDARG);
        check("no blob", blob == nullptr);
        const std::string text(static_cast<const char*>(error->GetBufferPointer()));
        equal("the text ends with a null", error->GetBufferSize(), text.size() + 1);
        const auto place = text.find("Desc_1_1.pParameters[2].Descriptor has u2");
        check("the text names the field", place != std::string::npos, text);
        hresult(
            "without an error blob",
            D3D12SerializeVersionedRootSignature(&described.desc, &blob, nullptr),
            E_INVALIDARG);
        hresult("without a desc", D3D12SerializeVersionedRootSignature(nullptr, &blob, nullptr), E_INVALIDARG);
        const Described right;
        hresult("without a blob", D3D12SerializeVersionedRootSignature(&right.desc, nullptr, nullptr), E_POINTER);
    }

    template <typename T>
    std::vector<unsigned char> container(const char (&name)[5], const T& content)
    {
        // Not signed: its digest is zero.
        const UINT head[] = {0x43425844, 0, 0, 0, 0, 1, UINT(44 + sizeof content), 1, 36};
        std::vector<unsigned char> bytes(44 + sizeof content);
        const UINT size = sizeof content;
        std::memcpy(bytes.data(), head, sizeof head);
        std::memcpy(bytes.data() + 36, name, 4);
        std::memcpy(bytes.data() + 40, &size, 4);
        std::memcpy(bytes.data() + 44, &content, sizeof content);
        return bytes;
    }

    void test_creation(World& world)
    {
        ID3D12Device* const device = world.bench.d3d12.Get();
        void* found = poison();
        const IID& kind = __uuidof(ID3D12RootSignature);
        hresult("bytes of nothing", device->CreateRootSignature(0, "blob", 4, kind, &found), E_INVALIDARG);
        check("no root signature", found == nullptr);
        hresult("no bytes", device->CreateRootSignature(0, nullptr, 4, kind, &found), E_INVALIDARG);
        const UINT shader[] = {0x50050, 2};
        const auto code = container("SHEX", shader);
        hresult(
            "a shader without one",
            device->CreateRootSignature(0, code.data(), code.size(), kind, &found),
            E_FAIL);
        D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
        desc.pRootSignature = world.signature.Get();
        desc.CS = {code.data(), code.size()};
        found = poison();
        hresult(
            "CreateComputePipelineState",
            device->CreateComputePipelineState(&desc, __uuidof(ID3D12PipelineState), &found),
            E_NOTIMPL);
        check("no pipeline state", found == nullptr);
        desc.CS = {"code", 4};
        hresult(
            "CreateComputePipelineState of no shader",
            device->CreateComputePipelineState(&desc, __uuidof(ID3D12PipelineState), &found),
            E_INVALIDARG);
        desc.CS = {code.data(), code.size()};
        desc.pRootSignature = reinterpret_cast<ID3D12RootSignature*>(world.heap.Get());
        hresult(
            "CreateComputePipelineState with a heap as root signature",
            device->CreateComputePipelineState(&desc, __uuidof(ID3D12PipelineState), &found),
            E_INVALIDARG);
        ComPtr<ID3D12Device2> device2;
        need(world.bench.d3d12.As(&device2), "ID3D12Device2");
        struct
        {
            alignas(void*) D3D12_PIPELINE_STATE_SUBOBJECT_TYPE type = D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CS;
            D3D12_SHADER_BYTECODE code;
        } stream;
        stream.code = {code.data(), code.size()};
        const D3D12_PIPELINE_STATE_STREAM_DESC streamed = {sizeof stream, &stream};
        hresult(
            "CreatePipelineState",
            device2->CreatePipelineState(&streamed, __uuidof(ID3D12PipelineState), &found),
            E_NOTIMPL);
    }

    void test_lists(Bench::Debug debug)
    {
        World world(debug);
        Bench& bench = world.bench;
        const auto blob = serialized(Described());
        ComPtr<ID3D12RootSignature> signature;
        need(
            bench.d3d12->CreateRootSignature(
                0, blob->GetBufferPointer(), blob->GetBufferSize(), IID_PPV_ARGS(&signature)),
            "CreateRootSignature");
        const UINT numbers[] = {1, 2, 3, 4};
        ID3D12GraphicsCommandList* const list = bench.list.Get();
        ID3D12DescriptorHeap* const heaps[] = {world.descriptors.Get()};
        list->SetDescriptorHeaps(1, heaps);
        list->SetComputeRootSignature(signature.Get());
        list->SetComputeRootUnorderedAccessView(0, world.committed->GetGPUVirtualAddress());
        list->SetComputeRoot32BitConstants(3, 4, numbers, 5);
        list->SetComputeRoot32BitConstant(3, 7, 0);
        const auto start = &ID3D12DescriptorHeap::GetGPUDescriptorHandleForHeapStart;
        list->SetComputeRootDescriptorTable(4, returned(start, world.descriptors.Get()));
        signature.Reset();
        hresult("Close after root arguments", list->Close(), Fine);
        ID3D12CommandList* const lists[] = {list};
        bench.queue->ExecuteCommandLists(1, lists);
        hresult("the device is well", bench.d3d12->GetDeviceRemovedReason(), Fine);

        need(list->Reset(bench.allocator.Get(), nullptr), "Reset");
        list->Dispatch(1, 1, 1);
        hresult("Close after a dispatch without a pipeline state", list->Close(), E_INVALIDARG);
        if (debug == Bench::Debug::On)
        {
            const auto queue = info_queue(bench);
            check("what is missing is told", told(queue.Get(), "no pipeline state is set"), all_texts(queue.Get()));
        }
    }

    void root_signatures(const std::vector<std::string>&)
    {
        World world;
        test_bytes();
        test_deserializers();
        test_wrong_descs();
        test_creation(world);
        test_lists(Bench::Debug::Off);
        test_lists(Bench::Debug::On);
    }

    const Registration registration("root_signatures", root_signatures);
}
