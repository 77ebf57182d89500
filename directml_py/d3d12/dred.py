"""Settings of Device Removed Extended Data (DRED).

They are accepted and change nothing: the message of a device removal always names the command at fault.
"""

from __future__ import annotations

from ..abi.arguments import enumerator
from ..api.d3d12_enums import D3D12_DRED_ENABLEMENT
from ..api.iids import (
    IID_ID3D12DeviceRemovedExtendedDataSettings,
    IID_ID3D12DeviceRemovedExtendedDataSettings1,
    IID_ID3D12DeviceRemovedExtendedDataSettings2,
)
from .tearoffs import Tearoff


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
