"""Capture files: deduplication of contents, and validation by the reader."""

from __future__ import annotations

import json
import os
import random

import numpy as np
import pytest

from directml_py.capturing import content_store, parser
from directml_py.capturing.content_store import CaptureWriter
from directml_py.capturing.page import page
from directml_py.capturing.parser import CaptureError, read_capture
from directml_py.capturing.recorder import IntervalSet
from directml_py.capturing.replay import replay
from directml_py.cli import main


def process(**members):
    return {
        "event": "process",
        "format": "directml-py capture",
        "version": 1,
        "pid": 1,
        "arguments": [],
        "started": "",
        "directml_py": "",
        "kernels": "",
        **members,
    }


def written(folder, *lines, contents=b""):
    """Write a capture with these lines."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    (folder / "p.jsonl").write_text(text, encoding="utf-8")
    (folder / "p.contents").write_bytes(contents)
    return folder


ALLOCATION = {"event": "allocation", "id": 0, "size": 64, "fill": 0}
RESOURCE = {
    "event": "resource",
    "id": 1,
    "allocation": 0,
    "offset": 0,
    "width": 64,
    "heap": "",
    "flags": "",
    "state": "",
    "placed": False,
    "name": "",
}
QUEUE = {"event": "queue", "id": 2, "type": "", "name": ""}
LIST = {"event": "list", "id": 3, "type": "", "name": ""}
EXECUTE = {"event": "execute", "id": 0, "time": 0.0, "queue": 2, "lists": [3]}
COPY = {
    "event": "command",
    "time": 0.0,
    "execution": 0,
    "list": 0,
    "index": 0,
    "duration": 0.0,
    "found": [],
    "written": [],
    "kind": "copy",
    "source": [1, 0, 8],
    "destination": [1, 8, 8],
}
GOOD = [process(), ALLOCATION, RESOURCE, QUEUE, LIST, EXECUTE, COPY]


def test_the_lines_of_this_file_are_good(tmp_path):
    (log,) = read_capture(written(tmp_path, *GOOD))
    assert len(log.ran) == 1


FENCE = {"event": "fence", "id": 4, "value": 0, "name": ""}


@pytest.mark.parametrize("value", [0, (1 << 64) - 1])
def test_values_of_fences(tmp_path, value):
    signal = {"event": "signal", "queue": 2, "fence": 4, "value": value}
    (log,) = read_capture(written(tmp_path, *GOOD[:4], FENCE, signal))
    assert log.events[-1].value == value


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], r"p.jsonl: line 1: is not JSON"),
        (["[" * 100000], r"p.jsonl: line 1: is not JSON"),
        (["[]"], r"line 1: is not an event"),
        ([], r"is empty"),
        ([ALLOCATION], r"line 1.event: must be 'process'"),
        ([process(format="x")], r"line 1.format: must be"),
        ([process(version=2)], r"line 1.version: is 2; only 1 is known"),
        ([process(), {"event": "spell"}], r"line 2.event: is 'spell', which is not an event"),
        ([process(), {"event": "_lines"}], r"line 2.event: is '_lines', which is not an event"),
        ([process(), {"event": "allocation"}], r"line 2.event: is missing 'size'"),
        (
            [process(), {**ALLOCATION, "size": 1 << 62}],
            r"line 2.size: is 4611686018427387904 bytes; this machine",
        ),
        ([process(), {**ALLOCATION, "size": 0}], r"line 2.size: must be from 1"),
        ([process(), {**ALLOCATION, "size": "64"}], r"line 2.size: must be an integer"),
        ([process(), ALLOCATION, ALLOCATION], r"line 3.id: is 0, which is already in use"),
        ([process(), RESOURCE], r"line 2.allocation: is 0, which no earlier line declares"),
        (
            [process(), ALLOCATION, {**RESOURCE, "offset": 1}],
            r"line 3.width: is 64 at offset 1; the allocation has 64 bytes",
        ),
        (
            [process(), {"event": "content", "id": 0, "offset": 0, "size": 9}],
            r"line 2.size: is 9 at offset 0; the contents file has 0 bytes",
        ),
        ([*GOOD[:-1], {**COPY, "source": [1, 60, 8]}], r"line 7.source: is 8 bytes at offset 60"),
        ([*GOOD[:-1], {**COPY, "source": [2, 0, 8]}], r"line 7.source\[0\]: is not a resource"),
        (
            [*GOOD[:-1], {**COPY, "source": [1, 0, 9]}],
            r"line 7.source: has a different size from destination",
        ),
        ([*GOOD[:-1], {**COPY, "list": 1}], r"line 7.list: is 1; there are 1 lists"),
        ([*GOOD[:-1], {**COPY, "kind": "dance"}], r"line 7.kind: is 'dance', which is not a kind of command"),
        (
            [*GOOD[:-1], {**COPY, "found": [{"allocation": 0, "offset": 0, "content": 0}]}],
            r"there are 0 contents",
        ),
        ([*GOOD[:-2], {**EXECUTE, "queue": 3}], r"line 6.queue: is 3, which is not a queue"),
        (
            [
                process(),
                {"event": "operator", "id": 9, "name": "", "flags": 0, "level": "DML_FEATURE_LEVEL_9_9"},
            ],
            r"has the level 'DML_FEATURE_LEVEL_9_9', which is not a feature level",
        ),
        (
            [
                process(),
                {"event": "operator", "id": 9, "name": "", "flags": 0, "level": "DML_FEATURE_LEVEL_6_4"},
            ],
            r"is missing 'operator' and 'desc'",
        ),
    ],
)
def test_what_a_reader_does_not_believe(tmp_path, lines, message):
    with pytest.raises(CaptureError, match=message):
        read_capture(written(tmp_path, *lines))


@pytest.mark.parametrize("memory", [63, 64, None])
def test_allocations_that_this_machine_cannot_have(tmp_path, monkeypatch, memory):
    monkeypatch.setattr(parser, "physical_memory", lambda: memory)
    capture = written(tmp_path, process(), ALLOCATION)
    if memory == 63:
        with pytest.raises(CaptureError, match=r"line 2\.size: is 64 bytes; this machine has 63"):
            read_capture(capture)
    else:
        assert len(read_capture(capture)) == 1


def test_no_capture(tmp_path, capsys):
    for place, reason in (
        (tmp_path, "it has no .jsonl file"),
        (tmp_path / "missing", "there is no such folder"),
    ):
        assert main(["capture", "show", str(place)]) == 2
        assert f"{place} is not a capture: {reason}" in capsys.readouterr().err
    written(tmp_path, *GOOD)
    (tmp_path / "p.contents").unlink()
    assert main(["capture", "show", str(tmp_path)]) == 2
    assert "p.contents is missing" in capsys.readouterr().err


def test_a_line_that_was_cut_off_is_left_out(recorded, tmp_path):
    (path,) = recorded.glob("*.jsonl")
    text = path.read_bytes()
    (contents,) = recorded.glob("*.contents")
    for place in random.Random(1).sample(range(1, len(text)), 30):
        (tmp_path / "p.jsonl").write_bytes(text[:place])
        (tmp_path / "p.contents").write_bytes(contents.read_bytes())
        if b"\n" not in text[:place]:
            with pytest.raises(CaptureError):
                read_capture(tmp_path)
            continue
        (log,) = read_capture(tmp_path)
        assert log.truncated == (text[place - 1 : place] != b"\n")
        assert page([log]).endswith("</html>\n")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 30))])
def test_random_damage(recorded, tmp_path, seed):
    """Whatever a capture says, it is read and replayed, or rejected with a CaptureError."""
    (path,) = recorded.glob("*.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    (contents,) = recorded.glob("*.contents")
    (tmp_path / "p.contents").write_bytes(contents.read_bytes())
    chance = random.Random(seed)
    for _ in range(100):
        changed = list(lines)
        place = chance.randrange(1, len(lines))
        if chance.random() < 0.2:
            del changed[place]
        else:
            changed[place] = mutated(changed[place], chance)
        (tmp_path / "p.jsonl").write_text("\n".join(changed) + "\n", encoding="utf-8")
        try:
            (log,) = read_capture(tmp_path)
            page([log])
            list(replay(log))
        except CaptureError:
            continue


VALUES = [
    0,
    1,
    -1,
    2,
    1 << 32,
    1 << 63,
    1.5,
    None,
    True,
    "",
    "x\0y",
    "<b>",
    [],
    {},
    [1, 2, 3],
    {"a": 1},
    "\ud800",
]


def mutated(line, chance):
    """The line with one value, at any depth, replaced or removed."""
    value = json.loads(line)
    places = []

    def walk(item):
        for key in list(item) if isinstance(item, dict) else range(len(item)):
            places.append((item, key))
            if isinstance(item[key], (dict, list)):
                walk(item[key])

    walk(value)
    item, key = chance.choice(places)
    if chance.random() < 0.2:
        del item[key]
    else:
        item[key] = chance.choice(VALUES)
    return json.dumps(value)


SIZES = [
    0,
    1,
    8,
    content_store.FIRST,
    content_store.FIRST + 1,
    content_store.CHUNK,
    content_store.CHUNK + 1,
    3 * content_store.CHUNK + 5,
]


def stored(folder, writer):
    """The contents by number, as stored in the files."""
    writer.close()
    (path,) = folder.glob("*.contents")
    whole = path.read_bytes()
    (log,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert sum(line["size"] for line in lines) == len(whole)
    return [whole[line["offset"] : line["offset"] + line["size"]] for line in lines]


@pytest.mark.parametrize("size", SIZES)
def test_what_differs_in_any_byte_is_another_content(tmp_path, size):
    """Wherever the byte is that differs, within the fingerprint's samples, what is compared first, or far behind."""
    chance = np.random.default_rng(size)
    first = chance.integers(0, 256, size, np.uint8)
    changed = {size - 1, size // 2, *map(int, chance.integers(0, max(size, 1), 20))} if size else set()
    writer, contents = CaptureWriter(tmp_path), [first]
    assert writer.content(first) == 0
    for place in changed:
        other = first.copy()
        other[place] ^= 1
        contents.append(other)
        assert writer.content(other, 0) == len(contents) - 1
        assert writer.content(first, 0) == 0
    assert stored(tmp_path, writer) == [one.tobytes() for one in contents]


def test_a_content_is_not_the_beginning_of_a_longer_one(tmp_path):
    writer = CaptureWriter(tmp_path)
    zeros = np.zeros(100, np.uint8)
    assert [writer.content(zeros[:size], 0 if size < 100 else None) for size in (100, 99, 1, 0, 100)] == [
        0,
        1,
        2,
        3,
        0,
    ]
    assert list(map(len, stored(tmp_path, writer))) == [100, 99, 1, 0]


def test_many_contents_that_look_the_same(tmp_path):
    """Only the newest of them and the previous content of the same range are looked up."""
    masks = np.zeros((20, 1000), np.uint8)
    step = masks.shape[1] // content_store.SAMPLES + 1
    masks[np.arange(20), step * (20 + np.arange(20)) + 1] = 1
    assert len({content_store._fingerprint(mask) for mask in masks}) == 1
    writer = CaptureWriter(tmp_path)
    for turn in range(3):
        assert [writer.content(mask, number if turn else None) for number, mask in enumerate(masks)] == list(
            range(20)
        )
    assert writer.content(masks[-content_store.MAX_DUPLICATES]) == 20 - content_store.MAX_DUPLICATES
    assert len(stored(tmp_path, writer)) == 20


def test_a_large_file_ends_with_its_last_content(tmp_path):
    """Preallocated space behind it, which grows with the file, is truncated."""
    size = content_store.RESERVE[0]
    writer, sizes = CaptureWriter(tmp_path), []
    (path,) = tmp_path.glob("*.contents")
    for number in range(7):
        assert writer.content(np.full(size, number, np.uint8)) == number
        assert (number + 1) * size <= path.stat().st_size <= 2 * (number + 1) * size
        sizes.append(path.stat().st_size)
    assert list(map(len, stored(tmp_path, writer))) == [size] * 7
    if hasattr(os, "posix_fallocate"):
        assert len(set(sizes)) == 4


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="nothing is reserved here")
def test_where_nothing_can_be_reserved(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    writer = CaptureWriter(tmp_path)
    for number in range(3):
        writer.content(np.full(content_store.RESERVE[0], number, np.uint8))
    assert [set(one) for one in stored(tmp_path, writer)] == [{0}, {1}, {2}]


def test_lines_are_gathered(tmp_path):
    """Lines are buffered in order and up to a limit; all are written when buffering ends."""
    writer = CaptureWriter(tmp_path)
    (path,) = tmp_path.glob("*.jsonl")

    def numbers():
        return [json.loads(line)["number"] for line in path.read_text(encoding="utf-8").splitlines()]

    writer.event("line", number=0)
    assert numbers() == [0]
    writer.gathers = True
    for number in range(1, content_store.LINES):
        writer.event("line", number=number)
    assert numbers() == [0]
    writer.event("line", number=content_store.LINES)
    assert numbers() == list(range(content_store.LINES + 1))
    writer.event("line", number=content_store.LINES + 1)
    writer.gathers = False
    writer.event("line", number=content_store.LINES + 2)
    assert numbers() == list(range(content_store.LINES + 3))
    writer.gathers = True
    writer.event("line", number=content_store.LINES + 3)
    writer.close()
    assert numbers() == list(range(content_store.LINES + 4))


def test_known_bytes_against_a_set():
    chance = random.Random(0)
    for _ in range(50):
        known, bytes_known = IntervalSet(), set()
        for _ in range(30):
            start = chance.randrange(60)
            end = start + chance.randrange(12)
            assert known.covers(start, end) == (set(range(start, end)) <= bytes_known)
            if chance.random() < 0.5:
                known.add(start, end)
                bytes_known |= set(range(start, end))
