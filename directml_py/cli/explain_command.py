"""``python -m directml_py explain``: a rule, its rationale, an example that breaks it, and the fix; or the kernels
that run the operators of a model."""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from textwrap import fill, indent

from ..abi.rules import OWN, RULES, Rule
from ..testing.differences import differences
from ..testing.invalid_desc_search import shortest_invalid_desc_of
from ..testing.known_rules import check_rule, every_rule
from ..validation.tensor_rules import level_name
from .completion import completed_by
from .page_links import learn
from .rule_reasons import reason_of

HELP = (
    "Explain a rule: its text and page, why it exists, an example that breaks it, the message, the fix; or say"
    " which kernel runs each operator of a DxDispatch model, and why others do not."
)
MODEL = ".json"
WIDTH = 100
BENCH = "`bench` has a device, a queue and a command list; the helpers are those of the tests."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    chosen = parser.add_argument(
        "rules",
        nargs="+",
        metavar="RULE",
        help="an identifier, such as DML-JOIN-axis, or a model, such as gemm.json",
    )
    completed_by(chosen, lambda: [rule.id for rule in every_rule()])


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, or 2 for an unknown rule or a model that cannot be read or run."""
    every_rule()
    explanations, problems = [], []
    for name in arguments.rules:
        try:
            explanations.append(described(name))
        except OSError as error:
            problems.append(f"cannot read {name}: {error.strerror or error}")
        except ValueError as error:
            problems.append(str(error))
    for problem in problems:
        print(f"explain: {problem}", file=sys.stderr)
    if problems:
        return 2
    print("\n\n".join(explanations))
    return 0


def described(name: str) -> str:
    """A model's kernels, or a rule in full. Raises ``OSError`` and ``ValueError`` as these do."""
    if name.endswith(MODEL):
        # Imports what runs operators, which no rule needs.
        from .chosen_kernels import kernels_of

        return kernels_of(Path(name))
    return explanation(rule_of(name))


def rule_of(identifier: str) -> Rule:
    """The rule by its identifier. Raises ``ValueError`` for an unknown one."""
    rule = RULES.get(identifier)
    if rule is None:
        raise ValueError(unknown(identifier))
    return rule


def unknown(identifier: str) -> str:
    """The message for an unknown identifier, with close matches."""
    try:
        check_rule(identifier)
    except ValueError as error:
        return str(error)
    return f"there is no rule {identifier}; python -m directml_py rules lists them"


def explanation(rule: Rule) -> str:
    """The rule in full, as text."""
    source = learn(rule.source) or ("a rule of this package" if rule.source == OWN else rule.source)
    head = f"{rule.id} ({rule.severity.value})\n  {rule.text}\n  source: {source}"
    why = fill(reason_of(rule.id), WIDTH, initial_indent="  ", subsequent_indent="  ")
    example = examples().get(rule.id)
    shown = of_tests(example) if example else derived(rule.id)
    return f"{head}\n\nWhy\n{why}\n\n{shown}"


@cache
def examples() -> dict[str, dict[str, str]]:
    """Examples for rules that no desc derived from the catalog breaks: the violation, the fix and the message."""
    text = files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
    cases: dict[str, dict[str, str]] = json.loads(text)
    return cases


def of_tests(example: dict[str, str]) -> str:
    is_program = example["wrong"].startswith(("def ", "lambda"))
    note = f"  ({BENCH})\n" if is_program else ""
    return (
        f"Example that breaks it\n{note}{inset(example['wrong'])}\n\n"
        f"Message\n{inset(example['message'])}\n\nFix\n{inset(example['right'])}"
    )


def derived(identifier: str) -> str:
    """An example derived from the catalog: a valid desc with one change."""
    example = shortest_invalid_desc_of(identifier)
    changes = list(differences(example.desc, example.valid_desc))
    messages = "\n".join(diagnostic.message for diagnostic in example.diagnostics)
    fix = "\n".join(f"{change.path}: {change.left} -> {change.right}" for change in changes)
    return (
        f"Example that breaks it, at {level_name(example.level)}\n{inset(repr(example.desc))}\n\n"
        f"Message\n{inset(messages)}\n\nFix, after which no rule is broken\n{inset(fix)}"
    )


def inset(text: str) -> str:
    return indent(text, "  ")
