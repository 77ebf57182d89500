"""``ID3D12Device::MakeResident`` and ``Evict``."""

from __future__ import annotations

from typing import Any

from ..abi.arguments import child, counted
from .device_base import DeviceBase
from .device_child import ID3D12Pageable


class Residency(DeviceBase):
    """Mixin of ``ID3D12Device``: residency."""

    def MakeResident(self, numObjects: Any, objects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. Evictions are counted: an object needs one call for each.

        Memory is never paged out; the debug layer reports the use of evicted objects.
        """
        for item in self._pageables(numObjects, objects):
            item.life.make_resident()

    def Evict(self, numObjects: Any, objects: Any = None) -> None:
        """The inverse of MakeResident. Objects are created with a residency count of 1."""
        for item in self._pageables(numObjects, objects):
            item.life.evict()

    def _pageables(self, count: Any, objects: Any) -> list[ID3D12Pageable]:
        self.check_alive()
        items = counted(count, objects, "numObjects", "objects")
        return [
            child(item, ID3D12Pageable, f"objects[{index}]", self._device) for index, item in enumerate(items)
        ]
