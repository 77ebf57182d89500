"""The protocols by which other libraries view memory without a copy: DLPack, NumPy's array interface, buffers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


class MemoryProtocols(ABC):
    """An object whose bytes ``numpy.asarray``, ``torch.from_dlpack`` and, from Python 3.12 on, ``memoryview`` view.

    The view is one-dimensional, of type uint8, and follows the debug layer and the heap: a read before the write is
    reported, and memory without CPU access is read-only, which DLPack cannot express before NumPy 2.1.
    """

    @abstractmethod
    def array(self, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[np.generic]:
        """The bytes as elements of ``dtype``."""

    def _bytes(self) -> npt.NDArray[np.uint8]:
        return self.array().view(np.uint8)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._bytes().__array_interface__

    def __dlpack__(self, **options: Any) -> Any:
        """The capsule; raises ``BufferError`` for ``options`` that would require a copy."""
        return self._bytes().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._bytes().__dlpack_device__()

    def __buffer__(self, flags: int) -> memoryview:
        return self._bytes().data
