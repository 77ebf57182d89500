"""The helpers of d3dx12.h for root signatures, with its names and argument order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..abi.arguments import counted, enumerator
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_COMPARISON_FUNC_LESS_EQUAL,
    D3D12_DESCRIPTOR_RANGE_FLAG_NONE,
    D3D12_FILTER_ANISOTROPIC,
    D3D12_ROOT_DESCRIPTOR_FLAG_NONE,
    D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS,
    D3D12_ROOT_PARAMETER_TYPE_CBV,
    D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE,
    D3D12_ROOT_PARAMETER_TYPE_SRV,
    D3D12_ROOT_PARAMETER_TYPE_UAV,
    D3D12_ROOT_SIGNATURE_FLAG_NONE,
    D3D12_SHADER_VISIBILITY_ALL,
    D3D12_STATIC_BORDER_COLOR_OPAQUE_WHITE,
    D3D12_TEXTURE_ADDRESS_MODE_WRAP,
    D3D_ROOT_SIGNATURE_VERSION,
)
from ..api.d3d12_structs import (
    D3D12_DESCRIPTOR_RANGE,
    D3D12_DESCRIPTOR_RANGE1,
    D3D12_ROOT_CONSTANTS,
    D3D12_ROOT_DESCRIPTOR,
    D3D12_ROOT_DESCRIPTOR1,
    D3D12_ROOT_DESCRIPTOR_TABLE,
    D3D12_ROOT_DESCRIPTOR_TABLE1,
    D3D12_ROOT_PARAMETER,
    D3D12_ROOT_PARAMETER1,
    D3D12_ROOT_SIGNATURE_DESC,
    D3D12_ROOT_SIGNATURE_DESC1,
    D3D12_STATIC_SAMPLER_DESC,
    D3D12_VERSIONED_ROOT_SIGNATURE_DESC,
)
from .blob import ID3DBlob
from .d3d12_constants import D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND, D3D12_FLOAT32_MAX
from .root_signature import serialized_at

ALL = D3D12_SHADER_VISIBILITY_ALL


class CD3DX12_DESCRIPTOR_RANGE(D3D12_DESCRIPTOR_RANGE):
    def __init__(
        self,
        rangeType: int,
        numDescriptors: int,
        baseShaderRegister: int,
        registerSpace: int = 0,
        offsetInDescriptorsFromTableStart: int = D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND,
    ) -> None:
        super().__init__(
            RangeType=rangeType,
            NumDescriptors=numDescriptors,
            BaseShaderRegister=baseShaderRegister,
            RegisterSpace=registerSpace,
            OffsetInDescriptorsFromTableStart=offsetInDescriptorsFromTableStart,
        )


class CD3DX12_DESCRIPTOR_RANGE1(D3D12_DESCRIPTOR_RANGE1):
    def __init__(
        self,
        rangeType: int,
        numDescriptors: int,
        baseShaderRegister: int,
        registerSpace: int = 0,
        flags: int = D3D12_DESCRIPTOR_RANGE_FLAG_NONE,
        offsetInDescriptorsFromTableStart: int = D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND,
    ) -> None:
        super().__init__(
            RangeType=rangeType,
            NumDescriptors=numDescriptors,
            BaseShaderRegister=baseShaderRegister,
            RegisterSpace=registerSpace,
            Flags=flags,
            OffsetInDescriptorsFromTableStart=offsetInDescriptorsFromTableStart,
        )


def _constants(count: int, register: int, space: int) -> D3D12_ROOT_CONSTANTS:
    return D3D12_ROOT_CONSTANTS(ShaderRegister=register, RegisterSpace=space, Num32BitValues=count)


class CD3DX12_ROOT_PARAMETER(D3D12_ROOT_PARAMETER):
    """A root parameter of version 1.0, which one of the methods fills."""

    def InitAsDescriptorTable(
        self, numDescriptorRanges: Any, descriptorRanges: Any = None, visibility: int = ALL
    ) -> None:
        """``(count, ranges)`` as in C++, or a sequence."""
        ranges = counted(numDescriptorRanges, descriptorRanges, "numDescriptorRanges", "descriptorRanges")
        self.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE
        self.DescriptorTable = D3D12_ROOT_DESCRIPTOR_TABLE(pDescriptorRanges=ranges)
        self.ShaderVisibility = visibility

    def InitAsConstants(
        self, num32BitValues: int, shaderRegister: int, registerSpace: int = 0, visibility: int = ALL
    ) -> None:
        self.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS
        self.Constants = _constants(num32BitValues, shaderRegister, registerSpace)
        self.ShaderVisibility = visibility

    def InitAsConstantBufferView(
        self, shaderRegister: int, registerSpace: int = 0, visibility: int = ALL
    ) -> None:
        self._describe(D3D12_ROOT_PARAMETER_TYPE_CBV, shaderRegister, registerSpace, visibility)

    def InitAsShaderResourceView(
        self, shaderRegister: int, registerSpace: int = 0, visibility: int = ALL
    ) -> None:
        self._describe(D3D12_ROOT_PARAMETER_TYPE_SRV, shaderRegister, registerSpace, visibility)

    def InitAsUnorderedAccessView(
        self, shaderRegister: int, registerSpace: int = 0, visibility: int = ALL
    ) -> None:
        self._describe(D3D12_ROOT_PARAMETER_TYPE_UAV, shaderRegister, registerSpace, visibility)

    def _describe(self, kind: int, register: int, space: int, visibility: int) -> None:
        self.ParameterType = kind
        self.Descriptor = D3D12_ROOT_DESCRIPTOR(ShaderRegister=register, RegisterSpace=space)
        self.ShaderVisibility = visibility


class CD3DX12_ROOT_PARAMETER1(D3D12_ROOT_PARAMETER1):
    """A root parameter of version 1.1, which one of the methods fills."""

    def InitAsDescriptorTable(
        self, numDescriptorRanges: Any, descriptorRanges: Any = None, visibility: int = ALL
    ) -> None:
        """``(count, ranges)`` as in C++, or a sequence."""
        ranges = counted(numDescriptorRanges, descriptorRanges, "numDescriptorRanges", "descriptorRanges")
        self.ParameterType = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE
        self.DescriptorTable = D3D12_ROOT_DESCRIPTOR_TABLE1(pDescriptorRanges=ranges)
        self.ShaderVisibility = visibility

    def InitAsConstants(
        self, num32BitValues: int, shaderRegister: int, registerSpace: int = 0, visibility: int = ALL
    ) -> None:
        self.ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS
        self.Constants = _constants(num32BitValues, shaderRegister, registerSpace)
        self.ShaderVisibility = visibility

    def InitAsConstantBufferView(
        self,
        shaderRegister: int,
        registerSpace: int = 0,
        flags: int = D3D12_ROOT_DESCRIPTOR_FLAG_NONE,
        visibility: int = ALL,
    ) -> None:
        self._describe(D3D12_ROOT_PARAMETER_TYPE_CBV, shaderRegister, registerSpace, flags, visibility)

    def InitAsShaderResourceView(
        self,
        shaderRegister: int,
        registerSpace: int = 0,
        flags: int = D3D12_ROOT_DESCRIPTOR_FLAG_NONE,
        visibility: int = ALL,
    ) -> None:
        self._describe(D3D12_ROOT_PARAMETER_TYPE_SRV, shaderRegister, registerSpace, flags, visibility)

    def InitAsUnorderedAccessView(
        self,
        shaderRegister: int,
        registerSpace: int = 0,
        flags: int = D3D12_ROOT_DESCRIPTOR_FLAG_NONE,
        visibility: int = ALL,
    ) -> None:
        self._describe(D3D12_ROOT_PARAMETER_TYPE_UAV, shaderRegister, registerSpace, flags, visibility)

    def _describe(self, kind: int, register: int, space: int, flags: int, visibility: int) -> None:
        self.ParameterType = kind
        self.Descriptor = D3D12_ROOT_DESCRIPTOR1(ShaderRegister=register, RegisterSpace=space, Flags=flags)
        self.ShaderVisibility = visibility


class CD3DX12_STATIC_SAMPLER_DESC(D3D12_STATIC_SAMPLER_DESC):
    def __init__(
        self,
        shaderRegister: int,
        filter: int = D3D12_FILTER_ANISOTROPIC,
        addressU: int = D3D12_TEXTURE_ADDRESS_MODE_WRAP,
        addressV: int = D3D12_TEXTURE_ADDRESS_MODE_WRAP,
        addressW: int = D3D12_TEXTURE_ADDRESS_MODE_WRAP,
        mipLODBias: float = 0,
        maxAnisotropy: int = 16,
        comparisonFunc: int = D3D12_COMPARISON_FUNC_LESS_EQUAL,
        borderColor: int = D3D12_STATIC_BORDER_COLOR_OPAQUE_WHITE,
        minLOD: float = 0,
        maxLOD: float = D3D12_FLOAT32_MAX,
        shaderVisibility: int = ALL,
        registerSpace: int = 0,
    ) -> None:
        super().__init__(
            Filter=filter,
            AddressU=addressU,
            AddressV=addressV,
            AddressW=addressW,
            MipLODBias=mipLODBias,
            MaxAnisotropy=maxAnisotropy,
            ComparisonFunc=comparisonFunc,
            BorderColor=borderColor,
            MinLOD=minLOD,
            MaxLOD=maxLOD,
            ShaderRegister=shaderRegister,
            RegisterSpace=registerSpace,
            ShaderVisibility=shaderVisibility,
        )


def _arrays(
    parameter_count: Any, parameters: Any, sampler_count: Any, samplers: Any, flags: int
) -> dict[str, Any]:
    found: list[Sequence[Any]] = [
        counted(parameter_count, parameters, "numParameters", "parameters"),
        counted(sampler_count, samplers, "numStaticSamplers", "staticSamplers"),
    ]
    return {"pParameters": found[0], "pStaticSamplers": found[1], "Flags": flags}


class CD3DX12_ROOT_SIGNATURE_DESC(D3D12_ROOT_SIGNATURE_DESC):
    """``(count, parameters, count, samplers, flags)`` as in C++; a sequence may take the place of a count."""

    def __init__(
        self,
        numParameters: Any = 0,
        parameters: Any = None,
        numStaticSamplers: Any = 0,
        staticSamplers: Any = None,
        flags: int = D3D12_ROOT_SIGNATURE_FLAG_NONE,
    ) -> None:
        super().__init__(**_arrays(numParameters, parameters, numStaticSamplers, staticSamplers, flags))


class CD3DX12_VERSIONED_ROOT_SIGNATURE_DESC(D3D12_VERSIONED_ROOT_SIGNATURE_DESC):
    """A desc of any version, which one of the methods fills. Their arguments are those of
    CD3DX12_ROOT_SIGNATURE_DESC."""

    def Init_1_0(
        self,
        numParameters: Any = 0,
        parameters: Any = None,
        numStaticSamplers: Any = 0,
        staticSamplers: Any = None,
        flags: int = D3D12_ROOT_SIGNATURE_FLAG_NONE,
    ) -> None:
        arrays = _arrays(numParameters, parameters, numStaticSamplers, staticSamplers, flags)
        self.Version = D3D_ROOT_SIGNATURE_VERSION.D3D_ROOT_SIGNATURE_VERSION_1_0
        self.Desc_1_0 = D3D12_ROOT_SIGNATURE_DESC(**arrays)

    def Init_1_1(
        self,
        numParameters: Any = 0,
        parameters: Any = None,
        numStaticSamplers: Any = 0,
        staticSamplers: Any = None,
        flags: int = D3D12_ROOT_SIGNATURE_FLAG_NONE,
    ) -> None:
        arrays = _arrays(numParameters, parameters, numStaticSamplers, staticSamplers, flags)
        self.Version = D3D_ROOT_SIGNATURE_VERSION.D3D_ROOT_SIGNATURE_VERSION_1_1
        self.Desc_1_1 = D3D12_ROOT_SIGNATURE_DESC1(**arrays)


def D3DX12SerializeVersionedRootSignature(rootSignatureDesc: Any, maxVersion: int) -> ID3DBlob:
    """As D3D12SerializeVersionedRootSignature, but a desc of version 1.1 is converted to 1.0 if ``maxVersion``, which a
    device has told, is that."""
    desc = struct_at(rootSignatureDesc, D3D12_VERSIONED_ROOT_SIGNATURE_DESC, "rootSignatureDesc")
    return serialized_at(
        desc, "rootSignatureDesc", enumerator(maxVersion, D3D_ROOT_SIGNATURE_VERSION, "maxVersion")
    )
