"""What command lists record: small immutable objects that know what they touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ..api.d3d12_enums import D3D12_RESOURCE_BARRIER_FLAGS, D3D12_RESOURCE_STATES
from .descriptors import ID3D12DescriptorHeap
from .resource import BufferRange, ID3D12Resource


class Command(Protocol):
    """Anything that a command list can run; DirectML's recorder adds kinds of its own."""

    def execute(self) -> None: ...


@dataclass(frozen=True)
class Copy:
    """CopyBufferRegion or CopyResource: two disjoint ranges of one size."""

    destination: BufferRange
    source: BufferRange

    def execute(self) -> None:
        self.destination.bytes[:] = self.source.bytes


@dataclass(frozen=True)
class TransitionBarrier:
    resource: ID3D12Resource
    subresource: int
    before: D3D12_RESOURCE_STATES
    after: D3D12_RESOURCE_STATES
    flags: D3D12_RESOURCE_BARRIER_FLAGS


@dataclass(frozen=True)
class AliasingBarrier:
    """None stands for any resource."""

    before: ID3D12Resource | None
    after: ID3D12Resource | None


@dataclass(frozen=True)
class UAVBarrier:
    """None stands for any resource."""

    resource: ID3D12Resource | None


Barrier: TypeAlias = TransitionBarrier | AliasingBarrier | UAVBarrier


@dataclass(frozen=True)
class Barriers:
    """One ResourceBarrier call. Commands run one after the other, so there is nothing to wait for."""

    barriers: tuple[Barrier, ...]

    def execute(self) -> None:
        pass


@dataclass(frozen=True)
class DescriptorHeaps:
    """SetDescriptorHeaps: what commands from here on may take their descriptors from."""

    heaps: tuple[ID3D12DescriptorHeap, ...]

    def execute(self) -> None:
        pass
