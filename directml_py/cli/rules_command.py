"""``python -m directml_py rules``: lists every rule, with the test that breaks it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from functools import cache

from .. import operators
from ..testing.invalid_descs import derived_rules
from ..testing.known_rules import every_rule
from ..validation import Rule
from .catalog_document import as_document
from .explain_command import explanation, unknown
from .progress import track

TEST = "tests/rules/test_rules.py::test_rule"
DERIVED_TEST = "tests/operators/test_every_operator.py::test_a_broken_desc_is_refused_by_its_rule"
HELP = "List every rule that is checked: identifier, severity, text, the page it comes from, the test that breaks it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="only rules whose identifier contains these parts, such as JOIN, axis or DML-JOIN",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="a table in Markdown")
    form.add_argument("--json", action="store_true", help="a list in JSON")
    form.add_argument(
        "--explain", action="store_true", help="each rule in full, as the explain command prints it"
    )


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, or 2 if no rule matches all words."""
    rules = [rule for rule in every_rule() if all(matches(rule, word) for word in arguments.words)]
    if not rules:
        missing = f"no rule has {' and '.join(arguments.words)} in its identifier"
        is_identifier = arguments.explain and len(arguments.words) == 1
        print(f"rules: {unknown(arguments.words[0]) if is_identifier else missing}", file=sys.stderr)
        return 2
    if arguments.explain:
        print("\n\n".join(map(explanation, rules)))
        return 0
    form = as_markdown if arguments.markdown else as_json if arguments.json else as_text
    print(form(rules))
    return 0


def matches(rule: Rule, word: str) -> bool:
    """Whether ``word`` matches parts of the identifier, ignoring case: JOIN matches DML-JOIN-axis, not
    DML-Graph-joined; a word of several parts may begin or end within a part."""
    identifier, pattern = f"-{rule.id.lower()}-", word.lower().strip("-")
    return f"-{pattern}-" in identifier or ("-" in pattern and f"-{pattern}" in identifier)


@cache
def derived() -> frozenset[str]:
    """Identifiers of the rules that descs derived from the catalog break."""
    names = track(operators.SCHEMAS, "rules of operators", len(operators.SCHEMAS))
    return frozenset(rule for operator in names for rule in derived_rules(operator))


def test_of(rule: Rule) -> str:
    """The id of the test that breaks ``rule`` alone, with a desc derived from the catalog or a hand-written case."""
    return f"{DERIVED_TEST if rule.id in derived() else TEST}[{rule.id}]"


def as_text(rules: Iterable[Rule]) -> str:
    return "\n\n".join(
        f"{rule.id} ({rule.severity.value})\n  {rule.text}\n  source: {rule.source}\n  test: {test_of(rule)}"
        for rule in rules
    )


def as_json(rules: Iterable[Rule]) -> str:
    return json.dumps([{**as_document(rule), "test": test_of(rule)} for rule in rules], indent=1)


def as_markdown(rules: Iterable[Rule]) -> str:
    rows = ["| Rule | Text | Source | Severity | Test |", "| --- | --- | --- | --- | --- |"]
    for rule in rules:
        # An unescaped | would end the cell.
        text = rule.text.replace("|", "\\|")
        rows.append(f"| `{rule.id}` | {text} | {rule.source} | {rule.severity.value} | `{test_of(rule)}` |")
    return "\n".join(rows)
