/* The object model from C: identity, references, private data, and structs that methods return. */

#include "c_harness.h"

static const GUID MINE = {0xd1, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};
static const GUID OTHER = {0xd2, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};

static void identity(const char* name, void* object, const IID* const* chain, size_t count)
{
    IUnknown* const from = object;
    IUnknown* same = NULL;
    char fact[96];
    snprintf(fact, sizeof fact, "%s is an IUnknown", name);
    hresult(fact, IUnknown_QueryInterface(from, &IID_IUnknown, (void**)&same), S_OK);
    for (size_t i = 0; i < count; i++)
    {
        for (size_t j = 0; j < count; j++)
        {
            IUnknown *first = NULL, *second = NULL, *root = NULL;
            snprintf(fact, sizeof fact, "%s: interface %zu to %zu", name, i, j);
            if (FAILED(IUnknown_QueryInterface(from, chain[i], (void**)&first))
                || FAILED(IUnknown_QueryInterface(first, chain[j], (void**)&second))
                || FAILED(IUnknown_QueryInterface(second, &IID_IUnknown, (void**)&root)))
            {
                check(fact, 0);
                return;
            }
            check(fact, root == same);
            IUnknown_Release(root);
            IUnknown_Release(second);
            IUnknown_Release(first);
        }
    }
    void* none = &fact;
    snprintf(fact, sizeof fact, "%s: an interface of nobody", name);
    hresult(fact, IUnknown_QueryInterface(from, &MINE, &none), E_NOINTERFACE);
    check("null for it", none == NULL);
    hresult("QueryInterface into null", IUnknown_QueryInterface(from, &IID_IUnknown, NULL), E_POINTER);
    const ULONG references = IUnknown_AddRef(from);
    check("AddRef counts up", IUnknown_AddRef(from) == references + 1);
    check("Release counts down", IUnknown_Release(from) == references);
    IUnknown_Release(from);
    IUnknown_Release(same);
}

#define IDENTITY(name, object, ...)                                        \
    do                                                                     \
    {                                                                      \
        const IID* const chain[] = {&IID_IUnknown, __VA_ARGS__};           \
        identity(name, object, chain, COUNT(chain));                       \
    } while (0)

/* An object of the program's own. */
typedef struct Counted
{
    const IUnknownVtbl* lpVtbl;
    ULONG count;
} Counted;

static HRESULT STDMETHODCALLTYPE counted_query(IUnknown* this, REFIID iid, void** found)
{
    if (memcmp(iid, &IID_IUnknown, sizeof *iid) != 0)
    {
        *found = NULL;
        return E_NOINTERFACE;
    }
    ((Counted*)this)->count++;
    *found = this;
    return S_OK;
}

static ULONG STDMETHODCALLTYPE counted_add(IUnknown* this)
{
    return ++((Counted*)this)->count;
}

static ULONG STDMETHODCALLTYPE counted_release(IUnknown* this)
{
    return --((Counted*)this)->count;
}

static void private_data(ID3D12Resource* resource, IDMLOperator* op)
{
    static const IUnknownVtbl table = {counted_query, counted_add, counted_release};
    Counted counted = {&table, 1};
    IUnknown* const mine = (IUnknown*)&counted;
    char found[8] = {0};
    IUnknown* pointer = NULL;
    UINT size = sizeof found;
    hresult("nothing stored", IDMLOperator_GetPrivateData(op, &MINE, &size, found), NOT_FOUND);
    hresult("SetPrivateData", IDMLOperator_SetPrivateData(op, &MINE, 4, "abc"), S_OK);
    hresult("the size", IDMLOperator_GetPrivateData(op, &MINE, &size, NULL), S_OK);
    check("is 4", size == 4);
    size = 3;
    hresult("too small", IDMLOperator_GetPrivateData(op, &MINE, &size, found), MORE_DATA);
    check("needs 4", size == 4);
    hresult("GetPrivateData", IDMLOperator_GetPrivateData(op, &MINE, &size, found), S_OK);
    check("is abc", strcmp(found, "abc") == 0);

    hresult("SetPrivateDataInterface", ID3D12Resource_SetPrivateDataInterface(resource, &MINE, mine), S_OK);
    check("takes a reference", counted.count == 2);
    size = sizeof pointer;
    hresult("GetPrivateData of it", ID3D12Resource_GetPrivateData(resource, &MINE, &size, &pointer), S_OK);
    check("gives it with a reference", pointer == mine && counted.count == 3);
    counted.count--;
    hresult("replaced by bytes", ID3D12Resource_SetPrivateData(resource, &MINE, 1, ""), S_OK);
    check("gives the reference back", counted.count == 1);
    hresult("in an operator", IDMLOperator_SetPrivateDataInterface(op, &OTHER, mine), S_OK);
    check("takes a reference too", counted.count == 2);
    hresult("SetName", ID3D12Resource_SetName(resource, L"a buffer"), S_OK);
    hresult("SetName of an operator", IDMLOperator_SetName(op, L"an operator"), S_OK);
    IDMLOperator_Release(op);
    check("the operator's death gives it back", counted.count == 1);
}

