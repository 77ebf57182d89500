"""Pending commands of the C library are no objects of the garbage collector, and are freed all the same."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections import Counter
from pathlib import Path

import pytest

import directml_py as dml
from directml_py.cli import config_command
from directml_py.d3d12.untracked import Tracking, untrack

from ..dml.helpers import UPLOAD, Bench, identity

COMMON, COPY_SOURCE = dml.D3D12_RESOURCE_STATE_COMMON, dml.D3D12_RESOURCE_STATE_COPY_SOURCE


class Fake:
    def __init__(self, part: object) -> None:
        self.part = part


def record(bench, source, target):
    bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.Transition(target, COMMON, COPY_SOURCE)])
    bench.commands.CopyBufferRegion(target, 0, source, 0, 16)
    bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.Aliasing(None, target)])


def objects():
    """How many objects the collector sees, by their types."""
    gc.collect()
    return Counter(type(item).__name__ for item in gc.get_objects())


@pytest.fixture
def untracked(monkeypatch):
    monkeypatch.setattr(Tracking, "commands", False)


def test_recorded_commands_do_not_show(untracked):
    bench = Bench()
    source, target = bench.buffer(16, UPLOAD), bench.buffer(16)
    record(bench, source, target)
    # The counter is an object itself.
    before = objects()
    before = objects()
    for _ in range(3):
        record(bench, source, target)
    assert objects() - before == Counter()


def test_closed_lists_do_not_show(untracked):
    """Neither do the programs that execute them, of which copies are bound methods."""
    bench = Bench()
    source, target = bench.buffer(16, UPLOAD), bench.buffer(16)
    kept = [bench.new_list() for _ in range(2)]

    def close(commands):
        commands.CopyBufferRegion(target, 0, source, 0, 16)
        commands.CopyBufferRegion(target, 0, source, 0, 8)
        commands.Close()

    close(kept[0])
    # The counter is an object itself.
    before = objects()
    before = objects()
    close(kept[1])
    assert objects() - before == Counter()
    bench.queue.ExecuteCommandLists(kept)
    bench.wait()


def test_they_do_without(monkeypatch):
    """What the test above counts is there."""
    # The library hides them in the whole process, if a test has loaded it.
    monkeypatch.setattr(Tracking, "commands", True)
    bench = Bench()
    source, target = bench.buffer(16, UPLOAD), bench.buffer(16)
    record(bench, source, target)
    # The counter is an object itself.
    before = objects()
    before = objects()
    record(bench, source, target)
    assert (objects() - before)["Copy"] == 1


def test_results_and_lives_are_the_same(untracked):
    bench = Bench()
    op = bench.compile(identity())
    bench.initialize(op)
    source, target = bench.holding(1, 2, 3, 4), bench.buffer(16)
    bench.dispatch(op, [source], [target])
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]
    gone = weakref.ref(bench.d3d12)
    del bench, op, source, target
    gc.collect()
    assert gone() is None


def test_commands_that_never_run_go_with_their_list(untracked):
    bench = Bench()
    target = bench.buffer(16)
    record(bench, bench.buffer(16, UPLOAD), target)
    gone = weakref.ref(bench.d3d12)
    del bench, target
    gc.collect()
    assert gone() is None


def test_only_what_belongs_to_the_item_is_hidden():
    other = Fake(1)
    item = Fake((other, [2]))
    untrack(item)
    assert not gc.is_tracked(item)
    assert not gc.is_tracked(item.part)
    assert gc.is_tracked(other)
    assert gc.is_tracked(item.part[1])


LOADED = """\
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
device = ctypes.c_void_p()
iid = bytes.fromhex("f1199818b61d574bbe541821339b85f7")
assert library.D3D12CreateDevice(None, 0xB000, iid, ctypes.byref(device)) == 0
from directml_py.d3d12.untracked import Tracking
print(Tracking.commands)
"""


def test_the_library_in_a_program_of_python():
    if not config_command.LIBRARY.exists():
        pytest.skip("libdirectml.so is not built")
    command = [sys.executable, "-c", LOADED, str(config_command.LIBRARY)]
    root = Path(dml.__file__).parents[1]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=root)
    assert (run.stdout, run.stderr) == ("False\n", "")
