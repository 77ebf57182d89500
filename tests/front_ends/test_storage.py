"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from directml_py.storage import write_whole

LONG = bytes(400_000)


def write(path, content):
    write_whole(path, lambda file: file.write(content))


@contextmanager
def at_most(size):
    """No file grows beyond ``size`` bytes. Python ignores SIGXFSZ, so that writes fail with EFBIG."""
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("before", [{}, {"m.bin": b"good"}])
def test_what_cannot_be_written_leaves_all_as_it_was(tmp_path, before):
    for name, content in before.items():
        write(tmp_path / name, content)
    with pytest.raises(OSError, match=r"m\.bin") as caught, at_most(1000):
        write(tmp_path / "m.bin", LONG)
    assert caught.value.errno == errno.EFBIG
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_error_names_the_path_in_the_system_s_words(tmp_path):
    path = tmp_path / "nowhere" / "m.bin"
    with pytest.raises(FileNotFoundError) as caught:
        write(path, b"x")
    error = caught.value
    assert (error.errno, error.strerror) == (errno.ENOENT, os.strerror(errno.ENOENT))
    assert error.filename == str(path)


def test_a_full_disk(tmp_path):
    """ENOSPC itself, on a file system of 64 KiB, in a process with mounts of its own."""
    program = f"""
import errno
from pathlib import Path
from directml_py.storage import write_whole
path = Path({str(tmp_path)!r}, "m.bin")
write_whole(path, lambda file: file.write(b"good"))
try:
    write_whole(path, lambda file: file.write(bytes({len(LONG)})))
except OSError as error:
    assert error.errno == errno.ENOSPC, error
else:
    raise AssertionError("the disk is not full")
assert [one.name for one in path.parent.iterdir()] == ["m.bin"]
assert path.read_bytes() == b"good"
"""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = f'mount -t tmpfs -o size=64k none "{tmp_path}"'
    try:
        able = subprocess.run([*command, mount], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        able = False
    if not able:
        pytest.skip("no file system can be mounted here")
    done = subprocess.run(
        [*command, f'{mount} && exec "$0" -c "$1"', sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_program_that_dies_in_the_middle(tmp_path, monkeypatch):
    """Whenever it is killed, the file is either the old or the new one."""
    path = tmp_path / "m.bin"
    real = {name: getattr(os, name) for name in ("replace", "fsync", "open")}
    calls, limit = 0, 10**9

    class Killed(BaseException):
        pass

    def counted(name):
        def call(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls > limit:
                raise Killed
            return real[name](*arguments, **options)

        return call

    for name in real:
        monkeypatch.setattr(os, name, counted(name))
    outcomes = []
    for stop in range(6):
        limit = 10**9
        write(path, b"old")
        calls, limit = 0, stop
        try:
            write(path, b"new")
            died = False
        except Killed:
            died = True
        outcomes.append((died, path.read_bytes()))
    assert outcomes[0] == (True, b"old")
    assert outcomes[-1] == (False, b"new")
    assert {content for _, content in outcomes} == {b"old", b"new"}
    assert (True, b"new") in outcomes


def test_a_link_a_mode_and_a_protected_file(tmp_path):
    """Links are followed, as writing to them does, and a file keeps its mode."""
    path, link = tmp_path / "m.bin", tmp_path / "link.bin"
    write(path, b"1")
    path.chmod(0o640)
    link.symlink_to(path)
    write(link, b"2")
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_bytes() == b"2"
    if os.geteuid():
        path.chmod(0o440)
        with pytest.raises(PermissionError, match=r"m\.bin"):
            write(path, b"3")


def test_what_is_no_file_is_written_to(tmp_path):
    """A pipe or a device is not replaced by a file."""
    pipe = tmp_path / "m.bin"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe, b"content")
    assert os.read(reader, 4000) == b"content"
    os.close(reader)
    assert pipe.is_fifo()


def test_modes_of_new_files_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "m.bin", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "m.bin").stat().st_mode & 0o777 == 0o640
