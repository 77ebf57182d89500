"""The Sphinx extension that writes the generated pages before Sphinx reads its sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from directml_py.operators import SCHEMAS

from .api_pages import command_page, enums_page, environment_page, interfaces_page, structs_page
from .levels_page import levels_page
from .operator_index import CPP, operator_index
from .operator_page import operator_page
from .rules_page import rules_page

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# It contains only generated pages: any other file is stale.
GENERATED_FOLDER = "operators"


# Every generated page, by path.
PAGES: dict[str, Callable[[], str]] = {
    "levels.md": levels_page,
    "reference/structs.md": structs_page,
    "reference/enums.md": enums_page,
    "reference/interfaces.md": interfaces_page,
    "reference/command_line.md": command_page,
    "reference/environment.md": environment_page,
    "reference/rules.md": rules_page,
    "operators/index.md": operator_index,
    "operators/cpp.md": lambda: CPP,
    **{f"operators/{name}.md": partial(operator_page, name) for name in SCHEMAS},
}


def pages() -> dict[str, str]:
    """The texts of all generated pages, by path."""
    return {path: make() for path, make in PAGES.items()}


def write(docs: Path, texts: Mapping[str, str]) -> None:
    """Write pages below ``docs``; unchanged files are not touched, so that Sphinx does not rebuild them."""
    for path in (docs / GENERATED_FOLDER).rglob("*.md"):
        if path.relative_to(docs).as_posix() not in texts:
            path.unlink()
    for name, text in texts.items():
        path = docs / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", lambda app: write(Path(app.srcdir), pages()))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
