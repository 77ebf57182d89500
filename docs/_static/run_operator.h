// Runs one DirectML operator and prints its outputs: the common part of the C++ examples on the operators' pages.
//
// On Linux: g++ -std=c++17 example.cpp $(python -m directml_py config --cflags --libs) -o example
// On Windows: cl /std:c++17 /EHsc example.cpp directml.lib d3d12.lib

#pragma once

#include "machine.h"

#include <cmath>
#include <initializer_list>

// A FLOAT16. Only numbers that it represents exactly are converted without loss.
struct Half
{
    uint16_t bits;

    Half(float value = 0) : bits(0)
    {
        uint32_t u;
        std::memcpy(&u, &value, 4);
        const uint32_t sign = u >> 16 & 0x8000u, mantissa = u & 0x7fffffu;
        const int exponent = static_cast<int>(u >> 23 & 0xff) - 112;
        if ((u >> 23 & 0xff) == 0xff)
            bits = static_cast<uint16_t>(sign | 0x7c00u | (mantissa ? 0x200u : 0));
        else if (exponent >= 31)
            bits = static_cast<uint16_t>(sign | 0x7c00u);
        else if (exponent > 0)
        {
            // Ties go to the even neighbour; a carry correctly propagates into the exponent.
            const uint32_t kept = static_cast<uint32_t>(exponent) << 10 | mantissa >> 13, rest = mantissa & 0x1fffu;
            bits = static_cast<uint16_t>(sign | (kept + (rest > 0x1000u || (rest == 0x1000u && (kept & 1)))));
        }
        else
            bits = static_cast<uint16_t>(sign | static_cast<uint32_t>(std::lrint(std::fabs(value) * 16777216.0f)));
    }

    operator double() const
    {
        const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
        double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                       : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                      : std::ldexp(mantissa, -24);
        return bits & 0x8000 ? -value : value;
    }
};

// A tensor with its desc and its memory.
struct Tensor : TensorDesc
{
    std::vector<uint8_t> bytes;

    Tensor(DML_TENSOR_DATA_TYPE type, std::vector<UINT> theSizes, std::vector<UINT> theStrides = {})
        : TensorDesc(type, std::move(theSizes), std::move(theStrides)),
          bytes(static_cast<size_t>(buffer.TotalTensorSizeInBytes))
    {
    }

    // The elements in the order of memory, which of a packed tensor is row by row.
    template <typename T>
    void Set(std::initializer_list<T> elements)
    {
        std::memcpy(bytes.data(), elements.begin(), elements.size() * sizeof(T));
    }

    void Print() const
    {
        switch (buffer.DataType)
        {
        case DML_TENSOR_DATA_TYPE_FLOAT64: return PrintAs<double>();
        case DML_TENSOR_DATA_TYPE_FLOAT32: return PrintAs<float>();
        case DML_TENSOR_DATA_TYPE_FLOAT16: return PrintAs<Half>();
        case DML_TENSOR_DATA_TYPE_UINT64: return PrintAs<uint64_t>();
        case DML_TENSOR_DATA_TYPE_UINT32: return PrintAs<uint32_t>();
        case DML_TENSOR_DATA_TYPE_UINT16: return PrintAs<uint16_t>();
        case DML_TENSOR_DATA_TYPE_INT64: return PrintAs<int64_t>();
        case DML_TENSOR_DATA_TYPE_INT32: return PrintAs<int32_t>();
        case DML_TENSOR_DATA_TYPE_INT16: return PrintAs<int16_t>();
        case DML_TENSOR_DATA_TYPE_INT8: return PrintAs<int8_t>();
        // 4-bit elements as bytes of two.
        default: return PrintAs<uint8_t>();
        }
    }

private:
    static void PrintOne(double value) { std::printf("%.7g", value); }
    static void PrintOne(uint64_t value) { std::printf("%llu", static_cast<unsigned long long>(value)); }
    static void PrintOne(int64_t value) { std::printf("%lld", static_cast<long long>(value)); }
    static void PrintOne(Half value) { PrintOne(static_cast<double>(value)); }
    static void PrintOne(float value) { PrintOne(static_cast<double>(value)); }
    static void PrintOne(uint32_t value) { PrintOne(static_cast<uint64_t>(value)); }
    static void PrintOne(uint16_t value) { PrintOne(static_cast<uint64_t>(value)); }
    static void PrintOne(uint8_t value) { PrintOne(static_cast<uint64_t>(value)); }
    static void PrintOne(int32_t value) { PrintOne(static_cast<int64_t>(value)); }
    static void PrintOne(int16_t value) { PrintOne(static_cast<int64_t>(value)); }
    static void PrintOne(int8_t value) { PrintOne(static_cast<int64_t>(value)); }

