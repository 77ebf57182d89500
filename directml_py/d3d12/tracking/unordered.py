"""Dispatches that a GPU may run at once: those with no barrier between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .access import Access

if TYPE_CHECKING:
    from ..resource import Buffer


class UnorderedAccesses:
    """What the dispatches since the last barrier touched, at byte-range precision.

    Command lists that one ExecuteCommandLists executes may overlap on a GPU, those of different calls do not
    (nf-d3d12-id3d12commandqueue-executecommandlists).
    """

    def __init__(self) -> None:
        self._pending: list[tuple[str, Access]] = []

    def barrier(self, buffer: Buffer | None) -> None:
        """A UAV barrier or a transition of ``buffer``; None is a UAV barrier for everything."""
        if buffer is None:
            self._pending.clear()
        else:
            self._pending = [entry for entry in self._pending if entry[1].range.buffer is not buffer]

    def aliasing_barrier(self, before: Buffer | None, after: Buffer | None) -> None:
        """What used the memory of ``after`` through ``before`` (None: any resource) has ended."""
        if before is not None or after is None:
            self.barrier(before)
        else:
            whole = after.whole
            self._pending = [entry for entry in self._pending if not entry[1].range.overlaps(whole)]

    def dispatch(self, title: str, accesses: Sequence[Access]) -> list[str]:
        """Add a dispatch; a sentence for each earlier one that it may not run beside."""
        sentences = []
        for access in accesses:
            for earlier_title, earlier in self._pending:
                if access.conflicts(earlier):
                    same = earlier.range.buffer is access.range.buffer
                    sentences.append(
                        f"{title} {access.use.value} {access}, which {earlier_title} {earlier.use.value} as "
                        f"{earlier.name if same else earlier}; there is no UAV barrier or transition between them"
                    )
                    break
        self._pending += [(title, access) for access in accesses]
        return sentences
