"""DXCore: adapter enumeration and properties, without the display functions of DXGI."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from ..abi.arguments import counted, enumerator, integer, invalid, uint, unsigned
from ..abi.hresult import DXGI_ERROR_INVALID_CALL, DXGI_ERROR_UNSUPPORTED, E_POINTER, DMLError
from ..abi.interface import IUnknown
from ..abi.memory import MemoryFault, read, write
from ..abi.pointers import locate, struct_at
from ..abi.wintypes import GUID
from ..api.d3d12_enums import (
    DXCoreAdapterPreference,
    DXCoreAdapterProperty,
    DXCoreAdapterState,
    DXCoreNotificationType,
    DXCoreSegmentGroup,
)
from ..api.d3d12_structs import (
    LUID,
    DXCoreAdapterMemoryBudget,
    DXCoreAdapterMemoryBudgetNodeSegmentGroup,
    DXCoreHardwareID,
    DXCoreHardwareIDParts,
)
from ..api.iids import IID_IDXCoreAdapter, IID_IDXCoreAdapterFactory, IID_IDXCoreAdapterList
from .adapters import (
    VENDOR_ID,
    Adapter,
    AdapterObject,
    adapter_with,
    driver_version,
    enumerated_adapters,
    memory,
    used_memory,
)

DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS: Final = GUID("8c47866b-7583-450d-f0f0-6bada895af4b")
DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS: Final = GUID("0c9ece4d-2f6e-4f01-8c96-e89e331b47b1")
DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE: Final = GUID("248e2800-a793-4724-abaa-23a6de1be090")
DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML: Final = GUID("b71b0d41-1088-422f-a27c-0250b7d3a988")
DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU: Final = GUID("b69eb219-3ded-4464-979f-a00bd4687006")
DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU: Final = GUID("d46140c4-add7-451b-9e56-06fe8c3b58ed")

# Programs take an adapter without graphics for an NPU, which has no direct queues.
_COMPUTE: Final = frozenset(
    {DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE, DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML}
)
_GPU: Final = _COMPUTE | {DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS, DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU}
_NPU: Final = _COMPUTE | {DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU}

Property = Callable[[Adapter], Any]

_Is = DXCoreAdapterProperty

# Property values as the ctypes types that the enumeration's page specifies. KmdModelVersion is absent because there is
# no kernel-mode driver.
_PROPERTIES: Final[Mapping[DXCoreAdapterProperty, Property]] = {
    _Is.InstanceLuid: lambda adapter: adapter.luid,
    _Is.DriverVersion: lambda adapter: ctypes.c_uint64(driver_version()),
    _Is.DriverDescription: lambda adapter: ctypes.create_string_buffer(adapter.description.encode()),
    _Is.HardwareID: lambda adapter: DXCoreHardwareID(VENDOR_ID, adapter.number, 0, 0),
    _Is.ComputePreemptionGranularity: lambda adapter: ctypes.c_uint16(0),
    _Is.GraphicsPreemptionGranularity: lambda adapter: ctypes.c_uint16(0),
    _Is.DedicatedAdapterMemory: lambda adapter: ctypes.c_uint64(memory().dedicated),
    _Is.DedicatedSystemMemory: lambda adapter: ctypes.c_uint64(0),
    _Is.SharedSystemMemory: lambda adapter: ctypes.c_uint64(memory().shared),
    _Is.AcgCompatible: lambda adapter: ctypes.c_bool(False),
    _Is.IsHardware: lambda adapter: ctypes.c_bool(not adapter.is_software),
    _Is.IsIntegrated: lambda adapter: ctypes.c_bool(False),
    _Is.IsDetachable: lambda adapter: ctypes.c_bool(False),
    _Is.HardwareIDParts: lambda adapter: DXCoreHardwareIDParts(VENDOR_ID, adapter.number, 0, 0, 0),
}


def _is_known(value: Any, kind: Any, name: str) -> bool:
    return integer(value, name) in set(kind)


def _as_python(value: Any) -> Any:
    if isinstance(value, ctypes.Array):
        return value.value.decode()
    return value if isinstance(value, ctypes.Structure) else value.value


def _fill(value: Any, size: Any, buffer: Any, name: str) -> None:
    """Write ``value`` to a buffer of ``size`` bytes, padded with zeros."""
    location = locate(buffer, name)
    data = bytes(value)
    capacity = unsigned(size, f"the size of {name}")
    if not location.address:
        raise DMLError(E_POINTER, f"{name} is null; it receives {len(data)} bytes")
    if capacity < len(data):
        raise invalid(f"{name} has {capacity} bytes; it receives {len(data)}")
    try:
        write(location.address, data.ljust(capacity, b"\0"))
    except (MemoryFault, MemoryError, OverflowError) as fault:
        raise invalid(f"{name} cannot be written: {fault}") from None


class IDXCoreAdapter(AdapterObject, IUnknown):
    """An adapter. Every list returns the same object for it."""

    IID = IID_IDXCoreAdapter

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    def _about(self) -> str:
        return self.adapter.description

    def IsValid(self) -> bool:
        return True

    def IsAttributeSupported(self, attributeGUID: GUID) -> bool:
        supported = _GPU if self.adapter.has_graphics else _NPU
        return _guid(attributeGUID, "attributeGUID") in supported

    def IsPropertySupported(self, property: int) -> bool:
        return integer(property, "property") in _PROPERTIES

    def GetProperty(self, property: int, bufferSize: int | None = None, propertyData: Any = None) -> Any:
        """The property's value, written to the buffer if one is passed, as in C
        (nf-dxcore_interface-idxcoreadapter-getproperty).

        Raises ``DXGI_ERROR_INVALID_CALL`` for an unknown property, ``DXGI_ERROR_UNSUPPORTED`` for one that the adapter
        does not have, ``E_INVALIDARG`` for a buffer that is too small and ``E_POINTER`` for a null one.
        """
        value = self._property(property)
        if bufferSize is None:
            return _as_python(value)
        return _fill(value, bufferSize, propertyData, "propertyData")

    def GetPropertySize(self, property: int) -> int:
        return ctypes.sizeof(self._property(property))

    def _property(self, property: Any) -> Any:
        if not _is_known(property, DXCoreAdapterProperty, "property"):
            raise DMLError(
                DXGI_ERROR_INVALID_CALL, f"property must be a DXCoreAdapterProperty, not {property}"
            )
        kind = DXCoreAdapterProperty(property)
        if kind not in _PROPERTIES:
            raise DMLError(DXGI_ERROR_UNSUPPORTED, f"property: the adapter has no {kind.name}")
        return _PROPERTIES[kind](self.adapter)

    def IsQueryStateSupported(self, property: int) -> bool:
        return _is_known(property, DXCoreAdapterState, "property")

    def QueryState(
        self,
        state: int,
        inputStateDetailsSize: Any = 0,
        inputStateDetails: Any = None,
        outputBufferSize: int | None = None,
        outputBuffer: Any = None,
    ) -> Any:
        """The state, written to the buffer if one is passed, as in C. The details struct may be passed as
        ``inputStateDetailsSize``.

        Raises the same errors as ``GetProperty`` (nf-dxcore_interface-idxcoreadapter-querystate).
        """
        if not _is_known(state, DXCoreAdapterState, "state"):
            raise DMLError(DXGI_ERROR_INVALID_CALL, f"state must be a DXCoreAdapterState, not {state}")
        value: Any = ctypes.c_uint8(0)
        if state == DXCoreAdapterState.AdapterMemoryBudget:
            value = _budget(_details(inputStateDetailsSize, inputStateDetails))
        if outputBufferSize is None:
            return _as_python(value)
        return _fill(value, outputBufferSize, outputBuffer, "outputBuffer")

    def IsSetStateSupported(self, property: int) -> bool:
        """Always False: both states are read-only (ne-dxcore_interface-dxcoreadapterstate)."""
        integer(property, "property")
        return False

    def SetState(
        self,
        state: int,
        inputStateDetailsSize: int = 0,
        inputStateDetails: Any = None,
        inputDataSize: int = 0,
        inputData: Any = None,
    ) -> None:
        if not _is_known(state, DXCoreAdapterState, "state"):
            raise DMLError(DXGI_ERROR_INVALID_CALL, f"state must be a DXCoreAdapterState, not {state}")
        raise DMLError(DXGI_ERROR_UNSUPPORTED, f"state: {DXCoreAdapterState(state).name} cannot be set")

    def GetFactory(self) -> IDXCoreAdapterFactory:
        return DXCoreCreateAdapterFactory()


def _details(size: Any, details: Any) -> DXCoreAdapterMemoryBudgetNodeSegmentGroup:
    kind = DXCoreAdapterMemoryBudgetNodeSegmentGroup
    if isinstance(size, kind):
        size, details = ctypes.sizeof(kind), size
    capacity = unsigned(size, "inputStateDetailsSize")
    if not locate(details, "inputStateDetails").address:
        raise DMLError(E_POINTER, f"inputStateDetails is null; a {kind.__name__} is required")
    if capacity < ctypes.sizeof(kind):
        raise invalid(f"inputStateDetailsSize must be at least {ctypes.sizeof(kind)}, not {capacity}")
    return struct_at(details, kind, "inputStateDetails")


def _budget(details: DXCoreAdapterMemoryBudgetNodeSegmentGroup) -> DXCoreAdapterMemoryBudget:
    if details.nodeIndex:
        raise invalid(
            f"inputStateDetails.nodeIndex must be 0 on an adapter with one node, not {details.nodeIndex}"
        )
    group = enumerator(details.segmentGroup, DXCoreSegmentGroup, "inputStateDetails.segmentGroup")
    if group == DXCoreSegmentGroup.Local:
        return DXCoreAdapterMemoryBudget(memory().dedicated, used_memory(), memory().dedicated // 2, 0)
    return DXCoreAdapterMemoryBudget(memory().shared, 0, memory().shared // 2, 0)


class IDXCoreAdapterList(IUnknown):
    IID = IID_IDXCoreAdapterList

    def __init__(self, adapters: list[IDXCoreAdapter]) -> None:
        self._adapters = adapters

    def GetAdapter(self, index: int) -> IDXCoreAdapter:
        """The adapter at ``index``. Raises ``E_INVALIDARG`` past the end."""
        number = uint(index, "index")
        if number >= len(self._adapters):
            raise invalid(f"index is {number}, but the list has {len(self._adapters)} adapters")
        return self._adapters[number]

    def GetAdapterCount(self) -> int:
        return len(self._adapters)

    def IsStale(self) -> bool:
        """Always False: adapters are neither added nor removed."""
        return False

    def GetFactory(self) -> IDXCoreAdapterFactory:
        return DXCoreCreateAdapterFactory()

    def Sort(self, numPreferences: Any, preferences: Any = None) -> None:
        """``(count, preferences)`` as in C, or ``(preferences)``. A no-op, as all adapters are equal.

        Unknown preferences are ignored (nf-dxcore_interface-idxcoreadapterlist-sort).
        """
        if not _series(numPreferences, preferences, "numPreferences", "preferences", ctypes.c_uint32):
            raise invalid("preferences must not be empty")

    def IsAdapterPreferenceSupported(self, preference: int) -> bool:
        return _is_known(preference, DXCoreAdapterPreference, "preference")


class IDXCoreAdapterFactory(IUnknown):
    """The process-wide factory. Adapters are neither added nor removed, so no events are ever raised."""

    IID = IID_IDXCoreAdapterFactory

    def CreateAdapterList(self, numAttributes: Any, filterAttributes: Any = None) -> IDXCoreAdapterList:
        """``(count, attributes)`` as in C, or ``(attributes)``: the adapters that have all attributes, if any.

        Raises ``E_INVALIDARG`` if no attribute is given.
        """
        attributes = _series(numAttributes, filterAttributes, "numAttributes", "filterAttributes", GUID)
        if not attributes:
            raise invalid("filterAttributes must hold at least one attribute")
        adapters = [_object(adapter) for adapter in enumerated_adapters()]
        return IDXCoreAdapterList(
            [adapter for adapter in adapters if all(map(adapter.IsAttributeSupported, attributes))]
        )

    def GetAdapterByLuid(self, adapterLUID: Any) -> IDXCoreAdapter:
        """The adapter with the given LUID. Raises ``E_INVALIDARG`` if there is none."""
        adapter = adapter_with(struct_at(adapterLUID, LUID, "adapterLUID"))
        if adapter is None:
            raise invalid("adapterLUID belongs to no adapter")
        return _object(adapter)

    def IsNotificationTypeSupported(self, notificationType: int) -> bool:
        integer(notificationType, "notificationType")
        return False

    def RegisterEventNotification(
        self,
        dxCoreObject: IUnknown,
        notificationType: int,
        callbackFunction: Any,
        callbackContext: Any = None,
    ) -> int:
        """Always raises ``DXGI_ERROR_INVALID_CALL``, the documented code for a type that is not supported."""
        enumerator(notificationType, DXCoreNotificationType, "notificationType")
        raise DMLError(DXGI_ERROR_INVALID_CALL, "notificationType: no notification is supported")


def _series(first: Any, second: Any, count_name: str, items_name: str, kind: Any) -> list[Any]:
    """The items of C's (count, array), where the array may be an address."""
    if second is None or not isinstance(second, int):
        return counted(first, second, count_name, items_name)
    count = uint(first, count_name)
    try:
        data = read(second, count * ctypes.sizeof(kind))
    except (MemoryFault, MemoryError, OverflowError) as fault:
        raise invalid(f"{items_name}: {fault}") from None
    items = (kind * count).from_buffer_copy(data) if count else []
    return list(items)


def _guid(value: Any, name: str) -> GUID:
    if not isinstance(value, GUID):
        raise TypeError(f"{name} must be a GUID, not {type(value).__name__}")
    return value


@cache
def _object(adapter: Adapter) -> IDXCoreAdapter:
    """The adapter's only object: programs compare objects to tell whether adapters are the same."""
    return IDXCoreAdapter(adapter)


@cache
def DXCoreCreateAdapterFactory() -> IDXCoreAdapterFactory:
    """The process-wide factory."""
    return IDXCoreAdapterFactory()
