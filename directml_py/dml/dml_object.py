"""Base classes of the DirectML interfaces."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from ..abi.call_site import caller
from ..abi.hresult import S_FALSE
from ..abi.lifetime import Lifetime, LivingObject
from ..abi.private_data import PrivateDataObject, PrivateDataRules
from ..abi.rules import Severity, rule
from ..abi.wintypes import GUID
from ..api.enums import DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL
from ..api.iids import IID_IDMLDeviceChild, IID_IDMLObject, IID_IDMLPageable
from ..d3d12 import ID3D12Device
from ..validation.report import Report
from .device_removal import Removal, hresult_method
from .profiles import Profile

if TYPE_CHECKING:
    from ..abi.interface import IUnknown

SAME_DEVICE = rule(
    "DML-Object-device",
    "Objects that are used together were created by the same device",
    "dml-resource-lifetime",
)
PRIVATE_DATA = PrivateDataRules(
    size=rule(
        "DML-SetPrivateData-size",
        "dataSize is at most the size of data",
        "nf-directml-idmlobject-setprivatedata",
    ),
    guid=rule(
        "DML-GetPrivateData-guid",
        "Private data is read with a GUID under which data is stored",
        "nf-directml-idmlobject-getprivatedata",
    ),
)
NO_DATA_SIZE = rule(
    "DML-SetPrivateData-null-size",
    "dataSize is 0 if data is null",
    "nf-directml-idmlobject-setprivatedata",
    Severity.WARNING,
)


class IDMLObject(PrivateDataObject):
    """Private data and a name (nn-directml-idmlobject)."""

    IID = IID_IDMLObject
    private_data_rules = PRIVATE_DATA
    nothing_removed = S_FALSE
    removal: Removal

    @hresult_method
    def GetPrivateData(self, guid: GUID) -> bytes | IUnknown:
        return super().GetPrivateData(guid)

    @hresult_method
    def SetPrivateData(self, guid: GUID, dataSize: Any, data: Any = None) -> int:
        """``(guid, size, bytes)`` as in C, or ``(guid, bytes)``; without data the stored data is removed.

        Returns ``S_OK``, or ``S_FALSE`` if there was nothing to remove.
        """
        return super().SetPrivateData(guid, dataSize, data)

    def _report_size_of_nothing(self, text: str) -> None:
        report = Report()
        report.add(NO_DATA_SIZE, "dataSize", text)
        self.removal.fail("SetPrivateData failed:", report)

    @hresult_method
    def SetPrivateDataInterface(self, guid: GUID, data: IUnknown | None) -> int:
        """None removes the stored data. Returns ``S_OK``, or ``S_FALSE`` if there was nothing to remove."""
        return super().SetPrivateDataInterface(guid, data)

    @hresult_method
    def SetName(self, name: str) -> None:
        super().SetName(name)


class OwnerDevice(IDMLObject):
    """What a device's objects need of it; ``IDMLDevice`` itself knows all of them."""

    d3d12_device: ID3D12Device
    flags: DML_CREATE_DEVICE_FLAGS
    feature_level: DML_FEATURE_LEVEL
    profile: Profile

    @property
    @abstractmethod
    def is_observed(self) -> bool:
        """Whether calls have effects beyond their results: with a debug layer, in a capture, with a profile. So have
        those on a removed device, which fail."""


class IDMLDeviceChild(IDMLObject):
    """An object created by a DirectML device (nn-directml-idmldevicechild)."""

    IID = IID_IDMLDeviceChild

    def __init__(self, device: OwnerDevice) -> None:
        super().__init__()
        self.device = device
        self.removal = device.removal
        # The call site that created it; empty without Direct3D's debug layer.
        self.made_at = "" if device.d3d12_device.sync_validator is None else caller()

    @hresult_method
    def GetDevice(self) -> Any:
        """The ``IDMLDevice``; as with all methods that take a riid in C, of any type."""
        return self.device


class IDMLPageable(LivingObject, IDMLDeviceChild):
    """An object that can be evicted (nn-directml-idmlpageable).

    Under the debug layer recorded dispatches hold ``life`` instead of the object.
    """

    IID = IID_IDMLPageable

    def __init__(self, device: OwnerDevice) -> None:
        super().__init__(device)
        self.life = Lifetime(type(self).__name__)
