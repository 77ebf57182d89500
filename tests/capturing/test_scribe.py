"""Writing beside the program: nothing is lost, nothing changes on its way, and little waits."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest

import directml_py as dml
from directml_py.capturing import scribe
from directml_py.capturing.files import Writer
from directml_py.capturing.reading import read_capture
from directml_py.capturing.replay import replay
from directml_py.capturing.scribe import Scribe
from directml_py.session import Session

from .conftest import tensor


@pytest.fixture
def slow(monkeypatch):
    """A disk on which each content takes 20 ms."""
    content = Writer.content

    def later(self, *arguments):
        time.sleep(0.02)
        return content(self, *arguments)

    monkeypatch.setattr(Writer, "content", later)


def events(folder):
    (path,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def fill(session, buffer, value):
    desc = dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(
        tensor([1, 1, 1, 4]), dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_SCALAR_UNION(Float32=value)
    )
    session.dispatch(session.compile(desc), [], [buffer])
    session.barrier(buffer)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("largest", [scribe.LARGEST, 0], ids=["copied", "written at once"])
def test_contents_are_those_of_their_command(tmp_path, monkeypatch, largest):
    """Each dispatch writes over what the one before it has written, long before that is in the file."""
    monkeypatch.setattr(scribe, "LARGEST", largest)
    session = Session()
    with dml.capture(tmp_path):
        buffer = session.buffer(16)
        for value in (1, 2, 3, 2):
            fill(session, buffer, value)
        session.execute()
        # Nothing is owed when the program sees what it has done.
        assert [one["event"] for one in events(tmp_path)].count("command") == 9
    (log,) = read_capture(tmp_path)
    written = [
        log.bytes(command.written[0].content).view(np.float32).tolist()
        for _, command in log.ran
        if command.written
    ]
    assert written == [[value] * 4 for value in (1, 2, 3, 2)]
    assert len(log.contents) == 3
    assert all(not differences for _, differences in replay(log))


def test_order_and_numbers(tmp_path):
    writer = Scribe(tmp_path)
    for number in range(40):
        writer.beside = number % 10 != 9
        first = writer.content(np.full(1000, number % 4, np.uint8))
        writer.event("number", number=number, at=[first])
    writer.beside = False
    writer.event("end")
    numbers = [line for line in events(tmp_path) if line["event"] == "number"]
    assert [(line["number"], line["at"]) for line in numbers] == [(n, [n % 4]) for n in range(40)]
    assert events(tmp_path)[-1] == {"event": "end"}
    writer.close()


def test_little_waits(tmp_path, monkeypatch):
    """Who is faster than the disk waits for it, so that no memory fills with what it has to write."""
    go, given = threading.Semaphore(0), []
    monkeypatch.setattr(Writer, "content", lambda *_: go.acquire())
    writer = Scribe(tmp_path)
    writer.beside = True

    def give():
        for number in range(100):
            writer.content(np.zeros(8, np.uint8))
            given.append(number)

    program = threading.Thread(target=give)
    program.start()
    for _ in range(100):
        program.join(0.01)
        if len(given) > scribe.MOST:
            break
    program.join(0.1)
    # One is being written, and one more wants to be given.
    assert scribe.MOST <= len(given) <= scribe.MOST + 1
    for _ in range(100):
        go.release()
    program.join()
    writer.close()


def give_for_a_second(writer):
    for _ in range(1000):
        writer.event("later")
        time.sleep(0.001)


def test_an_error_beside_is_raised_soon_and_ends_the_thread(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    writer = Scribe(tmp_path)
    before = threading.active_count()
    monkeypatch.setattr(Writer, "content", full)
    writer.beside = True
    writer.content(np.zeros(8, np.uint8))
    with pytest.raises(OSError, match="No space left"):
        give_for_a_second(writer)
    assert threading.active_count() == before
    with pytest.raises(OSError, match="No space left"):
        writer.close()


def test_threads_end_with_the_execution(recorded):
    """None is left behind: programs count threads, and fork."""
    assert not [one for one in threading.enumerate() if one.name == "directml_py capture"]


def test_where_no_thread_starts_all_is_written_at_once(tmp_path, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    writer = Scribe(tmp_path)
    writer.beside = True
    writer.event("one", content=writer.content(np.zeros(8, np.uint8)))
    assert [line["event"] for line in events(tmp_path)] == ["content", "one"]
    assert events(tmp_path)[-1]["content"] == 0
    writer.close()
