/* Failing HRESULTs, device removal and the debug layer from C. */

#include "c_harness.h"

#define REFUSED(name, expected, call)  \
    do                                 \
    {                                  \
        found = &bench;                \
        hresult(name, call, expected); \
        check("null", found == NULL);  \
    } while (0)

static const UINT SIZES[] = {1, 1, 1, 4};

void errors_topic(void)
{
    Bench bench;
    Tensor four;
    void* found;
    bench_open(&bench, 0);
    const DML_TENSOR_DESC* const desc = tensor(&four, DML_TENSOR_DATA_TYPE_FLOAT32, SIZES, NULL);
    const DML_JOIN_OPERATOR_DESC join = {1, desc, desc, 9};
    const DML_OPERATOR_DESC wrong = {DML_OPERATOR_JOIN, &join};
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity = {desc, desc, NULL};
    const DML_OPERATOR_DESC valid = {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity};
    IDMLDevice1* const dml = bench.dml;
    REFUSED("a wrong axis", E_INVALIDARG, IDMLDevice1_CreateOperator(dml, &wrong, &IID_IDMLOperator, &found));
    const DML_OPERATOR_DESC reserved = {(DML_OPERATOR_TYPE)-1, &identity};
    REFUSED(
        "a type of no version",
        (HRESULT)0x887a0004u,
        IDMLDevice1_CreateOperator(dml, &reserved, &IID_IDMLOperator, &found));
    REFUSED("a null desc", E_INVALIDARG, IDMLDevice1_CreateOperator(dml, NULL, &IID_IDMLOperator, &found));
    REFUSED(
        "an operator as a table",
        E_NOINTERFACE,
        IDMLDevice1_CreateOperator(dml, &valid, &IID_IDMLBindingTable, &found));
    hresult("no ppv", IDMLDevice1_CreateOperator(dml, &valid, &IID_IDMLOperator, NULL), E_POINTER);
    IDMLOperator* op = NULL;
    need("CreateOperator", IDMLDevice1_CreateOperator(dml, &valid, &IID_IDMLOperator, (void**)&op));
    REFUSED(
        "a list where an operator should be",
        E_INVALIDARG,
        IDMLDevice1_CompileOperator(
            dml, (IDMLOperator*)bench.list, DML_EXECUTION_FLAG_NONE, &IID_IDMLCompiledOperator, &found));
    IDMLOperator_Release(op);
    hresult(
        "CreateCommandRecorder into null",
        IDMLDevice1_CreateCommandRecorder(dml, &IID_IDMLCommandRecorder, NULL),
        E_POINTER);
    REFUSED(
        "CreateRootSignature",
        E_INVALIDARG,
        ID3D12Device_CreateRootSignature(bench.d3d12, 0, "blob", 4, &IID_ID3D12RootSignature, &found));
    const D3D12_HEAP_PROPERTIES heap = {D3D12_HEAP_TYPE_DEFAULT, 0, 0, 0, 0};
    D3D12_RESOURCE_DESC buffer = buffer_desc(16, D3D12_RESOURCE_FLAG_NONE);
    hresult(
        "CreateCommittedResource into null",
        ID3D12Device_CreateCommittedResource(
            bench.d3d12,
            &heap,
            D3D12_HEAP_FLAG_NONE,
            &buffer,
            D3D12_RESOURCE_STATE_COMMON,
            NULL,
            &IID_ID3D12Resource,
            NULL),
        S_FALSE);
    D3D12_DESCRIPTOR_HEAP_DESC views = {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4, 0, 0};
    hresult(
        "CreateDescriptorHeap into null",
        ID3D12Device_CreateDescriptorHeap(bench.d3d12, &views, &IID_ID3D12DescriptorHeap, NULL),
        S_FALSE);
    views.NodeMask = 2;
    hresult(
        "CreateDescriptorHeap of a second node into null",
        ID3D12Device_CreateDescriptorHeap(bench.d3d12, &views, &IID_ID3D12DescriptorHeap, NULL),
        E_INVALIDARG);
    const D3D12_QUERY_HEAP_DESC queries = {D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 4, 0};
    hresult(
        "CreateQueryHeap into null",
        ID3D12Device_CreateQueryHeap(bench.d3d12, &queries, &IID_ID3D12QueryHeap, NULL),
        S_FALSE);
    buffer.Height = 2;
    REFUSED(
        "a buffer of two rows",
        E_INVALIDARG,
        ID3D12Device_CreateCommittedResource(
            bench.d3d12,
            &heap,
            D3D12_HEAP_FLAG_NONE,
            &buffer,
            D3D12_RESOURCE_STATE_COMMON,
            NULL,
            &IID_ID3D12Resource,
            &found));
    const DML_FEATURE_LEVEL asked[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_4_0};
    const DML_FEATURE_QUERY_FEATURE_LEVELS query = {2, asked};
    DML_FEATURE_DATA_FEATURE_LEVELS answer = {0};
    hresult(
        "CheckFeatureSupport",
        IDMLDevice1_CheckFeatureSupport(
            dml, DML_FEATURE_FEATURE_LEVELS, sizeof query, &query, sizeof answer, &answer),
        S_OK);
    check("the highest level", answer.MaxSupportedFeatureLevel == DML_FEATURE_LEVEL_4_0);
    hresult(
        "CheckFeatureSupport, wrong size",
        IDMLDevice1_CheckFeatureSupport(dml, DML_FEATURE_FEATURE_LEVELS, 1, &query, sizeof answer, &answer),
        E_INVALIDARG);
    hresult("the device is well", IDMLDevice1_GetDeviceRemovedReason(dml), S_OK);
    bench_close(&bench);
}

