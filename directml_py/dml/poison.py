"""Poisons memory with undefined content, on devices whose profile says so, so that it never reads as zero."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..kernels.native_arrays import Run
from ..runtime.allocation import PATTERN
from ..runtime.buffer import BufferRange

Bytes = npt.NDArray[np.uint8]


def poisoned(run: Run, outputs: Iterable[BufferRange], inputs: Sequence[BufferRange], scratch: Bytes) -> Run:
    """``run`` with outputs poisoned before it, and temporary memory before and after it.

    An output that is written in place of an input is not poisoned.
    """
    fresh = [out.bytes for out in outputs if not any(out.overlaps(source) for source in inputs)]

    def call() -> None:
        for memory in fresh:
            memory[:] = PATTERN
        scratch[:] = PATTERN
        run()
        scratch[:] = PATTERN

    return call
