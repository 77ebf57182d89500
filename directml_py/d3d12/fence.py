"""``ID3D12Fence``: a value that queues and the CPU signal and wait for."""

from __future__ import annotations

from collections.abc import Callable

from ..abi.arguments import unsigned
from ..api.d3d12_enums import D3D12_FENCE_FLAGS
from ..api.iids import IID_ID3D12Fence, IID_ID3D12Fence1
from ..runtime.observers import watchers
from ..runtime.scheduler import Event
from .device_child import ID3D12Pageable, ParentDevice


class ID3D12Fence(ID3D12Pageable):
    """A 64-bit value that queues and the CPU signal and wait for.

    On a removed device the value is UINT64_MAX, so that no wait blocks forever.
    """

    IID = IID_ID3D12Fence

    def __init__(self, device: ParentDevice, initial_value: int) -> None:
        self.state = device.scheduler.fence("ID3D12Fence", initial_value)
        super().__init__(device, self.state)

    def _about(self) -> str:
        return f"value {self.value}"

    @property
    def value(self) -> int:
        """What GetCompletedValue returns, without anybody looking."""
        return self.state.value

    def publish(self, publish: Callable[[int], object]) -> None:
        """Have ``publish`` called with what GetCompletedValue returns whenever it changes; never under the debug layer,
        where each call may let work run."""
        if self.device.sync_validator is None:
            self.state.publish(publish)

    def GetCompletedValue(self) -> int:
        if self.device.sync_validator is None:
            return self.state.value
        self.device.scheduler.observe(self.state)
        value = self.value
        self.state.looked_at(value)
        return value

    def SetEventOnCompletion(self, value: int, event: Event | None = None) -> None:
        """Set ``event`` once the fence has reached ``value``; without an event, block until then.

        On a removed device every value has been reached.
        """
        target = unsigned(value, "value")
        if event is not None and not callable(getattr(event, "set", None)):
            raise TypeError(f"event must have a set() method; {type(event).__name__} has none")
        for observer in watchers.all:
            observer.waited(None, self, target)
        if event is not None:
            self.state.when_reached(target, event)
        elif self.state.value >= target:
            self.state.looked_at(target)
        else:
            self.state.block(target)

    def Signal(self, value: int) -> None:
        """Set the value from the CPU, even to a lower one, and run the work that waited for it."""
        self.device.check_alive()
        target = unsigned(value, "value")
        for observer in watchers.all:
            observer.signaled(None, self, target)
        self.device.scheduler.set(self.state, target)


class ID3D12Fence1(ID3D12Fence):
    IID = IID_ID3D12Fence1

    def __init__(self, device: ParentDevice, initial_value: int, creation_flags: D3D12_FENCE_FLAGS) -> None:
        super().__init__(device, initial_value)
        self._creation_flags = creation_flags

    def GetCreationFlags(self) -> D3D12_FENCE_FLAGS:
        return self._creation_flags
