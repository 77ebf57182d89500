// IDMLDevice1::CompileGraph: JOIN, REDUCE, SPLIT and GATHER as one operator.

#include "bench.h"

namespace
{
    // a and b are joined; the sums of the joined rows are an output, and what GATHER picks of the left part of a
    // SPLIT, and its right part.
    struct Whole
    {
        explicit Whole(IDMLDevice* device)
        {
            const Tensor a(Float32, {1, 1, 2, 2}), b(Float32, {1, 1, 2, 1}), joined(Float32, {1, 1, 2, 3});
            const Tensor sums(Float32, {1, 1, 2, 1}), left(Float32, {1, 1, 2, 2}), right(Float32, {1, 1, 2, 1});
            const Tensor rows(UInt32, {1, 1, 1, 3}), picked(Float32, {1, 1, 3, 2});
            operators = {
                join(device, {a, b}, joined, 3),
                reduce(device, DML_REDUCE_FUNCTION_SUM, joined, sums, {3}),
                split(device, joined, {left, right}, 3),
                gather(device, left, rows, picked, 2, 1)};
            for (const auto& op : operators)
                descs.push_back({op.Get(), "a node"});
            for (const auto& one : descs)
                nodes.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &one});
            for (const auto& edge : inputs)
                inputEdges.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &edge});
            for (const auto& edge : outputs)
                outputEdges.push_back({DML_GRAPH_EDGE_TYPE_OUTPUT, &edge});
            for (const auto& edge : between)
                intermediateEdges.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &edge});
        }

        DML_GRAPH_DESC desc() const
        {
            DML_GRAPH_DESC graph = {};
            graph.InputCount = 3;
            graph.OutputCount = 3;
            graph.NodeCount = static_cast<UINT>(nodes.size());
            graph.Nodes = nodes.data();
            graph.InputEdgeCount = static_cast<UINT>(inputEdges.size());
            graph.InputEdges = inputEdges.data();
            graph.OutputEdgeCount = static_cast<UINT>(outputEdges.size());
            graph.OutputEdges = outputEdges.data();
            graph.IntermediateEdgeCount = static_cast<UINT>(intermediateEdges.size());
            graph.IntermediateEdges = intermediateEdges.data();
            return graph;
        }

        std::vector<ComPtr<IDMLOperator>> operators;
        std::vector<DML_OPERATOR_GRAPH_NODE_DESC> descs;
        std::vector<DML_GRAPH_NODE_DESC> nodes;
        std::vector<DML_INPUT_GRAPH_EDGE_DESC> inputs = {{0, 0, 0, "a"}, {1, 0, 1, nullptr}, {2, 3, 1, "rows"}};
        std::vector<DML_OUTPUT_GRAPH_EDGE_DESC> outputs = {
            {1, 0, 0, "sums"}, {3, 0, 1, nullptr}, {2, 1, 2, nullptr}};
        std::vector<DML_INTERMEDIATE_GRAPH_EDGE_DESC> between = {
            {0, 0, 1, 0, nullptr}, {0, 0, 2, 0, nullptr}, {2, 0, 3, 0, nullptr}};
        std::vector<DML_GRAPH_EDGE_DESC> inputEdges, outputEdges, intermediateEdges;
    };

    void test_run(Bench& bench)
    {
        ComPtr<IDMLCompiledOperator> compiled;
        void* poisoned = poison();
        {
            // The operators and the desc may go once the graph is compiled.
            const Whole whole(bench.dml.Get());
            const DML_GRAPH_DESC desc = whole.desc();
            hresult(
                "CompileGraph",
                bench.dml->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
                Fine);
            hresult(
                "CompileGraph as an operator that is not compiled",
                bench.dml->CompileGraph(
                    &desc, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLOperator), &poisoned),
                E_NOINTERFACE);
            check("CompileGraph as something else: null", poisoned == nullptr);
        }
        if (!compiled)
            return;
        auto a = bench.holding<float>({1, 2, 3, 4}), b = bench.holding<float>({10, 20});
        auto rows = bench.holding<UINT>({1, 0, 1});
        auto sums = bench.buffer(8), picked = bench.buffer(24), right = bench.buffer(8);
        bench.dispatch(
            compiled.Get(), {a.Get(), b.Get(), rows.Get()}, {sums.Get(), picked.Get(), right.Get()});
        values<float>("graph: REDUCE of JOIN", bench.read<float>(sums.Get(), 2), {13, 27});
        values<float>(
            "graph: GATHER of SPLIT of JOIN", bench.read<float>(picked.Get(), 6), {3, 4, 1, 2, 3, 4});
        values<float>("graph: the rest of the SPLIT", bench.read<float>(right.Get(), 2), {10, 20});
    }

    void refused(Bench& bench, const char* name, const DML_GRAPH_DESC* desc)
    {
        void* found = poison();
        hresult(
            name,
            bench.dml->CompileGraph(desc, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &found),
            E_INVALIDARG);
        check(std::string(name) + ": null", found == nullptr);
    }

    void test_refusals(Bench& bench)
    {
        Whole whole(bench.dml.Get());
        refused(bench, "CompileGraph without a desc", nullptr);
        whole.between[2].FromNodeOutputIndex = 1;
        auto desc = whole.desc();
        refused(bench, "an edge between tensors of different sizes", &desc);
        whole.between[2].FromNodeOutputIndex = 7;
        refused(bench, "an edge from no output", &desc);
        whole.between[2].FromNodeOutputIndex = 0;
        desc.NodeCount = 3;
        refused(bench, "an edge to no node", &desc);
        desc.NodeCount = 4;
        whole.descs[1].Operator = nullptr;
        refused(bench, "a node without an operator", &desc);
        whole.descs[1].Operator = whole.operators[1].Get();
        desc.InputEdges = nullptr;
        refused(bench, "a null array of edges", &desc);
        desc.InputEdges = whole.inputEdges.data();
        hresult(
            "CompileGraph without ppv",
            bench.dml->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), nullptr),
            Fine);
    }

    void graphs(const std::vector<std::string>&)
    {
        Bench bench;
        test_run(bench);
        test_refusals(bench);
    }

    const Registration registration("graphs", graphs);
}
