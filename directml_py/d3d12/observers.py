"""Observer hooks for events on devices.

Without observers, their only cost is to check that ``watchers.all`` is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .command_list import ID3D12GraphicsCommandList
    from .command_queue import ID3D12CommandQueue
    from .execution import Execution
    from .fence import ID3D12Fence
    from .info_queue import Message
    from .markers import Marker
    from .recorded_commands import Command

T = TypeVar("T")


class Observer:
    """Base class of observers, with a method for each event to override.

    Methods are called in the thread where the event happens. They must not raise or modify their arguments.
    """

    def created(self, item: object) -> None:
        """An object of Direct3D 12, or of an API built on it, was created."""

    def closed(self, commands: ID3D12GraphicsCommandList) -> None:
        """A list was closed without errors."""

    def submitted(
        self, queue: ID3D12CommandQueue, execution: Execution, lists: Sequence[ID3D12GraphicsCommandList]
    ) -> None:
        """ExecuteCommandLists was called; the lists may run much later."""

    def started(self, execution: Execution) -> None:
        """The commands of ``execution`` run in this thread from here to ``finished``."""

    def finished(self, execution: Execution) -> None:
        """The execution has completed or failed."""

    def before(self, command: Command) -> None:
        """A command is about to run; under the debug layer, about to be validated."""

    def after(self, command: Command) -> None:
        """The command has run."""

    def marked(self, queue: ID3D12CommandQueue, marker: Marker) -> None:
        """A marker was set on a queue; markers of lists are commands."""

    def signaled(self, queue: ID3D12CommandQueue | None, fence: ID3D12Fence, value: int) -> None:
        """Signal was called on a queue, or on the fence itself by the CPU (``queue`` None)."""

    def waited(self, queue: ID3D12CommandQueue | None, fence: ID3D12Fence, value: int) -> None:
        """Wait was called on a queue, or SetEventOnCompletion by the CPU (``queue`` None)."""

    def reported(self, message: Message) -> None:
        """The debug layer of Direct3D 12, or of an API built on it, has reported a message."""

    def removed(self, text: str) -> None:
        """A device was removed; ``text`` is the reason."""


class Watchers:
    """The observers of all devices of this process."""

    __slots__ = ("all",)

    def __init__(self) -> None:
        self.all: tuple[Observer, ...] = ()

    def add(self, observer: Observer) -> None:
        self.all = (*self.all, observer)

    def remove(self, observer: Observer) -> None:
        self.all = tuple(each for each in self.all if each is not observer)


watchers = Watchers()


def created(item: T) -> T:
    """Notify observers that ``item`` was created, and return it."""
    for observer in watchers.all:
        observer.created(item)
    return item