void removal_topic(void)
{
    Bench bench;
    Tensor four;
    bench_open(&bench, 0);
    const DML_TENSOR_DESC* const desc = tensor(&four, DML_TENSOR_DATA_TYPE_FLOAT32, SIZES, NULL);
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity = {desc, desc, NULL};
    const DML_OPERATOR_DESC valid = {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity};
    IDMLCompiledOperator* const op = compiled(&bench, valid.Type, valid.Desc);
    ID3D12DescriptorHeap* const heap = bench_descriptors(&bench, 2);
    IDMLBindingTable* const table = bench_table(&bench, (IDMLDispatchable*)op, heap);
    const DML_BINDING_DESC none[] = {{DML_BINDING_TYPE_NONE, NULL}, {DML_BINDING_TYPE_NONE, NULL}};
    IDMLBindingTable_BindInputs(table, 2, none);
    hresult("GetDeviceRemovedReason", IDMLDevice1_GetDeviceRemovedReason(bench.dml), REMOVED);
    void* found = &bench;
    hresult("CreateOperator", IDMLDevice1_CreateOperator(bench.dml, &valid, &IID_IDMLOperator, &found), REMOVED);
    check("null", found == NULL);
    hresult("GetDevice", IDMLBindingTable_GetDevice(table, &IID_IDMLDevice, &found), REMOVED);
    hresult("Reset", IDMLBindingTable_Reset(table, NULL), REMOVED);
    IDMLBindingTable_BindOutputs(table, 2, none);
    IDMLCommandRecorder_RecordDispatch(
        bench.recorder, (ID3D12CommandList*)bench.list, (IDMLDispatchable*)op, table);
    hresult("Direct3D's device is well", ID3D12Device_GetDeviceRemovedReason(bench.d3d12), S_OK);

    ID3D12CommandList* const lists[] = {(ID3D12CommandList*)bench.list};
    ID3D12CommandQueue_ExecuteCommandLists(bench.queue, 1, lists);
    hresult("an open list", ID3D12Device_GetDeviceRemovedReason(bench.d3d12), (HRESULT)0x887a0001u);
    check("fences are complete", ID3D12Fence_GetCompletedValue(bench.fence) == UINT64_MAX);
    hresult("Close", ID3D12GraphicsCommandList_Close(bench.list), REMOVED);
    IDMLBindingTable_Release(table);
    ID3D12DescriptorHeap_Release(heap);
    IDMLCompiledOperator_Release(op);
    bench_close(&bench);
}

