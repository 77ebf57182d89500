"""Checks the catalog's facts: what an operator's page requires of attributes and tensors beyond its tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

from ..abi.rules import Rule
from ..abi.schema import OperatorSchema
from ..descs.format import in_words
from ..descs.operator_desc import OperatorDesc
from ..text.plural import listed
from .fact_expressions import (
    COMPARISONS,
    Absent,
    Reader,
    enum_of,
    field_of,
    names_in,
    parse,
    shown,
    subject_of,
    test_of,
    text_of,
)
from .notation import parse_level
from .report import Report
from .tensor_rules import level_name

_FACT = re.compile(
    r"(?:(?P<name>[a-z0-9-]+): )?(?P<fact>.+?)(?: if (?P<condition>.+?))?(?: (?P<side>before|from) (?P<level>\d_\d))?"
)
ALL_LEVELS = range(1 << 16)
# The source of a fact: the page and Microsoft's library (or only the page, above the levels that could be tested), only
# the library, or only the page.
PAGE, LIBRARY_KIND, PAGE_ONLY = "page", "library", "page_only"
# The limit on violations per array: a wrong count includes whatever follows the array in memory.
MAX_VIOLATIONS = 64
# Activations that are not element-wise, in either version.
ALONG_AXES = ("ACTIVATION_HARDMAX", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_SOFTMAX")


class Fact(NamedTuple):
    """One fact, which holds at ``levels`` and where ``condition`` does; ``title`` is its name in the catalog, where the
    name does not follow."""

    title: str
    tree: ast.expr
    condition: ast.expr | None
    levels: range
    kind: str = PAGE

    def holds_at(self, level: int) -> bool:
        """Whether the fact applies at a feature level, as a plain int, since ``in`` is slow for enumerators."""
        return self.levels.start <= level < self.levels.stop

    @property
    def statement(self) -> str:
        """``required``, ``unique``…; empty for a comparison."""
        return (
            self.tree.func.id
            if isinstance(self.tree, ast.Call) and isinstance(self.tree.func, ast.Name)
            else ""
        )

    @property
    def fields(self) -> list[str]:
        """The fields of a statement; the path of the first field of a comparison."""
        if isinstance(self.tree, ast.Call):
            return [ast.unparse(argument) for argument in self.tree.args]
        return [field_of(self.tree)]

    @property
    def name(self) -> str:
        """The end of the rule's identifier."""
        ending = f"-{STATEMENTS[self.statement].ending}" if self.statement else ""
        return self.title or kebab(self.fields[0]) + ending

    @property
    def text(self) -> str:
        """The text of the rule."""
        if not self.statement:
            return sentence(self.tree) + self.limits
        are = "is" if len(self.fields) == 1 else "are"
        words = STATEMENTS[self.statement].text.format(*self.fields, all=listed(self.fields), are=are)
        return words + self.limits

    @property
    def limits(self) -> str:
        """The fact's conditions as text: `` where Function is SUM, below DML_FEATURE_LEVEL_3_0``."""
        parts = []
        if self.condition is not None:
            parts.append(f" where {sentence(self.condition)}")
        if self.levels.start:
            parts.append(f" from {level_name(self.levels.start)} on")
        if self.levels.stop != ALL_LEVELS.stop:
            parts.append(f" below {level_name(self.levels.stop)}")
        return ",".join(parts)


def kebab(path: str) -> str:
    """``input-tensor-sizes`` for InputTensor.Sizes[1]."""
    return in_words(re.sub(r"\[.*?\]", "", path).replace(".", "-"), "-")


