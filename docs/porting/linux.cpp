#include <DirectML.h>
#include <wrl/client.h>

#include <cstdio>

int main()
{
    Microsoft::WRL::ComPtr<ID3D12Device> d3d12;
    Microsoft::WRL::ComPtr<IDMLDevice> device;
    if (FAILED(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12))))
        return 1;
    if (FAILED(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device))))
        return 1;

    DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query = {DML_TENSOR_DATA_TYPE_FLOAT16};
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support = {};
    device->CheckFeatureSupport(
        DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query, sizeof support, &support);
    std::printf("FLOAT16: %s\n", support.IsSupported ? "yes" : "no");
}
