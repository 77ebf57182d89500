"""``ID3D12Device::MakeResident`` and ``Evict``."""

from __future__ import annotations

from typing import Any

from ..abi.arguments import child, counted
from .device_base import DeviceBase
from .device_child import ID3D12Pageable


class Residency(DeviceBase):
    """A part of ``ID3D12Device``."""

    def MakeResident(self, numObjects: Any, objects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. As often as they were evicted makes them resident.

        Memory stays where it is; the debug layer knows who uses what was evicted.
        """
        for item in self._pageables(numObjects, objects):
            item.life.make_resident()

    def Evict(self, numObjects: Any, objects: Any = None) -> None:
        """The opposite of MakeResident: objects are created resident, once."""
        for item in self._pageables(numObjects, objects):
            item.life.evict()

    def _pageables(self, count: Any, objects: Any) -> list[ID3D12Pageable]:
        self.check_alive()
        items = counted(count, objects, "numObjects", "objects")
        return [
            child(item, ID3D12Pageable, f"objects[{index}]", self._device) for index, item in enumerate(items)
        ]
