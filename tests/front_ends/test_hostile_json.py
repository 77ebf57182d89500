"""Every command that reads JSON refuses hostile text in one sentence, whatever it reads it as."""

from __future__ import annotations

import gzip

import pytest
from sweeps import swept

from directml_py.cli import main
from directml_py.text.json_reading import MAX_DEPTH, MAX_DIGITS, JsonError, read_json

# A command, the name of the file that it reads, and its exit code.
READERS = {
    "compare": (["compare"], "f.json", 2),
    "compare cases": (["compare"], "f.jsonl", 2),
    "compare packed cases": (["compare"], "f.jsonl.gz", 2),
    "compare a capture": (["compare"], "capture/f.jsonl", 2),
    "capture": (["capture", "show"], "capture/f.jsonl", 2),
    "graph": (["graph"], "f.json", 2),
    "show": (["show"], "f.json", 2),
    "dispatch": (["dispatch"], "f.json", 1),
}
DEEP = MAX_DEPTH + 1
MEMBER = b'{"resources": {}, "dispatchables": {}, "commands": [], "x": %s}'
TEXTS = {
    "arrays": (b"[" * 100_000, "nested too deep"),
    "objects": (b'{"a":' * 100_000, "nested too deep"),
    "arrays with ends": (MEMBER % (b"[" * DEEP + b"]" * DEEP), "nested too deep"),
    "a huge integer": (MEMBER % (b"9" * 100_000), ""),
    "a huge number": (MEMBER % b"1e999", ""),
    "NaN": (MEMBER % b"NaN", ""),
    "Infinity": (MEMBER % b"-Infinity", ""),
    "not UTF-8": (b'{"x": "\xff\xfe"}', ""),
    "UTF-16": (b'{"x": "y"}'.decode().encode("utf-16-be"), ""),
    "nothing but a string": (b'"', ""),
    "a lone surrogate": (b'{"operator": "\\ud800", "desc": {}, "event": "\\ud800"}', ""),
    "no members": (b'{"operator": [], "desc": 3, "event": []}', ""),
}


@pytest.mark.parametrize("reader", READERS)
@swept("text", TEXTS)
def test_it_is_refused_in_a_sentence(tmp_path, capsys, reader, text):
    command, name, code = READERS[reader]
    content, expected = TEXTS[text]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    line = content + b"\n"
    path.write_bytes(gzip.compress(line) if name.endswith("gz") else line)
    target = path.parent if "capture" in name else path
    assert main([*command, str(target)]) == code
    output = capsys.readouterr().err
    assert expected in output
    assert "Traceback" not in output
    assert "sys.set_int_max_str_digits" not in output


def test_damaged_packed_cases(tmp_path, capsys):
    packed = gzip.compress(bytes(range(256)) * 64)
    for content in (packed[:-9], packed[:20] + bytes(40) + packed[60:]):
        path = tmp_path / "f.jsonl.gz"
        path.write_bytes(content)
        assert main(["compare", str(path)]) == 2
        assert "f.jsonl.gz" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
        # Brackets in strings contain nothing, and brackets side by side do not contain each other.
        (b'"' + b"[" * 1000 + b'\\"' + b"{" * 1000 + b'"', "[" * 1000 + '"' + "{" * 1000),
        (b"[" + b",".join([b"[]"] * 1000) + b"]", [[]] * 1000),
        (b"9" * MAX_DIGITS, int("9" * MAX_DIGITS)),
        (b"[" + b"9" * (MAX_DIGITS + 1) + b", -1e309]", [float("inf"), float("-inf")]),
        (b'\t[1.5, -2e3, "\xc3\xa4"]\r\n', [1.5, -2000.0, "ä"]),
    ],
)
def test_what_is_within_the_limits_is_read(text, value):
    found = read_json(text)
    assert value is None or found == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * DEEP + b"]" * DEEP, "values are nested too deep; at most 256 levels are read"),
        (b'["\\"", ' + b"[" * DEEP, "values are nested too deep; at most 256 levels are read"),
        (b'{"a": {"b": 1, "b": 1}}', "the member 'b' is duplicated"),
        (b'{"a": "\xff"}', "byte 7: is not UTF-8 text"),
        (b"[1,\n2", "line 2 column 2: Expecting ',' delimiter"),
    ],
)
def test_what_is_beyond_them_is_named(text, message):
    with pytest.raises(JsonError) as caught:
        read_json(text)
    assert str(caught.value) == message
