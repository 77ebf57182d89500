// Runs a graph on what files hold: the part that the C++ programs of graphs have in common.

#pragma once

#include "machine.h"

#include <fstream>
#include <string>

inline void Fail(const std::string& text)
{
    std::fprintf(stderr, "%s\n", text.c_str());
    std::exit(1);
}

// An input or output of the graph, whose elements are `length` bytes of a file from `offset` on.
struct GraphTensor
{
    const char* name;
    UINT64 size; // of the buffer; 0 if no node reads the input
    bool owned;  // by DirectML: bound only when the graph is initialized
    UINT64 length;
    std::string file; // empty for an output that nobody wants
    UINT64 offset = 0;
};

inline void ReadPart(const GraphTensor& tensor, void* memory)
{
    std::ifstream file(tensor.file, std::ios::binary);
    if (!file)
        Fail("cannot open " + tensor.file + ", which has " + tensor.name);
    file.seekg(static_cast<std::streamoff>(tensor.offset));
    file.read(static_cast<char*>(memory), static_cast<std::streamsize>(tensor.length));
    if (!file)
        Fail(tensor.file + " is too short: " + tensor.name + " has " + std::to_string(tensor.length) + " bytes");
}

inline void WriteWhole(const GraphTensor& tensor, const void* memory)
{
    std::ofstream file(tensor.file, std::ios::binary);
    file.write(static_cast<const char*>(memory), static_cast<std::streamsize>(tensor.length));
    file.close();
    if (!file)
        Fail("cannot write " + tensor.file);
}

// An operator of the graph as a node. `desc` is needed only during the call.
inline ComPtr<IDMLOperator> CreateNode(IDMLDevice* dml, DML_OPERATOR_TYPE type, const void* desc)
{
    const DML_OPERATOR_DESC operatorDesc = {type, desc};
    ComPtr<IDMLOperator> made;
    Check(dml->CreateOperator(&operatorDesc, IID_PPV_ARGS(&made)));
    return made;
}

// The edges of one kind, as a DML_GRAPH_DESC has them.
template <typename Edge>
std::vector<DML_GRAPH_EDGE_DESC> Edges(DML_GRAPH_EDGE_TYPE type, const std::vector<Edge>& edges)
{
    std::vector<DML_GRAPH_EDGE_DESC> descs;
    for (const Edge& edge : edges)
        descs.push_back({type, &edge});
    return descs;
}

struct GraphParts
{
    std::vector<ComPtr<IDMLOperator>> nodes;
    std::vector<DML_INPUT_GRAPH_EDGE_DESC> inputEdges;
    std::vector<DML_OUTPUT_GRAPH_EDGE_DESC> outputEdges;
    std::vector<DML_INTERMEDIATE_GRAPH_EDGE_DESC> intermediateEdges;
};

inline ComPtr<IDMLCompiledOperator> CompileParts(IDMLDevice* dml, const GraphParts& parts, UINT inputs, UINT outputs)
{
    std::vector<DML_OPERATOR_GRAPH_NODE_DESC> operators;
    for (const auto& node : parts.nodes)
        operators.push_back({node.Get(), nullptr});
    std::vector<DML_GRAPH_NODE_DESC> nodes;
    for (const auto& node : operators)
        nodes.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &node});
    const auto inputEdges = Edges(DML_GRAPH_EDGE_TYPE_INPUT, parts.inputEdges);
    const auto outputEdges = Edges(DML_GRAPH_EDGE_TYPE_OUTPUT, parts.outputEdges);
    const auto intermediateEdges = Edges(DML_GRAPH_EDGE_TYPE_INTERMEDIATE, parts.intermediateEdges);
    DML_GRAPH_DESC desc = {};
    desc.InputCount = inputs;
    desc.OutputCount = outputs;
    desc.NodeCount = static_cast<UINT>(nodes.size());
    desc.Nodes = nodes.data();
    desc.InputEdgeCount = static_cast<UINT>(inputEdges.size());
    desc.InputEdges = inputEdges.data();
    desc.OutputEdgeCount = static_cast<UINT>(outputEdges.size());
    desc.OutputEdges = outputEdges.data();
    desc.IntermediateEdgeCount = static_cast<UINT>(intermediateEdges.size());
    desc.IntermediateEdges = intermediateEdges.data();
    ComPtr<IDMLDevice1> device;
    Check(dml->QueryInterface(IID_PPV_ARGS(&device)));
    ComPtr<IDMLCompiledOperator> compiled;
    Check(device->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
    return compiled;
}

