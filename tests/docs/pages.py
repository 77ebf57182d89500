"""The blocks of code in README.md and in the pages of docs that are written by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^\s*(`{3,})\s*(.*?)\s*$")
UNRUN = re.compile(r"^<!-- not run: (.+) -->$")
NAMED = re.compile(r"^(?:#|//) ([\w.]+\.(?:py|cpp|h))$|^<!-- file: ([\w.]+) -->$")


class Block(NamedTuple):
    """A fenced block. ``file`` is the name that its first line or the line before gives it; ``unrun`` says why nobody
    can run it."""

    line: int
    language: str
    text: str
    file: str
    unrun: str


def pages() -> list[str]:
    """All pages that are written by hand, by their paths in the repository. Git ignores those that the build writes."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    built = tuple(line.removeprefix("/") for line in ignored if line.startswith("/docs/"))
    found = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
    return ["README.md", *(path for path in found if not path.startswith(built))]


def blocks(page: str) -> list[Block]:
    return list(_blocks((ROOT / page).read_text(encoding="utf-8").splitlines()))


def _blocks(lines: list[str]) -> Iterator[Block]:
    numbered, before = iter(enumerate(lines, 1)), ""
    for number, line in numbered:
        fence = FENCE.match(line)
        if fence is None:
            before = line if line.strip() else before
            continue
        text = []
        for _, inner in numbered:
            if inner.strip() == fence[1]:
                break
            text.append(inner)
        else:
            raise ValueError(f"the block in line {number} has no end")
        named = NAMED.match(before) or NAMED.match("".join(text[:1]))
        unrun = UNRUN.match(before)
        file = next(filter(None, named.groups())) if named is not None else ""
        yield Block(number, fence[2], "\n".join([*text, ""]), file, unrun[1] if unrun is not None else "")
        before = line
