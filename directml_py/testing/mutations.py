"""Descs that break exactly one rule, made from valid ones by one change."""

from __future__ import annotations

from ..api.enums import DML_FEATURE_LEVEL
from ..descs.encode import encode
from ..descs.values import OperatorDesc
from .memory_mutations import MEMORY_MUTATIONS, Broken
from .operator_mutations import OPERATOR_MUTATIONS
from .source import Source
from .tensor_mutations import TENSOR_MUTATIONS
from .valid import HIGHEST, MAX_ELEMENTS, SCHEMAS, operators_at, valid_desc

TOO_NEW = "DML-Operator-feature-level"


def _newer(level: int) -> tuple[str, ...]:
    return tuple(sorted(set(SCHEMAS) - set(operators_at(level))))


def _mutate(source: Source, desc: OperatorDesc, level: int) -> Broken:
    values = (*TENSOR_MUTATIONS, *OPERATOR_MUTATIONS[desc.name])
    count = len(values) + len(MEMORY_MUTATIONS)
    start = source.integer(0, count - 1)
    for step in range(count):
        position = (start + step) % count
        if position < len(values):
            change = values[position](source, desc, level)
            broken = None if change is None else Broken(encode(change.desc), change.rule, change.path)
        else:
            broken = MEMORY_MUTATIONS[position - len(values)](source, desc)
        if broken is not None:
            return broken
    raise AssertionError("some changes fit every desc")


def _too_new(source: Source, level: int, max_elements: int) -> Broken:
    """A desc of an operator that the level lacks, and that has no 64-bit types."""
    name = source.choice(_newer(level))
    introduced = SCHEMAS[name].level
    desc = valid_desc(source, name, introduced, max_elements)
    while any(slot.tensor.element_bits == 64 for slot in (*desc.inputs, *desc.outputs) if slot.tensor):
        desc = valid_desc(source, name, introduced, max_elements)
    return Broken(encode(desc), TOO_NEW, "Type")


def broken_desc(
    source: Source,
    operator: str | None = None,
    feature_level: int = HIGHEST,
    max_elements: int = MAX_ELEMENTS,
) -> Broken:
    """A desc that breaks one rule and no other at ``feature_level``, perhaps in several places.

    The memory of the desc can be read. Raises ``ValueError`` as ``valid_desc`` does.
    """
    level = DML_FEATURE_LEVEL(feature_level)
    if operator is None and _newer(level) and source.chance(5):
        return _too_new(source, level, max_elements)
    return _mutate(source, valid_desc(source, operator, level, max_elements), level)
