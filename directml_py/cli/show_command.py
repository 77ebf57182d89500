"""``python -m directml_py show``: what there is to know of operators, rules, models and the whole API."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from textwrap import fill, indent

from .. import operators
from ..abi.rules import RULES, THIS_PACKAGE, Rule
from ..abi.schema import OperatorSchema
from ..api import enums
from ..api.schema_data import OPERATORS as CATALOG
from ..capturing import is_capture
from ..descs.data_types import type_name
from ..descs.types_by_name import enum_class
from ..testing.differences import differences
from ..testing.invalid_desc_search import shortest_invalid_desc_of
from ..testing.invalid_descs import derived_rules
from ..testing.known_rules import check_rule, every_rule
from ..text.terminal import track
from ..validation.support_tables import Support, support_of
from ..validation.tensor_rules import level_name
from .catalog_document import as_document, document, json_schema
from .rule_reasons import learn, reason_of

HELP = "Show an operator, a rule, the kernels of a model, or the whole API."
DESCRIPTION = """
  JOIN             an operator: data types and dimension counts by feature level
  DML-JOIN-axis    a rule: its text and page, why it exists, an example that
                   breaks it, the message, the fix
  gemm.json        a DxDispatch model: which kernel runs each operator, and why
                   others do not
  operators        the names of all operators
  rules [WORD ...] the rules whose identifiers contain these parts, such as
                   JOIN axis; each with the test that breaks it
  api              structs with layouts, enumerations, operators, support
                   tables, interfaces and rules, as JSON
  schema           the JSON Schema of that document"""
PREFIX = "DML_OPERATOR_"
MODEL = ".json"
WIDTH = 100
BENCH = "`bench` has a device, a queue and a command list; the helpers are those of the tests."
TEST = "tests/rules/test_rules.py::test_rule"
DERIVED_TEST = "tests/operators/test_every_operator.py::test_a_broken_desc_is_refused_by_its_rule"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = HELP + "\n" + DESCRIPTION
    name = parser.add_argument("name", metavar="NAME", help="one of the above")
    words = parser.add_argument(
        "words", metavar="WORD", nargs="*", default=[], help="further names, or parts of rules"
    )
    # argcomplete looks for this attribute, and passes the text typed so far.
    for argument in (name, words):
        argument.completer = lambda **typed: list(_known_names())  # type: ignore[attr-defined]
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="an operator, operators or rules as JSON")
    form.add_argument("--markdown", action="store_true", help="rules as a table in Markdown")
    parser.add_argument("--debug", action="store_true", help="only rules that debug layers alone check")


def _known_names() -> Iterable[str]:
    yield from WHOLE
    yield from (schema.name for schema in CATALOG.values())
    yield from (rule.id for rule in every_rule())


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, or 2 for an unknown name or a model that cannot be read or run."""
    name: str = arguments.name
    if arguments.words and name in WHOLE and name != "rules":
        return _wrong([f"{name} takes no further names"])
    if (arguments.markdown or arguments.debug) and name != "rules":
        return _wrong(["--markdown and --debug are for rules"])
    if name in WHOLE:
        try:
            print(WHOLE[name](arguments))
        except ValueError as error:
            return _wrong([str(error)])
        return 0
    shown, problems = [], []
    for one in (name, *arguments.words):
        try:
            shown.append(described(one, arguments.json))
        except OSError as error:
            problems.append(f"cannot read {one}: {error.strerror or error}")
        except ValueError as error:
            problems.append(str(error))
    if problems:
        return _wrong(problems)
    print("\n\n".join(shown))
    return 0


def _wrong(problems: Sequence[str]) -> int:
    for problem in problems:
        print(f"show: {problem}", file=sys.stderr)
    return 2


def described(name: str, as_json: bool = False) -> str:
    """A model's kernels, a rule in full or an operator's support. Raises ``OSError`` and ``ValueError`` for what cannot
    be read or is unknown."""
    if name.endswith(MODEL):
        # Imports what runs operators, which nothing else here needs.
        from .chosen_kernels import kernels_of

        return kernels_of(Path(name))
    if name.startswith(("DML-", "D3D12-")):
        rule = rule_of(name)
        return json.dumps(_rule_document(rule), indent=1) if as_json else explanation(rule)
    try:
        schema = operators.schema_named(name)
    except ValueError:
        if not os.path.exists(name):
            raise
        raise ValueError(_no_model(Path(name))) from None
    if as_json:
        return json.dumps({schema.type_name: document()["operators"][schema.type_name]}, indent=1)
    return support_table(schema)


def _no_model(path: Path) -> str:
    if is_capture(path):
        return f"{path} is a capture; `capture show {path}` writes its page"
    return f"{path} is not a model, whose name ends with {MODEL}"


