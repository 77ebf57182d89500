// What the benchmarks' C++ programs share.
#pragma once

#include <wrl/client.h>

#include <d3d12.h>

#define DML_TARGET_VERSION_USE_LATEST
#include <DirectML.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using Microsoft::WRL::ComPtr;
using Clock = std::chrono::steady_clock;

inline void check(HRESULT result)
{
    if (FAILED(result))
    {
        std::fprintf(stderr, "HRESULT 0x%08X\n", static_cast<unsigned>(result));
        std::exit(1);
    }
}

inline double since(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}
