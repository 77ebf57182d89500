// Many threads at a time: with objects of their own, and with one device among them. Arguments: rounds (20), threads (8).

#include "bench.h"

#include <thread>

namespace
{
    // Creates, dispatches and releases, and looks at the numbers.
    std::string work(Bench& bench, int seed, int rounds)
    {
        IDMLDevice* const device = bench.dml.Get();
        const Tensor rows(Float32, {1, 1, 2, 4}), sums(Float32, {1, 1, 2, 1});
        for (int round = 0; round < rounds; round++)
        {
            const float x = static_cast<float>(seed * 100 + round);
            auto compiled = compile(device, reduce(device, DML_REDUCE_FUNCTION_SUM, rows, sums, {3}));
            auto input = bench.holding<float>({x, 1, 2, 3, 4, 5, 6, x});
            auto output = bench.buffer(8);
            bench.dispatch(compiled.Get(), {input.Get()}, {output.Get()});
            const auto found = bench.read<float>(output.Get(), 2);
            if (found != std::vector<float>{x + 6, x + 15})
                return "round " + std::to_string(round) + " gave " + std::to_string(found[0]);
            ComPtr<IDMLDevice> same;
            if (compiled->GetDevice(IID_PPV_ARGS(&same)) != Fine || same.Get() != device)
                return "GetDevice gave another device";
        }
        return "";
    }

    template <typename Run>
    void in_threads(const char* name, int count, Run run)
    {
        std::vector<std::string> results(count);
        std::vector<std::thread> threads;
        for (int i = 0; i < count; i++)
            threads.emplace_back([&results, &run, i] {
                try
                {
                    results[i] = run(i);
                }
                catch (const std::exception& error)
                {
                    results[i] = error.what();
                }
            });
        for (std::thread& thread : threads)
            thread.join();
        for (int i = 0; i < count; i++)
            check(std::string(name) + ", thread " + std::to_string(i), results[i].empty(), results[i]);
    }

    void threads_topic(const std::vector<std::string>& arguments)
    {
        const int rounds = arguments.empty() ? 20 : std::stoi(arguments[0]);
        const int count = arguments.size() < 2 ? 8 : std::stoi(arguments[1]);
        in_threads("own objects", count, [rounds](int i) {
            Bench bench;
            return work(bench, i, rounds);
        });

        const Bench shared;
        in_threads("one device", count, [&shared, rounds](int i) {
            Bench bench(shared.d3d12, shared.dml);
            return work(bench, i, rounds);
        });

        // References of one object from all sides.
        const ULONG before = references(shared.dml.Get());
        in_threads("references", count, [&shared, rounds](int) -> std::string {
            for (int i = 0; i < rounds * 100; i++)
            {
                ComPtr<IUnknown> found;
                if (FAILED(shared.dml->QueryInterface(IID_PPV_ARGS(&found))))
                    return "QueryInterface failed";
                ComPtr<IDMLDevice> again;
                if (FAILED(found->QueryInterface(IID_PPV_ARGS(&again))) || again.Get() != shared.dml.Get())
                    return "QueryInterface gave another pointer";
            }
            return "";
        });
        equal("references are balanced", references(shared.dml.Get()), before);
        hresult("the shared device is well", shared.dml->GetDeviceRemovedReason(), Fine);
    }

    const Registration registration("threads", threads_topic);
}
