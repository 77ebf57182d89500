"""``ID3D12Device::MakeResident`` and ``Evict``."""

from __future__ import annotations

from typing import Any

from ..abi.arguments import child, counted
from ..abi.rules import Severity, rule
from ..api.d3d12_enums import (
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_ID_EVICT_UNDERFLOW,
    D3D12_MESSAGE_SEVERITY_ERROR,
)
from .descriptors import ID3D12DescriptorHeap
from .device_base import DeviceBase
from .device_child import ID3D12Pageable
from .heap import ID3D12Heap
from .queries import ID3D12QueryHeap
from .resource import ID3D12Resource

OWNER = rule(
    "D3D12-Residency-owner",
    "MakeResident and Evict are called for heaps, descriptor heaps, query heaps and committed resources",
    "nf-d3d12-id3d12device-evict",
    Severity.WARNING,
    debug=True,
)


class Residency(DeviceBase):
    """Mixin of ``ID3D12Device``: residency."""

    def MakeResident(self, numObjects: Any, objects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. Evictions are counted: an object needs one call for each.

        Memory is never paged out; the debug layer reports the use of evicted objects.
        """
        for item in self._pageables("MakeResident", numObjects, objects):
            item.life.make_resident()

    def Evict(self, numObjects: Any, objects: Any = None) -> None:
        """The inverse of MakeResident. Objects are created with a residency count of 1, which never falls below 0."""
        for index, item in enumerate(self._pageables("Evict", numObjects, objects)):
            if not item.life.is_resident:
                self.report(
                    D3D12_MESSAGE_SEVERITY_ERROR,
                    D3D12_MESSAGE_CATEGORY_EXECUTION,
                    D3D12_MESSAGE_ID_EVICT_UNDERFLOW,
                    f"Evict: objects[{index}] is {item.life}, whose residency count is 0; it must be at least 1",
                )
            item.life.evict()

    def _pageables(self, call: str, count: Any, objects: Any) -> list[ID3D12Pageable]:
        self.check_alive()
        items = counted(count, objects, "numObjects", "objects")
        pageables = [
            child(item, ID3D12Pageable, f"objects[{index}]", self._device) for index, item in enumerate(items)
        ]
        for index, item in enumerate(pageables):
            problem = _not_an_owner(item)
            if problem:
                self.report_rule(OWNER, f"{call}: objects[{index}] is {item.life}, {problem}")
        return pageables


def _not_an_owner(item: ID3D12Pageable) -> str | None:
    """Why residency changes of an object have no effect; None for those that own memory."""
    if isinstance(item, ID3D12Resource):
        if item.buffer.heap is not None:
            return f"a placed resource; it must be {item.buffer.heap}, which owns the memory"
        return "a reserved resource, which has no memory" if item.placement.reserved else None
    if isinstance(item, (ID3D12DescriptorHeap, ID3D12Heap, ID3D12QueryHeap)):
        return None
    return "which is neither a heap, a descriptor heap, a query heap nor a committed resource"
