"""Runs the blocks of a page in their order, as a reader would who types them all."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):
    import tomli as tomllib
else:
    import tomllib

from documentation import lane_diagram

from .pages import ROOT, Block

PYTHON = ("python", "py", "{code-cell} python")
CPP = ("cpp", "c++")
SHELL = ("sh", "bash", "console")
# The contents of these directives are not programs; the build reads them.
DIRECTIVES = re.compile(r"^\{(?!code-cell)[\w-]+\}")
ELSEWHERE = "…"


class Page:
    """A page on its way through its blocks, in a folder of its own."""

    def __init__(self, name: str, blocks: list[Block], folder: Path, everything: bool) -> None:
        self.name, self.blocks, self.folder = name, blocks, folder
        # Commands and compilers too, not Python alone.
        self.everything = everything
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed: str | None = None
        # One for the page: what a block sets up, such as logging, may print in a later one.
        self.output = io.StringIO()

    def run(self) -> None:
        self._write_program()
        for block in self.blocks:
            if not block.unrun:
                self._kind(block)(block)

    def _kind(self, block: Block) -> Callable[[Block], None]:
        if block.file:
            return self._file
        for languages, kind in (
            (PYTHON, self._python),
            (("text",), self._text),
            (CPP, lambda block: None),
            (SHELL, self._shell),
            (("yaml",), _yaml),
            (("json",), lambda block: json.loads(block.text)),
            (("toml",), lambda block: tomllib.loads(block.text)),
            (("{timeline}",), lambda block: lane_diagram.draw(lane_diagram.parse(block.text))),
        ):
            if block.language in languages:
                return kind
        if DIRECTIVES.match(block.language):
            return lambda block: None
        raise AssertionError(f"{self.where(block)}: nothing runs {block.language!r}")

    def where(self, block: Block) -> str:
        return f"{self.name}:{block.line}"

    def _file(self, block: Block) -> None:
        (self.folder / block.file).write_text(block.text, encoding="utf-8")
        if block.language in PYTHON:
            compile(block.text, block.file, "exec")

    def _python(self, block: Block) -> None:
        text = re.sub(r"^:[\w-]+:.*$", "", block.text, flags=re.MULTILINE)
        # Messages of the debug layers name lines: those of the block, which stay when the page around it grows.
        code = compile(text, f"{Path(self.name).stem}.py", "exec")
        start = self.output.tell()
        try:
            with contextlib.redirect_stdout(self.output):
                exec(code, self.names)
        except Exception as error:
            raise AssertionError(f"{self.where(block)}: {error!r}") from error
        self.printed = self.output.getvalue()[start:]

    def _text(self, block: Block) -> None:
        if self.printed is not None:
            compare(self.printed, block.text, self.where(block))

    def _console(self, block: Block) -> None:
        """Each command, behind a ``$``, prints what stands below it."""
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            compare(self._command(command, block), expected, self.where(block))

    def _shell(self, block: Block) -> None:
        self.printed = None
        if not self.everything:
            return
        if block.language == "console":
            self._console(block)
        else:
            self.printed = self._command(f"set -eu\n{block.text}", block)

    def _command(self, command: str, block: Block) -> str:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        # ``python`` is this one, as in an environment that is activated.
        search = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PYTHONPATH": path, "PATH": search, "COLUMNS": "120"}
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        # Tests of a page may fail: what they print tells.
        assert run.returncode == 0 or "pytest" in command, f"{self.where(block)}: {run.stdout}"
        return run.stdout

    def _write_program(self) -> None:
        """The C++ pieces of a page are one program, which a command of the page compiles."""
        pieces = [block for block in self.blocks if block.language in CPP and not block.file]
        if not pieces:
            return
        name = f"{Path(self.name).stem}.cpp"
        assert any(name in block.text for block in self.blocks if block.language in SHELL), name
        # The messages of the compiler name the lines of the page.
        lines = [f'#line {piece.line + 1} "{self.name}"\n{piece.text}' for piece in pieces]
        (self.folder / name).write_text("\n".join(lines), encoding="utf-8")


def compare(printed: str, expected: str, where: str) -> None:
    """What is printed is what the page says; ``…`` there stands for anything."""
    pattern = ".*?".join(map(re.escape, expected.rstrip().split(ELSEWHERE)))
    if re.fullmatch(pattern, printed.rstrip(), re.DOTALL) is None:
        raise AssertionError(f"{where} says\n{expected}\nbut this is printed:\n{printed}")


def _yaml(block: Block) -> None:
    import yaml

    workflow = yaml.safe_load(block.text)
    for job in workflow["jobs"].values():
        assert {"runs-on", "steps"} <= job.keys()
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
