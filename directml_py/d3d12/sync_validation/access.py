"""What a command does with memory."""

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
    """One range that a command touches.

    ``name`` is what the program calls it (``srcBuffer``, ``InputTensors[0]``), ``state`` what it must be in.
    ``elements`` makes the elements within the range out of its bytes, as a strided view, where not every byte
    belongs to one; an access without it is of all bytes.
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
        """Whether the order of the two matters: they share bytes and one of them writes."""
        return (self.writes or other.writes) and self.range.overlaps(other.range)

    def __str__(self) -> str:
        start = self.range.offset
        return f"{self.name} (bytes {start} to {start + self.range.size} of {self.range.buffer})"
