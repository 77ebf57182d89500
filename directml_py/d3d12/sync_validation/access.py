"""Memory accesses of commands."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...api.d3d12_enums import D3D12_RESOURCE_STATES

if TYPE_CHECKING:
    from ..resource import BufferRange


class AccessKind(Enum):
    READ = "reads"
    WRITE = "writes"
    SCRATCH = "overwrites"


class Access(NamedTuple):
    """A range of bytes that a command accesses.

    ``name`` is its name in the API (``srcBuffer``, ``InputTensors[0]``), ``state`` the required resource state.
    ``elements`` maps the range's bytes to a strided view of the accessed elements if they do not cover all bytes;
    without it every byte is accessed.
    """

    range: BufferRange
    use: AccessKind
    state: D3D12_RESOURCE_STATES
    name: str
    elements: Callable[[npt.NDArray[np.uint8]], npt.NDArray[Any]] | None = None

    @property
    def writes(self) -> bool:
        return self.use is not AccessKind.READ

    def conflicts(self, other: Access) -> bool:
        """Whether the order of the two accesses matters: they share bytes and one of them writes."""
        return (self.writes or other.writes) and self.range.overlaps(other.range)

    def __str__(self) -> str:
        start = self.range.offset
        return f"{self.name} (bytes {start} to {start + self.range.size} of {self.range.buffer})"
