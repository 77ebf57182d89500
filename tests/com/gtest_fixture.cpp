// What the fixture of directml_py_gtest.h makes of messages that a test did not expect.

#include <directml_py_gtest.h>
#include <gtest/gtest-spi.h>

namespace
{
    using Fixture = directml_py::Test;

    HRESULT createNothing(IDMLDevice* dml)
    {
        Microsoft::WRL::ComPtr<IDMLOperator> made;
        return dml->CreateOperator(nullptr, IID_PPV_ARGS(&made));
    }

    TEST_F(Fixture, UnexpectedMessagesFailTheTestAndAreToldOnce)
    {
        testing::TestPartResultArray failures;
        testing::internal::CaptureStderr();
        {
            testing::ScopedFakeTestPartResultReporter reporter(
                testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
            EXPECT_EQ(createNothing(dml.Get()), E_INVALIDARG);
            TearDown();
            TearDown();
        }
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        ASSERT_EQ(failures.size(), 1);
        EXPECT_NE(std::string(failures.GetTestPartResult(0).message()).find("DML-Desc-null"), std::string::npos);
    }

    TEST_F(Fixture, AnotherMessageThanTheExpectedOne)
    {
        testing::TestPartResultArray failures;
        {
            testing::ScopedFakeTestPartResultReporter reporter(
                testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
            ExpectMessage("DML-JOIN-axis");
            createNothing(dml.Get());
            ExpectMessage("DML-JOIN-axis");
            createNothing(dml.Get());
            ExpectMessage("DML-Desc-null");
        }
        ASSERT_EQ(failures.size(), 2);
        EXPECT_NE(std::string(failures.GetTestPartResult(0).message()).find("got: nothing"), std::string::npos);
    }

    TEST_F(Fixture, RightUse)
    {
        EXPECT_NE(dml, nullptr);
        EXPECT_TRUE(TakeMessages().empty());
    }
}
