"""Memory probing: kernel copies from and to untrusted addresses, where unmapped memory is an error and not a signal.

``process_vm_readv`` and ``process_vm_writev`` on this process do it in one call. Many containers forbid them, but none
forbids a pipe: ``write`` and ``read`` also fail cleanly for a bad pointer.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sys
import threading
from typing import Any, Protocol

# The most that Linux transfers in one call.
MOST = (1 << 31) - (1 << 12)
# Every pipe has this capacity, so that writes never block.
ROOM = 1 << 12


class Forbidden(Exception):
    """The kernel does not permit this copy method."""


class Way(Protocol):
    """A copy method: ``read`` copies up to ``size`` bytes from ``address`` to ``buffer``, ``write`` from ``buffer`` to
    ``address``.

    Both return the number of bytes copied, 0 if the first one is unmapped, and raise ``Forbidden``.
    """

    title: str

    def read(self, buffer: int, address: int, size: int) -> int: ...

    def write(self, buffer: int, address: int, size: int) -> int: ...


class CrossMemory:
    """Linux's process_vm_readv and process_vm_writev, applied to this process."""

    title = "process_vm_readv"

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._calls = [getattr(library, f"process_vm_{direction}v") for direction in ("read", "write")]
        vector, count = ctypes.c_void_p, ctypes.c_ulong
        for call in self._calls:
            call.restype = ctypes.c_ssize_t
            call.argtypes = (ctypes.c_int, vector, count, vector, count, count)

    def read(self, buffer: int, address: int, size: int) -> int:
        return self._copy(self._calls[0], buffer, address, size)

    def write(self, buffer: int, address: int, size: int) -> int:
        return self._copy(self._calls[1], buffer, address, size)

    def _copy(self, call: Any, buffer: int, address: int, size: int) -> int:
        size = min(size, MOST)
        local, remote = (ctypes.c_uint64 * 2)(buffer, size), (ctypes.c_uint64 * 2)(address, size)
        copied: int = call(os.getpid(), ctypes.addressof(local), 1, ctypes.addressof(remote), 1, 0)
        return copied if copied > 0 else _fault()


class _Ends:
    """The two ends of a pipe. A forked child does not close those that it inherited."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.out, self.into = os.pipe()

    def __del__(self) -> None:
        if self.process == os.getpid():
            os.close(self.out)
            os.close(self.into)


class Pipe:
    """A pipe per thread, empty between calls."""

    title = "a pipe"

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._write, self._read = library.write, library.read
        for call in (self._write, self._read):
            call.restype = ctypes.c_ssize_t
            call.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
        self._local = threading.local()

    def _ends(self) -> _Ends:
        ends: _Ends | None = getattr(self._local, "ends", None)
        if ends is None or ends.process != os.getpid():
            ends = self._local.ends = _Ends()
        return ends

    def read(self, buffer: int, address: int, size: int) -> int:
        ends = self._ends()
        copied: int = self._write(ends.into, address, min(size, ROOM))
        if copied <= 0:
            return _fault()
        received: int = self._read(ends.out, buffer, copied)
        return received

    def write(self, buffer: int, address: int, size: int) -> int:
        ends = self._ends()
        sent: int = self._write(ends.into, buffer, min(size, ROOM))
        copied: int = self._read(ends.out, address, sent)
        if copied != sent:
            # Discard the pipe: the bytes left in it must not reach the next read.
            del self._local.ends
        return copied if copied > 0 else _fault()


def _fault() -> int:
    """0 if the last call failed because memory is unmapped; raises ``Forbidden`` for any other error."""
    if ctypes.get_errno() != errno.EFAULT:
        raise Forbidden(errno.errorcode.get(ctypes.get_errno(), "unknown"))
    return 0


def ways() -> list[Way]:
    """The copy methods that this system may support, the cheapest first."""
    methods: list[Way] = []
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            methods.append(CrossMemory())
    if os.name == "posix":
        methods.append(Pipe())
    return methods
