"""Reading and writing memory at untrusted addresses.

The kernel copies it (``probing``), so that an unmapped address is an error and not a signal. Where the kernel cannot do
that, only null and the never-mapped first 64 KiB are detected.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

from . import probing

FIRST_MAPPABLE = 0x10000
LAST_ADDRESS = 1 << 64
# No system has smaller pages.
PAGE_BITS = 12
PAGE = 1 << PAGE_BITS
# Larger blocks are probed at both ends first, so that a garbage size does not cost an allocation of that size.
LARGE = 1 << 20
# MemorySnapshot at most this far apart are read as one.
GAP = 256


class MemoryFault(Exception):
    """``size`` bytes at ``address`` cannot be read."""

    def __init__(self, address: int, size: int) -> None:
        super().__init__(f"{size} bytes at 0x{address:X} cannot be read")
        self.address = address
        self.size = size

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.address, self.size)


_ways = probing.ways()


def _find_fast(name: str) -> Any:
    """The C function, with integers for its pointers and without errno, which makes it much cheaper to call."""
    if not _ways or not isinstance(_ways[0], probing.CrossMemory):
        return None
    call = getattr(ctypes.CDLL(None), name)
    call.restype = ctypes.c_ssize_t
    pointer, count = ctypes.c_void_p, ctypes.c_ulong
    call.argtypes = (ctypes.c_int, pointer, count, pointer, count, count)
    return call


_fast_readv = _find_fast("process_vm_readv")
_fast_writev = _find_fast("process_vm_writev")
SMALL = 4096
_pid = os.getpid()


def _update_pid() -> None:
    global _pid
    _pid = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_update_pid)


def memory_probing() -> str:
    """The method by which memory is probed: ``process_vm_readv``, ``a pipe`` or ``not at all``."""
    while _enabled and _ways:
        way = _ways[0]
        try:
            _copy("read", ctypes.create_string_buffer(1), ctypes.addressof(_probes.block), 1)
        except MemoryFault:
            break
        if _ways and _ways[0] is way:
            return way.title
    return "not at all"


def _copy(direction: str, buffer: Any, address: int, size: int) -> None:
    """Copy between ``buffer`` and ``address``: by the kernel, or directly if no kernel method is available.

    Raises ``MemoryFault`` for unmapped memory.
    """
    local, copied_bytes = ctypes.addressof(buffer), 0
    while copied_bytes < size and _ways:
        way = _ways[0]
        try:
            copied = getattr(way, direction)(
                local + copied_bytes, address + copied_bytes, size - copied_bytes
            )
        except probing.Forbidden:
            _give_up(way)
            continue
        if copied <= 0:
            raise MemoryFault(address, size)
        copied_bytes += copied
    if copied_bytes < size:
        pair = (local, address) if direction == "read" else (address, local)
        ctypes.memmove(*pair, size)


def _give_up(way: probing.Way) -> None:
    global _fast_readv, _fast_writev
    _fast_readv = _fast_writev = None
    if way in _ways:
        _ways.remove(way)


def _check(address: int, size: int) -> None:
    if not FIRST_MAPPABLE <= address < LAST_ADDRESS - size:
        raise MemoryFault(address, size)


class _Probe(threading.local):
    """A thread's prepared arguments for kernel copies of small blocks."""

    def __init__(self) -> None:
        self.block = ctypes.create_string_buffer(SMALL)
        self.view = memoryview(self.block).cast("B")
        self.address = ctypes.addressof(self.block)
        # Two iovecs, local and remote; each call fills in the sizes and the remote address.
        self.vectors = (ctypes.c_uint64 * 4)(self.address)
        self.local = ctypes.addressof(self.vectors)
        self.remote = self.local + 16


_probes = _Probe()
_enabled = True


def set_memory_probing(enabled: bool) -> None:
    """Enable or disable probing of memory before it is read; it is enabled by default.

    Without probing, decoding is faster and a dangling pointer crashes the process.
    """
    global _enabled
    _enabled = enabled


def is_probing() -> bool:
    return _enabled


def read(address: int, size: int) -> bytes:
    """Read ``size`` bytes at ``address``. Raises ``MemoryFault`` for unmapped memory."""
    if size == 0:
        return b""
    _check(address, size)
    if not _enabled:
        return ctypes.string_at(address, size)
    if size <= SMALL and _is_copied(_fast_readv, address, size):
        return _probes.view[:size].tobytes()
    return _read_carefully(address, size)


