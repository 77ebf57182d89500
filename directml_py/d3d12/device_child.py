"""Base classes of the Direct3D 12 interfaces: private data, names and the parent device."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..abi.lifetime import Lifetime, LivingObject
from ..abi.private_data import PrivateDataObject
from ..api.iids import IID_ID3D12DeviceChild, IID_ID3D12Object, IID_ID3D12Pageable

if TYPE_CHECKING:
    from .device import ID3D12Device


class ID3D12Object(PrivateDataObject):
    """Private data and a debug name, which also work on a removed device."""

    IID = IID_ID3D12Object

    def __str__(self) -> str:
        """The interface name without its version, and the debug name."""
        kind = unversioned(type(self))
        return f"{kind} {self.name!r}" if self.name else kind


class ID3D12DeviceChild(ID3D12Object):
    IID = IID_ID3D12DeviceChild

    def __init__(self, device: ID3D12Device) -> None:
        super().__init__()
        self.device = device
        if device.children is not None:
            device.children.add(self)

    def GetDevice(self) -> ID3D12Device:
        return self.device


class ID3D12Pageable(LivingObject, ID3D12DeviceChild):
    """Recorded commands refer to ``life`` instead of the object: they keep nothing alive, as on Windows."""

    IID = IID_ID3D12Pageable

    def __init__(self, device: ID3D12Device, life: Lifetime | None = None) -> None:
        super().__init__(device)
        self.life = Lifetime(unversioned(type(self))) if life is None else life


def short(member: Enum) -> str:
    """The name of an enum member without its type prefix: ``DIRECT`` for D3D12_COMMAND_LIST_TYPE_DIRECT."""
    return member.name.removeprefix(f"{type(member).__name__}_")


def unversioned(kind: type) -> str:
    """The interface name without its version: ``ID3D12Fence`` for ``ID3D12Fence1``."""
    return kind.__name__.rstrip("0123456789")
