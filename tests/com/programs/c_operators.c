/* The four operators and a graph from C, against numbers worked out by hand. */

#include "c_harness.h"

#define FLOAT32 DML_TENSOR_DATA_TYPE_FLOAT32
#define INT32_TYPE DML_TENSOR_DATA_TYPE_INT32

static void join(Bench* bench)
{
    static const UINT left_sizes[] = {1, 1, 2, 3}, right_sizes[] = {1, 1, 2, 4}, both_sizes[] = {1, 1, 2, 7};
    static const UINT right_strides[] = {16, 16, 8, 1};
    static const float left[] = {1, 2, 3, 4, 5, 6};
    static const float right[] = {10, 11, 12, 13, -1, -1, -1, -1, 20, 21, 22, 23};
    static const float expected[] = {1, 2, 3, 10, 11, 12, 13, 4, 5, 6, 20, 21, 22, 23};
    Tensor memory[3];
    const DML_TENSOR_DESC inputs[] = {
        *tensor(&memory[0], FLOAT32, left_sizes, NULL),
        *tensor(&memory[1], FLOAT32, right_sizes, right_strides)};
    const DML_JOIN_OPERATOR_DESC desc = {2, inputs, tensor(&memory[2], FLOAT32, both_sizes, NULL), 3};
    IDMLCompiledOperator* const op = compiled(bench, DML_OPERATOR_JOIN, &desc);
    ID3D12Resource* const in[] = {
        bench_holding(bench, left, sizeof left), bench_holding(bench, right, sizeof right)};
    ID3D12Resource* const out = bench_buffer(bench, sizeof expected, D3D12_HEAP_TYPE_DEFAULT);
    float found[COUNT(expected)];
    bench_dispatch(bench, op, in, 2, &out, 1);
    bench_read(bench, out, found, sizeof found);
    floats("JOIN", found, expected, COUNT(expected));
    ID3D12Resource_Release(in[0]);
    ID3D12Resource_Release(in[1]);
    ID3D12Resource_Release(out);
    IDMLCompiledOperator_Release(op);
}

