// The helper structures come first, and bring Direct3D 12 and its identifiers along.

#include <d3dx12.h>

#include <d3d12.h>

#include <DirectML.h>

#include <wrl/client.h>

#include "expect.h"

int main()
{
    Microsoft::WRL::ComPtr<ID3D12Device> device;
    EXPECT(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)) == S_OK);
    const CD3DX12_HEAP_PROPERTIES heap(D3D12_HEAP_TYPE_DEFAULT);
    const auto desc = CD3DX12_RESOURCE_DESC::Buffer(256, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    Microsoft::WRL::ComPtr<ID3D12Resource> buffer;
    EXPECT(
        device->CreateCommittedResource(
            &heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, IID_PPV_ARGS(&buffer)) == S_OK);
    EXPECT(buffer->GetDesc().Width == 256);
}