static void structs(Bench* bench, ID3D12Resource* resource)
{
    const D3D12_RESOURCE_DESC desc = RETURNED(D3D12_RESOURCE_DESC, resource, GetDesc);
    check("GetDesc of a resource", desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER && desc.Width == 256);
    check("its last fields", desc.Layout == D3D12_TEXTURE_LAYOUT_ROW_MAJOR
        && desc.Flags == D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    D3D12_HEAP_PROPERTIES properties = {0};
    D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_SHARED;
    hresult("GetHeapProperties", ID3D12Resource_GetHeapProperties(resource, &properties, &flags), S_OK);
    check("the heap", properties.Type == D3D12_HEAP_TYPE_DEFAULT && flags == D3D12_HEAP_FLAG_NONE);
    check("GetGPUVirtualAddress", ID3D12Resource_GetGPUVirtualAddress(resource) != 0);

    ID3D12DescriptorHeap* const heap = bench_descriptors(bench, 5);
    const D3D12_DESCRIPTOR_HEAP_DESC heap_desc = RETURNED(D3D12_DESCRIPTOR_HEAP_DESC, heap, GetDesc);
    check("GetDesc of a descriptor heap", heap_desc.NumDescriptors == 5);
    check("CPU handle", RETURNED(D3D12_CPU_DESCRIPTOR_HANDLE, heap, GetCPUDescriptorHandleForHeapStart).ptr != 0);
    check("GPU handle", RETURNED(D3D12_GPU_DESCRIPTOR_HANDLE, heap, GetGPUDescriptorHandleForHeapStart).ptr != 0);
    ID3D12DescriptorHeap_Release(heap);

    const D3D12_RESOURCE_DESC two[] = {
        buffer_desc(65537, D3D12_RESOURCE_FLAG_NONE), buffer_desc(1, D3D12_RESOURCE_FLAG_NONE)};
    const D3D12_RESOURCE_ALLOCATION_INFO info
        = RETURNED_FOR(D3D12_RESOURCE_ALLOCATION_INFO, bench->d3d12, GetResourceAllocationInfo, 0, 2, two);
    check("GetResourceAllocationInfo", info.SizeInBytes == 3 * 65536 && info.Alignment == 65536);
    const D3D12_HEAP_PROPERTIES custom =
        RETURNED_FOR(D3D12_HEAP_PROPERTIES, bench->d3d12, GetCustomHeapProperties, 0, D3D12_HEAP_TYPE_UPLOAD);
    check("GetCustomHeapProperties", custom.Type == D3D12_HEAP_TYPE_CUSTOM
        && custom.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE);
    check("GetDesc of a queue", RETURNED(D3D12_COMMAND_QUEUE_DESC, bench->queue, GetDesc).Type == D3D12_COMMAND_LIST_TYPE_DIRECT);
    const LUID luid = RETURNED(LUID, bench->d3d12, GetAdapterLuid);
    const LUID again = RETURNED(LUID, bench->d3d12, GetAdapterLuid);
    check("GetAdapterLuid", luid.LowPart == again.LowPart && luid.HighPart == again.HighPart);
    check("GetType", ID3D12GraphicsCommandList_GetType(bench->list) == D3D12_COMMAND_LIST_TYPE_DIRECT);
    check("GetNodeCount", ID3D12Device_GetNodeCount(bench->d3d12) == 1);

    const D3D12_HEAP_DESC wanted = {65536, {D3D12_HEAP_TYPE_DEFAULT, 0, 0, 0, 0}, 0, D3D12_HEAP_FLAG_NONE};
    ID3D12Heap* memory = NULL;
    ID3D12Resource* placed = NULL;
    hresult("CreateHeap", ID3D12Device_CreateHeap(bench->d3d12, &wanted, &IID_ID3D12Heap, (void**)&memory), S_OK);
    check("GetDesc of a heap", RETURNED(D3D12_HEAP_DESC, memory, GetDesc).SizeInBytes == 65536);
    hresult(
        "CreatePlacedResource",
        ID3D12Device_CreatePlacedResource(
            bench->d3d12,
            memory,
            0,
            &two[1],
            D3D12_RESOURCE_STATE_COMMON,
            NULL,
            &IID_ID3D12Resource,
            (void**)&placed),
        S_OK);
    check("Release of its heap", ID3D12Heap_Release(memory) <= 1);
    check("the last Release", ID3D12Resource_Release(placed) == 0);
}

void objects_topic(void)
{
    static const UINT sizes[4] = {1, 1, 1, 4};
    Bench bench;
    Tensor four;
    IDMLOperator* op = NULL;
    bench_open(&bench, 0);
    ID3D12Resource* const resource = bench_buffer(&bench, 256, D3D12_HEAP_TYPE_DEFAULT);
    const DML_TENSOR_DESC* const desc = tensor(&four, DML_TENSOR_DATA_TYPE_FLOAT32, sizes, NULL);
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity_desc = {desc, desc, NULL};
    const DML_OPERATOR_DESC whole = {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity_desc};
    need("CreateOperator", IDMLDevice1_CreateOperator(bench.dml, &whole, &IID_IDMLOperator, (void**)&op));
    IDMLCompiledOperator* const ready = compiled(&bench, whole.Type, whole.Desc);

    IDENTITY("device", bench.d3d12, &IID_ID3D12Object, &IID_ID3D12Device);
    IDENTITY(
        "queue", bench.queue, &IID_ID3D12Object, &IID_ID3D12DeviceChild, &IID_ID3D12Pageable, &IID_ID3D12CommandQueue);
    IDENTITY(
        "list",
        bench.list,
        &IID_ID3D12Object,
        &IID_ID3D12DeviceChild,
        &IID_ID3D12CommandList,
        &IID_ID3D12GraphicsCommandList);
    IDENTITY(
        "resource", resource, &IID_ID3D12Object, &IID_ID3D12DeviceChild, &IID_ID3D12Pageable, &IID_ID3D12Resource);
    IDENTITY("dml device", bench.dml, &IID_IDMLObject, &IID_IDMLDevice, &IID_IDMLDevice1);
    IDENTITY("operator", op, &IID_IDMLObject, &IID_IDMLDeviceChild, &IID_IDMLOperator);
    IDENTITY(
        "compiled operator",
        ready,
        &IID_IDMLObject,
        &IID_IDMLDeviceChild,
        &IID_IDMLPageable,
        &IID_IDMLDispatchable,
        &IID_IDMLCompiledOperator);
    IDENTITY("recorder", bench.recorder, &IID_IDMLObject, &IID_IDMLDeviceChild, &IID_IDMLCommandRecorder);

    IDMLDevice1* dml = NULL;
    ID3D12Device* d3d12 = NULL;
    hresult("GetDevice", IDMLOperator_GetDevice(op, &IID_IDMLDevice1, (void**)&dml), S_OK);
    check("gives the same pointer", dml == bench.dml);
    hresult("GetParentDevice", IDMLDevice1_GetParentDevice(dml, &IID_ID3D12Device, (void**)&d3d12), S_OK);
    check("gives the parent's pointer", d3d12 == bench.d3d12);
    IDMLDevice1_Release(dml);
    ID3D12Device_Release(d3d12);
    check("GetBindingProperties", RETURNED(DML_BINDING_PROPERTIES, ready, GetBindingProperties).RequiredDescriptorCount == 2);
    IDMLDispatchable* const base = (IDMLDispatchable*)ready;
    check("GetBindingProperties of the base", RETURNED(DML_BINDING_PROPERTIES, base, GetBindingProperties).PersistentResourceSize == 0);
    IDMLCompiledOperator_Release(ready);

    structs(&bench, resource);
    private_data(resource, op);
    ID3D12Resource_Release(resource);
    bench_close(&bench);
}
