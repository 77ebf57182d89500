"""The pages in plain Markdown, as the repository's host shows them: links lead somewhere, and no role is left over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documentation.site import PAGES
from sweeps import swept

from .pages import ROOT, blocks, pages
from .running import CPP

LINK = re.compile(r"\[(?:[^][]|\[[^]]*\])*\]\(([^()\s]+)\)")
ROLE = re.compile(r"\{(?:doc|ref|any)\}`")
WRITTEN = [*pages(), "CONTRIBUTING.md", "CHANGELOG.md", "tools/generators/README.md"]
PROGRAMS = ["docs/porting/hello", "docs/porting/linux"]


def prose(page: str) -> str:
    """The page without its blocks of code and its comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^(\s*)(`{3,}).*?^\s*\2\s*$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "`code`", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))


def anchors(page: Path) -> set[str]:
    """Those that hosts and MyST make of headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def is_generated(path: Path) -> bool:
    """Pages that are there once the documentation has been built."""
    return path.is_relative_to(ROOT / "docs") and path.relative_to(ROOT / "docs").as_posix() in PAGES


def broken(page: str) -> list[str]:
    found = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        address, _, anchor = link.partition("#")
        target = (ROOT / page).parent.joinpath(address).resolve() if address else ROOT / page
        if is_generated(target) and page.startswith("docs/"):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@swept("page", WRITTEN)
def test_links_lead_somewhere(page: str) -> None:
    assert broken(page) == []


@swept("page", WRITTEN)
def test_no_role_stands_for_a_link(page: str) -> None:
    """Only Sphinx makes links of roles."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert ROLE.findall(text) == []
    assert re.findall(r"^\([\w-]+\)=$", text, re.MULTILINE) == [], "a label, which other readers see as text"


def test_included_files_are_linked() -> None:
    """What a directive includes is not on the page that the repository's host shows."""
    for page in pages():
        text = (ROOT / page).read_text(encoding="utf-8")
        for name in re.findall(r"^```\{literalinclude\} (\S+)$", text, re.MULTILINE):
            assert f"]({name})" in text, (page, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_beside_their_pages(name: str) -> None:
    """The file has what the page shows, and the page links to it."""
    pieces = [block.text for block in blocks(f"{name}.md") if block.language in CPP and not block.file]
    assert (ROOT / f"{name}.cpp").read_text(encoding="utf-8") == "\n".join(pieces)
    assert f"]({Path(name).name}.cpp)" in (ROOT / f"{name}.md").read_text(encoding="utf-8")
