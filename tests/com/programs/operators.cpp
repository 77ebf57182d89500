// JOIN, SPLIT, REDUCE and GATHER against numbers worked out by hand.

#include "bench.h"

#include <cmath>

namespace
{
    // Runs the operator over the inputs; each output buffer starts as 99s and has `spare` more elements.
    template <typename Out, typename... In>
    std::vector<std::vector<Out>> run(
        Bench& bench,
        const ComPtr<IDMLOperator>& op,
        const std::vector<Tensor>& outputs,
        const std::vector<In>&... inputs)
    {
        constexpr size_t spare = 4;
        auto compiled = compile(bench.dml.Get(), op);
        const std::vector<ComPtr<ID3D12Resource>> in = {bench.holding(inputs)...};
        std::vector<ComPtr<ID3D12Resource>> out;
        std::vector<ID3D12Resource*> ins, outs;
        for (const auto& one : in)
            ins.push_back(one.Get());
        for (const Tensor& tensor : outputs)
        {
            out.push_back(bench.holding(std::vector<Out>(tensor.bytes() / sizeof(Out) + spare, Out(99))));
            outs.push_back(out.back().Get());
        }
        bench.dispatch(compiled.Get(), ins, outs);
        std::vector<std::vector<Out>> found;
        for (size_t i = 0; i < out.size(); i++)
            found.push_back(bench.read<Out>(outs[i], outputs[i].bytes() / sizeof(Out) + spare));
        return found;
    }

    // What is behind the tensor is as before; takes it away.
    template <typename T>
    std::vector<T> inside(const std::string& name, std::vector<T> found)
    {
        for (int i = 0; i < 4; i++)
        {
            check(name + ": nothing behind the tensor is written", found.back() == T(99));
            found.pop_back();
        }
        return found;
    }

    template <typename T>
    std::vector<T> picked(const std::vector<T>& all, const std::vector<size_t>& places)
    {
        std::vector<T> found;
        for (size_t place : places)
            found.push_back(all.at(place));
        return found;
    }

    void test_join(Bench& bench)
    {
        // Rows of the second input are eight elements apart.
        const Tensor left(Float32, {1, 1, 2, 3}), right(Float32, {1, 1, 2, 4}, {16, 16, 8, 1});
        const Tensor both(Float32, {1, 1, 2, 7});
        auto found = run<float>(
            bench,
            join(bench.dml.Get(), {left, right}, both, 3),
            {both},
            std::vector<float>{1, 2, 3, 4, 5, 6},
            std::vector<float>{10, 11, 12, 13, -1, -1, -1, -1, 20, 21, 22, 23});
        values<float>(
            "JOIN FLOAT32, strided input",
            inside("JOIN", found[0]),
            {1, 2, 3, 10, 11, 12, 13, 4, 5, 6, 20, 21, 22, 23});

        // Rows of the output are four elements apart.
        const Tensor top(Int32, {1, 1, 1, 2}), bottom(Int32, {1, 1, 2, 2});
        const Tensor whole(Int32, {1, 1, 3, 2}, {12, 12, 4, 1});
        auto padded = run<INT>(
            bench,
            join(bench.dml.Get(), {top, bottom}, whole, 2),
            {whole},
            std::vector<INT>{7, 8},
            std::vector<INT>{-1, -2, -3, -4});
        values<INT>(
            "JOIN INT32, padded output",
            picked(inside("JOIN INT32", padded[0]), {0, 1, 4, 5, 8, 9}),
            {7, 8, -1, -2, -3, -4});
    }

