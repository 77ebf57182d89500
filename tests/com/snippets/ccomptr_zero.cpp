// A CComPtr is made of 0, NULL and nullptr alike.

#include <atlbase.h>

#include <DirectML.h>

#include "expect.h"

int main()
{
    CComPtr<ID3D12Device> device = 0;
    CComPtr<ID3D12Device> null = NULL, null_pointer = nullptr;
    CComPtr<IDMLDevice> direct(0), braced{};
    CComQIPtr<IDMLDevice> queried = nullptr;
    EXPECT(!device && !null && !null_pointer && !direct && !braced && !queried);
    EXPECT(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK);
    CComPtr<ID3D12Device> kept = device;
    device = 0;
    EXPECT(device == nullptr && kept != nullptr);
    kept = NULL;
    EXPECT(!kept);
}
