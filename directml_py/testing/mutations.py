"""Mutation of valid descs into descs that break exactly one rule."""

from __future__ import annotations

from ..api.enums import DML_FEATURE_LEVEL
from ..descs.encode import encode
from ..descs.operator_desc import OperatorDesc
from ..operators import SCHEMAS, check
from .decision_source import DecisionSource
from .desc_changes import Change, change
from .desc_generator import MAX_ELEMENTS
from .invalid_descs import derived_change, derived_rules
from .memory_mutations import MEMORY_MUTATIONS, Broken
from .tensor_mutations import TENSOR_MUTATIONS
from .valid_descs import HIGHEST, operators_at, valid_desc

TOO_NEW = "DML-Operator-feature-level"


def unknown_enumerator(source: DecisionSource, desc: OperatorDesc, level: int) -> Change | None:
    fields = [entry.name for entry in desc.struct.fields if entry.kind == "enum"]
    if not fields:
        return None
    field = source.choice(fields)
    return Change(change(desc, **{field: source.choice((99, -1))}), "DML-Desc-enum", field)


VALUE_MUTATIONS = (*TENSOR_MUTATIONS, unknown_enumerator)


def _newer(level: int) -> tuple[str, ...]:
    return tuple(sorted(set(SCHEMAS) - set(operators_at(level))))


def _mutate(source: DecisionSource, desc: OperatorDesc, level: int) -> Broken:
    """The first applicable mutation: of a value, of a catalog fact, or of the memory."""
    rules = derived_rules(desc.name, enforced=True)
    count = len(VALUE_MUTATIONS) + len(rules) + len(MEMORY_MUTATIONS)
    start = source.integer(0, count - 1)
    for step in range(count):
        broken = _attempt(source, desc, level, (start + step) % count, rules)
        if broken is not None:
            return broken
    raise AssertionError("some mutations apply to every desc")


def _attempt(
    source: DecisionSource, desc: OperatorDesc, level: int, position: int, rules: list[str]
) -> Broken | None:
    if position < len(VALUE_MUTATIONS):
        broken = only_that(VALUE_MUTATIONS[position](source, desc, level), level)
    elif position < len(VALUE_MUTATIONS) + len(rules):
        broken = derived_change(desc, rules[position - len(VALUE_MUTATIONS)], level)
    else:
        return MEMORY_MUTATIONS[position - len(VALUE_MUTATIONS) - len(rules)](source, desc)
    return None if broken is None else Broken(encode(broken.desc), broken.rule, broken.path)


def only_that(change: Change | None, level: int) -> Change | None:
    """``change`` if it breaks no other rule, else None: other constraints may depend on a data type."""
    if change is None or {diagnostic.rule for diagnostic in check(change.desc, level)[1].diagnostics} != {
        change.rule
    }:
        return None
    return change


def _too_new(source: DecisionSource, level: int, max_elements: int) -> Broken:
    """A desc of an operator that the level lacks, with only data types and ranks that the level has."""
    while True:
        name = source.choice(_newer(level))
        desc = valid_desc(source, name, SCHEMAS[name].level, max_elements)
        change = only_that(Change(desc, TOO_NEW, "Type"), level)
        if change is not None:
            return Broken(encode(desc), TOO_NEW, "Type")


def broken_desc(
    source: DecisionSource,
    operator: str | None = None,
    feature_level: int = HIGHEST,
    max_elements: int = MAX_ELEMENTS,
) -> Broken:
    """A desc that breaks exactly one rule at ``feature_level``, possibly at several paths.

    All its memory is readable. Raises ``ValueError`` as ``valid_desc`` does.
    """
    level = DML_FEATURE_LEVEL(feature_level)
    if operator is None and _newer(level) and source.chance(5):
        return _too_new(source, level, max_elements)
    return _mutate(source, valid_desc(source, operator, level, max_elements), level)
