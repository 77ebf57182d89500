"""Released objects: what is known of COM objects whose last reference a program has released, for when it uses them
all the same."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from ..abi.interface import IUnknown
from ..api.d3d12_enums import (
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_ID_USE_OF_ZERO_REFCOUNT_OBJECT,
    D3D12_MESSAGE_SEVERITY_ERROR,
)
from ..d3d12 import ID3D12Device
from ..d3d12.debug_output import debug_output
from ..d3d12.device_child import unversioned
from ..d3d12.untracked import Tracking, untrack

# Return addresses that the C object keeps of its last Release.
FRAMES = 4


class Released(NamedTuple):
    """An object by its interface and name, and the device whose debug layer hears of it."""

    kind: type[IUnknown]
    name: str
    device: weakref.ref[ID3D12Device] | None

    @classmethod
    def of(cls, item: IUnknown) -> Released:
        device = _device_of(item)
        return cls(type(item), getattr(item, "name", ""), None if device is None else weakref.ref(device))

    @property
    def title(self) -> str:
        kind = unversioned(self.kind)
        return f"{kind} {self.name!r}" if self.name else kind


def _device_of(item: IUnknown) -> ID3D12Device | None:
    owner: Any = item.identity
    owner = getattr(owner, "device", owner)
    owner = getattr(owner, "d3d12_device", owner)
    return owner if isinstance(owner, ID3D12Device) else None


class Quarantine:
    """The objects that are gone, but whose C memory is not reused yet, by address. Called with the object table's lock
    held, but for ``report``."""

    def __init__(self, lib: Any, ffi: Any) -> None:
        self._lib = lib
        self._ffi = ffi
        self._gone: dict[int, Released] = {}

    def add(self, address: int, released: Released) -> None:
        self._gone.pop(int(self._lib.dmlpy_retire(address)), None)
        if not Tracking.commands:
            untrack(released)
        self._gone[address] = released

    def at(self, address: int) -> Released | None:
        return self._gone.get(address)

    def describe(self, address: int, released: Released) -> str:
        """The object and where it was released, the innermost caller first."""
        lib = self._lib
        frames = [lib.dmlpy_released_by(address, frame) for frame in range(FRAMES)]
        callers = [
            self._ffi.string(lib.dmlpy_describe(frame)).decode(errors="replace") for frame in frames if frame
        ]
        return f"{released.title}, whose last reference was released by {' < '.join(callers)}"

    def report(self, call: str, address: int, released: Released) -> None:
        """Report the use of an object that has no references to the debug layer of its device, or without one to the
        log. Raises ``DMLError`` if the info queue breaks on it."""
        text = f"{call}: this is {self.describe(address, released)}; a call needs a reference"
        device = None if released.device is None else released.device()
        if device is None or device.info_queue is None:
            debug_output(D3D12_MESSAGE_SEVERITY_ERROR, text)
            return
        device.report(
            D3D12_MESSAGE_SEVERITY_ERROR,
            D3D12_MESSAGE_CATEGORY_EXECUTION,
            D3D12_MESSAGE_ID_USE_OF_ZERO_REFCOUNT_OBJECT,
            text,
        )
