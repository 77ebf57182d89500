// A program that also has a way over Direct3D 11, which it does not find here.

#include <d3d11.h>

#include <DirectML.h>

#include <wrl/client.h>

#include "expect.h"

using Microsoft::WRL::ComPtr;

int main()
{
    ComPtr<ID3D11Device> older;
    ComPtr<ID3D11DeviceContext> context;
    const HRESULT hr = D3D11CreateDevice(
        nullptr,
        D3D_DRIVER_TYPE_HARDWARE,
        nullptr,
        D3D11_CREATE_DEVICE_BGRA_SUPPORT,
        nullptr,
        0,
        D3D11_SDK_VERSION,
        &older,
        nullptr,
        &context);
    EXPECT(hr == DXGI_ERROR_UNSUPPORTED && !older && !context);
    static_assert(__uuidof(ID3D11Texture2D).Data1 == 0x6f15aaf2);

    ComPtr<ID3D12Device> device;
    EXPECT(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK);
    EXPECT(device->QueryInterface(IID_PPV_ARGS(&older)) == E_NOINTERFACE);
}
