// A device of the lowest level, as programs for machine learning accelerators ask for.

#include <d3d12.h>

#include <DirectML.h>

#include <wrl/client.h>

#include "expect.h"

int main()
{
    static_assert(D3D_FEATURE_LEVEL_1_0_GENERIC == 0x100);
    Microsoft::WRL::ComPtr<ID3D12Device> device;
    EXPECT(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_1_0_GENERIC, IID_PPV_ARGS(&device)) == S_OK);
    const D3D_FEATURE_LEVEL levels[] = {D3D_FEATURE_LEVEL_1_0_GENERIC, D3D_FEATURE_LEVEL_1_0_CORE};
    D3D12_FEATURE_DATA_FEATURE_LEVELS data = {2, levels, D3D_FEATURE_LEVEL_1_0_CORE};
    EXPECT(device->CheckFeatureSupport(D3D12_FEATURE_FEATURE_LEVELS, &data, sizeof data) == S_OK);
    EXPECT(data.MaxSupportedFeatureLevel == D3D_FEATURE_LEVEL_1_0_CORE);
    Microsoft::WRL::ComPtr<IDMLDevice> dml;
    EXPECT(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)) == S_OK);
}
