"""How much memory the machine has."""

from __future__ import annotations

import os
from functools import cache


@cache
def physical_memory() -> int | None:
    """Bytes of RAM; None where the system does not report it."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
