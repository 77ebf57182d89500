"""The feature data that ``ID3D12Device::CheckFeatureSupport`` returns for the emulated device.

The device presents itself as a discrete adapter, so that programs upload and read back as every adapter allows.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..abi.arguments import enumerator, invalid, uint
from ..abi.hresult import DXGI_ERROR_UNSUPPORTED, E_NOTIMPL, DMLError
from ..abi.memory import MemoryFault, read, write
from ..abi.pointers import check_type, locate, struct_at
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_SUPPORT_FLAG_COMPUTE,
    D3D12_COMMAND_LIST_SUPPORT_FLAG_COPY,
    D3D12_COMMAND_LIST_SUPPORT_FLAG_DIRECT,
    D3D12_COMMAND_LIST_TYPE,
    D3D12_COMMAND_QUEUE_PRIORITY_HIGH,
    D3D12_COMMAND_QUEUE_PRIORITY_NORMAL,
    D3D12_FEATURE,
    D3D12_FEATURE_ARCHITECTURE,
    D3D12_FEATURE_ARCHITECTURE1,
    D3D12_FEATURE_COMMAND_QUEUE_PRIORITY,
    D3D12_FEATURE_D3D12_OPTIONS,
    D3D12_FEATURE_D3D12_OPTIONS1,
    D3D12_FEATURE_D3D12_OPTIONS3,
    D3D12_FEATURE_D3D12_OPTIONS4,
    D3D12_FEATURE_EXISTING_HEAPS,
    D3D12_FEATURE_FEATURE_LEVELS,
    D3D12_FEATURE_GPU_VIRTUAL_ADDRESS_SUPPORT,
    D3D12_FEATURE_ROOT_SIGNATURE,
    D3D12_FEATURE_SHADER_MODEL,
    D3D12_RESOURCE_BINDING_TIER_3,
    D3D12_RESOURCE_HEAP_TIER_2,
    D3D12_SHADER_MIN_PRECISION_SUPPORT_16_BIT,
    D3D_FEATURE_LEVEL,
    D3D_ROOT_SIGNATURE_VERSION,
    D3D_SHADER_MODEL,
)
from ..api.d3d12_structs import (
    D3D12_FEATURE_DATA_ARCHITECTURE,
    D3D12_FEATURE_DATA_ARCHITECTURE1,
    D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY,
    D3D12_FEATURE_DATA_D3D12_OPTIONS,
    D3D12_FEATURE_DATA_D3D12_OPTIONS1,
    D3D12_FEATURE_DATA_D3D12_OPTIONS3,
    D3D12_FEATURE_DATA_D3D12_OPTIONS4,
    D3D12_FEATURE_DATA_EXISTING_HEAPS,
    D3D12_FEATURE_DATA_FEATURE_LEVELS,
    D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT,
    D3D12_FEATURE_DATA_ROOT_SIGNATURE,
    D3D12_FEATURE_DATA_SHADER_MODEL,
)
from .adapters import DEVICE_LEVELS, MAX_FEATURE_LEVEL

MAX_SHADER_MODEL: Final = D3D_SHADER_MODEL.D3D_SHADER_MODEL_6_6
MAX_ROOT_SIGNATURE: Final = D3D_ROOT_SIGNATURE_VERSION.D3D_ROOT_SIGNATURE_VERSION_1_1
ADDRESS_BITS: Final = 40

_ARCHITECTURE: Final = {"TileBasedRenderer": 0, "UMA": 0, "CacheCoherentUMA": 0}

Answer = Callable[[Any], Mapping[str, int]]


def _constant(**fields: int) -> Answer:
    return lambda data: fields


def _architecture(**fields: int) -> Answer:
    def answer(data: Any) -> Mapping[str, int]:
        if data.NodeIndex:
            raise invalid(f"data.NodeIndex must be 0 on a device with one node, not {data.NodeIndex}")
        return {**_ARCHITECTURE, **fields}

    return answer


def _feature_levels(data: Any, highest: int = MAX_FEATURE_LEVEL) -> Mapping[str, int]:
    count = data.NumFeatureLevels
    address = locate(data.pFeatureLevelsRequested, "data.pFeatureLevelsRequested").address
    if not count or not address:
        raise invalid("data.pFeatureLevelsRequested must have at least one feature level")
    try:
        requested = list(memoryview(read(address, 4 * count)).cast("i"))
    except (MemoryFault, MemoryError, OverflowError) as fault:
        raise invalid(f"data.pFeatureLevelsRequested: {fault}") from None
    supported = [level for level in requested if level in DEVICE_LEVELS and level <= highest]
    if not supported:
        raise DMLError(
            DXGI_ERROR_UNSUPPORTED, "none of data.pFeatureLevelsRequested is supported by the device"
        )
    return {"MaxSupportedFeatureLevel": max(supported)}


def _shader_model(data: Any) -> Mapping[str, int]:
    requested = enumerator(data.HighestShaderModel, D3D_SHADER_MODEL, "data.HighestShaderModel")
    return {"HighestShaderModel": min(requested, MAX_SHADER_MODEL)}


def _root_signature(data: Any) -> Mapping[str, int]:
    requested = enumerator(data.HighestVersion, D3D_ROOT_SIGNATURE_VERSION, "data.HighestVersion")
    return {"HighestVersion": min(requested, MAX_ROOT_SIGNATURE)}


def _queue_priority(data: Any) -> Mapping[str, int]:
    enumerator(data.CommandListType, D3D12_COMMAND_LIST_TYPE, "data.CommandListType")
    supported = (
        D3D12_COMMAND_QUEUE_PRIORITY_NORMAL,
        D3D12_COMMAND_QUEUE_PRIORITY_HIGH,
    )
    return {"PriorityForTypeIsSupported": int(data.Priority in supported)}


_FEATURES: Final[dict[D3D12_FEATURE, tuple[Any, Answer]]] = {
    D3D12_FEATURE_D3D12_OPTIONS: (
        D3D12_FEATURE_DATA_D3D12_OPTIONS,
        _constant(
            DoublePrecisionFloatShaderOps=1,
            MinPrecisionSupport=D3D12_SHADER_MIN_PRECISION_SUPPORT_16_BIT,
            ResourceBindingTier=D3D12_RESOURCE_BINDING_TIER_3,
            TypedUAVLoadAdditionalFormats=1,
            MaxGPUVirtualAddressBitsPerResource=ADDRESS_BITS,
            ResourceHeapTier=D3D12_RESOURCE_HEAP_TIER_2,
        ),
    ),
    D3D12_FEATURE_ARCHITECTURE: (D3D12_FEATURE_DATA_ARCHITECTURE, _architecture()),
    D3D12_FEATURE_ARCHITECTURE1: (
        D3D12_FEATURE_DATA_ARCHITECTURE1,
        _architecture(IsolatedMMU=1),
    ),
    D3D12_FEATURE_FEATURE_LEVELS: (D3D12_FEATURE_DATA_FEATURE_LEVELS, _feature_levels),
    D3D12_FEATURE_GPU_VIRTUAL_ADDRESS_SUPPORT: (
        D3D12_FEATURE_DATA_GPU_VIRTUAL_ADDRESS_SUPPORT,
        _constant(
            MaxGPUVirtualAddressBitsPerResource=ADDRESS_BITS, MaxGPUVirtualAddressBitsPerProcess=ADDRESS_BITS
        ),
    ),
    D3D12_FEATURE_SHADER_MODEL: (D3D12_FEATURE_DATA_SHADER_MODEL, _shader_model),
    D3D12_FEATURE_D3D12_OPTIONS1: (
        D3D12_FEATURE_DATA_D3D12_OPTIONS1,
        _constant(WaveOps=1, WaveLaneCountMin=4, WaveLaneCountMax=4, TotalLaneCount=4, Int64ShaderOps=1),
    ),
    D3D12_FEATURE_ROOT_SIGNATURE: (D3D12_FEATURE_DATA_ROOT_SIGNATURE, _root_signature),
    D3D12_FEATURE_COMMAND_QUEUE_PRIORITY: (
        D3D12_FEATURE_DATA_COMMAND_QUEUE_PRIORITY,
        _queue_priority,
    ),
    D3D12_FEATURE_EXISTING_HEAPS: (D3D12_FEATURE_DATA_EXISTING_HEAPS, _constant(Supported=0)),
    D3D12_FEATURE_D3D12_OPTIONS3: (
        D3D12_FEATURE_DATA_D3D12_OPTIONS3,
        _constant(
            CopyQueueTimestampQueriesSupported=1,
            WriteBufferImmediateSupportFlags=D3D12_COMMAND_LIST_SUPPORT_FLAG_DIRECT
            | D3D12_COMMAND_LIST_SUPPORT_FLAG_COMPUTE
            | D3D12_COMMAND_LIST_SUPPORT_FLAG_COPY,
        ),
    ),
    D3D12_FEATURE_D3D12_OPTIONS4: (
        D3D12_FEATURE_DATA_D3D12_OPTIONS4,
        _constant(Native16BitShaderOpsSupported=1),
    ),
}

_INPUTS: Final = frozenset(
    {"NodeIndex", "NumFeatureLevels", "pFeatureLevelsRequested", "CommandListType", "Priority"}
)


def highest_level(has_graphics: bool) -> D3D_FEATURE_LEVEL:
    """The highest feature level of a device; programs choose the type of their command lists by it."""
    return MAX_FEATURE_LEVEL if has_graphics else D3D_FEATURE_LEVEL.D3D_FEATURE_LEVEL_1_0_CORE


def answer_feature(feature: Any, data: Any, size: Any, has_graphics: bool) -> None:
    """Fill the D3D12_FEATURE_DATA struct at ``data`` in place, except for its input fields.

    ``data`` is a struct, a typed pointer to one, or an address with a ``size`` in bytes. Raises ``E_INVALIDARG`` for
    an unknown feature and for inputs that the struct's page forbids, ``E_NOTIMPL`` for a feature that is not emulated.
    """
    kind = enumerator(feature, D3D12_FEATURE, "feature")
    if kind not in _FEATURES:
        raise DMLError(E_NOTIMPL, f"feature: {kind.name} is not emulated")
    struct, answer = _FEATURES[kind]
    location = locate(data, "data")
    check_type(location, struct, "data")
    if location.address and location.size is None and size is None:
        raise TypeError(
            f"data must be a {struct.__name__} or a pointer to one; a bare address needs its size beside it"
        )
    if size is not None and uint(size, "size") != ctypes.sizeof(struct):
        raise invalid(f"size must be {ctypes.sizeof(struct)} for a {struct.__name__}, not {size}")
    filled = struct_at(data, struct, "data")
    if kind == D3D12_FEATURE_FEATURE_LEVELS:
        answers = _feature_levels(filled, highest_level(has_graphics))
    else:
        answers = answer(filled)
    for field, *_ in struct._fields_:
        if field not in _INPUTS:
            setattr(filled, field, answers.get(field, 0))
    try:
        write(location.address, bytes(filled))
    except MemoryFault as fault:
        raise invalid(f"data cannot be written: {fault}") from None
