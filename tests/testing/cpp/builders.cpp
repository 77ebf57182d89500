// Descriptor builders as a C++ program has them. Descs stay where they are until the library is unloaded.

#include "DirectML.h"

#include <deque>
#include <utility>
#include <vector>

namespace
{

struct Tensor
{
    std::vector<UINT> sizes;
    std::vector<UINT> strides;
    DML_BUFFER_TENSOR_DESC buffer = {};
    DML_TENSOR_DESC desc = {};
};

std::deque<Tensor> tensors;
std::deque<std::vector<DML_TENSOR_DESC>> tensorArrays;
std::deque<std::vector<UINT>> axes;
std::deque<DML_JOIN_OPERATOR_DESC> joins;
std::deque<DML_REDUCE_OPERATOR_DESC> reduces;
std::deque<DML_GATHER_OPERATOR_DESC> gathers;
std::deque<DML_OPERATOR_DESC> operators;

const DML_TENSOR_DESC* MakeTensor(
    DML_TENSOR_DATA_TYPE dataType, std::vector<UINT> sizes, std::vector<UINT> strides = {})
{
    Tensor& tensor = tensors.emplace_back();
    tensor.sizes = std::move(sizes);
    tensor.strides = std::move(strides);
    tensor.buffer.DataType = dataType;
    tensor.buffer.DimensionCount = static_cast<UINT>(tensor.sizes.size());
    tensor.buffer.Sizes = tensor.sizes.data();
    tensor.buffer.Strides = tensor.strides.empty() ? nullptr : tensor.strides.data();
    tensor.buffer.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(
        dataType, tensor.buffer.DimensionCount, tensor.buffer.Sizes, tensor.buffer.Strides);
    tensor.desc = {DML_TENSOR_TYPE_BUFFER, &tensor.buffer};
    return &tensor.desc;
}

const DML_OPERATOR_DESC* MakeOperator(DML_OPERATOR_TYPE type, const void* desc)
{
    return &operators.emplace_back(DML_OPERATOR_DESC{type, desc});
}

} // namespace

// Images of equal height, side by side.
extern "C" const DML_OPERATOR_DESC* BuildSideBySide(UINT height, const UINT* widths, UINT count)
{
    auto& inputs = tensorArrays.emplace_back();
    UINT width = 0;
    for (UINT i = 0; i < count; i++)
    {
        inputs.push_back(*MakeTensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 3, height, widths[i]}));
        width += widths[i];
    }
    auto& join = joins.emplace_back();
    join.InputCount = count;
    join.InputTensors = inputs.data();
    join.OutputTensor = MakeTensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 3, height, width});
    join.Axis = 3;
    return MakeOperator(DML_OPERATOR_JOIN, &join);
}

// The largest element of every row of an image whose rows are `pitch` elements apart.
// It has a bug: the strides come after the size was calculated.
extern "C" const DML_OPERATOR_DESC* BuildRowMaximum(UINT height, UINT width, UINT pitch)
{
    MakeTensor(DML_TENSOR_DATA_TYPE_FLOAT16, {1, 1, height, width});
    Tensor& image = tensors.back();
    image.strides = {height * pitch, height * pitch, pitch, 1};
    image.buffer.Strides = image.strides.data();
    auto& reduce = reduces.emplace_back();
    reduce.Function = DML_REDUCE_FUNCTION_MAX;
    reduce.InputTensor = &image.desc;
    reduce.OutputTensor = MakeTensor(DML_TENSOR_DATA_TYPE_FLOAT16, {1, 1, height, 1});
    reduce.Axes = axes.emplace_back(1, 3u).data();
    reduce.AxisCount = 1;
    return MakeOperator(DML_OPERATOR_REDUCE, &reduce);
}

// The rows of a table that `indexCount` indices choose.
extern "C" const DML_OPERATOR_DESC* BuildLookup(
    DML_TENSOR_DATA_TYPE dataType, DML_TENSOR_DATA_TYPE indexType, UINT rows, UINT width, UINT indexCount)
{
    auto& gather = gathers.emplace_back();
    gather.InputTensor = MakeTensor(dataType, {1, 1, rows, width});
    gather.IndicesTensor = MakeTensor(indexType, {1, 1, 1, indexCount});
    gather.OutputTensor = MakeTensor(dataType, {1, 1, indexCount, width});
    gather.Axis = 2;
    gather.IndexDimensions = 1;
    return MakeOperator(DML_OPERATOR_GATHER, &gather);
}