def support_table(schema: OperatorSchema) -> str:
    """The operator's support table from its page, per feature level."""
    lines = [
        f"{schema.type_name} ({schema.struct.name})",
        schema.about,
        f"introduced in {level_name(schema.level)}",
    ]
    condition = None
    for entry in support_of(schema):
        if entry.when and entry.when != condition:
            lines += ["", _condition(schema, entry)]
            condition = entry.when
        lines += ["", f"{level_name(entry.level)} and above", *_rows(entry)]
    return "\n".join(lines)


def _condition(schema: OperatorSchema, entry: Support) -> str:
    conditions = []
    for name, values in entry.when.items():
        field = schema.struct.fields[schema.struct.index[name]]
        conditions.append(f"{name}: " + ", ".join(enum_class(field.type)(value).name for value in values))
    return "; ".join(conditions)


def _rows(entry: Support) -> list[str]:
    width = max(map(len, entry.tensors))
    rows = []
    for name, support in entry.tensors.items():
        first, last = support.dimensions[0], support.dimensions[-1]
        counts = str(first) if first == last else f"{first} to {last}"
        types = ", ".join(type_name(enums.DML_TENSOR_DATA_TYPE(value)) for value in support.types)
        rows.append(f"  {name:{width}}  {counts:6}  {types}")
    return rows


def rule_of(identifier: str) -> Rule:
    """The rule by its identifier. Raises ``ValueError`` for an unknown one, with close matches."""
    check_rule(identifier)
    every_rule()
    return RULES[identifier]


def explanation(rule: Rule) -> str:
    """The rule in full, as text."""
    source = learn(rule.source) or ("a rule of this package" if rule.source == THIS_PACKAGE else rule.source)
    head = f"{rule.id} ({rule.severity.value})\n  {rule.text}\n  source: {source}"
    why = fill(reason_of(rule.id), WIDTH, initial_indent="  ", subsequent_indent="  ")
    example = examples().get(rule.id)
    shown = _of_tests(example) if example else _derived_example(rule.id)
    return f"{head}\n\nWhy\n{why}\n\n{shown}"


@cache
def examples() -> dict[str, dict[str, str]]:
    """Examples for rules that no desc derived from the catalog breaks: the violation, the fix and the message."""
    text = files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
    cases: dict[str, dict[str, str]] = json.loads(text)
    return cases


def _of_tests(example: dict[str, str]) -> str:
    is_program = example["wrong"].startswith(("def ", "lambda"))
    note = f"  ({BENCH})\n" if is_program else ""
    return (
        f"Example that breaks it\n{note}{_inset(example['wrong'])}\n\n"
        f"Message\n{_inset(example['message'])}\n\nFix\n{_inset(example['right'])}"
    )


def _derived_example(identifier: str) -> str:
    """An example derived from the catalog: a valid desc with one change."""
    example = shortest_invalid_desc_of(identifier)
    changes = list(differences(example.desc, example.valid_desc))
    messages = "\n".join(diagnostic.message for diagnostic in example.diagnostics)
    fix = "\n".join(f"{change.path}: {change.left} -> {change.right}" for change in changes)
    return (
        f"Example that breaks it, at {level_name(example.level)}\n{_inset(repr(example.desc))}\n\n"
        f"Message\n{_inset(messages)}\n\nFix, after which no rule is broken\n{_inset(fix)}"
    )


def _inset(text: str) -> str:
    return indent(text, "  ")


def _all_operators(arguments: argparse.Namespace) -> str:
    names = sorted(schema.name for schema in CATALOG.values())
    return json.dumps(names) if arguments.json else "\n".join(names)


def _rules(arguments: argparse.Namespace) -> str:
    rules = [
        rule
        for rule in every_rule()
        if (rule.debug or not arguments.debug) and all(_matches(rule, word) for word in arguments.words)
    ]
    if not rules:
        raise ValueError(f"no rule has {' and '.join(arguments.words)} in its identifier")
    if arguments.json:
        return json.dumps(list(map(_rule_document, rules)), indent=1)
    return _as_markdown(rules) if arguments.markdown else _as_text(rules)


def _matches(rule: Rule, word: str) -> bool:
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


def _rule_document(rule: Rule) -> dict[str, object]:
    return {**as_document(rule), "test": test_of(rule)}


def _as_text(rules: Iterable[Rule]) -> str:
    return "\n\n".join(
        f"{rule.id} ({rule.severity.value})\n  {rule.text}\n  source: {rule.source}\n  test: {test_of(rule)}"
        for rule in rules
    )


def _as_markdown(rules: Iterable[Rule]) -> str:
    rows = ["| Rule | Text | Source | Severity | Test |", "| --- | --- | --- | --- | --- |"]
    for rule in rules:
        # An unescaped | would end the cell.
        text = rule.text.replace("|", "\\|")
        rows.append(f"| `{rule.id}` | {text} | {rule.source} | {rule.severity.value} | `{test_of(rule)}` |")
    return "\n".join(rows)


WHOLE: dict[str, Callable[[argparse.Namespace], str]] = {
    "operators": _all_operators,
    "rules": _rules,
    "api": lambda _: json.dumps(document(), indent=1),
    "schema": lambda _: json_schema().rstrip(),
}
