// A program as it is written for Windows: no windows.h, and __uuidof before DirectML.h.

#include <d3d12.h>
#include <dxgi1_4.h>
#include <wrl/client.h>

using Microsoft::WRL::ComPtr;

ID3D12Device* parent(ID3D12Resource* resource);

ID3D12Device* parent(ID3D12Resource* resource)
{
    ComPtr<ID3D12Device> device;
    resource->GetDevice(IID_PPV_ARGS(device.GetAddressOf()));
    return device.Detach();
}

#include <wil/result.h>
#include <wil/resource.h>

#include <DirectML.h>

void wait(IDXGIFactory4* factory, ID3D12Fence* fence, IDMLDevice* dml);

void wait(IDXGIFactory4* factory, ID3D12Fence* fence, IDMLDevice* dml)
{
    ComPtr<IDXGIAdapter> adapter;
    THROW_IF_FAILED(factory->EnumAdapters(0, adapter.ReleaseAndGetAddressOf()));
    ComPtr<ID3D12Device> device;
    THROW_IF_FAILED(dml->GetParentDevice(IID_PPV_ARGS(&device)));
    wil::unique_handle event(::CreateEvent(nullptr, true, false, nullptr));
    THROW_LAST_ERROR_IF_NULL(event);
    THROW_IF_FAILED(fence->SetEventOnCompletion(1, event.get()));
    ::WaitForSingleObjectEx(event.get(), INFINITE, FALSE);
}
