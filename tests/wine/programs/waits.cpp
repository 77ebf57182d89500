// waits THREADS ROUNDS: threads that wait for fences with events, while other threads signal them.

#include <windows.h>

#include <d3d12.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace
{
    // How many rounds of one pair of threads were not as they should be.
    int pair(ID3D12Device* device, UINT64 rounds)
    {
        ID3D12Fence *there = nullptr, *back = nullptr;
        if (FAILED(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&there)))
            || FAILED(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&back))))
            return 1;
        int missed = 0;
        std::thread answering([=] {
            for (UINT64 round = 1; round <= rounds; round++)
            {
                there->SetEventOnCompletion(round, nullptr);
                back->Signal(round);
            }
        });
        const HANDLE event = CreateEventW(nullptr, FALSE, FALSE, nullptr);
        for (UINT64 round = 1; round <= rounds; round++)
        {
            missed += FAILED(back->SetEventOnCompletion(round, event));
            there->Signal(round);
            missed += WaitForSingleObject(event, 60000) != WAIT_OBJECT_0;
            missed += back->GetCompletedValue() != round;
        }
        answering.join();
        CloseHandle(event);
        there->Release();
        back->Release();
        return missed;
    }
}

int wmain(int, wchar_t** words)
{
    const int count = _wtoi(words[1]) / 2, rounds = _wtoi(words[2]);
    ID3D12Device* device = nullptr;
    if (FAILED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device))))
        return 99;
    std::vector<std::thread> threads;
    std::vector<int> missed(count);
    for (int i = 0; i < count; i++)
        threads.emplace_back([&missed, device, rounds, i] { missed[i] = pair(device, rounds); });
    int all = 0;
    for (int i = 0; i < count; i++)
    {
        threads[i].join();
        all += missed[i];
    }
    std::printf("%d\n", all);
    return all != 0;
}
