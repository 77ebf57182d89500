"""Markers, and notifications of observers."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

import directml_py as dml
from directml_py.d3d12.markers import marker_text
from directml_py.runtime.observers import Observer, Watchers, watchers


class Notes(Observer):
    """Logs every notification in a word or two."""

    def __init__(self):
        self.lines = []

    def created(self, item):
        self.lines.append(f"created {type(item).__name__}")

    def closed(self, commands):
        self.lines.append("closed")

    def submitted(self, queue, execution, lists):
        self.lines.append(f"submitted {len(lists)}")

    def started(self, execution):
        self.lines.append("started")

    def finished(self, execution):
        self.lines.append("finished")

    def before(self, command):
        self.lines.append(f"before {command.title}")

    def after(self, command):
        self.lines.append(f"after {command.title}")

    def marked(self, queue, marker):
        self.lines.append(f"marked {marker.title} {marker.text}".strip())

    def signaled(self, queue, fence, value):
        self.lines.append(f"signaled {value} by {'the CPU' if queue is None else 'a queue'}")

    def waited(self, queue, fence, value):
        self.lines.append(f"waited {value} by {'the CPU' if queue is None else 'a queue'}")

    def reported(self, message):
        self.lines.append(f"reported {message.rule}")

    def removed(self, text):
        self.lines.append("removed")


@pytest.fixture
def notes():
    observer = Notes()
    watchers.add(observer)
    yield observer.lines
    watchers.remove(observer)


def test_events_of_pix3(bench, notes):
    dml.PIXBeginEvent(bench.queue, dml.PIX_COLOR(255, 0, 0), "step %d of %s", 2, "three")
    dml.PIXSetMarker(bench.queue, dml.PIX_COLOR_INDEX(1), "100 %")
    dml.PIXEndEvent(bench.queue)
    # Those of the CPU belong to no queue.
    dml.PIXBeginEvent(dml.PIX_COLOR_DEFAULT, "upload")
    dml.PIXSetMarker(0, "uploaded")
    dml.PIXEndEvent()
    assert notes == ["marked BeginEvent step 2 of three", "marked SetMarker 100 %", "marked EndEvent"]
    assert dml.PIX_COLOR(1, 2, 3) == 0xFF010203


def test_an_execution_is_observed_command_by_command(bench, notes):
    source, target = bench.upload(64), bench.buffer(64)
    fence = bench.device.CreateFence(0)
    bench.list.BeginEvent(1, "copying")
    bench.list.CopyResource(target, source)
    bench.list.EndEvent()
    bench.list.Close()
    bench.queue.SetMarker(1, "now")
    bench.queue.ExecuteCommandLists([bench.list])
    bench.queue.Signal(fence, 1)
    fence.SetEventOnCompletion(1)
    assert notes == [
        "created ID3D12Resource2",
        "created ID3D12Resource2",
        "created ID3D12Fence1",
        "closed",
        "marked SetMarker now",
        "submitted 1",
        "started",
        *(
            f"{when} {what}"
            for what in ("BeginEvent", "the copy", "EndEvent")
            for when in ("before", "after")
        ),
        "finished",
        "signaled 1 by a queue",
        "waited 1 by the CPU",
    ]


def test_a_hazard_is_reported_between_its_commands(debug_bench, notes):
    bench = debug_bench
    buffer, other = bench.buffer(64), bench.buffer(64)
    bench.list.CopyResource(other, buffer)
    bench.list.CopyResource(buffer, other)
    bench.list.Close()
    fence = bench.device.CreateFence(0)
    notes.clear()
    bench.queue.ExecuteCommandLists([bench.list])
    bench.queue.Signal(fence, 1)
    named = r"needs ID3D12Resource \(64 bytes, DEFAULT heap, created at .*conftest.py:\d+\) in"
    with pytest.raises(OSError, match=named):
        fence.SetEventOnCompletion(1)
    runs = notes[notes.index("started") : notes.index("finished")]
    kinds = [line.split()[0] for line in runs]
    assert kinds == ["started", "before", "after", "before", "reported", "reported", "after"]


def test_a_removed_observer_is_not_notified(bench, notes):
    bench.buffer(64)
    for observer in watchers.all:
        watchers.remove(observer)
    bench.buffer(64)
    assert notes == ["created ID3D12Resource2"]


@pytest.mark.parametrize(
    ("metadata", "data", "size", "text"),
    [
        (0, "äb\0c".encode("utf-16-le"), None, "äb"),
        (1, b"plain\0more", None, "plain"),
        (1, b"plain", 2, "pl"),
        (1, "a str is text whatever the encoding", None, "a str is text whatever the encoding"),
        (1, None, 4, ""),
        (1, 8, 4, ""),
        (2, bytes(24), None, "an event of 24 bytes in PIX's own encoding"),
    ],
)
def test_the_text_of_a_marker(metadata, data, size, text):
    assert marker_text(metadata, data, size) == text


def test_the_text_of_a_marker_at_an_address():
    words = ctypes.create_string_buffer(b"forward pass")
    assert marker_text(1, ctypes.addressof(words), len(words)) == "forward pass"


def test_no_module_is_loaded_without_observers():
    probe = "import sys, directml_py; print([name for name in sys.modules if 'capturing' in name])"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True).stdout == "[]\n"


def test_calls_that_submit_nothing_are_not_observed(bench, notes):
    """No notification for an empty submission, or on a removed device."""
    bench.list.Close()
    bench.queue.ExecuteCommandLists([])
    bench.device.RemoveDevice()
    bench.queue.ExecuteCommandLists([bench.list])
    assert not [line for line in notes if line.startswith("submitted")]


def test_one_of_two_observers_leaves():
    one, other, watching = Observer(), Observer(), Watchers()
    watching.add(one)
    watching.add(other)
    watching.remove(one)
    assert watching.all == (other,)
