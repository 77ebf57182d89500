"""What command lists record: small immutable objects that know what they touch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import ClassVar, NamedTuple, TypeAlias

from ..abi.lifetime import Lifetime
from ..abi.rules import Rule
from ..api.d3d12_enums import (
    D3D12_RESOURCE_BARRIER_FLAGS,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_COPY_SOURCE,
    D3D12_RESOURCE_STATES,
)
from .resource import Buffer, BufferRange
from .sync_validation import shadow_memory
from .sync_validation.access import Access, AccessKind

COPY_DEST = D3D12_RESOURCE_STATE_COPY_DEST
COPY_SOURCE = D3D12_RESOURCE_STATE_COPY_SOURCE


class TransitionBarrier(NamedTuple):
    buffer: Buffer
    subresource: int
    before: D3D12_RESOURCE_STATES
    after: D3D12_RESOURCE_STATES
    flags: D3D12_RESOURCE_BARRIER_FLAGS


class AliasingBarrier(NamedTuple):
    """None stands for any resource."""

    before: Buffer | None
    after: Buffer | None


class UAVBarrier(NamedTuple):
    """None stands for any resource."""

    buffer: Buffer | None


Barrier: TypeAlias = TransitionBarrier | AliasingBarrier | UAVBarrier


class Command:
    """Anything that a command list can run; DirectML's recorder adds kinds of its own.

    All but ``execute`` is asked by the debug layer alone.
    """

    title: str = ""
    is_dispatch: ClassVar[bool] = False
    # ``file:line`` of the call that recorded it; empty without the debug layer.
    recorded: str = ""

    @property
    def muted(self) -> bool:
        """Whether nothing is to be said about it."""
        return False

    def execute(self) -> None:
        """Do it."""

    def call(self) -> Callable[[], None] | None:
        """What executing it comes to, chosen when its list is closed; None if there is nothing to do."""
        return self.execute

    def submitted(self) -> Command:
        """What runs in its place, made at submission: what may change until then changes no more."""
        return self

    def accesses(self) -> Iterable[Access]:
        """The memory that it touches."""
        return ()

    def lives(self) -> Iterable[Lifetime]:
        """The objects that must not be released before it has run."""
        return ()

    def origin(self) -> str:
        """Which lines of the program it comes from, as far as they are known."""
        return f"recorded at {self.recorded}" if self.recorded else ""

    def problems(self) -> Iterable[tuple[Rule, str]]:
        """What else is wrong at the moment when it runs."""
        return ()

    def mark(self) -> None:
        """Update what is known of the contents of memory, after ``execute``."""
        for access in self.accesses():
            shadow_memory.after(access)


class Copy(Command):
    """CopyBufferRegion or CopyResource: two disjoint ranges of one size."""

    title = "the copy"

    def __init__(self, destination: BufferRange, source: BufferRange) -> None:
        self.destination = destination
        self.source = source

    def execute(self) -> None:
        self.destination.bytes[:] = self.source.bytes

    def accesses(self) -> Iterable[Access]:
        return (
            Access(self.source, AccessKind.READ, COPY_SOURCE, "the copy's source"),
            Access(self.destination, AccessKind.WRITE, COPY_DEST, "the copy's destination"),
        )

    def lives(self) -> Iterable[Lifetime]:
        return (self.source.buffer, self.destination.buffer)

    def mark(self) -> None:
        shadow_memory.copy_marks(self.destination, self.source)


class Barriers(Command):
    """One ResourceBarrier call. Commands run one after the other, so there is nothing to wait for."""

    title = "the barrier"

    def __init__(self, barriers: tuple[Barrier, ...]) -> None:
        self.barriers = barriers

    def call(self) -> None:
        return None

    def lives(self) -> Iterable[Lifetime]:
        return tuple(
            buffer for barrier in self.barriers for buffer in _buffers(barrier) if buffer is not None
        )


def _buffers(barrier: Barrier) -> tuple[Buffer | None, ...]:
    return tuple(barrier) if isinstance(barrier, AliasingBarrier) else (barrier.buffer,)


def any_order(commands: Iterable[Command]) -> Iterator[Command]:
    """The commands of a list in another order that the list allows: of dispatches with no barrier between them, the
    last one first. SetDescriptorHeaps orders nothing."""
    ordering = (command for command in commands if not isinstance(command, DescriptorHeaps))
    for are_dispatches, group in groupby(ordering, lambda command: command.is_dispatch):
        together = list(group)
        yield from reversed(together) if are_dispatches else together


class DescriptorHeaps(Command):
    """SetDescriptorHeaps: what commands from here on may take their descriptors from."""

    title = "SetDescriptorHeaps"

    def __init__(self, heaps: tuple[Lifetime, ...]) -> None:
        self.heaps = heaps

    def call(self) -> None:
        return None

    def lives(self) -> Iterable[Lifetime]:
        return self.heaps
