"""Helpers for MyST Markdown: tables, code blocks, and links to Microsoft's documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from directml_py.abi.rules import LIBRARY
from directml_py.cli.rule_reasons import learn


def cell(text: str) -> str:
    """Escape text for a table cell."""
    return text.replace("|", "\\|").replace("\n", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(cell, row))} |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def code(language: str, text: str) -> str:
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def details(summary: str, body: str, *, is_open: bool = False) -> str:
    """A collapsible section."""
    state = " open" if is_open else ""
    return f"<details{state}>\n<summary>{escape(summary)}</summary>\n\n{body}\n\n</details>"


def page(*parts: str) -> str:
    """A page of sections; empty ones are left out."""
    return "\n\n".join(filter(None, parts)) + "\n"


def literal(text: str) -> str:
    return f"`{text}`"


def anchored(identifier: str) -> str:
    """An identifier with an anchor, to which other pages link as ``[](#identifier)``."""
    return f"[`{identifier}`]{{#{identifier}}}"


def source_link(source: str) -> str:
    """A rule's source; what Microsoft's library alone says is on the page about it."""
    address = "/inside/fidelity.md" if source == LIBRARY else learn(source)
    return f"[{source}]({address})" if address else source


def documented(name: str, *options: str) -> str:
    """What autodoc says of a class, with a link to its source."""
    return code("{eval-rst}", "\n   ".join([f".. autoclass:: {name}", *options]))


def plain(docstring: str) -> str:
    """A docstring as Markdown: double backticks become single ones."""
    return docstring.replace("``", "`")
