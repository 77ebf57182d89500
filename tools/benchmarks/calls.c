/* Prints how long calls take, in nanoseconds, for Linux and Windows. The best of many batches counts, since other
   processes interfere. */

#define COBJMACROS

#ifdef _WIN32
#define INITGUID
#include <windows.h>

#include <d3d12.h>
#else
#include <wsl/winadapter.h>

#include <directx/d3d12.h>
#endif

#include <stdio.h>
#include <time.h>

#define BATCHES 200

#ifdef _WIN32
#define RETURNED(type, object, method) (*(object)->lpVtbl->method((object), &(type){0}))
#else
#define RETURNED(type, object, method) ((object)->lpVtbl->method(object))
#endif

static ID3D12Device* device;
static ID3D12Fence* fence;
static ID3D12DescriptorHeap* heap;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void get_completed_value(void)
{
    ID3D12Fence_GetCompletedValue(fence);
}

static void add_ref_and_release(void)
{
    ID3D12Fence_AddRef(fence);
    ID3D12Fence_Release(fence);
}

static void signal_fence(void)
{
    static UINT64 value;
    ID3D12Fence_Signal(fence, ++value);
}

static void get_desc(void)
{
    const D3D12_DESCRIPTOR_HEAP_DESC desc = RETURNED(D3D12_DESCRIPTOR_HEAP_DESC, heap, GetDesc);
    (void)desc;
}

static void check_feature_support(void)
{
    D3D12_FEATURE_DATA_D3D12_OPTIONS options;
    ID3D12Device_CheckFeatureSupport(device, D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof options);
}

static void measure(const char* name, void (*call)(void), int count)
{
    double best = 1e9;
    for (int batch = 0; batch < BATCHES; batch++)
    {
        const double start = seconds();
        for (int i = 0; i < count; i++)
            call();
        const double took = (seconds() - start) / count;
        best = took < best ? took : best;
    }
    printf("%s: %.1f\n", name, 1e9 * best);
}

int main(void)
{
    const D3D12_DESCRIPTOR_HEAP_DESC desc = {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1, D3D12_DESCRIPTOR_HEAP_FLAG_NONE, 0};
    if (FAILED(D3D12CreateDevice(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void**)&device)))
        return 1;
    ID3D12Device_CreateFence(device, 0, D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void**)&fence);
    ID3D12Device_CreateDescriptorHeap(device, &desc, &IID_ID3D12DescriptorHeap, (void**)&heap);
    measure("AddRef and Release", add_ref_and_release, 10000);
    measure("GetCompletedValue", get_completed_value, 500);
    measure("Signal", signal_fence, 500);
    measure("GetDesc", get_desc, 500);
    measure("CheckFeatureSupport", check_feature_support, 50);
    return 0;
}
