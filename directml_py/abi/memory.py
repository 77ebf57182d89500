"""Reading and writing memory that somebody else describes, without trusting the address.

On Linux the kernel copies it (``process_vm_readv`` and ``process_vm_writev`` on the own process), so that an
unmapped address is an error code and not a signal. Where that call is missing or forbidden only null and the
never-mapped first 64 KiB are caught.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import threading
from typing import Any

FIRST_MAPPABLE = 0x10000
LAST_ADDRESS = 1 << 64
# No system has smaller pages.
PAGE_BITS = 12
PAGE = 1 << PAGE_BITS
# Larger blocks are tried at both ends first: a wild size should not cost an allocation of that size.
LARGE = 1 << 20


# All memory as one buffer, for values at an address that is known to be good.
EVERYTHING = (ctypes.c_ubyte * sys.maxsize).from_address(0)


class MemoryFault(Exception):
    """``size`` bytes at ``address`` cannot be read."""

    def __init__(self, address: int, size: int) -> None:
        super().__init__(f"{size} bytes at 0x{address:X} cannot be read")
        self.address = address
        self.size = size


class _Iovec(ctypes.Structure):
    _fields_ = (("iov_base", ctypes.c_void_p), ("iov_len", ctypes.c_size_t))


def _find(name: str) -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return None
    call.restype = ctypes.c_ssize_t
    call.argtypes = (
        ctypes.c_int,
        ctypes.POINTER(_Iovec),
        ctypes.c_ulong,
        ctypes.POINTER(_Iovec),
        ctypes.c_ulong,
        ctypes.c_ulong,
    )
    return call


def _find_plain(name: str) -> Any:
    """The same call with plain integers for its pointers and no errno, which makes it much cheaper."""
    if _find(name) is None:
        return None
    call = getattr(ctypes.CDLL(None), name)
    call.restype = ctypes.c_ssize_t
    pointer, count = ctypes.c_void_p, ctypes.c_ulong
    call.argtypes = (ctypes.c_int, pointer, count, pointer, count, count)
    return call


_readv = _find("process_vm_readv")
_writev = _find("process_vm_writev")
_fast_readv = _find_plain("process_vm_readv")
SMALL = 4096
_pid = os.getpid()


def _learn_pid() -> None:
    global _pid
    _pid = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_learn_pid)


def _transfer(call: Any, buffer: Any, address: int, size: int) -> bool:
    """Let the kernel copy between ``buffer`` and ``address``; False where it must not be asked.

    Raises ``MemoryFault`` where there is no such memory.
    """
    if call is None:
        return False
    done = 0
    while done < size:
        # One call copies up to 2 GiB, and up to the first page that is not there.
        local = _Iovec(ctypes.addressof(buffer) + done, size - done)
        remote = _Iovec(address + done, size - done)
        copied = call(_pid, local, 1, remote, 1, 0)
        if copied < 0 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS):
            return False
        if copied <= 0:
            raise MemoryFault(address, size)
        done += copied
    return True


def _check(address: int, size: int) -> None:
    if not FIRST_MAPPABLE <= address < LAST_ADDRESS - size:
        raise MemoryFault(address, size)


class _Probe(threading.local):
    """What one thread needs to let the kernel copy a small block, prepared once."""

    def __init__(self) -> None:
        self.block = ctypes.create_string_buffer(SMALL)
        self.view = memoryview(self.block)
        self.address = ctypes.addressof(self.block)
        # Two iovecs: the block here, and what is asked for, whose sizes and remote address each call fills in.
        self.vectors = (ctypes.c_uint64 * 4)(self.address)
        self.local = ctypes.addressof(self.vectors)
        self.remote = self.local + 16


_probes = _Probe()
_enabled = True


def set_memory_probing(enabled: bool) -> None:
    """Whether memory is probed before it is read, as it is from the start.

    Without probing decoding is faster, and a wild pointer ends the process.
    """
    global _enabled
    _enabled = enabled


def read(address: int, size: int) -> bytes:
    """``size`` bytes at ``address``. Raises ``MemoryFault`` where there is no such memory."""
    if size == 0:
        return b""
    _check(address, size)
    if not _enabled:
        return ctypes.string_at(address, size)
    if size <= SMALL and _fast_readv is not None:
        probe = _probes
        vectors = probe.vectors
        vectors[1] = vectors[3] = size
        vectors[2] = address
        if _fast_readv(_pid, probe.local, 1, probe.remote, 1, 0) == size:
            return probe.view[:size].tobytes()
    return _read_carefully(address, size)


def _read_carefully(address: int, size: int) -> bytes:
    if size > LARGE:
        try:
            read(address, 1)
            read(address + size - 1, 1)
        except MemoryFault:
            raise MemoryFault(address, size) from None
    buffer = ctypes.create_string_buffer(size)
    return buffer.raw if _transfer(_readv, buffer, address, size) else ctypes.string_at(address, size)


def write(address: int, data: bytes) -> None:
    """Put ``data`` at ``address``. Raises ``MemoryFault`` where there is no memory that can be written."""
    if not data:
        return
    _check(address, len(data))
    buffer = ctypes.create_string_buffer(data, len(data))
    if not _transfer(_writev, buffer, address, len(data)):
        ctypes.memmove(address, buffer, len(data))


def read_string(address: int, limit: int = 4096, width: int = 1) -> bytes:
    """The null-terminated bytes at ``address``, without the null; cut at ``limit`` bytes.

    ``width``: bytes of a character, of which ``address`` should be a multiple.
    """
    string, null = bytearray(), bytes(width)
    while len(string) < limit:
        # Chunks end at a page boundary, so that no page is touched that the string does not reach.
        size = min(256, PAGE - (address + len(string)) % PAGE)
        chunk = read(address + len(string), size)
        string += chunk
        end = string.find(null, len(string) - size)
        while end % width and end >= 0:
            end = string.find(null, end + 1)
        if end >= 0:
            return bytes(string[:end])
    return bytes(string[:limit])
