"""``python -m directml_py explain``: a rule, why it exists, an example that breaks it, and its mend."""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from importlib.resources import files
from textwrap import fill, indent

from ..abi.rules import RULES, Rule
from ..testing.differences import differences
from ..testing.invalid_desc_search import shortest_breach_of
from ..testing.known_rules import check_rule, every_rule
from ..validation.tensor_rules import level_name
from .completion import completed_by
from .page_links import learn
from .rule_reasons import reason_of

HELP = (
    "A rule in full: its text and page, why it exists, an example that breaks it with the message, the mend."
)
WIDTH = 100
BENCH = "`bench` holds a device, a queue and a command list; the helpers are those of the tests."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    chosen = parser.add_argument("rules", nargs="+", metavar="RULE", help="an identifier, as DML-JOIN-axis")
    completed_by(chosen, lambda: [rule.id for rule in every_rule()])


def run(arguments: argparse.Namespace) -> int:
    """0, or 2 if there is no rule of such a name."""
    every_rule()
    chosen = [RULES.get(identifier) for identifier in arguments.rules]
    for identifier, rule in zip(arguments.rules, chosen):
        if rule is None:
            print(f"explain: {unknown(identifier)}", file=sys.stderr)
    if None in chosen:
        return 2
    print("\n\n".join(explanation(rule) for rule in chosen if rule is not None))
    return 0


def unknown(identifier: str) -> str:
    """What is wrong with the identifier, and which ones are close to it."""
    try:
        check_rule(identifier)
    except ValueError as error:
        return str(error)
    return f"there is no rule {identifier}; python -m directml_py rules lists them"


def explanation(rule: Rule) -> str:
    """The rule in full, as text."""
    source = learn(rule.source) or "a rule of this package"
    head = f"{rule.id} ({rule.severity.value})\n  {rule.text}\n  source: {source}"
    why = fill(reason_of(rule.id), WIDTH, initial_indent="  ", subsequent_indent="  ")
    example = examples().get(rule.id)
    shown = of_tests(example) if example else derived(rule.id)
    return f"{head}\n\nWhy\n{why}\n\n{shown}"


@cache
def examples() -> dict[str, dict[str, str]]:
    """Of rules that no desc derived from the catalog breaks: what breaks them, the mend, and the message."""
    text = files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found


def of_tests(example: dict[str, str]) -> str:
    is_program = example["wrong"].startswith(("def ", "lambda"))
    note = f"  ({BENCH})\n" if is_program else ""
    return (
        f"Example that breaks it\n{note}{inset(example['wrong'])}\n\n"
        f"Message\n{inset(example['message'])}\n\nMend\n{inset(example['right'])}"
    )


def derived(identifier: str) -> str:
    """A valid desc with one change."""
    breach = shortest_breach_of(identifier)
    changes = list(differences(breach.desc, breach.twin))
    messages = "\n".join(found.message for found in breach.diagnostics)
    mend = "\n".join(f"{one.path}: {one.left} -> {one.right}" for one in changes)
    return (
        f"Example that breaks it, at {level_name(breach.level)}\n{inset(repr(breach.desc))}\n\n"
        f"Message\n{inset(messages)}\n\nMend, after which no rule is broken\n{inset(mend)}"
    )


def inset(text: str) -> str:
    return indent(text, "  ")
