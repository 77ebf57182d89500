"""Markdown as MyST reads it: tables, blocks of code, and links to the pages of Microsoft's documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

LEARN = "https://learn.microsoft.com/windows"
API = re.compile(r"n[esfn]-(?P<header>[a-z0-9]+)-")


def cell(text: str) -> str:
    """Nothing in a cell looks like the end of it."""
    return text.replace("|", "\\|").replace("\n", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(cell, row))} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def code(language: str, text: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def details(summary: str, body: str, *, is_open: bool = False) -> str:
    """A part that unfolds."""
    state = " open" if is_open else ""
    return f"<details{state}>\n<summary>{escape(summary)}</summary>\n\n{body}\n\n</details>"


def page(*parts: str) -> str:
    """A page of parts; empty ones are left out."""
    return "\n\n".join(filter(None, parts)) + "\n"


def literal(text: str) -> str:
    return f"`{text}`"


def anchored(identifier: str) -> str:
    """An identifier to which other pages can link as ``[](#identifier)``."""
    return f"[`{identifier}`]{{#{identifier}}}"


def learn(source: str) -> str:
    """The address of the page that a rule names as its source; empty for one of our own."""
    if source == "directml-py":
        return ""
    match = API.match(source)
    if match:
        return f"{LEARN}/win32/api/{match['header']}/{source}"
    if source.startswith(("dml-", "directml-")):
        return f"{LEARN}/ai/directml/{source}"
    return f"{LEARN}/win32/direct3d12/{source}"


def source_link(source: str) -> str:
    address = learn(source)
    return f"[{source}]({address})" if address else source


def plain(docstring: str) -> str:
    """A docstring as Markdown: one backtick where it has two."""
    return docstring.replace("``", "`")
