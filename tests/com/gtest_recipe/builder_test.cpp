// The builder against libdirectml, with the debug layers on: its descs are accepted, one that is off by one is refused,
// and the debug layer says where.

#include "tensor_builder.h"

#include <directml_py_gtest.h>

#include <cstdio>
#include <cstdlib>

namespace
{
    using tensor_builder::Operator;
    using tensor_builder::Shape;

    constexpr auto Float32 = DML_TENSOR_DATA_TYPE_FLOAT32;

    class Builder : public directml_py::Test
    {
    protected:
        HRESULT create(const Operator& op)
        {
            const DML_OPERATOR_DESC desc = op.desc();
            Microsoft::WRL::ComPtr<IDMLOperator> made;
            return dml->CreateOperator(&desc, IID_PPV_ARGS(&made));
        }

        void accepts(const Operator& op)
        {
            EXPECT_EQ(create(op), S_OK);
        }

        void refuses(const Operator& op, const std::string& text)
        {
            EXPECT_EQ(create(op), E_INVALIDARG);
            ExpectMessage(text);
        }
    };

    struct Join : Builder
    {
        const std::vector<Shape> inputs = {{1, 1, 2, 3}, {1, 1, 2, 4}, {1, 1, 2, 1}};
    };

    TEST_F(Join, Shape)
    {
        EXPECT_EQ(tensor_builder::join_shape(inputs, 3), (Shape{1, 1, 2, 8}));
    }

    TEST_F(Join, Valid)
    {
        accepts(Operator::join(Float32, inputs, tensor_builder::join_shape(inputs, 3), 3));
    }

    TEST_F(Join, ValidOfFloat16)
    {
        accepts(Operator::join(DML_TENSOR_DATA_TYPE_FLOAT16, inputs, {1, 1, 2, 8}, 3));
    }

    TEST_F(Join, OutputOneTooLarge)
    {
        refuses(Operator::join(Float32, inputs, {1, 1, 2, 9}, 3), "OutputTensor.Sizes is {1,1,2,9}");
    }

    TEST_F(Join, OutputOneTooSmall)
    {
        refuses(Operator::join(Float32, inputs, {1, 1, 2, 7}, 3), "OutputTensor.Sizes is {1,1,2,7}");
    }

    TEST_F(Join, WrongAxisNamesEveryInput)
    {
        const Operator op = Operator::join(Float32, inputs, {1, 1, 6, 3}, 2);
        refuses(op, "InputTensors[1].Sizes is {1,1,2,4}");
        refuses(op, "InputTensors[2].Sizes is {1,1,2,1}");
    }

    // The child process of a death test, which GoogleTest forks by default, has this device and its own memory.
    TEST_F(Join, DeathOfWhatIsRefused)
    {
        const auto fail_fast = [this](UINT elements) {
            if (SUCCEEDED(create(Operator::join(Float32, inputs, {1, 1, 2, elements}, 3))))
                std::exit(0);
            std::fputs(TakeMessages()[0].c_str(), stderr);
            std::abort();
        };
        EXPECT_EXIT(fail_fast(8), testing::ExitedWithCode(0), "");
        EXPECT_DEATH(fail_fast(9), "OutputTensor.Sizes is .1,1,2,9.");
    }

    struct Reduce : Builder
    {
        const Shape input = {1, 2, 3, 4};
        const DML_REDUCE_FUNCTION sum = DML_REDUCE_FUNCTION_SUM;
    };

    TEST_F(Reduce, Valid)
    {
        EXPECT_EQ(tensor_builder::reduce_shape(input, {1, 3}), (Shape{1, 1, 3, 1}));
        accepts(Operator::reduce(Float32, sum, input, tensor_builder::reduce_shape(input, {1, 3}), {1, 3}));
    }

    TEST_F(Reduce, ReducedSizeIsTwo)
    {
        refuses(Operator::reduce(Float32, sum, input, {1, 2, 3, 2}, {3}), "OutputTensor.Sizes is {1,2,3,2}");
    }

    TEST_F(Reduce, KeptSizeIsOneTooSmall)
    {
        refuses(Operator::reduce(Float32, sum, input, {1, 2, 2, 1}, {3}), "OutputTensor.Sizes is {1,2,2,1}");
    }

    TEST_F(Reduce, AxisOutside)
    {
        refuses(Operator::reduce(Float32, sum, input, input, {4}), "Axes[0] is 4");
    }

    struct Gather : Builder
    {
        const Shape table = {1, 1, 10, 4};
    };

    TEST_F(Gather, Valid)
    {
        EXPECT_EQ(tensor_builder::gather_shape(table, 3, 2), (Shape{1, 1, 3, 4}));
        accepts(Operator::gather(Float32, table, 3, tensor_builder::gather_shape(table, 3, 2), 2));
    }

    TEST_F(Gather, OneRowTooMany)
    {
        refuses(Operator::gather(Float32, table, 3, {1, 1, 4, 4}, 2), "OutputTensor.Sizes is {1,1,4,4}");
    }

    TEST_F(Gather, RowsOneTooShort)
    {
        refuses(Operator::gather(Float32, table, 3, {1, 1, 3, 3}, 2), "OutputTensor.Sizes is {1,1,3,3}");
    }
}
