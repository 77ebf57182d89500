"""GPU timing of a session's command lists, by timestamp queries on the emulated GPU."""

from __future__ import annotations

import numpy as np

from ..api.d3d12_enums import (
    D3D12_HEAP_TYPE_READBACK,
    D3D12_QUERY_HEAP_TYPE_TIMESTAMP,
    D3D12_QUERY_TYPE_TIMESTAMP,
)
from ..api.d3d12_structs import D3D12_QUERY_HEAP_DESC
from ..d3d12.queries import RESULT_SIZE
from ..session import Session

TIMESTAMP = D3D12_QUERY_TYPE_TIMESTAMP
# Pairs per query heap: results are read when it is full, so that memory does not grow with the run.
PAIRS = 1024


class GpuClock:
    """Call ``mark`` before and after the measured work, and ``samples`` when it has run."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._heap = session.d3d12.CreateQueryHeap(
            D3D12_QUERY_HEAP_DESC(D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 2 * PAIRS)
        )
        self._read = session.buffer(2 * PAIRS * RESULT_SIZE, D3D12_HEAP_TYPE_READBACK)
        self._ended = 0
        self._samples: list[float] = []

    def mark(self) -> None:
        """Record a timestamp; every second one begins a pair, by when all earlier pairs must have run."""
        if self._ended == 2 * PAIRS:
            self._resolve()
        self._session.commands.EndQuery(self._heap, TIMESTAMP, self._ended)
        self._ended += 1

    def samples(self) -> list[float]:
        """The duration of each pair in milliseconds."""
        self._resolve()
        return self._samples

    def _resolve(self) -> None:
        count = self._ended
        if not count:
            return
        self._session.run(
            lambda commands: commands.ResolveQueryData(self._heap, TIMESTAMP, 0, count, self._read, 0)
        )
        ticks = self._read.Map()[: count * RESULT_SIZE].view(np.uint64).reshape(-1, 2)
        frequency = self._session.queue.GetTimestampFrequency()
        self._samples += [int(end - begin) * 1000 / frequency for begin, end in ticks]
        self._read.Unmap()
        self._ended = 0
