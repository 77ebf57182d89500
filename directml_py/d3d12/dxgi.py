"""DXGI: adapter enumeration. There are no outputs and no windows, hence no swap chains.

Objects implement the newest interface; the older ones are its base classes.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from ..abi.arguments import enumerator, invalid, uint, unsigned
from ..abi.hresult import DXGI_ERROR_NOT_FOUND, DXGI_ERROR_UNSUPPORTED, DMLError
from ..abi.interface import IUnknown
from ..abi.memory import MemoryFault, write
from ..abi.pointers import locate, struct_at
from ..abi.private_data import PrivateDataObject
from ..abi.wintypes import BOOL, GUID
from ..api.d3d12_enums import (
    DXGI_ADAPTER_FLAG,
    DXGI_ADAPTER_FLAG3,
    DXGI_ADAPTER_FLAG_NONE,
    DXGI_ADAPTER_FLAG_SOFTWARE,
    DXGI_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY,
    DXGI_FEATURE,
    DXGI_GPU_PREFERENCE,
    DXGI_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY,
    DXGI_MEMORY_SEGMENT_GROUP,
    DXGI_MEMORY_SEGMENT_GROUP_LOCAL,
)
from ..api.d3d12_structs import (
    DXGI_ADAPTER_DESC,
    DXGI_ADAPTER_DESC1,
    DXGI_ADAPTER_DESC2,
    DXGI_ADAPTER_DESC3,
    DXGI_QUERY_VIDEO_MEMORY_INFO,
    LUID,
)
from ..api.iids import (
    IID_IDXGIAdapter,
    IID_IDXGIAdapter1,
    IID_IDXGIAdapter2,
    IID_IDXGIAdapter3,
    IID_IDXGIAdapter4,
    IID_IDXGIDevice,
    IID_IDXGIFactory,
    IID_IDXGIFactory1,
    IID_IDXGIFactory2,
    IID_IDXGIFactory3,
    IID_IDXGIFactory4,
    IID_IDXGIFactory5,
    IID_IDXGIFactory6,
    IID_IDXGIObject,
)
from ..text.plural import counted_words
from .adapters import (
    SOFTWARE,
    VENDOR_ID,
    Adapter,
    AdapterObject,
    adapter_with,
    driver_version,
    enumerated_adapters,
    memory,
    used_memory,
)

DXGI_CREATE_FACTORY_DEBUG: Final = 0x1

_PREEMPTION: Final[dict[str, Any]] = {
    "GraphicsPreemptionGranularity": (DXGI_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY),
    "ComputePreemptionGranularity": (DXGI_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY),
}


def not_found(text: str) -> DMLError:
    return DMLError(DXGI_ERROR_NOT_FOUND, text)


class IDXGIObject(PrivateDataObject):
    IID = IID_IDXGIObject

    def GetParent(self) -> IDXGIObject:
        """The factory of an adapter. A factory has no parent and raises ``DXGI_ERROR_NOT_FOUND``."""
        raise not_found(f"an {type(self).__name__} has no parent")


class IDXGIAdapter(AdapterObject, IDXGIObject):
    IID = IID_IDXGIAdapter

    def __init__(self, factory: IDXGIFactory, adapter: Adapter) -> None:
        super().__init__()
        self._factory = factory
        self.adapter = adapter

    def _about(self) -> str:
        return self.adapter.description

    def GetParent(self) -> IDXGIObject:
        return self._factory

    def EnumOutputs(self, Output: int) -> IDXGIObject:
        """Always raises ``DXGI_ERROR_NOT_FOUND``, as on an adapter without monitors."""
        uint(Output, "Output")
        raise not_found("the adapter has no outputs")

    def _description(self) -> dict[str, Any]:
        return {
            "Description": self.adapter.description,
            "VendorId": VENDOR_ID,
            "DeviceId": self.adapter.number,
            "DedicatedVideoMemory": memory().dedicated,
            "SharedSystemMemory": memory().shared,
            "AdapterLuid": self.adapter.luid,
        }

    def _flags(self) -> DXGI_ADAPTER_FLAG:
        if self.adapter.is_software:
            return DXGI_ADAPTER_FLAG_SOFTWARE
        return DXGI_ADAPTER_FLAG_NONE

    def GetDesc(self) -> DXGI_ADAPTER_DESC:
        return DXGI_ADAPTER_DESC(**self._description())

    def CheckInterfaceSupport(self, InterfaceName: GUID) -> int:
        """The driver version, which programs query with the IID of ``IDXGIDevice``.

        Raises ``DXGI_ERROR_UNSUPPORTED`` for every other interface, including those of Direct3D 11 and 12
        (nf-dxgi-idxgiadapter-checkinterfacesupport).
        """
        if not isinstance(InterfaceName, GUID):
            raise TypeError(f"InterfaceName must be a GUID, not {type(InterfaceName).__name__}")
        if InterfaceName != IID_IDXGIDevice:
            raise DMLError(DXGI_ERROR_UNSUPPORTED, f"InterfaceName: there is no support for {InterfaceName}")
        return driver_version()


class IDXGIAdapter1(IDXGIAdapter):
    IID = IID_IDXGIAdapter1

    def GetDesc1(self) -> DXGI_ADAPTER_DESC1:
        return DXGI_ADAPTER_DESC1(**self._description(), Flags=self._flags())


class IDXGIAdapter2(IDXGIAdapter1):
    IID = IID_IDXGIAdapter2

    def GetDesc2(self) -> DXGI_ADAPTER_DESC2:
        return DXGI_ADAPTER_DESC2(**self._description(), Flags=self._flags(), **_PREEMPTION)


class IDXGIAdapter3(IDXGIAdapter2):
    IID = IID_IDXGIAdapter3

    def __init__(self, factory: IDXGIFactory, adapter: Adapter) -> None:
        super().__init__(factory, adapter)
        self._reserved = dict.fromkeys(DXGI_MEMORY_SEGMENT_GROUP, 0)

    def QueryVideoMemoryInfo(self, NodeIndex: int, MemorySegmentGroup: int) -> DXGI_QUERY_VIDEO_MEMORY_INFO:
        """The memory use of this process. All heaps count as local; the budget is all of a group's memory."""
        group = _segment_group(NodeIndex, MemorySegmentGroup)
        budget, used = _budget_and_use(group)
        return DXGI_QUERY_VIDEO_MEMORY_INFO(budget, used, budget // 2, self._reserved[group])

    def SetVideoMemoryReservation(self, NodeIndex: int, MemorySegmentGroup: int, Reservation: int) -> None:
        """Stored without effect, as memory is never taken away. Raises ``E_INVALIDARG`` for more than is available."""
        group = _segment_group(NodeIndex, MemorySegmentGroup)
        reservation = unsigned(Reservation, "Reservation")
        available = _budget_and_use(group)[0] // 2
        if reservation > available:
            raise invalid(
                f"Reservation is {reservation}, but {available} bytes are available for reservation"
            )
        self._reserved[group] = reservation


def _segment_group(node: Any, group: Any) -> DXGI_MEMORY_SEGMENT_GROUP:
    if uint(node, "NodeIndex"):
        raise invalid(f"NodeIndex must be 0 on an adapter with one node, not {node}")
    return enumerator(group, DXGI_MEMORY_SEGMENT_GROUP, "MemorySegmentGroup")


def _budget_and_use(group: DXGI_MEMORY_SEGMENT_GROUP) -> tuple[int, int]:
    if group == DXGI_MEMORY_SEGMENT_GROUP_LOCAL:
        return memory().dedicated, used_memory()
    return memory().shared, 0


class IDXGIAdapter4(IDXGIAdapter3):
    IID = IID_IDXGIAdapter4

    def GetDesc3(self) -> DXGI_ADAPTER_DESC3:
        flags = DXGI_ADAPTER_FLAG3(int(self._flags()))
        return DXGI_ADAPTER_DESC3(**self._description(), Flags=flags, **_PREEMPTION)


class IDXGIFactory(IDXGIObject):
    IID = IID_IDXGIFactory

    def __init__(self, flags: int = 0) -> None:
        super().__init__()
        self._creation_flags = flags

    def EnumAdapters(self, Adapter: int) -> IDXGIAdapter:
        """One adapter, or ``DIRECTML_PY_ADAPTERS``. Raises ``DXGI_ERROR_NOT_FOUND`` past the end."""
        return self._enumerated(Adapter)

    def _enumerated(self, index: Any) -> IDXGIAdapter4:
        adapters = [adapter for adapter in enumerated_adapters() if adapter.has_graphics]
        if uint(index, "Adapter") >= len(adapters):
            counted = counted_words(len(adapters), "adapter")
            raise not_found(
                f"Adapter is {index}, but there {'is' if len(adapters) == 1 else 'are'} {counted}"
            )
        return IDXGIAdapter4(self, adapters[index])


class IDXGIFactory1(IDXGIFactory):
    IID = IID_IDXGIFactory1

    def EnumAdapters1(self, Adapter: int) -> IDXGIAdapter1:
        return self._enumerated(Adapter)

    def IsCurrent(self) -> bool:
        """Always True: adapters are neither added nor removed."""
        return True


class IDXGIFactory2(IDXGIFactory1):
    IID = IID_IDXGIFactory2

    def IsWindowedStereoEnabled(self) -> bool:
        return False


class IDXGIFactory3(IDXGIFactory2):
    IID = IID_IDXGIFactory3

    def GetCreationFlags(self) -> int:
        return self._creation_flags


class IDXGIFactory4(IDXGIFactory3):
    IID = IID_IDXGIFactory4

    def EnumAdapterByLuid(self, AdapterLuid: Any) -> IDXGIAdapter:
        """Also finds the WARP adapter. The page names no error code; ``DXGI_ERROR_NOT_FOUND`` as elsewhere."""
        adapter = adapter_with(struct_at(AdapterLuid, LUID, "AdapterLuid"))
        if adapter is None:
            raise not_found("AdapterLuid belongs to no adapter")
        return IDXGIAdapter4(self, adapter)

    def EnumWarpAdapter(self) -> IDXGIAdapter:
        """An adapter flagged as software, with a LUID of its own; its devices behave like any other."""
        return IDXGIAdapter4(self, SOFTWARE)


class IDXGIFactory5(IDXGIFactory4):
    IID = IID_IDXGIFactory5

    def CheckFeatureSupport(
        self, Feature: int, pFeatureSupportData: Any = None, FeatureSupportDataSize: int | None = None
    ) -> bool:
        """Always False, as there is no presentation; written as a BOOL to ``pFeatureSupportData`` if given."""
        enumerator(Feature, DXGI_FEATURE, "Feature")
        size = ctypes.sizeof(BOOL)
        if (
            FeatureSupportDataSize is not None
            and uint(FeatureSupportDataSize, "FeatureSupportDataSize") != size
        ):
            raise invalid(f"FeatureSupportDataSize must be {size} for a BOOL, not {FeatureSupportDataSize}")
        location = locate(pFeatureSupportData, "pFeatureSupportData")
        if not location.address and FeatureSupportDataSize is not None:
            raise invalid("pFeatureSupportData is null")
        if location.address:
            try:
                write(location.address, bytes(size))
            except MemoryFault as fault:
                raise invalid(f"pFeatureSupportData cannot be written: {fault}") from None
        return False


class IDXGIFactory6(IDXGIFactory5):
    IID = IID_IDXGIFactory6

    def EnumAdapterByGpuPreference(self, Adapter: int, GpuPreference: int) -> IDXGIAdapter:
        """As EnumAdapters, as all adapters are equal under every preference."""
        enumerator(GpuPreference, DXGI_GPU_PREFERENCE, "GpuPreference")
        return self._enumerated(Adapter)


def CreateDXGIFactory(riid: GUID | type[IUnknown] = IDXGIFactory6.IID) -> IDXGIFactory6:
    """A new factory. Raises ``DMLError`` ``E_NOINTERFACE`` if it does not implement ``riid``."""
    factory: IDXGIFactory6 = IDXGIFactory6().QueryInterface(riid)
    return factory


def CreateDXGIFactory1(riid: GUID | type[IUnknown] = IDXGIFactory6.IID) -> IDXGIFactory6:
    """As CreateDXGIFactory."""
    return CreateDXGIFactory(riid)


def CreateDXGIFactory2(Flags: int = 0, riid: GUID | type[IUnknown] = IDXGIFactory6.IID) -> IDXGIFactory6:
    """As CreateDXGIFactory. ``Flags`` is 0 or ``DXGI_CREATE_FACTORY_DEBUG``, which has no effect."""
    flags = uint(Flags, "Flags")
    if flags & ~DXGI_CREATE_FACTORY_DEBUG:
        raise invalid(f"Flags must be 0 or DXGI_CREATE_FACTORY_DEBUG, not 0x{flags:X}")
    factory: IDXGIFactory6 = IDXGIFactory6(flags).QueryInterface(riid)
    return factory
