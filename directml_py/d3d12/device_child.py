"""Base classes of the Direct3D 12 interfaces: private data, names and the parent device."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol

from ..abi.call_site import called, caller
from ..abi.hresult import E_INVALIDARG, DMLError
from ..abi.interface import IUnknown
from ..abi.lifetime import Lifetime, LivingObject
from ..abi.private_data import PrivateDataObject
from ..abi.rules import Diagnostic
from ..api.d3d12_enums import D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY
from ..api.iids import IID_ID3D12DeviceChild, IID_ID3D12Object, IID_ID3D12Pageable
from ..runtime.buffer import Buffers
from ..runtime.execution import Validator
from ..runtime.scheduler import Scheduler


class ID3D12Object(PrivateDataObject):
    """Private data and a debug name, which also work on a removed device."""

    IID = IID_ID3D12Object

    def __str__(self) -> str:
        """The interface name without its version, and the debug name."""
        kind = unversioned(type(self))
        return f"{kind} {self.name!r}" if self.name else kind


class ObjectsWatch(Protocol):
    """Who keeps account of a device's objects."""

    def created(self, item: ID3D12DeviceChild) -> None:
        """The device has created ``item``."""


class ParentDevice(ID3D12Object):
    """What a device's objects need of it; ``ID3D12Device`` itself knows all of them."""

    scheduler: Scheduler
    # The buffers that it has created.
    buffers: Buffers
    # What the debug layer adds.
    info_queue: IUnknown | None
    debug_device: ObjectsWatch | None
    sync_validator: Validator | None
    reorders: bool

    @property
    def removed(self) -> bool:
        return self.scheduler.removed

    @abstractmethod
    def check_alive(self) -> None:
        """Raises ``DXGI_ERROR_DEVICE_REMOVED`` on a removed device."""

    @abstractmethod
    def report(
        self,
        severity: D3D12_MESSAGE_SEVERITY,
        category: D3D12_MESSAGE_CATEGORY,
        id: int,
        text: str,
        hresult: int = E_INVALIDARG,
    ) -> None:
        """Report a debug layer message; does nothing without the layer. Raises ``DMLError`` with ``hresult`` if the
        info queue breaks on the severity."""

    @abstractmethod
    def failure(
        self, category: D3D12_MESSAGE_CATEGORY, id: int, text: str, hresult: int = E_INVALIDARG
    ) -> DMLError:
        """The exception for a call that fails for a reason that the debug layer has reported."""

    @abstractmethod
    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        """As ``report``, for a violation of a named rule."""

    @abstractmethod
    def report_deadlock(self, diagnostic: Diagnostic, is_over: Callable[[], bool]) -> DMLError | None:
        """Report a wait that never ends. Returns the exception that is to end it: in a Python program, unless a filter
        denies the message or, then, the wait ``is_over``."""

    @abstractmethod
    def fail_call(self, call: str, text: str) -> bool:
        """Remove the device because ``call`` did nothing, for C callers, which no exception reaches. Failed queries do
        not remove it. Returns whether the debug layer has reported it."""

    @abstractmethod
    def remove(self, reason: int, text: str, id: int | None = None) -> None:
        """Remove the device: drop all pending work and complete all fences. Only the first reason is kept. With ``id``,
        also report the reason as an error of that number."""

    def writer(self, call: str) -> str:
        """``call`` as the writer of a descriptor; empty without the debug layer."""
        return "" if self.sync_validator is None else called(call, caller())

    @abstractmethod
    def find_descriptors(self, ptr: int) -> tuple[Any, int] | None:
        """The descriptor heap and index that a CPU or GPU handle value refers to, or None."""


class ID3D12DeviceChild(ID3D12Object):
    IID = IID_ID3D12DeviceChild

    def __init__(self, device: ParentDevice) -> None:
        super().__init__()
        self.device = device
        if device.debug_device is not None:
            device.debug_device.created(self)

    def GetDevice(self) -> Any:
        """The ``ID3D12Device``; as with all methods that take a riid in C, of any type."""
        return self.device


class ID3D12Pageable(LivingObject, ID3D12DeviceChild):
    """Recorded commands refer to ``life`` instead of the object: they keep nothing alive, as on Windows."""

    IID = IID_ID3D12Pageable

    def __init__(self, device: ParentDevice, life: Lifetime | None = None) -> None:
        super().__init__(device)
        self.life = Lifetime(unversioned(type(self))) if life is None else life


def short(member: Enum) -> str:
    """The name of an enum member without its type prefix: ``DIRECT`` for D3D12_COMMAND_LIST_TYPE_DIRECT."""
    return member.name.removeprefix(f"{type(member).__name__}_")


def unversioned(kind: type) -> str:
    """The interface name without its version: ``ID3D12Fence`` for ``ID3D12Fence1``."""
    return kind.__name__.rstrip("0123456789")
