"""The subset of Direct3D 12 that DirectML programs use, over NumPy memory. Independent of DirectML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..api.exports import EXPORTS as _EXPORTS
from ..late import imported_when_named as _imported_when_named

if TYPE_CHECKING:
    from ..abi.private_data import WKPDID_D3DDebugObjectNameW
    from .blob import ID3DBlob
    from .command_allocator import ID3D12CommandAllocator
    from .command_list import (
        ID3D12CommandList,
        ID3D12GraphicsCommandList,
        ID3D12GraphicsCommandList1,
        ID3D12GraphicsCommandList2,
        ID3D12GraphicsCommandList3,
        ID3D12GraphicsCommandList4,
    )
    from .command_queue import ID3D12CommandQueue
    from .compute_state import ID3D12PipelineState, ID3D12RootSignature
    from .d3d12_constants import (
        D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT,
        D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT,
        D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
        D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND,
        D3D12_FLOAT32_MAX,
        D3D12_MAX_ROOT_COST,
        D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
    )
    from .d3dx12 import (
        CD3DX12_CPU_DESCRIPTOR_HANDLE,
        CD3DX12_GPU_DESCRIPTOR_HANDLE,
        CD3DX12_HEAP_DESC,
        CD3DX12_HEAP_PROPERTIES,
        CD3DX12_RANGE,
        CD3DX12_RESOURCE_BARRIER,
        CD3DX12_RESOURCE_DESC,
        GetRequiredIntermediateSize,
        UpdateSubresources,
    )
    from .d3dx12_root_signature import (
        CD3DX12_DESCRIPTOR_RANGE,
        CD3DX12_DESCRIPTOR_RANGE1,
        CD3DX12_ROOT_PARAMETER,
        CD3DX12_ROOT_PARAMETER1,
        CD3DX12_ROOT_SIGNATURE_DESC,
        CD3DX12_STATIC_SAMPLER_DESC,
        CD3DX12_VERSIONED_ROOT_SIGNATURE_DESC,
        D3DX12SerializeVersionedRootSignature,
    )
    from .debug import (
        D3D12GetDebugInterface,
        ID3D12Debug,
        ID3D12Debug1,
        ID3D12Debug2,
        ID3D12Debug3,
        ID3D12Debug4,
        ID3D12DebugDevice,
        ID3D12DeviceRemovedExtendedDataSettings,
        ID3D12DeviceRemovedExtendedDataSettings1,
        ID3D12DeviceRemovedExtendedDataSettings2,
    )
    from .descriptors import ID3D12DescriptorHeap
    from .device import ID3D12Device
    from .device_child import ID3D12DeviceChild, ID3D12Object, ID3D12Pageable
    from .device_versions import (
        D3D12CreateDevice,
        ID3D12Device1,
        ID3D12Device2,
        ID3D12Device3,
        ID3D12Device4,
        ID3D12Device5,
        ID3D12Device6,
        ID3D12Device7,
        ID3D12Device8,
        ID3D12Device9,
    )
    from .dxcore import (
        DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS,
        DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE,
        DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML,
        DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS,
        DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU,
        DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU,
        DXCoreCreateAdapterFactory,
        IDXCoreAdapter,
        IDXCoreAdapterFactory,
        IDXCoreAdapterList,
    )
    from .dxgi import (
        DXGI_CREATE_FACTORY_DEBUG,
        CreateDXGIFactory,
        CreateDXGIFactory1,
        CreateDXGIFactory2,
        IDXGIAdapter,
        IDXGIAdapter1,
        IDXGIAdapter2,
        IDXGIAdapter3,
        IDXGIAdapter4,
        IDXGIFactory,
        IDXGIFactory1,
        IDXGIFactory2,
        IDXGIFactory3,
        IDXGIFactory4,
        IDXGIFactory5,
        IDXGIFactory6,
        IDXGIObject,
    )
    from .fence import ID3D12Fence, ID3D12Fence1
    from .heap import ID3D12Heap, ID3D12Heap1
    from .info_queue import ID3D12InfoQueue, ID3D12InfoQueue1
    from .markers import (
        PIX_COLOR,
        PIX_COLOR_DEFAULT,
        PIX_COLOR_INDEX,
        PIXBeginEvent,
        PIXEndEvent,
        PIXSetMarker,
    )
    from .queries import ID3D12QueryHeap
    from .resource import ID3D12Resource, ID3D12Resource1, ID3D12Resource2
    from .root_signature import (
        D3D12CreateRootSignatureDeserializer,
        D3D12CreateVersionedRootSignatureDeserializer,
        D3D12SerializeRootSignature,
        D3D12SerializeVersionedRootSignature,
        ID3D12RootSignatureDeserializer,
        ID3D12VersionedRootSignatureDeserializer,
    )

__all__ = [
    "CD3DX12_CPU_DESCRIPTOR_HANDLE",
    "CD3DX12_DESCRIPTOR_RANGE",
    "CD3DX12_DESCRIPTOR_RANGE1",
    "CD3DX12_GPU_DESCRIPTOR_HANDLE",
    "CD3DX12_HEAP_DESC",
    "CD3DX12_HEAP_PROPERTIES",
    "CD3DX12_RANGE",
    "CD3DX12_RESOURCE_BARRIER",
    "CD3DX12_RESOURCE_DESC",
    "CD3DX12_ROOT_PARAMETER",
    "CD3DX12_ROOT_PARAMETER1",
    "CD3DX12_ROOT_SIGNATURE_DESC",
    "CD3DX12_STATIC_SAMPLER_DESC",
    "CD3DX12_VERSIONED_ROOT_SIGNATURE_DESC",
    "D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT",
    "D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT",
    "D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT",
    "D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND",
    "D3D12_FLOAT32_MAX",
    "D3D12_MAX_ROOT_COST",
    "D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS",
    "DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU",
    "DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU",
    "DXGI_CREATE_FACTORY_DEBUG",
    "PIX_COLOR",
    "PIX_COLOR_DEFAULT",
    "PIX_COLOR_INDEX",
    "CreateDXGIFactory",
    "CreateDXGIFactory1",
    "CreateDXGIFactory2",
    "D3D12CreateDevice",
    "D3D12CreateRootSignatureDeserializer",
    "D3D12CreateVersionedRootSignatureDeserializer",
    "D3D12GetDebugInterface",
    "D3D12SerializeRootSignature",
    "D3D12SerializeVersionedRootSignature",
    "D3DX12SerializeVersionedRootSignature",
    "DXCoreCreateAdapterFactory",
    "GetRequiredIntermediateSize",
    "ID3D12CommandAllocator",
    "ID3D12CommandList",
    "ID3D12CommandQueue",
    "ID3D12Debug",
    "ID3D12Debug1",
    "ID3D12Debug2",
    "ID3D12Debug3",
    "ID3D12Debug4",
    "ID3D12DebugDevice",
    "ID3D12DescriptorHeap",
    "ID3D12Device",
    "ID3D12Device1",
    "ID3D12Device2",
    "ID3D12Device3",
    "ID3D12Device4",
    "ID3D12Device5",
    "ID3D12Device6",
    "ID3D12Device7",
    "ID3D12Device8",
    "ID3D12Device9",
    "ID3D12DeviceChild",
    "ID3D12DeviceRemovedExtendedDataSettings",
    "ID3D12DeviceRemovedExtendedDataSettings1",
    "ID3D12DeviceRemovedExtendedDataSettings2",
    "ID3D12Fence",
    "ID3D12Fence1",
    "ID3D12GraphicsCommandList",
    "ID3D12GraphicsCommandList1",
    "ID3D12GraphicsCommandList2",
    "ID3D12GraphicsCommandList3",
    "ID3D12GraphicsCommandList4",
    "ID3D12Heap",
    "ID3D12Heap1",
    "ID3D12InfoQueue",
    "ID3D12InfoQueue1",
    "ID3D12Object",
    "ID3D12Pageable",
    "ID3D12PipelineState",
    "ID3D12QueryHeap",
    "ID3D12Resource",
    "ID3D12Resource1",
    "ID3D12Resource2",
    "ID3D12RootSignature",
    "ID3D12RootSignatureDeserializer",
    "ID3D12VersionedRootSignatureDeserializer",
    "ID3DBlob",
    "IDXCoreAdapter",
    "IDXCoreAdapterFactory",
    "IDXCoreAdapterList",
    "IDXGIAdapter",
    "IDXGIAdapter1",
    "IDXGIAdapter2",
    "IDXGIAdapter3",
    "IDXGIAdapter4",
    "IDXGIFactory",
    "IDXGIFactory1",
    "IDXGIFactory2",
    "IDXGIFactory3",
    "IDXGIFactory4",
    "IDXGIFactory5",
    "IDXGIFactory6",
    "IDXGIObject",
    "PIXBeginEvent",
    "PIXEndEvent",
    "PIXSetMarker",
    "UpdateSubresources",
    "WKPDID_D3DDebugObjectNameW",
]

if not TYPE_CHECKING:
    __getattr__ = _imported_when_named(globals(), {name: f"..{_EXPORTS[name]}" for name in __all__})

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
