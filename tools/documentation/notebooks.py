"""Conversion of the documentation's MyST notebooks to .ipynb files at build time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOLDER = "downloads"


def notebook(text: str) -> dict[str, Any]:
    """A MyST notebook in Jupyter's format (nbformat 4.5), without outputs."""
    # Text and code cells alternate.
    pieces = CODE.split(FRONT_MATTER.sub("", text))
    cells = [
        _cell(number, "code" if number % 2 else "markdown", piece.strip())
        for number, piece in enumerate(pieces)
        if piece.strip()
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(number: int, kind: str, source: str) -> dict[str, Any]:
    cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source.splitlines(True)}
    return cell | {"execution_count": None, "outputs": []} if kind == "code" else cell


def write_notebooks(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "notebooks"
    (folder / FOLDER).mkdir(exist_ok=True)
    for path in folder.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        if CODE.search(text) is not None:
            made = json.dumps(notebook(text), indent=1, ensure_ascii=False) + "\n"
            (folder / FOLDER / f"{path.stem}.ipynb").write_text(made, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
