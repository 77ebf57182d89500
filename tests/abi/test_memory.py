"""Memory that somebody else describes: faults are errors, never signals."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap

import pytest

from directml_py.abi import memory
from directml_py.abi.memory import MemoryFault, read, read_string, write

PAGES = """
    import ctypes, mmap
    from directml_py.abi.memory import MemoryFault, read, read_string, write

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    PAGE = mmap.PAGESIZE

    def pages(count):
        return libc.mmap(None, count * PAGE, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)

    def faults(call, *args):
        try:
            call(*args)
        except MemoryFault as fault:
            return fault.address, fault.size
        raise AssertionError("no fault")
"""


def run(body):
    """Run the lines in a process of their own, in which a crash shows as a signal."""
    text = textwrap.dedent(PAGES) + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_read_and_write():
    block = ctypes.create_string_buffer(bytes(range(64)), 64)
    address = ctypes.addressof(block)
    assert read(address + 3, 5) == bytes(range(3, 8))
    write(address + 3, b"\xff\xfe")
    assert block.raw == bytes(range(3)) + b"\xff\xfe" + bytes(range(5, 64))


@pytest.mark.parametrize("address", [0, 1, 0xFFFF, 1 << 63, (1 << 64) - 8, (1 << 64) - 1, 1 << 64, -8])
def test_never_mapped(address):
    for call in (lambda: read(address, 8), lambda: write(address, b"12345678"), lambda: read_string(address)):
        with pytest.raises(MemoryFault, match="cannot be read"):
            call()


def test_a_fault_says_where():
    with pytest.raises(MemoryFault) as caught:
        read(0xDEAD0000, 48)
    assert (caught.value.address, caught.value.size) == (0xDEAD0000, 48)
    assert str(caught.value) == "48 bytes at 0xDEAD0000 cannot be read"


@pytest.mark.parametrize("address", [0, 1, 1 << 63])
def test_nothing_to_transfer(address):
    """No bytes are at every address, as an array of no elements is."""
    assert read(address, 0) == b""
    write(address, b"")


def test_unmapped_and_protected_pages():
    run(
        """
        for hide in (lambda page: libc.munmap(page, PAGE), lambda page: libc.mprotect(page, PAGE, 0)):
            start = pages(2)
            ctypes.memset(start, 0x5A, 2 * PAGE)
            assert hide(start + PAGE) == 0
            assert read(start, PAGE) == b"Z" * PAGE
            assert read(start + PAGE - 1, 1) == b"Z"
            assert faults(read, start + PAGE, 1) == (start + PAGE, 1)
            # Half a struct is no struct.
            assert faults(read, start + PAGE - 8, 16) == (start + PAGE - 8, 16)
            assert faults(write, start + PAGE, b"x") == (start + PAGE, 1)
            write(start + PAGE - 1, b"y")
            assert read(start + PAGE - 2, 2) == b"Zy"
        """
    )


def test_read_only_page():
    run(
        """
        start = pages(1)
        ctypes.memset(start, 0x5A, PAGE)
        assert libc.mprotect(start, PAGE, 1) == 0
        assert faults(write, start + 16, b"1234") == (start + 16, 4)
        assert read(start, PAGE) == b"Z" * PAGE
        """
    )


def test_wild_sizes_cost_no_memory():
    """A petabyte cannot be allocated, so the fault must come first."""
    block = ctypes.create_string_buffer(64)
    with pytest.raises(MemoryFault, match="1125899906842624 bytes"):
        read(ctypes.addressof(block), 1 << 50)


def test_strings_end_where_memory_ends():
    run(
        """
        start = pages(2)
        ctypes.memset(start, ord("a"), PAGE)
        assert libc.munmap(start + PAGE, PAGE) == 0
        ctypes.memmove(start + PAGE - 4, b"end", 4)
        assert read_string(start + PAGE - 4) == b"end"
        assert read_string(start + PAGE - 10) == b"aaaaaaend"
        ctypes.memmove(start + PAGE - 4, b"open", 4)
        faults(read_string, start + PAGE - 4)
        assert read_string(start + 8, limit=5) == b"aaaaa"
        """
    )


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 4095, 4096, 5000])
def test_strings_of_every_length(length):
    text = b"".join(b"%d," % n for n in range(2000))[:length]
    block = ctypes.create_string_buffer(text)
    assert read_string(ctypes.addressof(block)) == text[:4096]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these are calls of Linux")
def test_more_than_one_call_transfers(monkeypatch):
    """One call copies at most 2 GiB; here, 7 bytes."""

    def limited(call):
        def transfer(pid, local, local_count, remote, remote_count, flags):
            local.iov_len = remote.iov_len = min(local.iov_len, 7)
            return call(pid, local, local_count, remote, remote_count, flags)

        return transfer

    monkeypatch.setattr(memory, "_readv", limited(memory._readv))
    monkeypatch.setattr(memory, "_writev", limited(memory._writev))
    block = ctypes.create_string_buffer(bytes(range(100)), 100)
    address = ctypes.addressof(block)
    assert read(address, 100) == bytes(range(100))
    write(address, bytes(reversed(range(100))))
    assert block.raw == bytes(reversed(range(100)))
