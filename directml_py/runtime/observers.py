"""Observer hooks for events on devices.

Without observers, their only cost is to check that ``watchers.all`` is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .recording import Command

# Names the profile of new devices.
PROFILE_VARIABLE = "DIRECTML_PY_PROFILE"
T = TypeVar("T")


class Observer:
    """Base class of observers, with a method for each event to override.

    Methods are called in the thread where the event happens. They must not raise or modify their arguments, which are
    objects of the API that the program uses.
    """

    def created(self, item: object) -> None:
        """An object was created."""

    def closed(self, commands: Any) -> None:
        """A list was closed without errors."""

    def submitted(self, queue: Any, execution: Any, lists: Sequence[Any]) -> None:
        """Lists were submitted together; they may run much later."""

    def started(self, execution: Any) -> None:
        """The commands of ``execution`` run in this thread from here to ``finished``."""

    def finished(self, execution: Any) -> None:
        """The execution has completed or failed."""

    def before(self, command: Command) -> None:
        """A command is about to run; under the debug layer, about to be validated."""

    def after(self, command: Command) -> None:
        """The command has run."""

    def marked(self, queue: Any, marker: Any) -> None:
        """A marker was set on a queue; markers of lists are commands."""

    def signaled(self, queue: Any, fence: Any, value: int) -> None:
        """A queue, or the CPU (``queue`` None), was told to signal."""

    def waited(self, queue: Any, fence: Any, value: int) -> None:
        """A queue, or the CPU (``queue`` None), was told to wait."""

    def reported(self, message: Any) -> None:
        """A debug layer has reported a message."""

    def removed(self, text: str) -> None:
        """A device was removed; ``text`` is the reason."""


class Watchers:
    """The observers of all devices of this process; ``debug_layer`` tells whether devices get debug layers of their own
    when they are created."""

    __slots__ = ("all", "debug_layer")

    def __init__(self) -> None:
        self.all: tuple[Observer, ...] = ()
        self.debug_layer = False

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