    void test_split(Bench& bench)
    {
        const Tensor whole(Float32, {1, 1, 2, 5}), left(Float32, {1, 1, 2, 2}), right(Float32, {1, 1, 2, 3});
        auto found = run<float>(
            bench,
            split(bench.dml.Get(), whole, {left, right}, 3),
            {left, right},
            std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
        values<float>("SPLIT FLOAT32, first", inside("SPLIT", found[0]), {0, 1, 5, 6});
        values<float>("SPLIT FLOAT32, second", inside("SPLIT", found[1]), {2, 3, 4, 7, 8, 9});

        // Channels are the innermost dimension in memory: the element of channel c at (h, w) is c + 4h + 2w.
        const Tensor channels(Int32, {1, 2, 2, 2}, {8, 1, 4, 2}), one(Int32, {1, 1, 2, 2});
        auto planes = run<INT>(
            bench,
            split(bench.dml.Get(), channels, {one, one}, 1),
            {one, one},
            std::vector<INT>{0, 1, 2, 3, 4, 5, 6, 7});
        values<INT>("SPLIT INT32, first channel", inside("SPLIT INT32", planes[0]), {0, 2, 4, 6});
        values<INT>("SPLIT INT32, second channel", inside("SPLIT INT32", planes[1]), {1, 3, 5, 7});
    }

    void test_reduce(Bench& bench)
    {
        IDMLDevice* const device = bench.dml.Get();
        const Tensor padded(Float32, {1, 1, 2, 3}, {8, 8, 4, 1}), rows(Float32, {1, 1, 2, 1});
        auto sums = run<float>(
            bench,
            reduce(device, DML_REDUCE_FUNCTION_SUM, padded, rows, {3}),
            {rows},
            std::vector<float>{1, 2, 3, 100, 4, 5, 6, 100});
        values<float>("REDUCE SUM, padded input", inside("REDUCE SUM", sums[0]), {6, 15});

        // The same row twice.
        const Tensor broadcast(Float32, {1, 1, 2, 3}, {0, 0, 0, 1});
        auto twice = run<float>(
            bench,
            reduce(device, DML_REDUCE_FUNCTION_SUM, broadcast, rows, {3}),
            {rows},
            std::vector<float>{1, 2, 4, 100});
        values<float>("REDUCE SUM, broadcast input", inside("REDUCE SUM broadcast", twice[0]), {7, 7});

        const Tensor whole(Int32, {1, 1, 2, 3}), columns(Int32, {1, 1, 1, 3});
        auto largest = run<INT>(
            bench,
            reduce(device, DML_REDUCE_FUNCTION_MAX, whole, columns, {2}),
            {columns},
            std::vector<INT>{3, -9, 5, 1, 2, 7});
        values<INT>("REDUCE MAX INT32", inside("REDUCE MAX", largest[0]), {3, 2, 7});

        const Tensor places(UInt32, {1, 1, 2, 1});
        auto where = run<UINT>(
            bench,
            reduce(device, DML_REDUCE_FUNCTION_ARGMAX, whole, places, {3}),
            {places},
            std::vector<INT>{1, 5, 2, 9, 3, 4});
        values<UINT>("REDUCE ARGMAX", inside("REDUCE ARGMAX", where[0]), {1, 0});

        const Tensor all(Float32, {1, 1, 1, 1});
        auto logs = run<float>(
            bench,
            reduce(device, DML_REDUCE_FUNCTION_LOG_SUM_EXP, Tensor(Float32, {1, 1, 2, 2}), all, {2, 3}),
            {all},
            std::vector<float>{0, 0, 0, 0});
        check("REDUCE LOG_SUM_EXP", std::fabs(logs[0][0] - 1.3862944f) < 1e-5f, std::to_string(logs[0][0]));
    }

    void test_gather(Bench& bench)
    {
        IDMLDevice* const device = bench.dml.Get();
        const Tensor table(Float32, {1, 1, 4, 3}), three(UInt32, {1, 1, 1, 3}), rows(Float32, {1, 1, 3, 3});
        auto found = run<float>(
            bench,
            gather(device, table, three, rows, 2, 1),
            {rows},
            std::vector<float>{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32},
            std::vector<UINT>{3, 0, 3});
        values<float>(
            "GATHER FLOAT32, rows", inside("GATHER", found[0]), {30, 31, 32, 0, 1, 2, 30, 31, 32});

        // Rows of the table are four elements apart; an index below zero counts from the end.
        const Tensor padded(Int32, {1, 1, 3, 2}, {12, 12, 4, 1}), two(Int32, {1, 1, 1, 2});
        const Tensor pair(Int32, {1, 1, 2, 2});
        auto last = run<INT>(
            bench,
            gather(device, padded, two, pair, 2, 1),
            {pair},
            std::vector<INT>{1, 2, 0, 0, 3, 4, 0, 0, 5, 6},
            std::vector<INT>{-1, 1});
        values<INT>("GATHER INT32, padded input", inside("GATHER INT32", last[0]), {5, 6, 3, 4});

        const Tensor line(Int32, {1, 1, 1, 4}), square(UInt32, {1, 1, 2, 2}), picks(Int32, {1, 1, 2, 2});
        auto four = run<INT>(
            bench,
            gather(device, line, square, picks, 3, 2),
            {picks},
            std::vector<INT>{5, 6, 7, 8},
            std::vector<INT>{0, 3, 3, 1});
        values<INT>("GATHER INT32, two index dimensions", inside("GATHER square", four[0]), {5, 8, 8, 6});
    }

    void operators(const std::vector<std::string>&)
    {
        Bench bench;
        test_join(bench);
        test_split(bench);
        test_reduce(bench);
        test_gather(bench);
        hresult("the device is well", bench.dml->GetDeviceRemovedReason(), Fine);
    }

    const Registration registration("operators", operators);
}
