"""``python -m directml_py rules``: every rule, with the test that breaks it."""

from __future__ import annotations

import argparse
from functools import cache

from .. import operators
from ..testing.breaches import derived_rules
from ..testing.known_rules import every_rule
from ..validation import Rule

TEST = "tests/rules/test_rules.py::test_rule"
DERIVED_TEST = "tests/operators/test_every_operator.py::test_a_broken_desc_is_refused_by_its_rule"
HELP = (
    "Every rule that is checked: identifier, severity, text, the page it comes from, the test that breaks it."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--markdown", action="store_true", help="a table in Markdown")


def run(arguments: argparse.Namespace) -> int:
    print(as_markdown() if arguments.markdown else as_text())
    return 0


@cache
def derived() -> frozenset[str]:
    """The rules that descs derived from the catalog break."""
    return frozenset(rule for operator in operators.SCHEMAS for rule in derived_rules(operator))


def test_of(rule: Rule) -> str:
    """The id of the test that breaks ``rule`` alone, in descs derived from the catalog or in a case of its own."""
    return f"{DERIVED_TEST if rule.id in derived() else TEST}[{rule.id}]"


def as_text() -> str:
    return "\n\n".join(
        f"{rule.id} ({rule.severity.value})\n  {rule.text}\n  source: {rule.source}\n  test: {test_of(rule)}"
        for rule in every_rule()
    )


def as_markdown() -> str:
    rows = ["| Rule | Text | Source | Severity | Test |", "| --- | --- | --- | --- | --- |"]
    for rule in every_rule():
        # Nothing in a cell may look like the end of it.
        text = rule.text.replace("|", "\\|")
        rows.append(f"| `{rule.id}` | {text} | {rule.source} | {rule.severity.value} | `{test_of(rule)}` |")
    return "\n".join(rows)
