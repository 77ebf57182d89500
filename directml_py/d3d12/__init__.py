"""The part of Direct3D 12 that DirectML programs touch, on NumPy memory. Knows nothing of DirectML."""

from __future__ import annotations

from ..abi.private_data import WKPDID_D3DDebugObjectNameW
from .command_list import ID3D12CommandAllocator, ID3D12CommandList, ID3D12GraphicsCommandList
from .command_queue import ID3D12CommandQueue
from .constants import (
    D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT,
    D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT,
    D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT,
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
from .debug import D3D12GetDebugInterface, ID3D12Debug
from .descriptors import ID3D12DescriptorHeap
from .device import D3D12CreateDevice, ID3D12Device
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
from .fence import ID3D12Fence
from .heap import ID3D12Heap
from .info_queue import ID3D12InfoQueue
from .objects import ID3D12DeviceChild, ID3D12Object, ID3D12Pageable
from .resource import ID3D12Resource

__all__ = [
    "CD3DX12_CPU_DESCRIPTOR_HANDLE",
    "CD3DX12_GPU_DESCRIPTOR_HANDLE",
    "CD3DX12_HEAP_DESC",
    "CD3DX12_HEAP_PROPERTIES",
    "CD3DX12_RANGE",
    "CD3DX12_RESOURCE_BARRIER",
    "CD3DX12_RESOURCE_DESC",
    "D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT",
    "D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT",
    "D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT",
    "D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML",
    "DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS",
    "DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU",
    "DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU",
    "DXGI_CREATE_FACTORY_DEBUG",
    "CreateDXGIFactory",
    "CreateDXGIFactory1",
    "CreateDXGIFactory2",
    "D3D12CreateDevice",
    "D3D12GetDebugInterface",
    "DXCoreCreateAdapterFactory",
    "GetRequiredIntermediateSize",
    "ID3D12CommandAllocator",
    "ID3D12CommandList",
    "ID3D12CommandQueue",
    "ID3D12Debug",
    "ID3D12DescriptorHeap",
    "ID3D12Device",
    "ID3D12DeviceChild",
    "ID3D12Fence",
    "ID3D12GraphicsCommandList",
    "ID3D12Heap",
    "ID3D12InfoQueue",
    "ID3D12Object",
    "ID3D12Pageable",
    "ID3D12Resource",
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
    "UpdateSubresources",
    "WKPDID_D3DDebugObjectNameW",
]
