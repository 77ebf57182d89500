// A program to capture: names, markers on lists and queues, and a missing barrier.

#include "bench.h"

namespace
{
    void captured(const std::vector<std::string>&)
    {
        Bench bench(Bench::Debug::On);
        const Tensor four(Float32, {1, 1, 1, 4});
        const DML_SCALE_BIAS scale = {2, 0};
        auto twice = compile(bench.dml.Get(), identity(bench.dml.Get(), four, four, &scale));
        need(twice->SetName(L"twice"), "SetName");
        auto input = bench.holding<float>({1, 2, 3, 4});
        auto middle = bench.buffer(16), output = bench.buffer(16);
        need(middle->SetName(L"the middle"), "SetName");
        bench.initialize(twice.Get());
        const char16_t forward[] = u"forward";
        bench.list->BeginEvent(0, forward, sizeof forward);
        bench.record(twice.Get(), {input.Get()}, {middle.Get()});
        bench.list->SetMarker(1, "halfway", 8);
        bench.record(twice.Get(), {middle.Get()}, {output.Get()});
        bench.list->EndEvent();
        bench.queue->SetMarker(1, "now", 4);
        bench.run();
        values<float>("the work is done", bench.read<float>(output.Get(), 4), {4, 8, 12, 16});
    }

    const Registration registration("captured", captured);
}
