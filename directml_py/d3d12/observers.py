"""What happens on devices, told to whoever asked.

Where nobody asked, looking at the empty ``watchers.all`` is all that it costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .command_list import ID3D12GraphicsCommandList
    from .command_queue import Execution, ID3D12CommandQueue
    from .fence import ID3D12Fence
    from .info_queue import Message
    from .markers import Marker
    from .recorded_commands import Command

T = TypeVar("T")


class Observer:
    """Overrides what it wants to know.

    Its methods are called in the thread where the thing happens. They must not raise, and only look at what they get.
    """

    def created(self, item: object) -> None:
        """An object of Direct3D 12, or of what is built on it, was made."""

    def closed(self, commands: ID3D12GraphicsCommandList) -> None:
        """A list was closed without errors."""

    def submitted(
        self, queue: ID3D12CommandQueue, execution: Execution, lists: Sequence[ID3D12GraphicsCommandList]
    ) -> None:
        """ExecuteCommandLists was called; the lists may run long after."""

    def started(self, execution: Execution) -> None:
        """In this thread, up to ``finished``, the commands of ``execution`` run."""

    def finished(self, execution: Execution) -> None:
        """It has run, or failed."""

    def before(self, command: Command) -> None:
        """A command is about to run; under the debug layer, about to be checked."""

    def after(self, command: Command) -> None:
        """It has run."""

    def marked(self, queue: ID3D12CommandQueue, marker: Marker) -> None:
        """A marker was set on a queue; those of lists are commands."""

    def signaled(self, queue: ID3D12CommandQueue | None, fence: ID3D12Fence, value: int) -> None:
        """Signal was called, of a queue, or of the fence itself by the CPU."""

    def waited(self, queue: ID3D12CommandQueue | None, fence: ID3D12Fence, value: int) -> None:
        """Wait was called of a queue, or SetEventOnCompletion by the CPU."""

    def reported(self, message: Message) -> None:
        """A debug layer, of Direct3D 12 or of what is built on it, has said something."""

    def removed(self, text: str) -> None:
        """A device was removed, and why."""


class Watchers:
    """The observers of all devices of this process."""

    __slots__ = ("all",)

    def __init__(self) -> None:
        self.all: tuple[Observer, ...] = ()

    def add(self, observer: Observer) -> None:
        self.all = (*self.all, observer)

    def remove(self, observer: Observer) -> None:
        self.all = tuple(one for one in self.all if one is not observer)


watchers = Watchers()


def created(item: T) -> T:
    """``item``, after telling that it was made."""
    for one in watchers.all:
        one.created(item)
    return item


@contextmanager
def running(execution: Execution) -> Iterator[None]:
    """Around the commands of ``execution``."""
    observers = watchers.all
    for one in observers:
        one.started(execution)
    try:
        yield
    finally:
        for one in observers:
            one.finished(execution)
