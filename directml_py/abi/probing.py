"""How the kernel copies memory at an address that nobody vouches for: what is not there is an error, not a signal.

``process_vm_readv`` and ``process_vm_writev`` on the own process do it in one call. Many containers forbid them; a pipe
cannot be forbidden: ``write`` and ``read`` with a wild pointer fail as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sys
import threading
from typing import Any, Protocol

# Of Linux: one call transfers no more.
MOST = (1 << 31) - (1 << 12)
# What any pipe has room for, so that nobody waits.
ROOM = 1 << 12


class Forbidden(Exception):
    """The kernel does not let this process copy in this way."""


class Way(Protocol):
    """``read`` copies up to ``size`` bytes at ``address`` to ``own``, ``write`` the other way round.

    Both return how many bytes were copied, 0 if the first of them has no memory, and raise ``Forbidden``.
    """

    title: str

    def read(self, own: int, address: int, size: int) -> int: ...

    def write(self, own: int, address: int, size: int) -> int: ...


class CrossMemory:
    """The two calls of Linux, on the own process."""

    title = "process_vm_readv"

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._calls = [getattr(library, f"process_vm_{what}v") for what in ("read", "write")]
        vector, count = ctypes.c_void_p, ctypes.c_ulong
        for call in self._calls:
            call.restype = ctypes.c_ssize_t
            call.argtypes = (ctypes.c_int, vector, count, vector, count, count)

    def read(self, own: int, address: int, size: int) -> int:
        return self._copy(self._calls[0], own, address, size)

    def write(self, own: int, address: int, size: int) -> int:
        return self._copy(self._calls[1], own, address, size)

    def _copy(self, call: Any, own: int, address: int, size: int) -> int:
        size = min(size, MOST)
        local, remote = (ctypes.c_uint64 * 2)(own, size), (ctypes.c_uint64 * 2)(address, size)
        copied: int = call(os.getpid(), ctypes.addressof(local), 1, ctypes.addressof(remote), 1, 0)
        return copied if copied > 0 else _fault()


class _Ends:
    """The two ends of a pipe; those that a child process inherited are not its own."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.out, self.into = os.pipe()

    def __del__(self) -> None:
        if self.process == os.getpid():
            os.close(self.out)
            os.close(self.into)


class Pipe:
    """A pipe of each thread's own, empty between two calls."""

    title = "a pipe"

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._put, self._take = library.write, library.read
        for call in (self._put, self._take):
            call.restype = ctypes.c_ssize_t
            call.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        self._local = threading.local()

    def _ends(self) -> _Ends:
        ends: _Ends | None = getattr(self._local, "ends", None)
        if ends is None or ends.process != os.getpid():
            ends = self._local.ends = _Ends()
        return ends

    def read(self, own: int, address: int, size: int) -> int:
        ends = self._ends()
        copied: int = self._put(ends.into, address, min(size, ROOM))
        if copied <= 0:
            return _fault()
        taken: int = self._take(ends.out, own, copied)
        return taken

    def write(self, own: int, address: int, size: int) -> int:
        ends = self._ends()
        given: int = self._put(ends.into, own, min(size, ROOM))
        copied: int = self._take(ends.out, address, given)
        if copied != given:
            # What is left inside must not reach the next reader.
            del self._local.ends
        return copied if copied > 0 else _fault()


def _fault() -> int:
    """0 if the last call failed for want of memory; raises ``Forbidden`` if for another reason."""
    if ctypes.get_errno() != errno.EFAULT:
        raise Forbidden(errno.errorcode.get(ctypes.get_errno(), "unknown"))
    return 0


def ways() -> list[Way]:
    """What this system may offer, the cheapest first."""
    found: list[Way] = []
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            found.append(CrossMemory())
    if os.name == "posix":
        found.append(Pipe())
    return found
