"""Dispatches that a GPU may run at once: those with no barrier between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .access import Access

if TYPE_CHECKING:
    from ..resource import Buffer


class UnorderedAccesses:
    """What the dispatches since the last barrier touched, at byte-range precision.

    Command lists executed by different calls are ordered: buffers decay between them.
    """

    def __init__(self) -> None:
        self._pending: list[tuple[str, Access]] = []

    def barrier(self, buffer: Buffer | None) -> None:
        """A UAV barrier or a transition of ``buffer``; None is a UAV barrier for everything."""
        if buffer is None:
            self._pending.clear()
        else:
            self._pending = [entry for entry in self._pending if entry[1].range.buffer is not buffer]

    def dispatch(self, title: str, accesses: Sequence[Access]) -> list[str]:
        """Add a dispatch; a sentence for each earlier one that it may not run beside."""
        found = []
        for access in accesses:
            for earlier_title, earlier in self._pending:
                if access.conflicts(earlier):
                    found.append(
                        f"{title} {access.use.value} {access}, which {earlier_title} {earlier.use.value} as "
                        f"{earlier.name}, with no UAV barrier or transition between them"
                    )
                    break
        self._pending += [(title, access) for access in accesses]
        return found