static void split(Bench* bench)
{
    static const UINT whole_sizes[] = {1, 2, 2, 2}, channels_last[] = {8, 1, 4, 2}, one_sizes[] = {1, 1, 2, 2};
    static const INT32 whole[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const INT32 expected[2][4] = {{0, 2, 4, 6}, {1, 3, 5, 7}};
    Tensor memory[2];
    const DML_TENSOR_DESC one = *tensor(&memory[1], INT32_TYPE, one_sizes, NULL);
    const DML_TENSOR_DESC outputs[] = {one, one};
    const DML_SPLIT_OPERATOR_DESC desc = {
        tensor(&memory[0], INT32_TYPE, whole_sizes, channels_last), 2, outputs, 1};
    IDMLCompiledOperator* const op = compiled(bench, DML_OPERATOR_SPLIT, &desc);
    ID3D12Resource* const in = bench_holding(bench, whole, sizeof whole);
    ID3D12Resource* const out[] = {
        bench_buffer(bench, 16, D3D12_HEAP_TYPE_DEFAULT), bench_buffer(bench, 16, D3D12_HEAP_TYPE_DEFAULT)};
    bench_dispatch(bench, op, &in, 1, out, 2);
    for (int i = 0; i < 2; i++)
    {
        INT32 found[4];
        bench_read(bench, out[i], found, sizeof found);
        check(i ? "SPLIT, second channel" : "SPLIT, first channel", memcmp(found, expected[i], sizeof found) == 0);
        ID3D12Resource_Release(out[i]);
    }
    ID3D12Resource_Release(in);
    IDMLCompiledOperator_Release(op);
}

static void reduce(Bench* bench)
{
    static const UINT sizes[] = {1, 1, 2, 3}, strides[] = {8, 8, 4, 1}, rows_sizes[] = {1, 1, 2, 1};
    static const UINT axes[] = {3};
    static const float data[] = {1, 2, 3, 100, 4, 5, 6, 100}, expected[] = {6, 15};
    Tensor memory[2];
    const DML_REDUCE_OPERATOR_DESC desc = {
        DML_REDUCE_FUNCTION_SUM,
        tensor(&memory[0], FLOAT32, sizes, strides),
        tensor(&memory[1], FLOAT32, rows_sizes, NULL),
        1,
        axes};
    IDMLCompiledOperator* const op = compiled(bench, DML_OPERATOR_REDUCE, &desc);
    ID3D12Resource* const in = bench_holding(bench, data, sizeof data);
    ID3D12Resource* const out = bench_buffer(bench, 8, D3D12_HEAP_TYPE_DEFAULT);
    float found[2];
    bench_dispatch(bench, op, &in, 1, &out, 1);
    bench_read(bench, out, found, sizeof found);
    floats("REDUCE", found, expected, 2);
    ID3D12Resource_Release(in);
    ID3D12Resource_Release(out);
    IDMLCompiledOperator_Release(op);
}

static void gather(Bench* bench)
{
    static const UINT table_sizes[] = {1, 1, 4, 2}, indices_sizes[] = {1, 1, 1, 3}, picked_sizes[] = {1, 1, 3, 2};
    static const float table[] = {0, 1, 10, 11, 20, 21, 30, 31}, expected[] = {30, 31, 0, 1, 30, 31};
    static const UINT indices[] = {3, 0, 3};
    Tensor memory[3];
    const DML_GATHER_OPERATOR_DESC desc = {
        tensor(&memory[0], FLOAT32, table_sizes, NULL),
        tensor(&memory[1], DML_TENSOR_DATA_TYPE_UINT32, indices_sizes, NULL),
        tensor(&memory[2], FLOAT32, picked_sizes, NULL),
        2,
        1};
    IDMLCompiledOperator* const op = compiled(bench, DML_OPERATOR_GATHER, &desc);
    ID3D12Resource* const in[] = {
        bench_holding(bench, table, sizeof table), bench_holding(bench, indices, sizeof indices)};
    ID3D12Resource* const out = bench_buffer(bench, sizeof expected, D3D12_HEAP_TYPE_DEFAULT);
    float found[COUNT(expected)];
    bench_dispatch(bench, op, in, 2, &out, 1);
    bench_read(bench, out, found, sizeof found);
    floats("GATHER", found, expected, COUNT(expected));
    ID3D12Resource_Release(in[0]);
    ID3D12Resource_Release(in[1]);
    ID3D12Resource_Release(out);
    IDMLCompiledOperator_Release(op);
}

/* The sum of a scaled row: IDENTITY into REDUCE, which needs a temporary resource. */
static void graph(Bench* bench)
{
    static const UINT sizes[] = {1, 1, 1, 4}, one_sizes[] = {1, 1, 1, 1}, axes[] = {3};
    static const float data[] = {1, 2, 3, 4}, expected[] = {24};
    const DML_SCALE_BIAS scale = {2, 1};
    Tensor memory[2];
    const DML_TENSOR_DESC* const row = tensor(&memory[0], FLOAT32, sizes, NULL);
    const DML_TENSOR_DESC* const one = tensor(&memory[1], FLOAT32, one_sizes, NULL);
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity = {row, row, &scale};
    const DML_REDUCE_OPERATOR_DESC sum = {DML_REDUCE_FUNCTION_SUM, row, one, 1, axes};
    const DML_OPERATOR_DESC descs[] = {
        {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity}, {DML_OPERATOR_REDUCE, &sum}};
    IDMLOperator* operators[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        need(
            "CreateOperator",
            IDMLDevice1_CreateOperator(bench->dml, &descs[i], &IID_IDMLOperator, (void**)&operators[i]));
    const DML_OPERATOR_GRAPH_NODE_DESC inner[] = {{operators[0], "scaled"}, {operators[1], NULL}};
    const DML_GRAPH_NODE_DESC nodes[] = {
        {DML_GRAPH_NODE_TYPE_OPERATOR, &inner[0]}, {DML_GRAPH_NODE_TYPE_OPERATOR, &inner[1]}};
    const DML_INPUT_GRAPH_EDGE_DESC input = {0, 0, 0, NULL};
    const DML_OUTPUT_GRAPH_EDGE_DESC output = {1, 0, 0, NULL};
    const DML_INTERMEDIATE_GRAPH_EDGE_DESC between = {0, 0, 1, 0, NULL};
    const DML_GRAPH_EDGE_DESC edges[] = {
        {DML_GRAPH_EDGE_TYPE_INPUT, &input},
        {DML_GRAPH_EDGE_TYPE_OUTPUT, &output},
        {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &between}};
    const DML_GRAPH_DESC desc = {1, 1, 2, nodes, 1, &edges[0], 1, &edges[1], 1, &edges[2]};
    IDMLCompiledOperator* op = NULL;
    need(
        "CompileGraph",
        IDMLDevice1_CompileGraph(
            bench->dml, &desc, DML_EXECUTION_FLAG_NONE, &IID_IDMLCompiledOperator, (void**)&op));
    IDMLOperator_Release(operators[0]);
    IDMLOperator_Release(operators[1]);
    ID3D12Resource* const in = bench_holding(bench, data, sizeof data);
    ID3D12Resource* const out = bench_buffer(bench, 4, D3D12_HEAP_TYPE_DEFAULT);
    float found[1];
    bench_dispatch(bench, op, &in, 1, &out, 1);
    bench_read(bench, out, found, sizeof found);
    floats("graph", found, expected, 1);
    ID3D12Resource_Release(in);
    ID3D12Resource_Release(out);
    IDMLCompiledOperator_Release(op);
}

void operators_topic(void)
{
    Bench bench;
    bench_open(&bench, 0);
    join(&bench);
    split(&bench);
    reduce(&bench);
    gather(&bench);
    graph(&bench);
    hresult("the device is well", IDMLDevice1_GetDeviceRemovedReason(bench.dml), S_OK);
    bench_close(&bench);
}
