"""What an operator keeps of the memory that was bound for it.

Clients that dispatch one operator at a time create or reset a table for each dispatch, and bind what their allocator
returns. In a network's next inferences that is the same memory again, or one of a few assignments that take turns: an
allocator that hands out what was freed last gives the memory of two buffers in turn to a value that is in one of them
when the next inference begins. Then its checks, its views and the kernel that is bound to it are those of an earlier
time. All of it refers to memory that the operator does not own, and is dropped as soon as one of the resources is
released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from ..runtime.buffer import BufferRange
from .binding_point import BindingPoint, Views
from .bindings import Names

Run: TypeAlias = Callable[[], None]
BoundViews: TypeAlias = Mapping[BindingPoint, BufferRange]
Key = TypeVar("Key")
Value = TypeVar("Value")

# ONNX Runtime's allocator lets a value of a text detector alternate between up to twelve places, and between more than
# four in one of a hundred operators.
KEPT = 8


class KeptBindings:
    """For a dispatchable whose needs do not change. Threads share it, and each step is one of a dictionary's."""

    __slots__ = ("__weakref__", "_runs", "_views")

    def __init__(self) -> None:
        self._views: dict[tuple[str, Names], BoundViews] = {}
        self._runs: dict[tuple[BufferRange | None, ...], Run] = {}

    def views(self, kind: str, names: Names) -> BoundViews | None:
        """The ranges once bound to the tensors of a kind by ``names``. A handle means the same resource as long as
        that is not released."""
        return self._views.get((kind, names))

    def keep_views(self, kind: str, names: Names, views: BoundViews) -> None:
        """Keep ``views``, about which there was nothing to report."""
        _keep(self._views, (kind, names), views, 2 * KEPT)
        self._depend_on(views)

    def run(self, views: Views) -> Run | None:
        """The dispatch that was prepared for ``views``, the ranges of all needs in their order."""
        return self._runs.get(tuple(views.values()))

    def keep_run(self, views: Views, run: Run) -> None:
        """Keep ``run``, which has no memory of its own, and about which there was nothing to report."""
        _keep(self._runs, tuple(views.values()), run, KEPT)
        self._depend_on(views)

    def _depend_on(self, views: Views) -> None:
        # Afterwards, as a resource may be released by another thread in between.
        for buffer in {view.buffer for view in views.values() if view is not None}:
            buffer.add_dependent(self)

    def let_go_of_memory(self) -> None:
        self._views.clear()
        self._runs.clear()


def _keep(entries: dict[Key, Value], key: Key, value: Value, limit: int) -> None:
    # Where memory never recurs, all entries are as useless as the oldest one.
    if len(entries) >= limit:
        entries.clear()
    entries[key] = value
