// A small library such as applications put between themselves and DirectML: it builds operator descs from shapes.

#ifndef TENSOR_BUILDER_H
#define TENSOR_BUILDER_H

#include <DirectML.h>

#include <list>
#include <vector>

namespace tensor_builder
{
    using Shape = std::vector<UINT>;

    Shape join_shape(const std::vector<Shape>& inputs, UINT axis);

    Shape reduce_shape(const Shape& input, const std::vector<UINT>& axes);

    // What GATHER makes of an input when the indices have one dimension.
    Shape gather_shape(const Shape& input, UINT indexCount, UINT axis);

    // An operator desc with everything that it points to. The output's shape is part of what is asked for: the
    // functions above tell the right one.
    class Operator
    {
    public:
        static Operator join(
            DML_TENSOR_DATA_TYPE type,
            const std::vector<Shape>& inputs,
            const Shape& output,
            UINT axis);

        static Operator reduce(
            DML_TENSOR_DATA_TYPE type,
            DML_REDUCE_FUNCTION function,
            const Shape& input,
            const Shape& output,
            const std::vector<UINT>& axes);

        static Operator gather(
            DML_TENSOR_DATA_TYPE type,
            const Shape& input,
            UINT indexCount,
            const Shape& output,
            UINT axis);

        Operator(Operator&&) = default;

        DML_OPERATOR_DESC desc() const;

    private:
        struct Tensor
        {
            Shape shape;
            DML_BUFFER_TENSOR_DESC buffer;
            DML_TENSOR_DESC desc;
        };

        explicit Operator(DML_OPERATOR_TYPE type) : m_type(type) {}

        const DML_TENSOR_DESC* add(DML_TENSOR_DATA_TYPE type, const Shape& shape);

        DML_OPERATOR_TYPE m_type;

        // Lists and vectors keep their elements where they are, also when they are moved.
        std::list<Tensor> m_tensors;
        std::vector<DML_TENSOR_DESC> m_inputs;
        std::vector<UINT> m_axes;
        union
        {
            DML_JOIN_OPERATOR_DESC m_join;
            DML_REDUCE_OPERATOR_DESC m_reduce;
            DML_GATHER_OPERATOR_DESC m_gather;
        };
    };
}

#endif
