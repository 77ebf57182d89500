"""Commands, the memory that they access, and barriers between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from ..abi.lifetime import Lifetime
from .buffer import Buffer, BufferRange

if TYPE_CHECKING:
    import numpy.typing as npt


class AccessKind(Enum):
    READ = "reads"
    WRITE = "writes"
    SCRATCH = "overwrites"


class Access(NamedTuple):
    """A range of bytes that a command accesses.

    ``name`` is its name in the API (``srcBuffer``, ``InputTensors[0]``), ``state`` the API's number of the state that
    barriers must have brought the buffer into. ``elements`` maps the range's bytes to a strided view of the accessed
    elements if they do not cover all bytes; without it every byte is accessed.
    """

    range: BufferRange
    use: AccessKind
    state: int
    name: str
    elements: Callable[[npt.NDArray[np.uint8]], npt.NDArray[Any]] | None = None

    @property
    def writes(self) -> bool:
        return self.use is not AccessKind.READ

    def conflicts(self, other: Access) -> bool:
        """Whether the order of the two accesses matters: they share bytes and one of them writes."""
        return (self.writes or other.writes) and self.range.overlaps(other.range)

    def __str__(self) -> str:
        start = self.range.offset
        return f"{self.name} (bytes {start} to {start + self.range.size} of {self.range.buffer})"


class Command:
    """Base class of recorded commands.

    Everything except ``execute``, ``step`` and ``takes_step`` is used by the debug layer only.
    """

    title: str = ""
    is_dispatch: ClassVar[bool] = False
    # Whether dispatches before and after it keep their order.
    keeps_order: ClassVar[bool] = True
    # Whether it is a step of a program: there is nothing to do for others.
    takes_step: ClassVar[bool] = True
    # Whether a keyboard interrupt should not wait for its end.
    is_long: bool = False

    @property
    def muted(self) -> bool:
        """Whether messages about it are suppressed."""
        return False

    def execute(self) -> None:
        """Run the command."""

    def step(self) -> Callable[[], None]:
        """The step of a program that executes it, chosen when its list is closed."""
        return self.execute

    def submitted(self) -> Command:
        """The command that runs in its place, created at submission: a snapshot of whatever may change until then."""
        return self

    def accesses(self) -> Iterable[Access]:
        """Its memory accesses."""
        return ()

    def lives(self) -> Iterable[Lifetime]:
        """The objects that must not be released before it has run."""
        return ()

    def copied(self) -> tuple[BufferRange, BufferRange] | None:
        """The destination and source of bytes that it copies as they are, defined or not; None without any."""
        return None

    @property
    def took_effect(self) -> bool:
        """Whether it has written what ``accesses`` says; asked after ``execute``."""
        return True


class TransitionBarrier(NamedTuple):
    """``before`` and ``after`` are the API's numbers of states, ``flags`` those of the halves of a split barrier."""

    buffer: Buffer
    subresource: int
    before: int
    after: int
    flags: int


class AliasingBarrier(NamedTuple):
    """None stands for any resource."""

    before: Buffer | None
    after: Buffer | None


class UAVBarrier(NamedTuple):
    """None stands for any resource."""

    buffer: Buffer | None


Barrier: TypeAlias = TransitionBarrier | AliasingBarrier | UAVBarrier


class Barriers(Command):
    """Barriers that are recorded together. Commands run one after another, so there is nothing to wait for."""

    title = "the barrier"
    takes_step = False

    def __init__(self, barriers: tuple[Barrier, ...]) -> None:
        self.barriers = barriers

    def lives(self) -> Iterable[Lifetime]:
        return tuple(
            buffer for barrier in self.barriers for buffer in _buffers(barrier) if buffer is not None
        )


def _buffers(barrier: Barrier) -> tuple[Buffer | None, ...]:
    return tuple(barrier) if isinstance(barrier, AliasingBarrier) else (barrier.buffer,)


def any_order(commands: Iterable[Command]) -> Iterator[Command]:
    """The commands in another order that their barriers allow: runs of dispatches with no barrier between them are
    reversed."""
    ordered = (command for command in commands if command.keeps_order)
    for are_dispatches, group in groupby(ordered, lambda command: command.is_dispatch):
        run = list(group)
        yield from reversed(run) if are_dispatches else run
