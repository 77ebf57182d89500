// A fixture for GoogleTest: devices under both debug layers. A test fails for each message, a warning or worse, that it
// did not expect. Include it after <gtest/gtest.h> or alone.

#pragma once

#include <DirectML.h>
#include <d3d12.h>
#include <gtest/gtest.h>
#include <wrl/client.h>

#include <string>
#include <vector>

namespace directml_py
{
    class Test : public ::testing::Test
    {
    protected:
        // A fixture with a SetUp or a TearDown of its own calls these.
        void SetUp() override
        {
            Microsoft::WRL::ComPtr<ID3D12Debug> debug;
            ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
            debug->EnableDebugLayer();
            ASSERT_EQ(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), S_OK);
            ASSERT_EQ(d3d12->QueryInterface(IID_PPV_ARGS(&infoQueue)), S_OK);
            // What the fixture reports need not be on stderr too.
            infoQueue->SetMuteDebugOutput(TRUE);
            infoQueue->SetMessageCountLimit(~0ull);
            ASSERT_EQ(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK);
        }

        void TearDown() override
        {
            for (const std::string& message : TakeMessages())
                ADD_FAILURE() << "unexpected message: " << message;
        }

        // The messages, warnings or worse, since the last call.
        std::vector<std::string> TakeMessages()
        {
            std::vector<std::string> all;
            for (UINT64 i = 0; infoQueue && i < infoQueue->GetNumStoredMessages(); i++)
            {
                SIZE_T size = 0;
                EXPECT_TRUE(SUCCEEDED(infoQueue->GetMessage(i, nullptr, &size)));
                std::vector<D3D12_MESSAGE> memory(size / sizeof(D3D12_MESSAGE) + 1);
                EXPECT_EQ(infoQueue->GetMessage(i, memory.data(), &size), S_OK);
                if (memory[0].Severity <= D3D12_MESSAGE_SEVERITY_WARNING)
                    all.emplace_back(memory[0].pDescription);
            }
            if (infoQueue)
                infoQueue->ClearStoredMessages();
            return all;
        }

        // Takes the messages; one of them has `part`, such as a rule's identifier or the field that is wrong.
        void ExpectMessage(const std::string& part)
        {
            std::string all;
            for (const std::string& message : TakeMessages())
                all += "\n  " + message;
            EXPECT_NE(all.find(part), std::string::npos) << "expected: " << part << "\ngot:"
                << (all.empty() ? " nothing" : all);
        }

        Microsoft::WRL::ComPtr<ID3D12Device> d3d12;
        Microsoft::WRL::ComPtr<ID3D12InfoQueue> infoQueue;
        Microsoft::WRL::ComPtr<IDMLDevice> dml;
    };
}
