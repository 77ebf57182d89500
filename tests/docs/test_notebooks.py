"""Notebooks for Jupyter have the cells of the pages."""

from __future__ import annotations

import pytest
from documentation.notebooks import notebook

from .pages import ROOT, blocks

NAMES = ["barriers", "graphs", "models", "tensors"]
TEXT = """---
kernelspec:
  name: python3
---

# Title

Some text.

```{code-cell} python
:tags: []
x = 1

print(x)
```

```text
no cell
```

```{code-cell} python
x + 1
```
"""


def test_cells() -> None:
    cells = notebook(TEXT)["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown", "code"]
    assert "".join(cells[0]["source"]) == "# Title\n\nSome text."
    assert "".join(cells[1]["source"]).endswith("x = 1\n\nprint(x)")
    assert "".join(cells[3]["source"]) == "x + 1"


def test_there_are_four() -> None:
    found = [path.stem for path in (ROOT / "docs" / "notebooks").glob("*.md") if path.stem != "index"]
    assert sorted(found) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_jupyter_reads_them(name: str) -> None:
    nbformat = pytest.importorskip("nbformat")
    page = f"docs/notebooks/{name}.md"
    made = notebook((ROOT / page).read_text(encoding="utf-8"))
    nbformat.validate(nbformat.from_dict(made))
    code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
    assert code == [block.text.strip() for block in blocks(page)]
