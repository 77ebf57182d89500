"""The pages for those who change the package name files, symbols and rules that are there."""

from __future__ import annotations

import pytest

from directml_py.abi.rules import Rule
from directml_py.sync_validation import sync_rules

from .pages import ROOT, pages
from .source_names import docstring_names, is_defined, is_known, spans, unknown_names

# Lists the names that others have replaced.
GLOSSARY = "docs/inside/glossary.md"
GENERATED = "<!-- Written by tools/"


def checked_pages() -> list[str]:
    inside = [
        page
        for page in pages()
        if page.startswith("docs/inside/")
        and page != GLOSSARY
        and not (ROOT / page).read_text(encoding="utf-8").startswith(GENERATED)
    ]
    return [*inside, "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", checked_pages())
def test_what_a_page_names_exists(page: str) -> None:
    assert "\n".join(unknown_names(page)) == ""


def test_what_docstrings_name_exists() -> None:
    modules = [path for folder in ("directml_py", "tools") for path in sorted((ROOT / folder).rglob("*.py"))]
    named = [
        (f"{path.relative_to(ROOT)}:{line}", name) for path in modules for line, name in docstring_names(path)
    ]
    assert len(named) > 300
    assert [(where, name) for where, name in named if not is_defined(name)] == []


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("launch.launch_in_order", True),
        ("kernels.launch", True),
        ("Graph.compile", True),
        ("os.fork", True),
        ("launch_in_order", True),
        ("launch.multiply", False),
        ("kernels.elementary.quantize", False),
        ("launch_in_disorder", False),
    ],
)
def test_names_of_docstrings(name: str, is_there: bool) -> None:
    assert is_defined(name) is is_there


@pytest.mark.parametrize(
    "name",
    [
        "directml_py/kernels/launch.py",
        "kernels/native/NAME/dispatch.h",
        "threads/barrier.h",
        "declarations.h",
        "tests/kernels/",
        "dml_parallel",
        "dml_NAME_run",
        "IDMLDevice1.CompileGraph",
        "DIRECTML_PY_THREADS",
        "D3D12-CommandQueue-wait",
        "DML-Graph-*",
        "os.fork",
        "--only",
        "64",
    ],
)
def test_what_is_there_is_found(name: str) -> None:
    assert is_known(name)


@pytest.mark.parametrize(
    "name",
    [
        "directml_py/kernels/slide.py",
        "kernels/native/NAME/table.h",
        "arrier.h",
        "dml_parallelize",
        "dml_NAME_ran",
        "IDMLDevice1.CompileGraphs",
        "DIRECTML_PY_THREAD",
        "D3D12-CommandQueue-waits",
        "os.spork",
        "--solely",
    ],
)
def test_what_is_not_there_is_missed(name: str) -> None:
    assert not is_known(name)


def test_every_rule_of_synchronization_stands_in_its_page() -> None:
    rules = {value.id for value in vars(sync_rules).values() if isinstance(value, Rule)}
    assert len(rules) > 20
    assert rules <= {span for _, span in spans("docs/inside/sync-validation.md")}


def test_blocks_and_roles_are_not_read() -> None:
    """Blocks run as they are (``test_blocks.py``), and Sphinx resolves its roles."""
    found = [span for _, span in spans("docs/inside/operators.md")]
    assert "tools/api/operators/<family>.toml" in found
    assert not any("RepeatsCount ==" in span or "ns-directml" in span for span in found)
