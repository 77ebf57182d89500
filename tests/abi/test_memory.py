"""Memory at untrusted addresses: faults are errors, never signals."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap

import pytest
from toolchain import later

from directml_py.abi import memory, probing
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
    """Run the lines in a separate process, where a crash shows as a signal."""
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
    """Zero bytes can be read at every address."""
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
    """A petabyte cannot be allocated, so the fault must be detected first."""
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


@pytest.mark.parametrize("way", probing.ways(), ids=lambda way: way.title)
def test_more_than_one_call_transfers(monkeypatch, way):
    """One call copies at most 2 GiB, or a pipe's capacity; here, 7 bytes."""
    monkeypatch.setattr(probing, "MOST", 7)
    monkeypatch.setattr(probing, "ROOM", 7)
    monkeypatch.setattr(memory, "_ways", [way])
    monkeypatch.setattr(memory, "_fast_readv", None)
    block = ctypes.create_string_buffer(bytes(range(100)), 100)
    address = ctypes.addressof(block)
    assert read(address, 100) == bytes(range(100))
    write(address, bytes(reversed(range(100))))
    assert block.raw == bytes(reversed(range(100)))


FORBID = """
    import platform, struct

    def forbid(error):
        # seccomp: the two calls fail with ``error``, all others are as they were.
        calls = {"x86_64": (310, 311), "aarch64": (270, 271)}[platform.machine()]
        code = [(0x20, 0, 0, 0), (0x15, 1, 0, calls[0]), (0x15, 0, 1, calls[1]), (6, 0, 0, 0x50000 | error),
                (6, 0, 0, 0x7FFF0000)]
        program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
        filters = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program)))
        assert libc.prctl(38, 1, 0, 0, 0) == 0
        assert libc.prctl(22, 2, ctypes.byref(filters), 0, 0) == 0, ctypes.get_errno()
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="seccomp is Linux's")
@pytest.mark.parametrize("error", ["EPERM", "EACCES", "ENOSYS"])
def test_where_the_kernel_forbids_its_calls(error):
    """As in many containers: a pipe is used, bad pointers are still errors, and valid ones still work."""
    run(
        textwrap.dedent(FORBID)
        + textwrap.dedent(
            f"""
            import errno, os, threading
            import directml_py as dml
            from directml_py.abi.memory import memory_probing

            assert memory_probing() == "process_vm_readv"
            forbid(errno.{error})
            start = pages(3)
            ctypes.memset(start, 0x5A, 3 * PAGE)
            assert libc.munmap(start + 2 * PAGE, PAGE) == 0
            assert read(start, 2 * PAGE) == b"Z" * 2 * PAGE
            assert memory_probing() == "a pipe"
            assert faults(read, start + 2 * PAGE, 1) == (start + 2 * PAGE, 1)
            assert faults(read, start + 2 * PAGE - 8, 16) == (start + 2 * PAGE - 8, 16)
            assert faults(write, start + 2 * PAGE - 1, b"xy") == (start + 2 * PAGE - 1, 2)
            write(start + 5, b"there")
            assert read(start + 4, 7) == b"Zthere" + b"Z"
            write(start, b"y")
            assert read(start, 1) == b"y"

            x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 3])
            desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x)
            assert dml.validate(desc) == []
            wild = dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_ELEMENT_WISE_IDENTITY, start + 2 * PAGE)
            assert [found.rule for found in dml.validate(wild)] == ["DML-Desc-unreadable"]

            # Threads have pipes of their own, which go with them; a child has other ones than its parent.
            descriptors = len(os.listdir("/proc/self/fd"))
            for _ in range(50):
                thread = threading.Thread(target=read, args=(start, 64))
                thread.start()
                thread.join()
            assert len(os.listdir("/proc/self/fd")) <= descriptors + 2
            child = os.fork()
            if not child:
                os._exit(0 if all(read(start + PAGE, 64) == b"Z" * 64 for _ in range(500)) else 1)
            assert all(read(start + 5, 5) == b"there" for _ in range(500))
            assert os.waitpid(child, 0)[1] == 0
            """
        )
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no other system says what is mapped")
@pytest.mark.parametrize("seconds", [0.3, *later(3)])
def test_a_page_that_comes_and_goes(seconds):
    """Another thread repeatedly unmaps the page of a desc: each read gets all of it, or fails."""
    run(
        f"""
        SECONDS = {seconds}
        """
        """
        import threading, time
        import directml_py as dml

        x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 3])
        good = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x)
        start = pages(1)
        ctypes.memmove(start, ctypes.addressof(good), ctypes.sizeof(good))
        ctypes.memmove(start + 64, ctypes.addressof(x), ctypes.sizeof(x))
        for field in range(2):
            ctypes.c_uint64.from_address(start + 8 * field).value = start + 64
        desc = dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_ELEMENT_WISE_IDENTITY, start)
        stop = False

        def toggle():
            while not stop:
                libc.mprotect(start, PAGE, 0)
                libc.mprotect(start, PAGE, 3)

        thread = threading.Thread(target=toggle)
        thread.start()
        found, end = set(), time.monotonic() + SECONDS
        while time.monotonic() < end:
            found.add(tuple(one.rule for one in dml.validate(desc)))
        stop = True
        thread.join()
        assert found <= {(), ("DML-Desc-unreadable",)}, found
        """
    )


def test_an_empty_array_does_not_validate_its_page():
    """A constant of zero bytes at a bad address, then one of 8 bytes on the same page."""
    run(
        """
        import directml_py as dml
        from directml_py.descs.decode import decode_struct

        start = pages(1)
        assert libc.munmap(start, PAGE) == 0
        constants = [dml.DML_CONSTANT_DATA_GRAPH_NODE_DESC() for _ in range(2)]
        for size, constant in zip((0, 8), constants):
            constant.Data, constant.DataSize = start + 16, size
        nodes = [dml.DML_GRAPH_NODE_DESC(dml.DML_GRAPH_NODE_TYPE_CONSTANT, one) for one in constants]
        desc = dml.DML_GRAPH_DESC(Nodes=nodes, OutputCount=1)
        _, faults = decode_struct(desc, "DML_GRAPH_DESC")
        assert [(fault.kind, fault.path) for fault in faults] == [("unreadable", "Nodes[1].Data")], faults
        repr(desc)
        """
    )


@pytest.mark.skipif(
    memory._fast_readv is None, reason="the kernel forbids to copy from one process to another"
)
def test_readable_memory_takes_one_call(monkeypatch):
    """One system call: the slow path is only for reads that it rejects."""

    def careful(*_):
        raise AssertionError

    monkeypatch.setattr(memory, "_read_carefully", careful)
    held = ctypes.create_string_buffer(bytes(range(100)), 100)
    assert read(ctypes.addressof(held) + 3, 90) == bytes(range(3, 93))
