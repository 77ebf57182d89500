"""What an operator keeps of the memory that was bound for it.

Clients that dispatch one operator at a time create or reset a table for each dispatch, and bind what their allocator
returns. In a network's next inferences that is the same memory again, or one of a few assignments that take turns: an
allocator that hands out what was freed last gives the memory of two buffers in turn to a value that is in one of them
when the next inference begins. Then its checks, its views and the kernel that is bound to it are those of an earlier
time. All of that refers to memory that the operator does not own, and is dropped as soon as one of the resources is
released.

For other memory, the kernel is moved there as soon as it has been bound twice (``kernels.relocation``), unless ranges
share memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from ..kernels.relocation import MemoryRanges, Relocation, Snapshot, relocation, snapshot
from ..runtime.buffer import Buffer, BufferRange
from .binding_point import BindingPoint, DescriptorRange, Views, do_overlap
from .bindings import Names

Run: TypeAlias = Callable[[], None]
BoundViews: TypeAlias = Mapping[BindingPoint, BufferRange]
# CPU and GPU handle, and the number of descriptors.
Handles: TypeAlias = tuple[int, int, int]
Ranges: TypeAlias = tuple[DescriptorRange, DescriptorRange]
Key = TypeVar("Key")
Value = TypeVar("Value")

# ONNX Runtime's allocator lets a value of a text detector alternate between up to twelve places, and between more than
# four in one of a hundred operators.
KEPT = 8


class KeptBindings:
    """For a dispatchable whose needs do not change. Threads share it, and each step is one of a dictionary's."""

    __slots__ = (
        "__weakref__",
        "_buffers",
        "_dispatches",
        "_is_fixed",
        "_ranges",
        "_relocation",
        "_runs",
        "_sample",
        "_views",
    )

    def __init__(self) -> None:
        # Those that tell when they are released.
        self._buffers: set[Buffer] = set()
        # A run to compare with the next, what followed from two, and whether they cannot be moved.
        self._sample: Snapshot | None = None
        self._relocation: Relocation | None = None
        self._is_fixed = False
        self._views: dict[tuple[str, Names], BoundViews] = {}
        self._runs: dict[tuple[BufferRange | None, ...], Run] = {}
        # By the identities of bound views, which are kept with it.
        self._dispatches: dict[tuple[int, ...], tuple[Sequence[BoundViews], Views, Run]] = {}
        self._ranges: dict[Handles, Ranges] = {}

    def ranges(self, handles: Handles) -> Ranges | None:
        """The descriptors once found for the handles of a table. Handles mean the same as long as the heaps live."""
        ranges = self._ranges.get(handles)
        if ranges is None or ranges[0].heap is None or ranges[1].heap is None:
            return None
        return ranges

    def keep_ranges(self, handles: Handles, ranges: Ranges) -> None:
        """Keep ``ranges``, about which there was nothing to report."""
        _keep(self._ranges, handles, ranges, KEPT)

    def dispatch(self, bound: Sequence[BoundViews]) -> tuple[Views, Run] | None:
        """The dispatch that was prepared for ``bound``, which ``views`` has returned, in this order."""
        found = self._dispatches.get(tuple(map(id, bound)))
        return None if found is None else found[1:]

    def keep_dispatch(self, bound: Sequence[BoundViews], views: Views, run: Run) -> None:
        """Keep ``run``, which is kept for ``views`` too."""
        _keep(self._dispatches, tuple(map(id, bound)), (bound, views, run), KEPT)
        self._depend_on(views)

    def views(self, kind: str, names: Names) -> BoundViews | None:
        """The ranges once bound to the tensors of a kind by ``names``. A handle means the same resource as long as
        that is not released."""
        return self._views.get((kind, names))

    def keep_views(self, kind: str, names: Names, views: BoundViews) -> None:
        """Keep ``views``, about which there was nothing to report."""
        _keep(self._views, (kind, names), views, 4 * KEPT)
        self._depend_on(views)

    def run(self, views: Views) -> Run | None:
        """The dispatch that was prepared for ``views``, the ranges of all needs in their order."""
        return self._runs.get(tuple(views.values()))

    def keep_run(self, views: Views, run: Run) -> None:
        """Keep ``run``, which has no memory of its own, and about which there was nothing to report."""
        _keep(self._runs, tuple(views.values()), run, KEPT)
        if not self._is_fixed:
            self._compare(run, [view for view in views.values() if view is not None])
        self._depend_on(views)

    def moved(self, views: Views) -> Run | None:
        """An earlier dispatch moved to ``views``; None if it must be prepared for them."""
        relocation = self._relocation
        if relocation is None:
            return None
        bound = [view for view in views.values() if view is not None]
        ranges = _ranges(bound)
        if len(bound) < len(views) or not relocation.reaches(ranges) or do_overlap(zip(*ranges)):
            return None
        run = relocation.at(ranges, [view.buffer.memory for view in bound])
        _keep(self._runs, tuple(views.values()), run, KEPT)
        self._depend_on(views)
        return run

    def _compare(self, run: Run, views: Sequence[BufferRange]) -> None:
        """Learn how a run is moved, from the one before and this one."""
        ranges = _ranges(views)
        if do_overlap(zip(*ranges)):
            return
        sample, self._sample = self._sample, snapshot(run, ranges)
        if self._sample is None:
            self._is_fixed = True
        elif sample is not None and sample.tells(self._sample):
            self._relocation = relocation(sample, self._sample)
            self._is_fixed = self._relocation is None

    def _depend_on(self, views: Views) -> None:
        # Afterwards, as a resource may be released by another thread in between.
        for view in views.values():
            if view is not None and view.buffer not in self._buffers:
                self._buffers.add(view.buffer)
                view.buffer.add_dependent(self)

    def let_go_of_memory(self) -> None:
        # What is kept meanwhile depends on its buffers again, and goes if one of them is released.
        self._buffers.clear()
        self._views.clear()
        self._runs.clear()
        self._dispatches.clear()


def _ranges(views: Sequence[BufferRange]) -> MemoryRanges:
    return MemoryRanges([view.address for view in views], [view.size for view in views])


def _keep(entries: dict[Key, Value], key: Key, value: Value, limit: int) -> None:
    # Where memory never recurs, all entries are as useless as the oldest one.
    if len(entries) >= limit:
        entries.clear()
    entries[key] = value