static int told(ID3D12InfoQueue* queue, const char* text)
{
    int found = 0;
    for (UINT64 i = 0; i < ID3D12InfoQueue_GetNumStoredMessages(queue); i++)
    {
        SIZE_T size = 0;
        need("GetMessage", ID3D12InfoQueue_GetMessage(queue, i, NULL, &size));
        D3D12_MESSAGE* const message = malloc(size);
        need("GetMessage", ID3D12InfoQueue_GetMessage(queue, i, message, &size));
        found |= strstr(message->pDescription, text) != NULL;
        check("the length of the text", message->DescriptionByteLength == strlen(message->pDescription) + 1);
        free(message);
    }
    return found;
}

void debug_topic(void)
{
    static const UINT wide[] = {1, 1, 1, 5};
    Bench bench;
    Tensor memory[2];
    ID3D12InfoQueue* queue = NULL;
    IDMLDebugDevice* debug = NULL;
    bench_open(&bench, 1);
    hresult("QueryInterface", ID3D12Device_QueryInterface(bench.d3d12, &IID_ID3D12InfoQueue, (void**)&queue), S_OK);
    const DML_TENSOR_DESC* const four = tensor(&memory[0], DML_TENSOR_DATA_TYPE_FLOAT32, SIZES, NULL);
    const DML_TENSOR_DESC* const five = tensor(&memory[1], DML_TENSOR_DATA_TYPE_FLOAT32, wide, NULL);
    const DML_JOIN_OPERATOR_DESC join = {1, four, five, 3};
    const DML_OPERATOR_DESC desc = {DML_OPERATOR_JOIN, &join};
    void* found = &bench;
    hresult("one too wide", IDMLDevice1_CreateOperator(bench.dml, &desc, &IID_IDMLOperator, &found), E_INVALIDARG);
    check("the message names the field", told(queue, "OutputTensor.Sizes is {1,1,1,5}"));
    ID3D12InfoQueue_ClearStoredMessages(queue);

    D3D12_MESSAGE_SEVERITY severities[] = {D3D12_MESSAGE_SEVERITY_ERROR};
    D3D12_INFO_QUEUE_FILTER filter;
    memset(&filter, 0, sizeof filter);
    filter.DenyList.NumSeverities = 1;
    filter.DenyList.pSeverityList = severities;
    hresult("PushStorageFilter", ID3D12InfoQueue_PushStorageFilter(queue, &filter), S_OK);
    hresult("again", IDMLDevice1_CreateOperator(bench.dml, &desc, &IID_IDMLOperator, &found), E_INVALIDARG);
    check("denied", ID3D12InfoQueue_GetNumStoredMessages(queue) == 0);
    check("counted", ID3D12InfoQueue_GetNumMessagesDeniedByStorageFilter(queue) > 0);
    queue->lpVtbl->PopStorageFilter(queue);
    hresult(
        "AddApplicationMessage",
        ID3D12InfoQueue_AddApplicationMessage(queue, D3D12_MESSAGE_SEVERITY_INFO, "from C"),
        S_OK);
    check("is stored", told(queue, "from C"));
    ID3D12InfoQueue_ClearStoredMessages(queue);

    hresult(
        "IDMLDebugDevice", IDMLDevice1_QueryInterface(bench.dml, &IID_IDMLDebugDevice, (void**)&debug), S_OK);
    IDMLDebugDevice_SetMuteDebugOutput(debug, TRUE);
    hresult("muted", IDMLDevice1_CreateOperator(bench.dml, &desc, &IID_IDMLOperator, &found), E_INVALIDARG);
    check("no message", ID3D12InfoQueue_GetNumStoredMessages(queue) == 0);
    IDMLDebugDevice_Release(debug);
    ID3D12InfoQueue_Release(queue);
    bench_close(&bench);
}
