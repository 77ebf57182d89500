#include "tensor_builder.h"

namespace tensor_builder
{
    Shape join_shape(const std::vector<Shape>& inputs, UINT axis)
    {
        Shape shape = inputs.at(0);
        shape.at(axis) = 0;
        for (const Shape& input : inputs)
            shape[axis] += input.at(axis);
        return shape;
    }

    Shape reduce_shape(const Shape& input, const std::vector<UINT>& axes)
    {
        Shape shape = input;
        for (UINT axis : axes)
            shape.at(axis) = 1;
        return shape;
    }

    Shape gather_shape(const Shape& input, UINT indexCount, UINT axis)
    {
        Shape shape = input;
        shape.at(axis) = indexCount;
        return shape;
    }

    const DML_TENSOR_DESC* Operator::add(DML_TENSOR_DATA_TYPE type, const Shape& shape)
    {
        m_tensors.push_back({shape, {}, {}});
        Tensor& tensor = m_tensors.back();
        const UINT rank = static_cast<UINT>(shape.size());
        const UINT* const sizes = tensor.shape.data();
        const UINT64 bytes = DMLCalcBufferTensorSize(type, rank, sizes, nullptr);
        tensor.buffer = {type, DML_TENSOR_FLAG_NONE, rank, sizes, nullptr, bytes, 0};
        tensor.desc = {DML_TENSOR_TYPE_BUFFER, &tensor.buffer};
        return &tensor.desc;
    }

    Operator Operator::join(
        DML_TENSOR_DATA_TYPE type,
        const std::vector<Shape>& inputs,
        const Shape& output,
        UINT axis)
    {
        Operator made(DML_OPERATOR_JOIN);
        for (const Shape& input : inputs)
            made.m_inputs.push_back(*made.add(type, input));
        const UINT count = static_cast<UINT>(made.m_inputs.size());
        made.m_join = {count, made.m_inputs.data(), made.add(type, output), axis};
        return made;
    }

    Operator Operator::reduce(
        DML_TENSOR_DATA_TYPE type,
        DML_REDUCE_FUNCTION function,
        const Shape& input,
        const Shape& output,
        const std::vector<UINT>& axes)
    {
        Operator made(DML_OPERATOR_REDUCE);
        made.m_axes = axes;
        const UINT count = static_cast<UINT>(axes.size());
        made.m_reduce = {function, made.add(type, input), made.add(type, output), count, made.m_axes.data()};
        return made;
    }

    Operator Operator::gather(
        DML_TENSOR_DATA_TYPE type,
        const Shape& input,
        UINT indexCount,
        const Shape& output,
        UINT axis)
    {
        Operator made(DML_OPERATOR_GATHER);
        Shape indices(input.size(), 1);
        indices.back() = indexCount;
        made.m_gather = {
            made.add(type, input),
            made.add(DML_TENSOR_DATA_TYPE_UINT32, indices),
            made.add(type, output),
            axis,
            1};
        return made;
    }

    DML_OPERATOR_DESC Operator::desc() const
    {
        switch (m_type)
        {
        case DML_OPERATOR_JOIN:
            return {m_type, &m_join};
        case DML_OPERATOR_REDUCE:
            return {m_type, &m_reduce};
        default:
            return {m_type, &m_gather};
        }
    }
}
