"""What an operator keeps of the last memory that was bound for it.

Clients that dispatch one operator at a time create or reset a table for each dispatch, and bind what their allocator
returns, which in a network's next inference is often the same memory. Then its checks, its views and the kernel that
is bound to it are those of the last time. All of it refers to memory that the operator does not own, and is dropped as
soon as one of the resources is released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ..d3d12.resource import BufferRange
from .binding_point import BindingPoint, Views
from .bindings import Names

Run: TypeAlias = Callable[[], None]
BoundViews: TypeAlias = Mapping[BindingPoint, BufferRange]


class KeptBindings:
    """For a dispatchable whose needs do not change. Each attribute is replaced in one assignment, as threads share the
    dispatchable."""

    __slots__ = ("__weakref__", "_run", "_views")

    def __init__(self) -> None:
        self._views: dict[str, tuple[Names, BoundViews]] = {}
        self._run: tuple[Views, Run] | None = None

    def views(self, kind: str, names: Names) -> BoundViews | None:
        """The ranges last bound to the tensors of a kind, if ``names`` are those that they were bound by. A handle
        means the same resource as long as that is not released."""
        kept = self._views.get(kind)
        return None if kept is None or kept[0] != names else kept[1]

    def keep_views(self, kind: str, names: Names, views: BoundViews) -> None:
        """Keep ``views``, about which there was nothing to report."""
        self._views[kind] = names, views
        self._depend_on(views)

    def run(self, views: Views) -> Run | None:
        """The last dispatch that was prepared, if it was for ``views``."""
        kept = self._run
        return None if kept is None or kept[0] != views else kept[1]

    def keep_run(self, views: Views, run: Run) -> None:
        """Keep ``run``, which has no memory of its own, and about which there was nothing to report."""
        self._run = views, run
        self._depend_on(views)

    def _depend_on(self, views: Views) -> None:
        # Afterwards, as a resource may be released by another thread in between.
        for buffer in {view.buffer for view in views.values() if view is not None}:
            buffer.add_dependent(self)

    def let_go_of_memory(self) -> None:
        self._views = {}
        self._run = None
