"""Pages with the source of the modules of ``directml_py.operators``, to whose classes operators' pages link."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from directml_py.operators import SCHEMAS, operator_of

from .markdown import page

FOLDER = "operators/source"


def source_pages() -> dict[str, str]:
    """A page for each module that has an operator's class, by path."""
    modules = sorted({type(operator_of(name)).__module__ for name in SCHEMAS})
    return {f"{FOLDER}/{_file(module)}.md": source_page(module) for module in modules}


def link(name: str) -> str:
    """From an operator's page to its class."""
    kind = type(operator_of(name))
    return f"source/{_file(kind.__module__)}.md#{_anchor(kind.__name__)}"


def _file(module: str) -> str:
    return module.removeprefix("directml_py.operators.")


def _anchor(name: str) -> str:
    return f"class-{name.lower()}"


def source_page(module: str) -> str:
    """The whole module, with a heading at each class. Searches are for what pages say, not for names in code."""
    path = Path(str(import_module(module).__file__))
    return page(
        "---\norphan: true\nnosearch: true\n---",
        f"# {path.name}",
        f"The source of `{module}`.",
        *(_part(name, first, text) for name, first, text in _parts(path.read_text(encoding="utf-8"))),
    )


def _part(name: str, first: int, text: str) -> str:
    heading = f"({_anchor(name)})=\n## {name}\n\n" if name else ""
    fence = "````" if "```" in text else "```"
    return f"{heading}{fence}{{code-block}} python\n:lineno-start: {first}\n\n{text.rstrip()}\n{fence}"


def _parts(text: str) -> Iterator[tuple[str, int, str]]:
    """Class, first line and text of the pieces of a module; the class is empty for what stands before the first."""
    lines = text.splitlines()
    starts = [("", 1)]
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            starts.append((node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])))
    ends = [first - 1 for _, first in starts[1:]] + [len(lines)]
    for (name, first), end in zip(starts, ends):
        yield name, first, "\n".join(lines[first - 1 : end])
