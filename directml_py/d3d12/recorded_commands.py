"""Recorded commands: small immutable objects that can list their memory accesses."""

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
    """Base class of recorded commands; DirectML's recorder adds its own.

    Everything except ``execute`` and ``call`` is used by the debug layer only.
    """

    title: str = ""
    is_dispatch: ClassVar[bool] = False
    # Whether a keyboard interrupt should not wait for its end.
    is_long: bool = False
    # ``file:line`` of the call that recorded it; empty without the debug layer.
    recorded: str = ""

    @property
    def muted(self) -> bool:
        """Whether messages about it are suppressed."""
        return False

    def execute(self) -> None:
        """Run the command."""

    def call(self) -> Callable[[], None] | None:
        """The function that executes it, chosen when its list is closed; None if there is nothing to do."""
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

    def origin(self) -> str:
        """The call sites in the program that it originates from, as far as they are known."""
        return f"recorded at {self.recorded}" if self.recorded else ""

    def problems(self) -> Iterable[tuple[Rule, str]]:
        """Other violations, found at execution time."""
        return ()

    def mark(self) -> None:
        """Update the shadow memory after ``execute``."""
        for access in self.accesses():
            shadow_memory.after(access)


class Copy(Command):
    """CopyBufferRegion or CopyResource: a copy between disjoint ranges of equal size."""

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
    """A ResourceBarrier call. Commands run one after another, so there is nothing to wait for."""

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
    """The commands in another order that their barriers allow: runs of dispatches with no barrier between them are
    reversed. SetDescriptorHeaps imposes no order."""
    barriers_and_work = (command for command in commands if not isinstance(command, DescriptorHeaps))
    for are_dispatches, group in groupby(barriers_and_work, lambda command: command.is_dispatch):
        run = list(group)
        yield from reversed(run) if are_dispatches else run


class DescriptorHeaps(Command):
    """SetDescriptorHeaps: the heaps that the following commands may take descriptors from."""

    title = "SetDescriptorHeaps"

    def __init__(self, heaps: tuple[Lifetime, ...]) -> None:
        self.heaps = heaps

    def call(self) -> None:
        return None

    def lives(self) -> Iterable[Lifetime]:
        return self.heaps
