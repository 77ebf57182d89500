"""``python -m directml_py graph``."""

from __future__ import annotations

import io
import os
import xml.etree.ElementTree as ElementTree

import pytest
from toolchain import later

import directml_py as dml
from directml_py import dxdispatch
from directml_py.cli import main


@pytest.fixture
def file(branches, tmp_path):
    dxdispatch.save_graph(tmp_path / "g.bin", branches)
    return tmp_path / "g.bin"


def test_a_summary(file, capsys):
    assert main(["graph", str(file)]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    lines = dict(line.split(":", 1) for line in found.out.splitlines())
    assert lines["x"].split() == ["graph", "input", "0", "->", "FLOAT32", "{1,2,6,3}"]
    assert "(folded away)" in lines["parts"]
    assert "(folded away)" not in lines["left/join0"]
    assert lines["temporary memory"].split()[1] == "bytes"


def test_pictures(file, tmp_path, capsys):
    svg, dot = tmp_path / "g.svg", tmp_path / "g.dot"
    assert main(["graph", str(file), "--svg", str(svg), "--dot", str(dot)]) == 0
    assert capsys.readouterr().out == ""
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert dot.read_text(encoding="utf-8").startswith("digraph {")
    assert main(["graph", str(file), "--dot", "-"]) == 0
    assert capsys.readouterr().out == dot.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["no.json"], 2, "cannot read no.json: No such file"),
        ([".", "--svg", "x.svg"], 2, "cannot read .: Is a directory"),
        (["bad.bin"], 2, "bad.bin: the graph is damaged"),
        (["text.json"], 2, "neither a serialized graph nor a model: JSON parse error: line 1 column 1"),
        (["list.json"], 2, "neither a serialized graph nor a model: it has no dispatchables"),
        (["g.bin", "--svg", "no/where.svg"], 1, "cannot write no/where.svg: No such file"),
        (["g.bin", "--dot", "."], 1, "cannot write .: Is a directory"),
        (["g.bin", "--png", "x"], 2, "--png"),
        ([], 2, "FILE"),
    ],
)
def test_user_errors(file, monkeypatch, capsys, arguments, code, words):
    file.with_name("bad.bin").write_bytes(file.read_bytes()[:100])
    file.with_name("list.json").write_text("[]", encoding="utf-8")
    file.with_name("text.json").write_text("a graph", encoding="utf-8")
    monkeypatch.chdir(file.parent)
    try:
        found = main(["graph", *arguments])
    except SystemExit as end:
        found = end.code
    out, err = capsys.readouterr()
    assert (found, out) == (code, "")
    assert words in err


@pytest.mark.parametrize("option", [[], ["--svg", "-"], ["--dot", "-"]])
def test_names_that_the_terminal_lacks(graph, tmp_path, monkeypatch, option):
    x = graph.input_tensor("漢", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1])
    graph.outputs = graph.identity(x)
    dxdispatch.save_graph(tmp_path / "g.bin", graph)
    binary = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(binary, encoding="ascii"))
    assert main(["graph", str(tmp_path / "g.bin"), *option]) == 0
    assert "漢" in binary.getvalue().decode()


def test_help(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["graph", "--help"])
    assert caught.value.code == 0
    found = capsys.readouterr().out
    assert "--svg" in found
    assert "--dot" in found


def test_names_do_not_command_the_terminal(graph, x, tmp_path, capsys):
    """Neither those of a valid file nor text quoted in an error."""
    graph.outputs = {"out": graph.identity(x, name="a\x1b]0;title\x07\u202eb\nc")}
    dxdispatch.save_graph(tmp_path / "g.bin", graph)
    assert main(["graph", str(tmp_path / "g.bin")]) == 0
    assert "a\\x1b]0;title\\x07\\u202eb\\nc:" in capsys.readouterr().out
    assert main(["graph", str(tmp_path / "g.bin"), "--dot", "-"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    (tmp_path / "g.bin").write_text('{"dispatchables": {"\\u001b[2J": {}}}', encoding="utf-8")
    assert main(["graph", str(tmp_path / "g.bin")]) == 2
    error = capsys.readouterr().err
    assert "\\x1b[2J" in error
    assert "\x1b" not in error


@pytest.mark.parametrize("command", ["graph", *later("show")])
@pytest.mark.parametrize("kind", ["pipe", "device", "vast"])
def test_files_that_never_end(tmp_path, python, command, kind):
    """In a process of its own, since a failure of this test would not end."""
    path = tmp_path / "g.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 1 << 43)
    process = python("-m", "directml_py", command, str(path), cwd=tmp_path)
    assert process.returncode == 2
    problem = "it is too large" if kind == "vast" else "not a regular file"
    assert process.stderr.splitlines() == [f"{command}: cannot read {path}: {problem}"]