    template <typename T>
    void PrintAs() const
    {
        for (size_t offset = 0; offset + sizeof(T) <= bytes.size(); offset += sizeof(T))
        {
            T value;
            std::memcpy(&value, bytes.data() + offset, sizeof(T));
            std::printf("%s", offset ? " " : "");
            PrintOne(value);
        }
        std::printf("\n");
    }
};

// Creates, compiles, initializes and executes the operator; null stands for an absent tensor.
inline void RunOperator(
    const DML_OPERATOR_DESC& desc,
    const std::vector<const Tensor*>& inputs,
    const std::vector<Tensor*>& outputs)
{
    Machine machine;
    ComPtr<IDMLOperator> op;
    ComPtr<IDMLCompiledOperator> compiled;
    ComPtr<IDMLOperatorInitializer> initializer;
    Check(machine.dml->CreateOperator(&desc, IID_PPV_ARGS(&op)));
    Check(machine.dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
    IDMLCompiledOperator* operators[] = {compiled.Get()};
    Check(machine.dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)));

    std::vector<DML_BUFFER_BINDING> spans(inputs.size() + outputs.size());
    std::vector<DML_BINDING_DESC> bound(spans.size(), {DML_BINDING_TYPE_NONE, nullptr});
    std::vector<ComPtr<ID3D12Resource>> results;
    const auto bind = [&](size_t index, const ComPtr<ID3D12Resource>& resource) {
        spans[index] = {resource.Get(), 0, resource->GetDesc().Width};
        bound[index] = {DML_BINDING_TYPE_BUFFER, &spans[index]};
    };
    const auto upload = [&](const Tensor& tensor) {
        const size_t size = tensor.bytes.size();
        return machine.Upload(size, [&](void* memory) { std::memcpy(memory, tensor.bytes.data(), size); });
    };
    for (size_t i = 0; i < inputs.size(); i++)
        if (inputs[i])
            bind(i, upload(*inputs[i]));
    for (size_t i = 0; i < outputs.size(); i++)
    {
        results.push_back(outputs[i] ? upload(*outputs[i]) : nullptr);
        if (outputs[i])
            bind(inputs.size() + i, results.back());
    }
    const auto split = bound.begin() + static_cast<std::ptrdiff_t>(inputs.size());

    ComPtr<ID3D12Resource> persistent;
    if (const UINT64 size = compiled->GetBindingProperties().PersistentResourceSize)
        persistent = machine.Scratch(size);
    std::vector<DML_BINDING_DESC> initialized;
    DML_BUFFER_BINDING persistentSpan = {};
    if (persistent)
    {
        persistentSpan = {persistent.Get(), 0, persistent->GetDesc().Width};
        initialized.push_back({DML_BINDING_TYPE_BUFFER, &persistentSpan});
    }
    machine.Record(initializer.Get(), {}, initialized, nullptr);
    machine.Record(compiled.Get(), {bound.begin(), split}, {split, bound.end()}, persistent.Get());

    std::vector<ComPtr<ID3D12Resource>> readback(outputs.size());
    for (size_t i = 0; i < outputs.size(); i++)
        if (outputs[i])
            readback[i] = machine.Readback(results[i].Get());
    machine.Run();
    for (size_t i = 0; i < outputs.size(); i++)
    {
        void* memory = nullptr;
        if (!outputs[i])
            continue;
        Check(readback[i]->Map(0, nullptr, &memory));
        std::memcpy(outputs[i]->bytes.data(), memory, outputs[i]->bytes.size());
        readback[i]->Unmap(0, nullptr);
    }
}
