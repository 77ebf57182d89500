"""The clock that timestamp queries read."""

from __future__ import annotations

import time
from typing import Final

TICKS_PER_SECOND: Final = 1_000_000_000


def ticks() -> int:
    """Nanoseconds of CLOCK_MONOTONIC, which QueryPerformanceCounter in our Windows headers reads too."""
    return time.monotonic_ns()
