"""Recorded commands: small immutable objects that can list their memory accesses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from ..abi.lifetime import Lifetime
from ..api.d3d12_enums import (
    D3D12_RESOURCE_BARRIER_FLAGS,
    D3D12_RESOURCE_STATE_COPY_DEST,
    D3D12_RESOURCE_STATE_COPY_SOURCE,
    D3D12_RESOURCE_STATES,
)
from ..runtime.buffer import Buffer, BufferRange
from ..runtime.recording import Access, AccessKind, Command
from .resource import ResourceBuffer

COPY_DEST = D3D12_RESOURCE_STATE_COPY_DEST
COPY_SOURCE = D3D12_RESOURCE_STATE_COPY_SOURCE


class TransitionBarrier(NamedTuple):
    buffer: ResourceBuffer
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

    def copied(self) -> tuple[BufferRange, BufferRange]:
        return self.destination, self.source

    def lives(self) -> Iterable[Lifetime]:
        return (self.source.buffer, self.destination.buffer)


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


class DescriptorHeaps(Command):
    """SetDescriptorHeaps: the heaps that the following commands may take descriptors from."""

    title = "SetDescriptorHeaps"
    keeps_order = False

    def __init__(self, heaps: tuple[Lifetime, ...]) -> None:
        self.heaps = heaps

    def call(self) -> None:
        return None

    def lives(self) -> Iterable[Lifetime]:
        return self.heaps
