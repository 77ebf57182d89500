"""``ID3D12Debug``, the switch of the emulated debug layer; its tear-offs, and the settings of DRED."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..abi.arguments import enumerator
from ..abi.arguments import flags as known_flags
from ..abi.hresult import DXGI_ERROR_INVALID_CALL, DMLError
from ..abi.interface import IUnknown, same_interface
from ..abi.wintypes import GUID
from ..api.d3d12_enums import (
    D3D12_DEBUG_FEATURE,
    D3D12_DRED_ENABLEMENT,
    D3D12_GPU_BASED_VALIDATION_FLAGS,
    D3D12_MESSAGE_CATEGORY_STATE_CREATION,
    D3D12_MESSAGE_SEVERITY_ERROR,
    D3D12_MESSAGE_SEVERITY_WARNING,
    D3D12_RLDO_FLAGS,
)
from ..api.iids import (
    IID_ID3D12Debug,
    IID_ID3D12Debug1,
    IID_ID3D12Debug2,
    IID_ID3D12Debug3,
    IID_ID3D12Debug4,
    IID_ID3D12DebugDevice,
    IID_ID3D12DeviceRemovedExtendedDataSettings,
    IID_ID3D12DeviceRemovedExtendedDataSettings1,
    IID_ID3D12DeviceRemovedExtendedDataSettings2,
)
from ..runtime.buffer import Living
from ..runtime.observers import watchers
from .debug_output import debug_output
from .live_objects import live_objects

if TYPE_CHECKING:
    from .device_child import ID3D12DeviceChild, ParentDevice


class Tearoff(IUnknown):
    """A Python object of its own with the identity of the COM object ``main``."""

    def __init__(self, main: IUnknown) -> None:
        self._main = main

    @property
    def identity(self) -> IUnknown:
        return self._main

    @classmethod
    def is_asked_for(cls, riid: Any) -> bool:
        """Whether ``riid`` names this interface or one of its bases."""
        kinds = [kind for kind in cls.__mro__ if issubclass(kind, Tearoff) and "IID" in kind.__dict__]
        return any(same_interface(riid, kind) for kind in kinds)

    def QueryInterface(self, riid: Any) -> Any:
        """This interface and its bases, else what the main object returns."""
        try:
            return super().QueryInterface(riid)
        except DMLError:
            return self._main.QueryInterface(riid)


def _check(enablement: int) -> None:
    enumerator(enablement, D3D12_DRED_ENABLEMENT, "enablement")


class ID3D12DeviceRemovedExtendedDataSettings(Tearoff):
    IID = IID_ID3D12DeviceRemovedExtendedDataSettings

    def SetAutoBreadcrumbsEnablement(self, enablement: int) -> None:
        _check(enablement)

    def SetPageFaultEnablement(self, enablement: int) -> None:
        _check(enablement)

    def SetWatsonDumpEnablement(self, enablement: int) -> None:
        _check(enablement)


class ID3D12DeviceRemovedExtendedDataSettings1(ID3D12DeviceRemovedExtendedDataSettings):
    IID = IID_ID3D12DeviceRemovedExtendedDataSettings1

    def SetBreadcrumbContextEnablement(self, enablement: int) -> None:
        _check(enablement)


class ID3D12DeviceRemovedExtendedDataSettings2(ID3D12DeviceRemovedExtendedDataSettings1):
    IID = IID_ID3D12DeviceRemovedExtendedDataSettings2

    def UseMarkersOnlyAutoBreadcrumbs(self, markersOnly: bool) -> None: ...


WARNING = D3D12_MESSAGE_SEVERITY_WARNING
LATE = "EnableDebugLayer was called after the device was created; enable the layer first"
# The devices that enabling the layer removes.
devices_of_c: weakref.WeakSet[ParentDevice] = weakref.WeakSet()


class ID3D12Debug(IUnknown):
    """Enables the debug layer for devices created afterwards.

    Existing devices are unaffected, except those created by C programs: enabling the layer removes them, as documented
    (nf-d3d12sdklayers-id3d12debug-enabledebuglayer). A Python process hosts many programs in turn: notebook cells,
    tests.
    """

    IID = IID_ID3D12Debug

    def EnableDebugLayer(self) -> None:
        was_enabled, watchers.debug_layer = watchers.debug_layer, True
        for device in () if was_enabled else list(devices_of_c):
            if device.info_queue is None and not device.removed:
                debug_output(D3D12_MESSAGE_SEVERITY_ERROR, f"{device}: {LATE}")
                device.remove(DXGI_ERROR_INVALID_CALL, LATE)

    def DisableDebugLayer(self) -> None:
        """The method of ``ID3D12Debug4``, available on every version in Python."""
        watchers.debug_layer = False


class ID3D12Debug3(ID3D12Debug):
    """Its settings change nothing: the debug layer always inspects memory while commands run, one after another."""

    IID = IID_ID3D12Debug3

    def QueryInterface(self, riid: Any) -> Any:
        """Also returns the tear-offs ID3D12Debug1, ID3D12Debug2 and the DRED settings."""
        for kind in (ID3D12Debug1, ID3D12Debug2, ID3D12DeviceRemovedExtendedDataSettings2):
            if kind.is_asked_for(riid):
                return kind(self)
        return super().QueryInterface(riid)

    def SetEnableGPUBasedValidation(self, enable: bool) -> None: ...

    def SetEnableSynchronizedCommandQueueValidation(self, enable: bool) -> None: ...

    def SetGPUBasedValidationFlags(self, flags: int) -> None:
        known_flags(flags, D3D12_GPU_BASED_VALIDATION_FLAGS, "flags")


class ID3D12Debug4(ID3D12Debug3):
    IID = IID_ID3D12Debug4


class ID3D12Debug1(Tearoff):
    IID = IID_ID3D12Debug1

    def EnableDebugLayer(self) -> None:
        ID3D12Debug().EnableDebugLayer()

    def SetEnableGPUBasedValidation(self, enable: bool) -> None: ...

    def SetEnableSynchronizedCommandQueueValidation(self, enable: bool) -> None: ...


class ID3D12Debug2(Tearoff):
    IID = IID_ID3D12Debug2

    def SetGPUBasedValidationFlags(self, flags: int) -> None:
        known_flags(flags, D3D12_GPU_BASED_VALIDATION_FLAGS, "flags")


class ID3D12DebugDevice(IUnknown):
    """Keeps a feature mask and reports live objects; queried from a device created under the debug layer."""

    IID = IID_ID3D12DebugDevice

    def __init__(self, device: ParentDevice) -> None:
        self._device = device
        self._features = D3D12_DEBUG_FEATURE(0)
        self._objects: Living[ID3D12DeviceChild] = Living()

    def created(self, item: ID3D12DeviceChild) -> None:
        """The device has created ``item``."""
        self._objects.add(item)

    @property
    def identity(self) -> IUnknown:
        return self._device

    def QueryInterface(self, riid: Any) -> Any:
        """Also returns the device's interfaces: both belong to one COM object."""
        return self if same_interface(riid, ID3D12DebugDevice) else self._device.QueryInterface(riid)

    def SetFeatureMask(self, mask: int) -> None:
        self._features = known_flags(mask, D3D12_DEBUG_FEATURE, "mask")

    def ReportLiveDeviceObjects(self, flags: int) -> None:
        """Report the device and each of its live objects as a warning, with name and C reference count
        (nf-d3d12sdklayers-id3d12debugdevice-reportlivedeviceobjects)."""
        kind = known_flags(flags, D3D12_RLDO_FLAGS, "flags")
        for id, text in list(live_objects(self._device, self._objects.living(), kind)):
            self._device.report(WARNING, D3D12_MESSAGE_CATEGORY_STATE_CREATION, id, text)

    def GetFeatureMask(self) -> D3D12_DEBUG_FEATURE:
        return self._features


def D3D12GetDebugInterface(riid: GUID | type[IUnknown] = IID_ID3D12Debug4) -> Any:
    """The debug layer's switch, or another interface ``riid`` such as the DRED settings.

    Raises ``DMLError`` ``E_NOINTERFACE`` for an unknown interface.
    """
    return ID3D12Debug4().QueryInterface(riid)


def debug_layer_enabled() -> bool:
    return watchers.debug_layer
