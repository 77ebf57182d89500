"""Environment variables that name files, which privileged programs must ignore."""

from __future__ import annotations

import ctypes
import os

# The entry of the auxiliary vector by which Linux marks such programs: setuid, setgid, or with capabilities.
AT_SECURE = 23


def is_privileged() -> bool:
    """Whether the process has more rights than the user who started it, as secure_getenv of glibc finds out."""
    try:
        return bool(ctypes.CDLL(None).getauxval(ctypes.c_ulong(AT_SECURE)))
    except (AttributeError, OSError, TypeError):
        ids = getattr(os, "getuid", None), getattr(os, "geteuid", None)
        return None not in ids and ids[0]() != ids[1]()  # type: ignore[misc]


def path_variable(name: str) -> str:
    """The value of an environment variable that names a file or folder; empty if it is not set, or must be ignored."""
    value = os.environ.get(name, "")
    return "" if value and is_privileged() else value
