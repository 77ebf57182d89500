// The helpers of d3dx12.h, which most Direct3D 12 programs are written with.

#include "bench.h"

#include <directx/d3dx12.h>

namespace
{
    void upload(const std::vector<std::string>&)
    {
        Bench bench;
        const CD3DX12_HEAP_PROPERTIES uploads(D3D12_HEAP_TYPE_UPLOAD), defaults(D3D12_HEAP_TYPE_DEFAULT);
        const float numbers[] = {1, 2, 3, 4, 5};
        auto target = CD3DX12_RESOURCE_DESC::Buffer(sizeof numbers, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
        ComPtr<ID3D12Resource> buffer, source;
        need(
            bench.d3d12->CreateCommittedResource(
                &defaults,
                D3D12_HEAP_FLAG_NONE,
                &target,
                D3D12_RESOURCE_STATE_COPY_DEST,
                nullptr,
                IID_PPV_ARGS(&buffer)),
            "CreateCommittedResource");
        const UINT64 size = GetRequiredIntermediateSize(buffer.Get(), 0, 1);
        equal("GetRequiredIntermediateSize", size, sizeof numbers);
        const auto desc = CD3DX12_RESOURCE_DESC::Buffer(size);
        need(
            bench.d3d12->CreateCommittedResource(
                &uploads,
                D3D12_HEAP_FLAG_NONE,
                &desc,
                D3D12_RESOURCE_STATE_GENERIC_READ,
                nullptr,
                IID_PPV_ARGS(&source)),
            "CreateCommittedResource");
        D3D12_SUBRESOURCE_DATA data = {numbers, sizeof numbers, sizeof numbers};
        const UINT64 copied = UpdateSubresources(bench.list.Get(), buffer.Get(), source.Get(), 0, 0, 1, &data);
        equal("UpdateSubresources", copied, sizeof numbers);
        const auto barrier = CD3DX12_RESOURCE_BARRIER::Transition(
            buffer.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
        bench.list->ResourceBarrier(1, &barrier);
        bench.run();
        values<float>("the numbers arrive", bench.read<float>(buffer.Get(), 5), {1, 2, 3, 4, 5});
    }

    const Registration registration("upload", upload);
}
