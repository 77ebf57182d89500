"""The page of the capture format has every event, every command and every member that the recorder writes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .pages import ROOT

CAPTURING = ROOT / "directml_py" / "capturing"
PAGE = ROOT / "docs" / "inside" / "captures.md"
CODE = re.compile(r"`(\w+)`")
# Described under a dict's name, and the function that builds the dict.
SPREAD = {"resource": "describe_buffer", "operator": "describe_operator"}


def rows(heading: str) -> dict[str, set[str]]:
    """The first cell of each row of the table below a heading, and the names in the second."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {CODE.findall(cells[0])[0]: set(CODE.findall(cells[1])) for cells in table}


def tree(module: str) -> ast.Module:
    return ast.parse((CAPTURING / f"{module}.py").read_text(encoding="utf-8"))


def functions(module: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef)}


def keys(node: ast.Dict) -> set[str]:
    return {key.value for key in node.keys if isinstance(key, ast.Constant)}


def events() -> Iterator[tuple[str, set[str]]]:
    """The events of the recorder and of its files, each with the members that are named where it is written."""
    for module in ("recorder", "content_store"):
        for node in ast.walk(tree(module)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            kind = node.args[0]
            if node.func.attr in ("_event", "event") and isinstance(kind, ast.Constant):
                yield kind.value, {word.arg for word in node.keywords if word.arg is not None}


def written_events() -> dict[str, set[str]]:
    written = dict(events())
    described = functions("serialize")
    for kind, name in SPREAD.items():
        for node in ast.walk(described[name]):
            if isinstance(node, ast.Dict):
                written[kind] |= keys(node)
    written["command"].add("kind")
    return written


def written_commands() -> dict[str, set[str]]:
    commands = {}
    for node in ast.walk(tree("recorder")):
        if isinstance(node, ast.Dict) and "kind" in keys(node):
            kind = next(
                value for key, value in zip(node.keys, node.values) if ast.unparse(key or node) == "'kind'"
            )
            assert isinstance(kind, ast.Constant)
            commands[kind.value] = keys(node) - {"kind"}
    return commands


def test_events() -> None:
    written = written_events()
    assert len(written) > 20
    assert rows("Events") == written


def test_commands() -> None:
    written = written_commands()
    assert len(written) > 8
    assert rows("Commands") == written


def test_readers_know_the_same_events() -> None:
    known = {name.removeprefix("_on_") for name in functions("parser") if name.startswith("_on_")}
    assert set(rows("Events")) == known | {"process"}


def test_barriers_are_described() -> None:
    """Each form of a barrier, in the row of ``barriers``."""
    text = next(
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `barriers`")
    )
    for node in ast.walk(functions("serialize")["describe_barrier"]):
        if isinstance(node, ast.Dict):
            names = {value.value for value in node.values if isinstance(value, ast.Constant)} | keys(node)
            assert names <= set(CODE.findall(text)) | {"type"}


def test_the_version_is_the_one_that_is_written() -> None:
    from directml_py.capturing.content_store import FORMAT, VERSION

    assert f"format `{FORMAT}`, version {VERSION}" in PAGE.read_text(encoding="utf-8")
