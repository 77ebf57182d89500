#include "tensors.h"

Tensor::Tensor(
    DML_TENSOR_DATA_TYPE type,
    std::vector<UINT> sizes,
    std::vector<UINT> strides,
    DML_TENSOR_FLAGS flags)
    : state(std::make_shared<State>())
{
    state->sizes = std::move(sizes);
    state->strides = std::move(strides);
    const UINT rank = static_cast<UINT>(state->sizes.size());
    const UINT* const steps = state->strides.empty() ? nullptr : state->strides.data();
    state->buffer = {};
    state->buffer.DataType = type;
    state->buffer.Flags = flags;
    state->buffer.DimensionCount = rank;
    state->buffer.Sizes = state->sizes.data();
    state->buffer.Strides = steps;
    state->buffer.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(type, rank, state->sizes.data(), steps);
    state->tensor = {DML_TENSOR_TYPE_BUFFER, &state->buffer};
}

namespace
{
    std::vector<DML_TENSOR_DESC> descs(const std::vector<Tensor>& tensors)
    {
        std::vector<DML_TENSOR_DESC> found;
        for (const Tensor& tensor : tensors)
            found.push_back(*tensor.desc());
        return found;
    }

    ComPtr<IDMLOperator> created(IDMLDevice* device, DML_OPERATOR_TYPE type, const void* desc)
    {
        ComPtr<IDMLOperator> op;
        need(create(device, type, desc, op), "CreateOperator");
        return op;
    }
}

HRESULT create(IDMLDevice* device, DML_OPERATOR_TYPE type, const void* desc, ComPtr<IDMLOperator>& op)
{
    const DML_OPERATOR_DESC whole = {type, desc};
    return device->CreateOperator(&whole, IID_PPV_ARGS(&op));
}

ComPtr<IDMLOperator> identity(
    IDMLDevice* device,
    const Tensor& in,
    const Tensor& out,
    const DML_SCALE_BIAS* scale)
{
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc = {in.desc(), out.desc(), scale};
    return created(device, DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc);
}

ComPtr<IDMLOperator> join(IDMLDevice* device, const std::vector<Tensor>& in, const Tensor& out, UINT axis)
{
    const auto inputs = descs(in);
    const DML_JOIN_OPERATOR_DESC desc = {static_cast<UINT>(inputs.size()), inputs.data(), out.desc(), axis};
    return created(device, DML_OPERATOR_JOIN, &desc);
}

ComPtr<IDMLOperator> split(IDMLDevice* device, const Tensor& in, const std::vector<Tensor>& out, UINT axis)
{
    const auto outputs = descs(out);
    const DML_SPLIT_OPERATOR_DESC desc = {
        in.desc(), static_cast<UINT>(outputs.size()), outputs.data(), axis};
    return created(device, DML_OPERATOR_SPLIT, &desc);
}

ComPtr<IDMLOperator> reduce(
    IDMLDevice* device,
    DML_REDUCE_FUNCTION function,
    const Tensor& in,
    const Tensor& out,
    const std::vector<UINT>& axes)
{
    const DML_REDUCE_OPERATOR_DESC desc = {
        function, in.desc(), out.desc(), static_cast<UINT>(axes.size()), axes.data()};
    return created(device, DML_OPERATOR_REDUCE, &desc);
}

ComPtr<IDMLOperator> gather(
    IDMLDevice* device,
    const Tensor& in,
    const Tensor& indices,
    const Tensor& out,
    UINT axis,
    UINT indexDimensions)
{
    const DML_GATHER_OPERATOR_DESC desc = {in.desc(), indices.desc(), out.desc(), axis, indexDimensions};
    return created(device, DML_OPERATOR_GATHER, &desc);
}

ComPtr<IDMLCompiledOperator> compile(
    IDMLDevice* device,
    const ComPtr<IDMLOperator>& op,
    DML_EXECUTION_FLAGS flags)
{
    ComPtr<IDMLCompiledOperator> compiled;
    need(device->CompileOperator(op.Get(), flags, IID_PPV_ARGS(&compiled)), "CompileOperator");
    return compiled;
}