def sentence(node: ast.expr) -> str:
    """A condition or comparison as text."""
    if isinstance(node, ast.BoolOp):
        joint = " and " if isinstance(node.op, ast.And) else " or "
        return joint.join(map(sentence, node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = node.operand
        return f"{text_of(inner)} is not set" if isinstance(inner, ast.Name) else f"not {sentence(inner)}"
    if isinstance(node, ast.Name):
        return f"{node.id} is set"
    return comparison(node, "is") if isinstance(node, ast.Compare) else text_of(node)


def comparison(node: ast.Compare, verb: str, term: Callable[[ast.expr], str] = text_of) -> str:
    """A comparison as text, its terms as ``term`` writes them."""
    terms = [term(one) for one in (node.left, *node.comparators)]
    words = [COMPARISONS[type(op)][1] for op in node.ops]
    if isinstance(node.ops[0], ast.Eq) and len(set(terms)) == 1:
        return f"{terms[0]} {verb} not NaN"
    if len(words) == 1:
        return f"{terms[0]} {verb} {f'{words[0]} ' if words[0] else ''}{terms[1]}"
    if [type(op) for op in node.ops] == [ast.LtE, ast.LtE]:
        return f"{terms[1]} {verb} {terms[0]} to {terms[2]}"
    return ast.unparse(node)


@cache
def facts_of(schema: OperatorSchema) -> tuple[Fact, ...]:
    """The facts of an operator. Raises ``ValueError`` and ``SyntaxError`` for invalid notation."""
    kinds = {PAGE: schema.facts, LIBRARY_KIND: schema.library, PAGE_ONLY: schema.page_only}
    return tuple(parse_fact(text)._replace(kind=kind) for kind, texts in kinds.items() for text in texts)


def parse_fact(text: str) -> Fact:
    match = _FACT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a fact")
    tree = parse(match["fact"])
    condition = parse(match["condition"]) if match["condition"] else None
    level = parse_level(match["level"]) if match["level"] else 0
    levels = range(level) if match["side"] == "before" else range(level, ALL_LEVELS.stop)
    fact = Fact(match["name"] or "", tree, condition, levels)
    if fact.statement and fact.statement not in STATEMENTS:
        raise ValueError(f"{text!r}: there is no statement {fact.statement!r}")
    if not fact.statement and not isinstance(tree, ast.Compare):
        raise ValueError(f"{text!r} compares nothing")
    return fact


def check_facts(
    desc: OperatorDesc, level: int, rules: Callable[[str], Rule], report: Report, complete: bool = True
) -> None:
    """Report the facts that ``desc`` violates at ``level``. Every tensor that is present must have a valid shape.

    For a desc that is not ``complete``, facts about outputs, which it does not have yet, are skipped.
    """
    for fact, holds in facts_at(desc.schema, level, complete):
        if holds is not None and holds(desc):
            continue
        reader = Reader(desc)
        if fact.condition is not None and not reader.holds(fact.condition):
            continue
        for path, text in violations(fact, reader):
            report.add(rules(fact.name), path, text)


@cache
def facts_at(
    schema: OperatorSchema, level: int, complete: bool
) -> tuple[tuple[Fact, Callable[[OperatorDesc], bool] | None], ...]:
    """The facts that apply at a feature level to a desc that is ``complete`` or not, each comparison with its test."""
    later = set() if complete else output_fields(schema)
    facts = [
        fact
        for fact in facts_of(schema)
        if fact.holds_at(level) and not (later and later & names_in(schema, fact.tree))
    ]
    return tuple(
        (fact, test_of(fact.tree, schema) if isinstance(fact.tree, ast.Compare) else None) for fact in facts
    )


def output_fields(schema: OperatorSchema) -> set[str]:
    """The fields of output tensors, with the counts of their arrays."""
    outputs = [entry for entry in schema.struct.tensors if entry.role == "output"]
    return {entry.name for entry in outputs} | {entry.counted_by for entry in outputs}


def violations(fact: Fact, reader: Reader) -> list[tuple[str, str]]:
    """The paths at which a fact is violated, each with its message."""
    if fact.statement:
        wrong = STATEMENTS[fact.statement].check(reader, fact.fields)
        return [(path, text + fact.limits) for path, text in wrong]
    assert isinstance(fact.tree, ast.Compare)
    failures = list(reader.failures(fact.tree))
    found = [_comparison(fact, fact.tree, reader, index) for index in failures[:MAX_VIOLATIONS]]
    return _cut(found, len(failures))


def _cut(found: Violations, count: int) -> Violations:
    """The first violations up to the limit, the last of which gives the count of further ones."""
    if count > MAX_VIOLATIONS:
        path, text = found[MAX_VIOLATIONS - 1]
        found = [
            *found[: MAX_VIOLATIONS - 1],
            (path, f"{text}; {count - MAX_VIOLATIONS} more elements are wrong too"),
        ]
    return found


def _comparison(fact: Fact, node: ast.Compare, reader: Reader, index: int | None) -> tuple[str, str]:
    """The path and message of a failed comparison, with the values of the other terms."""
    nodes = [node.left, *node.comparators]
    subject = next(term for term in nodes if field_of(term))
    field = subject_of(subject)
    assert field is not None
    path, value = reader.path(field), reader.value(field)
    if index is not None and isinstance(value, tuple):
        path, value = f"{path}[{index}]", value[index]
    enum = enum_of(reader.desc.schema, nodes)
    if not isinstance(subject, (ast.Name, ast.Attribute, ast.Subscript)):
        text = comparison(node, "must be", lambda term: _explained(term, reader, enum, index))
        return path, f"is {shown(value, path)}, but {_comma(text)}{fact.limits}"
    words = []
    for op, left, right in zip(node.ops, nodes, nodes[1:]):
        mirrored = right is subject
        word = _MIRRORED[type(op)] if mirrored else COMPARISONS[type(op)][1]
        if subject in (left, right):
            words.append(
                " ".join(filter(None, (word, _explained(left if mirrored else right, reader, enum, index))))
            )
    return path, f"is {shown(value, path)}; it must be {' and '.join(words)}{fact.limits}"


def _comma(text: str) -> str:
    """Close the clause with the value of what must be something."""
    subject, verb, rest = text.partition(" must be ")
    return f"{subject},{verb}{rest}" if ", which is " in subject else text


_MIRRORED = {ast.Lt: "greater than", ast.LtE: "at least", ast.Gt: "less than", ast.GtE: "at most", ast.Eq: ""}


def _explained(node: ast.expr, reader: Reader, enum: str, index: int | None) -> str:
    """A term as written and, where that adds information, its value."""
    text = text_of(node)
    try:
        value = reader.value(node, enum)
    except (Absent, IndexError):
        return text
    if isinstance(node, (ast.Constant, ast.Tuple)) or not field_of(node):
        return text
    if index is not None and isinstance(value, tuple):
        text, value = f"{text}[{index}]", value[index]
    arithmetic = (
        "" if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else _with_values(node, reader)
    )
    return f"{text}, which is {arithmetic}{shown(value, text)}"


def _with_values(node: ast.expr, reader: Reader) -> str:
    """``256 * 2 = `` for FilterTensor.Sizes[1] * GroupCount; empty for what is no arithmetic on fields alone."""

    class Substitution(ast.NodeTransformer):
        def visit(self, part: ast.AST) -> Any:
            if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
                return ast.Constant(reader.value(part))
            return self.generic_visit(part)

    if any(isinstance(part, ast.Call) for part in ast.walk(node)):
        return ""
    return f"{text_of(Substitution().visit(deepcopy(node)))} = "


Violations = list[tuple[str, str]]


class Statement(NamedTuple):
    """A kind of fact other than a comparison: the suffix of its rules' names, their text, and the check."""

    ending: str
    text: str
    check: Callable[[Reader, list[str]], Violations]


def _value(reader: Reader, path: str) -> Any:
    try:
        return reader.value(parse(path))
    except (Absent, IndexError):
        return None


def _required(reader: Reader, fields: list[str]) -> Violations:
    return [(path, "is null; it is required") for path in fields if getattr(reader.desc, path) in (None, ())]


def _absent(reader: Reader, fields: list[str]) -> Violations:
    return [
        (path, "is given; it must be null") for path in fields if getattr(reader.desc, path) not in (None, ())
    ]


def _identity(reader: Reader, fields: list[str]) -> Violations:
    """A DML_SCALE_BIAS without effect; a bias of -0 has none either."""
    scale_biases = [(path, getattr(reader.desc, path)) for path in fields]
    return [
        (path, f"is {scale_bias.Scale}, {scale_bias.Bias}; it must be null, or 1 and 0")
        for path, scale_bias in scale_biases
        if scale_bias is not None and (scale_bias.Scale, scale_bias.Bias) != (1, 0)
    ]


def _unique(reader: Reader, fields: list[str]) -> Violations:
    (path,) = fields
    first: dict[Any, int] = {}
    duplicates: Violations = []
    for index, value in enumerate(_value(reader, path) or ()):
        before = first.setdefault(value, index)
        if before != index:
            duplicates.append((f"{path}[{index}]", f"is {value}, like {path}[{before}]"))
    return _cut(duplicates, len(duplicates))


def _together(reader: Reader, fields: list[str]) -> Violations:
    missing = [path for path in fields if getattr(reader.desc, path) is None]
    present = [path for path in fields if path not in missing]
    if not missing or not present:
        return []
    return [(path, f"is null, but {present[0]} is given; they come together") for path in missing]


def _exclusive(reader: Reader, fields: list[str]) -> Violations:
    present = [path for path in fields if getattr(reader.desc, path) is not None]
    return [(path, f"is given beside {present[0]}; only one of them may be") for path in present[1:]]


def _not_owned(reader: Reader, fields: list[str]) -> Violations:
    text = "has DML_TENSOR_FLAG_OWNED_BY_DML, which this tensor may not have"
    return [
        (f"{slot.path}.Flags", text)
        for slot in reader.desc.inputs
        if slot.field in fields and slot.tensor is not None and slot.tensor.is_owned_by_dml
    ]


def _activations(reader: Reader, fields: list[str]) -> Violations:
    (path,) = fields
    value = getattr(reader.desc, path)
    nested = value if isinstance(value, tuple) else (value,)
    return [
        (
            f"{path}[{index}]" if isinstance(value, tuple) else path,
            f"is {activation.schema.type_name}, which is not an activation of one tensor",
        )
        for index, activation in enumerate(nested)
        if activation is not None
        and not (activation.name.startswith("ACTIVATION_") and len(activation.inputs) == 1)
    ]


def _of_elements(reader: Reader, fields: list[str]) -> Violations:
    (path,) = fields
    return [
        (f"{path}[{index}]", f"is {activation.schema.type_name}, which works along axes")
        for index, activation in enumerate(getattr(reader.desc, path))
        if activation is not None and activation.name.rstrip("1") in ALONG_AXES
    ]


STATEMENTS: dict[str, Statement] = {
    "required": Statement("required", "{all} {are} not null", _required),
    "absent": Statement("absent", "{all} {are} null", _absent),
    "identity": Statement("identity", "{0} is null, or 1 and 0", _identity),
    "unique": Statement("unique", "The elements of {0} are unique", _unique),
    "together": Statement("together", "{all} are given together or not at all", _together),
    "exclusive": Statement("exclusive", "At most one of {all} is given", _exclusive),
    "not_owned": Statement("owned", "{all} {are} not OWNED_BY_DML", _not_owned),
    "of_elements": Statement("elements", "{0} holds element-wise activations", _of_elements),
    "activations": Statement("activations", "{0} holds activations of one tensor", _activations),
}
