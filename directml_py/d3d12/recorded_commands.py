"""Recorded commands: small immutable objects that can list their memory accesses."""

from __future__ import annotations

from collections.abc import Iterable

from ..abi.lifetime import Lifetime
from ..api.d3d12_enums import D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_SOURCE
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind, Command

COPY_DEST = D3D12_RESOURCE_STATE_COPY_DEST
COPY_SOURCE = D3D12_RESOURCE_STATE_COPY_SOURCE


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


class DescriptorHeaps(Command):
    """SetDescriptorHeaps: the heaps that the following commands may take descriptors from."""

    title = "SetDescriptorHeaps"
    keeps_order = takes_step = False

    def __init__(self, heaps: tuple[Lifetime, ...]) -> None:
        self.heaps = heaps

    def lives(self) -> Iterable[Lifetime]:
        return self.heaps
