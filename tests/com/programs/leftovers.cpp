// A program that ends without releasing all objects: some in variables that are destroyed after main, some leaked.

#include "bench.h"

#include <thread>

namespace
{
    // Released when the process ends.
    std::vector<ComPtr<IUnknown>> kept;

    void leftovers(const std::vector<std::string>&)
    {
        // The first call into the library comes from a thread that does not live long.
        std::thread first([] {
            auto* bench = new Bench;
            kept.push_back(unknown(bench->dml.Get()));
            kept.push_back(unknown(bench->list.Get()));
            // An open list, and a fence that somebody still waits for.
            need(bench->queue->Wait(bench->fence.Get(), 1), "Wait");
            kept.push_back(unknown(bench->fence.Get()));
            bench->queue.Get()->AddRef();
            bench->d3d12.Get()->AddRef();
            delete bench;
        });
        first.join();
        ComPtr<IDMLDevice> device;
        hresult("objects outlive the thread that made them", kept[0]->QueryInterface(IID_PPV_ARGS(&device)), Fine);
        const Tensor four(Float32, {1, 1, 1, 4});
        auto op = identity(device.Get(), four, four);
        kept.push_back(unknown(op.Get()));
        op.Get()->AddRef();
        check("and work in another thread", references(op.Get()) > 0);
    }

    const Registration registration("leftovers", leftovers);
}
