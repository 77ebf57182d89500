// Tensors, operators and graphs as the topics write them down.

#ifndef TESTS_COM_TENSORS_H
#define TESTS_COM_TENSORS_H

#include "harness.h"

#include <memory>

constexpr DML_TENSOR_DATA_TYPE Float32 = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr DML_TENSOR_DATA_TYPE Int32 = DML_TENSOR_DATA_TYPE_INT32;
constexpr DML_TENSOR_DATA_TYPE UInt32 = DML_TENSOR_DATA_TYPE_UINT32;

// A tensor desc with the arrays that it points to; copies share them.
class Tensor
{
public:
    Tensor(
        DML_TENSOR_DATA_TYPE type,
        std::vector<UINT> sizes,
        std::vector<UINT> strides = {},
        DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE);

    const DML_TENSOR_DESC* desc() const { return &state->tensor; }

    UINT64 bytes() const { return state->buffer.TotalTensorSizeInBytes; }

    // What the desc points to, for topics that break it.
    DML_BUFFER_TENSOR_DESC& buffer() { return state->buffer; }

private:
    struct State
    {
        std::vector<UINT> sizes, strides;
        DML_BUFFER_TENSOR_DESC buffer;
        DML_TENSOR_DESC tensor;
    };

    std::shared_ptr<State> state;
};

// The operators; `result` of the calls is thrown where the topic does not look at it.
HRESULT create(IDMLDevice* device, DML_OPERATOR_TYPE type, const void* desc, ComPtr<IDMLOperator>& op);

ComPtr<IDMLOperator> identity(IDMLDevice* device, const Tensor& in, const Tensor& out, const DML_SCALE_BIAS* = nullptr);

ComPtr<IDMLOperator> join(IDMLDevice* device, const std::vector<Tensor>& in, const Tensor& out, UINT axis);

ComPtr<IDMLOperator> split(IDMLDevice* device, const Tensor& in, const std::vector<Tensor>& out, UINT axis);

ComPtr<IDMLOperator> reduce(
    IDMLDevice* device,
    DML_REDUCE_FUNCTION function,
    const Tensor& in,
    const Tensor& out,
    const std::vector<UINT>& axes);

ComPtr<IDMLOperator> gather(
    IDMLDevice* device,
    const Tensor& in,
    const Tensor& indices,
    const Tensor& out,
    UINT axis,
    UINT indexDimensions);

ComPtr<IDMLCompiledOperator> compile(
    IDMLDevice* device,
    const ComPtr<IDMLOperator>& op,
    DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE);

#endif
