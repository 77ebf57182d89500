"""Saving graphs: atomic, and independent of other graphs in the folder."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import directml_py as dml
from directml_py.graph import Graph, load

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


def sum_of(*constants, device=None):
    graph = Graph(device)
    value = graph.input_tensor("x", FLOAT32, [1, 1, 1, constants[0].size])
    for constant in constants:
        value = value + graph.constant(constant.reshape(1, 1, 1, -1))
    graph.outputs = {"sum": value}
    return graph


def filled(value, count=4):
    return np.full(count, value, np.float32)


def added(path):
    """The constant that the graph in ``path`` adds to zeros."""
    graph = load(None, path)
    zeros = np.zeros(graph.inputs[0].desc.sizes, np.float32)
    return graph.compile().run([zeros])[0].ravel().tolist()


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


def long_text():
    """A graph whose text is longer than its constants' files, which have a header of 128 bytes."""
    graph = sum_of(filled(5))
    for _ in range(100):
        graph.outputs = {"sum": graph.outputs["sum"] + 1}
    return graph


def two_sizes():
    """A graph whose first constant is small and whose second is not."""
    graph = Graph()
    arrays = [filled(5).reshape(1, 1, 1, -1), filled(6, 4000).reshape(1, 1, 1, -1)]
    graph.outputs = [graph.identity(graph.constant(array)) for array in arrays]
    return graph


@pytest.mark.parametrize("part", ["constants", "second constant", "text"])
def test_what_cannot_be_written_leaves_the_good_file(tmp_path, part):
    path = tmp_path / "m.json"
    sum_of(filled(1), filled(2)).save(path)
    good = contents(tmp_path)
    other = {
        "constants": lambda: sum_of(filled(5, 4000), filled(6, 4000)),
        "second constant": two_sizes,
        "text": long_text,
    }[part]()
    with pytest.raises(OSError, match=r"m\.json") as caught, at_most(1000):
        other.save(path)
    assert caught.value.errno == errno.EFBIG
    assert contents(tmp_path) == good
    assert added(path) == [3.0] * 4


def test_what_cannot_be_written_leaves_no_folder(tmp_path):
    with pytest.raises(OSError, match=r"m\.json"), at_most(1000):
        long_text().save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_an_error_names_the_path_in_the_system_s_words(tmp_path):
    path = tmp_path / "nowhere" / "m.json"
    with pytest.raises(FileNotFoundError) as caught:
        sum_of(filled(1)).save(path)
    error = caught.value
    assert (error.errno, error.strerror) == (errno.ENOENT, os.strerror(errno.ENOENT))
    assert error.filename.startswith(str(path))


def test_a_full_disk(tmp_path):
    """ENOSPC itself, on a file system of 64 KiB, in a process with mounts of its own."""
    program = f"""
import errno, os, sys
import numpy as np
sys.path[:0] = {[str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]}
from graph.test_saving import added, contents, filled, sum_of
from pathlib import Path
folder = Path({str(tmp_path)!r})
sum_of(filled(1)).save(folder / "m.json")
good = contents(folder)
try:
    sum_of(filled(2, 100_000)).save(folder / "m.json")
except OSError as error:
    assert error.errno == errno.ENOSPC, error
else:
    raise AssertionError("the disk is not full")
assert contents(folder) == good
assert added(folder / "m.json") == [1.0] * 4
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
    """Whenever a save is killed, the graph is either the old or the new one."""
    path = tmp_path / "m.json"
    real = {name: getattr(os, name) for name in ("replace", "fsync", "open")}
    calls = 0

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
    for stop in range(40):
        limit = 10**9
        sum_of(filled(1), filled(2)).save(path)
        calls, limit = 0, stop
        try:
            sum_of(filled(1), filled(7)).save(path)
            died = False
        except Killed:
            died = True
        limit = 10**9
        outcomes.append((died, added(path)[0]))
    assert {value for _, value in outcomes} == {3.0, 8.0}
    assert outcomes[0] == (True, 3.0)
    assert outcomes[-1] == (False, 8.0)
    assert (True, 8.0) in outcomes


def test_graphs_with_one_stem(tmp_path):
    sum_of(filled(1)).save(tmp_path / "m.json")
    sum_of(filled(2)).save(tmp_path / "m.graph")
    assert added(tmp_path / "m.json") == [1.0] * 4
    assert added(tmp_path / "m.graph") == [2.0] * 4


def test_constants_of_older_versions_go_away(tmp_path):
    """Foreign files in the folder are kept."""
    path, folder = tmp_path / "m.json", tmp_path / "m.json.constants"
    sum_of(filled(1), filled(2)).save(path)
    before = {one.name for one in folder.iterdir()}
    assert len(before) == 2
    (folder / "notes.txt").write_text("mine")
    sum_of(filled(2), filled(3)).save(path)
    after = {one.name for one in folder.iterdir()}
    assert len(after) == 3
    assert len(after & before) == 1
    assert added(path) == [5.0] * 4
    (folder / "notes.txt").unlink()
    graph = Graph()
    graph.outputs = graph.identity(graph.input_tensor("x", FLOAT32, [1, 1, 1, 1]))
    graph.save(path)
    assert not folder.exists()


def test_a_constant_that_is_there_twice_is_one_file(tmp_path):
    sum_of(filled(1), filled(1), filled(-0.0), filled(0.0)).save(tmp_path / "m.json")
    assert len(list((tmp_path / "m.json.constants").iterdir())) == 3
    assert added(tmp_path / "m.json") == [2.0] * 4


def test_equal_bytes_of_another_type_or_shape_are_other_files(tmp_path):
    graph = Graph()
    arrays = [np.zeros((1, 4), np.float32), np.zeros((1, 4), np.int32), np.zeros((4, 1), np.int32)]
    graph.outputs = [graph.identity(graph.constant(array)) for array in arrays]
    graph.save(tmp_path / "m.json")
    found = load(None, tmp_path / "m.json")
    assert [one.outputs[0] for one in found.nodes] == [one.outputs[0] for one in graph.nodes]


def test_a_link_a_mode_and_a_protected_file(tmp_path):
    """Links are followed, as writing to them does, and a file keeps its mode."""
    path, link = tmp_path / "m.json", tmp_path / "link.json"
    sum_of(filled(1)).save(path)
    path.chmod(0o640)
    link.symlink_to(path)
    sum_of(filled(2)).save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert added(link) == [2.0] * 4
    if os.geteuid():
        path.chmod(0o440)
        with pytest.raises(PermissionError, match=r"m\.json"):
            sum_of(filled(3)).save(path)


def test_what_is_no_file_is_written_to(tmp_path):
    """A pipe or a device is not replaced by a file."""
    pipe = tmp_path / "m.json"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    graph = Graph()
    graph.outputs = graph.identity(graph.input_tensor("x", FLOAT32, [1, 1, 1, 1]))
    graph.save(pipe)
    assert b"directml-py graph" in os.read(reader, 4000)
    os.close(reader)
    assert pipe.is_fifo()


def test_modes_of_new_files_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        sum_of(filled(1)).save(tmp_path / "m.json")
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()}
    assert modes == {0o640}