// Compiles the graph, initializes it with the inputs that DirectML owns, dispatches it, and writes its outputs.
inline void RunGraph(
    Machine& machine,
    const GraphParts& parts,
    const std::vector<GraphTensor>& inputs,
    const std::vector<GraphTensor>& outputs)
{
    const UINT inputCount = static_cast<UINT>(inputs.size()), outputCount = static_cast<UINT>(outputs.size());
    const auto compiled = CompileParts(machine.dml.Get(), parts, inputCount, outputCount);
    IDMLCompiledOperator* operators[] = {compiled.Get()};
    ComPtr<IDMLOperatorInitializer> initializer;
    Check(machine.dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)));

    const auto upload = [&](const GraphTensor& tensor) {
        return machine.Upload(tensor.size, [&](void* memory) { ReadPart(tensor, memory); });
    };
    // An array of bindings has empty ones where there is nothing to bind.
    std::vector<ComPtr<ID3D12Resource>> bound(inputs.size());
    std::vector<DML_BUFFER_BINDING> owned(inputs.size(), {nullptr, 0, 0});
    bool anyOwned = false;
    for (size_t i = 0; i < inputs.size(); i++)
    {
        if (!inputs[i].size || !inputs[i].owned)
            continue;
        bound[i] = upload(inputs[i]);
        owned[i] = {bound[i].Get(), 0, inputs[i].size};
        anyOwned = true;
    }
    const DML_BUFFER_ARRAY_BINDING array = {inputCount, owned.data()};
    std::vector<DML_BINDING_DESC> ownedBinding;
    if (anyOwned)
        ownedBinding.push_back({DML_BINDING_TYPE_BUFFER_ARRAY, &array});

    ComPtr<ID3D12Resource> persistent;
    DML_BUFFER_BINDING persistentSpan = {};
    std::vector<DML_BINDING_DESC> initialized;
    if (const UINT64 size = compiled->GetBindingProperties().PersistentResourceSize)
    {
        persistent = machine.Scratch(size);
        persistentSpan = {persistent.Get(), 0, size};
        initialized.push_back({DML_BINDING_TYPE_BUFFER, &persistentSpan});
    }
    machine.Record(initializer.Get(), ownedBinding, initialized, nullptr);
    machine.Run();
    // Its own copy is in the persistent resource.
    bound.assign(inputs.size(), nullptr);

    std::vector<DML_BUFFER_BINDING> spans(inputs.size() + outputs.size());
    std::vector<DML_BINDING_DESC> bindings(spans.size(), {DML_BINDING_TYPE_NONE, nullptr});
    const auto bind = [&](size_t index, ID3D12Resource* resource, UINT64 size) {
        spans[index] = {resource, 0, size};
        bindings[index] = {DML_BINDING_TYPE_BUFFER, &spans[index]};
    };
    for (size_t i = 0; i < inputs.size(); i++)
        if (inputs[i].size && !inputs[i].owned)
            bind(i, (bound[i] = upload(inputs[i])).Get(), inputs[i].size);
    std::vector<ComPtr<ID3D12Resource>> results(outputs.size()), readback(outputs.size());
    for (size_t i = 0; i < outputs.size(); i++)
    {
        results[i] = machine.Scratch(outputs[i].size);
        bind(inputs.size() + i, results[i].Get(), outputs[i].size);
    }
    const auto split = bindings.begin() + static_cast<std::ptrdiff_t>(inputs.size());
    machine.Record(compiled.Get(), {bindings.begin(), split}, {split, bindings.end()}, persistent.Get());
    for (size_t i = 0; i < outputs.size(); i++)
        if (!outputs[i].file.empty())
            readback[i] = machine.Readback(results[i].Get());
    machine.Run();
    for (size_t i = 0; i < outputs.size(); i++)
    {
        if (!readback[i])
            continue;
        void* memory = nullptr;
        Check(readback[i]->Map(0, nullptr, &memory));
        WriteWhole(outputs[i], memory);
        readback[i]->Unmap(0, nullptr);
    }
}
