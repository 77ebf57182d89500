"""``ID3D12QueryHeap`` for timestamps, and the commands EndQuery and ResolveQueryData."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from ..abi.arguments import enumerator, invalid
from ..abi.hresult import E_NOTIMPL, DMLError
from ..abi.lifetime import Lifetime
from ..abi.rules import Rule
from ..api.d3d12_enums import (
    D3D12_QUERY_HEAP_TYPE,
    D3D12_QUERY_HEAP_TYPE_COPY_QUEUE_TIMESTAMP,
    D3D12_QUERY_HEAP_TYPE_TIMESTAMP,
    D3D12_RESOURCE_STATE_COPY_DEST,
)
from ..api.d3d12_structs import D3D12_QUERY_HEAP_DESC
from ..api.iids import IID_ID3D12QueryHeap
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind, Command
from ..sync_validation.sync_rules import QUERY_ENDED
from ..text.plural import counted_words
from .buffer_rules import check_node_mask
from .device_child import ID3D12Pageable, ParentDevice

TIMESTAMP_HEAPS: Final = (D3D12_QUERY_HEAP_TYPE_TIMESTAMP, D3D12_QUERY_HEAP_TYPE_COPY_QUEUE_TIMESTAMP)
RESULT_SIZE: Final = 8
# Rejects absurd counts before memory is allocated for them.
MAX_QUERIES: Final = 1 << 24
# Of the clock that timestamp queries read.
TICKS_PER_SECOND: Final = 1_000_000_000


def ticks() -> int:
    """Nanoseconds of CLOCK_MONOTONIC, which QueryPerformanceCounter in our Windows headers reads too."""
    return time.monotonic_ns()


def check_query_heap_desc(desc: D3D12_QUERY_HEAP_DESC, name: str) -> None:
    """Raises ``E_NOTIMPL`` for all query types except timestamps."""
    kind = enumerator(desc.Type, D3D12_QUERY_HEAP_TYPE, f"{name}.Type")
    if kind not in TIMESTAMP_HEAPS:
        raise DMLError(E_NOTIMPL, f"{name}.Type: {kind.name} is not emulated")
    check_node_mask(desc.NodeMask, f"{name}.NodeMask")
    if not 0 < desc.Count <= MAX_QUERIES:
        raise invalid(f"{name}.Count must be from 1 to {MAX_QUERIES}, not {desc.Count}")


class Queries(Lifetime):
    """The results of a query heap, which recorded commands still refer to after the heap is released."""

    __slots__ = ("ended", "results")

    def __init__(self, count: int) -> None:
        super().__init__("ID3D12QueryHeap")
        self.results = np.zeros(count, np.uint64)
        self.ended = np.zeros(count, np.bool_)


class ID3D12QueryHeap(ID3D12Pageable):
    """Timestamp queries, in ticks of ``ID3D12CommandQueue::GetTimestampFrequency``."""

    IID = IID_ID3D12QueryHeap

    def __init__(self, device: ParentDevice, desc: D3D12_QUERY_HEAP_DESC) -> None:
        self.queries = Queries(desc.Count)
        super().__init__(device, self.queries)
        self.type = D3D12_QUERY_HEAP_TYPE(desc.Type)
        self.count: int = desc.Count

    def _about(self) -> str:
        return counted_words(self.count, "timestamp")


class EndQuery(Command):
    """Takes a timestamp when it runs."""

    title = "EndQuery"

    def __init__(self, queries: Queries, index: int) -> None:
        self.queries = queries
        self.index = index

    def execute(self) -> None:
        self.queries.results[self.index] = ticks()
        self.queries.ended[self.index] = True

    def lives(self) -> Iterable[Lifetime]:
        return (self.queries,)


class ResolveQueries(Command):
    """ResolveQueryData: writes results, beginning at query ``start``, to a buffer."""

    title = "ResolveQueryData"

    def __init__(self, queries: Queries, start: int, destination: BufferRange) -> None:
        self.queries = queries
        self.start = start
        self._part = slice(start, start + destination.size // RESULT_SIZE)
        self.destination = destination

    def execute(self) -> None:
        self.destination.bytes[:] = self.queries.results[self._part].view(np.uint8)

    def accesses(self) -> Iterable[Access]:
        return (
            Access(self.destination, AccessKind.WRITE, D3D12_RESOURCE_STATE_COPY_DEST, "destinationBuffer"),
        )

    def lives(self) -> Iterable[Lifetime]:
        return (self.queries, self.destination.buffer)

    def first_not_ended(self) -> int | None:
        """The first of its queries that has not ended; None if all have."""
        ended = self.queries.ended[self._part]
        return None if ended.all() else self.start + int(ended.argmin())


def check_queries(command: ResolveQueries) -> Iterator[tuple[Rule, str]]:
    """What is wrong with a command that is about to run."""
    query = command.first_not_ended()
    if query is not None:
        yield QUERY_ENDED, f"{command.title}: query {query} was never ended"


def query_range_problem(heap: ID3D12QueryHeap, start: int, count: int) -> str | None:
    if start + count <= heap.count:
        return None
    return f"needs queries {start} to {start + count}, but {heap} has {heap.count}"
