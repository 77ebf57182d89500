// Creates, runs and releases everything repeatedly: memory must not grow. Arguments: rounds (2000).

#include "bench.h"

#include <cstdio>

namespace
{
    const GUID Mine = {0xb1, 2, 3, {1, 2, 3, 4, 5, 6, 7, 8}};

    bool round(int number)
    {
        Bench bench;
        IDMLDevice* const device = bench.dml.Get();
        const Tensor left(Float32, {1, 1, 1, 2}), right(Float32, {1, 1, 1, 2}, {}, DML_TENSOR_FLAG_OWNED_BY_DML);
        const Tensor both(Float32, {1, 1, 1, 4});
        auto compiled = compile(device, join(device, {left, right}, both, 3));
        const float x = static_cast<float>(number);
        auto input = bench.holding<float>({x, 1}), weights = bench.holding<float>({2, 3});
        auto output = bench.buffer(16);
        auto persistent = bench.initialize(compiled.Get(), {nullptr, weights.Get()});
        bench.record(compiled.Get(), {input.Get(), nullptr}, {output.Get()}, persistent.Get());
        bench.run();
        need(compiled->SetPrivateDataInterface(Mine, device), "SetPrivateDataInterface");
        need(compiled->SetPrivateDataInterface(Mine, nullptr), "SetPrivateDataInterface");
        need(output->SetPrivateData(Mine, 4, "abc"), "SetPrivateData");
        const DML_OPERATOR_DESC wrong = {DML_OPERATOR_JOIN, nullptr};
        ComPtr<IDMLOperator> op;
        if (device->CreateOperator(&wrong, IID_PPV_ARGS(&op)) != E_INVALIDARG)
            return false;
        return bench.read<float>(output.Get(), 4) == std::vector<float>{x, 1, 2, 3};
    }

    void rounds(const std::vector<std::string>& arguments)
    {
        const int count = arguments.empty() ? 2000 : std::stoi(arguments[0]);
        int wrong = 0;
        for (int i = 0; i < count; i++)
        {
            wrong += !round(i);
            if (i == count / 10)
                std::printf("VmRSS at a tenth: %zu\n", resident_bytes());
        }
        std::printf("VmRSS at the end: %zu\n", resident_bytes());
        equal("wrong results", wrong, 0);
    }

    // The same dispatch again and again, each with a table of its own.
    void dispatches(const std::vector<std::string>& arguments)
    {
        const int count = arguments.empty() ? 10000 : std::stoi(arguments[0]);
        Bench bench;
        const Tensor four(Float32, {1, 1, 1, 4});
        auto compiled = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four));
        bench.initialize(compiled.Get());
        auto input = bench.holding<float>({1, 2, 3, 4}), output = bench.buffer(16);
        for (int i = 0; i < count; i++)
        {
            bench.record(compiled.Get(), {input.Get()}, {output.Get()});
            bench.run();
            if (i == count / 10)
                std::printf("VmRSS at a tenth: %zu\n", resident_bytes());
        }
        std::printf("VmRSS at the end: %zu\n", resident_bytes());
        values<float>("the result", bench.read<float>(output.Get(), 4), {1, 2, 3, 4});
    }

    const Registration of_dispatches("dispatches", dispatches);
    const Registration registration("rounds", rounds);
}
