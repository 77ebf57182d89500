// A device for machine learning without graphics, as DXCore lists an NPU.

#include <dxcore.h>

#include <DirectML.h>

#include <wrl/client.h>

#include "expect.h"

int main()
{
    setenv("DIRECTML_PY_ADAPTERS", "gpu,npu", 1);
    Microsoft::WRL::ComPtr<IDXCoreAdapterFactory> factory;
    EXPECT(DXCoreCreateAdapterFactory(IID_PPV_ARGS(&factory)) == S_OK);
    const GUID kinds[] = {DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML, DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU};
    Microsoft::WRL::ComPtr<IDXCoreAdapterList> list;
    EXPECT(factory->CreateAdapterList(2, kinds, IID_PPV_ARGS(&list)) == S_OK);
    EXPECT(list->GetAdapterCount() == 1);
    Microsoft::WRL::ComPtr<IDXCoreAdapter> adapter;
    EXPECT(list->GetAdapter(0, IID_PPV_ARGS(&adapter)) == S_OK);
    EXPECT(!adapter->IsAttributeSupported(DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU));
    Microsoft::WRL::ComPtr<ID3D12Device> device;
    EXPECT(D3D12CreateDevice(adapter.Get(), D3D_FEATURE_LEVEL_1_0_GENERIC, IID_PPV_ARGS(&device)) == S_OK);
    Microsoft::WRL::ComPtr<IDMLDevice> dml;
    EXPECT(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)) == S_OK);
}
