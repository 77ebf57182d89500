"""Base classes of the DirectML interfaces, and the guard of those that are not thread safe."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..abi.call_site import caller
from ..abi.hresult import S_FALSE
from ..abi.lifetime import Lifetime, LivingObject
from ..abi.private_data import PrivateDataObject, PrivateDataRules
from ..abi.rules import Rule, Severity, rule
from ..abi.wintypes import GUID
from ..api.enums import DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL
from ..api.iids import IID_IDMLDeviceChild, IID_IDMLObject, IID_IDMLPageable
from ..d3d12 import ID3D12Device
from ..validation.report import Report
from .device_removal import Removal, hresult_method
from .profiles import Profile

if TYPE_CHECKING:
    from ..abi.interface import IUnknown

M = TypeVar("M", bound=Callable[..., Any])

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


class OneThread:
    """Tracks the thread that is inside a method of an object. Reentrant calls are allowed."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.inside: int | None = None

    def __enter__(self) -> None:
        self.inside = get_ident()

    def __exit__(self, *error: object) -> None:
        self.inside = None

    def is_free(self) -> bool:
        """Whether no other thread is inside."""
        inside = self.inside
        return inside is None or inside == get_ident()

    def report(self, path: str, report: Report) -> None:
        """Report that another thread is inside."""
        report.add(self._rule, path, "is called while another thread is in a method of the same object")


def one_thread(method: M) -> M:
    """Method decorator for objects with a ``one_thread``: if another thread is inside, the call has no effect but to
    remove the device, or to raise ``DMLError`` ``E_INVALIDARG`` where it returns an HRESULT."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        guard = self.one_thread
        thread, inside = get_ident(), guard.inside
        if inside is None or inside == thread:
            # As ``with`` does it, in half the time.
            guard.inside = thread
            try:
                return method(self, *args, **kwargs)
            finally:
                guard.inside = None
        report = Report()
        guard.report(method.__name__, report)
        consequence = self.removal.fail if method.__name__ == "Reset" else self.removal.remove
        return consequence(f"{method.__name__} failed:", report)

    return cast(M, call)