# Reads a block within a page in less time than the kernel's copy takes; None where it cannot.
_peek: Callable[[int, int], bytes | None] = lambda address, size: None  # noqa: E731


def read_with(peek: Callable[[int, int], bytes | None]) -> None:
    """Let ``read_argument`` try ``peek`` first."""
    global _peek
    _peek = peek


def read_argument(address: int, size: int) -> bytes:
    """``read``, where a caller says that there are ``size`` bytes: nothing beyond them is read."""
    data = _peek(address, size)
    return read(address, size) if data is None else data


class MemorySnapshot:
    """Blocks of memory, by their addresses, with the bytes that were read there, to be compared at once.

    The address of a block may come from the blocks before it. Those that lie close together on a page are read as one
    span: a call costs as much for each span as for hundreds of bytes. ``size`` is that of all spans together.
    """

    def __init__(self, blocks: Sequence[tuple[int, bytes]]) -> None:
        self._blocks = blocks
        self._spans: list[tuple[int, int]] = []
        contents: list[bytes] = []
        layout, start, end = "=", 0, 0
        for address, data in sorted(blocks):
            gap = address - end
            if (
                self._spans
                and 0 <= gap <= GAP
                and start >> PAGE_BITS == (address + len(data) - 1) >> PAGE_BITS
            ):
                self._spans.pop()
                layout += f"{gap}x"
            else:
                start = address
            end = address + len(data)
            self._spans.append((start, end - start))
            contents.append(data)
            layout += f"{len(data)}s"
        self._unpack = struct.Struct(layout).unpack
        self._content = tuple(contents)
        self.size = sum([size for _, size in self._spans])
        numbers = [number for span in self._spans for number in span]
        # The remote iovecs.
        self._vectors = (ctypes.c_uint64 * len(numbers))(*numbers)
        self._remote = ctypes.addressof(self._vectors)

    def are_unchanged(self) -> bool:
        """Whether reading them again gives the same bytes; False if some are unmapped."""
        call, size = _fast_readv, self.size
        if call is None or not _enabled or size > SMALL:
            # In order, up to the first difference: without probing, an address that is no longer in the memory before
            # it must not be read.
            try:
                return all(read(address, len(data)) == data for address, data in self._blocks)
            except MemoryFault:
                return False
        probe = _probes
        probe.vectors[1] = size
        if call(_pid, probe.local, 1, self._remote, len(self._spans), 0) != size:
            return False
        return self._unpack(probe.view[:size]) == self._content


def _is_copied(call: Any, address: int, size: int) -> bool:
    """Whether the kernel copied all ``size`` bytes between ``address`` and the thread's block in one call."""
    if call is None:
        return False
    probe = _probes
    vectors = probe.vectors
    vectors[1] = vectors[3] = size
    vectors[2] = address
    copied: int = call(_pid, probe.local, 1, probe.remote, 1, 0)
    return copied == size


def _read_carefully(address: int, size: int) -> bytes:
    if size > LARGE:
        try:
            read(address, 1)
            read(address + size - 1, 1)
        except MemoryFault:
            raise MemoryFault(address, size) from None
    buffer = ctypes.create_string_buffer(size)
    _copy("read", buffer, address, size)
    return buffer.raw


def write(address: int, data: bytes) -> None:
    """Write ``data`` to ``address``. Raises ``MemoryFault`` for memory that cannot be written."""
    if not data:
        return
    _check(address, len(data))
    if not _enabled:
        ctypes.memmove(address, data, len(data))
        return
    if len(data) <= SMALL:
        _probes.view[: len(data)] = data
        if _is_copied(_fast_writev, address, len(data)):
            return
    _copy("write", ctypes.create_string_buffer(data, len(data)), address, len(data))


def read_string(address: int, limit: int = 4096, width: int = 1) -> bytes:
    """The null-terminated string at ``address``, without its terminator, truncated to ``limit`` bytes.

    ``width`` is the size of a character in bytes; ``address`` should be a multiple of it.
    """
    string, null = bytearray(), bytes(width)
    while len(string) < limit:
        # Chunks end at page boundaries, so that no page beyond the string is read.
        size = min(256, PAGE - (address + len(string)) % PAGE)
        chunk = read(address + len(string), size)
        string += chunk
        end = string.find(null, len(string) - size)
        while end % width and end >= 0:
            end = string.find(null, end + 1)
        if end >= 0:
            return bytes(string[:end])
    return bytes(string[:limit])
