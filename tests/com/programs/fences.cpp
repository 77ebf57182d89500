// Fences: events, waiting without one, queues that wait, values from the CPU.

#include "bench.h"

#include <chrono>
#include <thread>

namespace
{
    class Event
    {
    public:
        Event() : own(new_event()) {}

        ~Event() { close_event(own); }

        Event(const Event&) = delete;

        HANDLE handle() const { return own; }

        UINT64 wait(int milliseconds) const { return wait_for(own, milliseconds); }

    private:
        HANDLE own;
    };

    constexpr int Long = 20000;

    ComPtr<ID3D12Fence> make(Bench& bench, UINT64 value)
    {
        ComPtr<ID3D12Fence> fence;
        need(bench.d3d12->CreateFence(value, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
        return fence;
    }

    void test_events(Bench& bench)
    {
        auto fence = make(bench, 3);
        equal("the initial value", fence->GetCompletedValue(), 3u);
        Event now, later, last;
        hresult("SetEventOnCompletion of a reached value", fence->SetEventOnCompletion(3, now.handle()), Fine);
        equal("a reached value sets the event", now.wait(Long), 1u);
        hresult("SetEventOnCompletion", fence->SetEventOnCompletion(5, later.handle()), Fine);
        hresult("SetEventOnCompletion of a later value", fence->SetEventOnCompletion(6, last.handle()), Fine);
        equal("not yet", later.wait(0), 0u);
        hresult("ID3D12Fence::Signal below the value", fence->Signal(4), Fine);
        equal("still not", later.wait(0), 0u);
        hresult("ID3D12CommandQueue::Signal", bench.queue->Signal(fence.Get(), 5), Fine);
        equal("the queue's signal sets the event", later.wait(Long), 1u);
        equal("the later value is to come", last.wait(0), 0u);
        equal("the value", fence->GetCompletedValue(), 5u);
        hresult("ID3D12Fence::Signal", fence->Signal(9), Fine);
        equal("the CPU's signal sets the event", last.wait(Long), 1u);
        equal("once", last.wait(0), 0u);
        hresult("ID3D12Fence::Signal backwards", fence->Signal(2), Fine);
        equal("a lower value", fence->GetCompletedValue(), 2u);

        // One event for two values, which counts to two where events count.
        hresult("one event", fence->SetEventOnCompletion(11, now.handle()), Fine);
        hresult("for two values", fence->SetEventOnCompletion(12, now.handle()), Fine);
        hresult("both reached", fence->Signal(12), Fine);
        equal("is set twice", now.wait(Long), EVENTS_COUNT ? 2u : 1u);
        check(
            "a handle of nothing",
            FAILED(fence->SetEventOnCompletion(20, reinterpret_cast<HANDLE>(static_cast<intptr_t>(99999)))));
    }

    // The program may close its handle, or give it to something else, before the value comes.
    void test_closed_event(Bench& bench)
    {
        auto fence = make(bench, 0);
        {
            Event event;
            hresult("an event that is closed early", fence->SetEventOnCompletion(1, event.handle()), Fine);
        }
        hresult("its value comes", fence->Signal(1), Fine);
        equal("the fence goes on", fence->GetCompletedValue(), 1u);
    }

    // The library closes its duplicates of handles: there are more events here than a process may have open
    // on Linux.
    void test_many_events(Bench& bench)
    {
        auto fence = make(bench, 0);
        Event event;
        const size_t before = open_handles();
        int missed = 0;
        for (UINT64 value = 1; value <= 2000; value++)
        {
            need(fence->SetEventOnCompletion(value, event.handle()), "SetEventOnCompletion");
            need(fence->Signal(value), "Signal");
            missed += event.wait(Long) != 1;
        }
        equal("missed events", missed, 0);
        equal("handles left open", open_handles(), before);
    }

    // Without a handle the call waits; other threads go on meanwhile.
    void test_waiting(Bench& bench)
    {
        auto fence = make(bench, 0);
        std::thread signaler([&fence] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            fence->Signal(7);
        });
        hresult("SetEventOnCompletion without a handle", fence->SetEventOnCompletion(7, nullptr), Fine);
        check("has waited for the value", fence->GetCompletedValue() >= 7);
        signaler.join();
        hresult("without a handle, reached before", fence->SetEventOnCompletion(7, nullptr), Fine);
    }

    // The second queue copies only after the fence let it.
    void test_queue_wait(Bench& bench)
    {
        const D3D12_COMMAND_QUEUE_DESC desc = {D3D12_COMMAND_LIST_TYPE_DIRECT, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
        ComPtr<ID3D12CommandQueue> second;
        need(bench.d3d12->CreateCommandQueue(&desc, IID_PPV_ARGS(&second)), "CreateCommandQueue");
        const float numbers[] = {1, 2};
        auto source = bench.upload(numbers, sizeof numbers);
        auto target = bench.buffer(sizeof numbers, D3D12_HEAP_TYPE_READBACK);
        auto gate = make(bench, 0), done = make(bench, 0);
        bench.list->CopyResource(target.Get(), source.Get());
        need(bench.list->Close(), "Close");
        hresult("ID3D12CommandQueue::Wait", second->Wait(gate.Get(), 1), Fine);
        ID3D12CommandList* const lists[] = {bench.list.Get()};
        second->ExecuteCommandLists(1, lists);
        need(second->Signal(done.Get(), 1), "Signal");
        equal("the queue is held back", done->GetCompletedValue(), 0u);
        Event event;
        need(done->SetEventOnCompletion(1, event.handle()), "SetEventOnCompletion");
        hresult("the gate opens", gate->Signal(1), Fine);
        equal("the queue goes on", event.wait(Long), 1u);
        void* memory = nullptr;
        need(target->Map(0, nullptr, &memory), "Map");
        check("and has copied", std::memcmp(memory, numbers, sizeof numbers) == 0);
        target->Unmap(0, nullptr);
        need(bench.allocator->Reset(), "Reset");
        need(bench.list->Reset(bench.allocator.Get(), nullptr), "Reset");
        hresult("Signal without a fence", second->Signal(nullptr, 1), E_INVALIDARG);
        hresult("Wait without a fence", second->Wait(nullptr, 1), E_INVALIDARG);
    }

    void fences(const std::vector<std::string>&)
    {
        Bench bench;
        test_events(bench);
        test_closed_event(bench);
        test_many_events(bench);
        test_waiting(bench);
        test_queue_wait(bench);
    }

    const Registration registration("fences", fences);
}
