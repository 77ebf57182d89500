"""Assertions about descs, in any form that the API accepts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..abi.pointers import locate
from ..abi.rules import Diagnostic
from ..descs import decode_operator_desc, decode_struct
from ..descs.operator_desc import OperatorDesc
from ..descs.types_by_name import struct_schema
from ..operators import check
from .differences import differences
from .known_rules import check_rule
from .levels import parse_level
from .valid_descs import HIGHEST


def _lines(items: Iterable[object]) -> str:
    return "".join(f"\n  {item}" for item in items)


def assert_valid(desc: Any, *, feature_level: object = HIGHEST, strict: bool = False) -> None:
    """Assert that ``desc`` breaks no rule at ``feature_level``; with ``strict``, not even documentation-only rules.

    Raises ``AssertionError`` that lists every violation, ``TypeError`` for what is not an operator desc.
    """
    __tracebackhide__ = True
    level = parse_level(feature_level)
    decoded, report = check(desc, level)
    diagnostics = report.diagnostics if strict else report.errors
    if diagnostics:
        raise AssertionError(f"not valid at {level.name}:{_lines(diagnostics)}{_lines_of(decoded)}")


def assert_invalid(
    desc: Any, rule: str, path: str | None = None, *, feature_level: object = HIGHEST, only: bool = True
) -> list[Diagnostic]:
    """Assert that ``desc`` breaks ``rule``, at ``path`` if given, and, unless ``only`` is False, no other rule.

    Returns the rule's diagnostics. Raises ``AssertionError`` that lists the actual violations, ``ValueError`` for an
    unknown rule.
    """
    __tracebackhide__ = True
    check_rule(rule)
    level = parse_level(feature_level)
    decoded, report = check(desc, level)
    expected = rule if path is None else f"{rule} at {path}"
    matching = [item for item in report.diagnostics if item.rule == rule]
    others = [item for item in report.diagnostics if item.rule != rule]
    if not report.diagnostics:
        raise AssertionError(
            f"expected {expected}, but the desc is valid at {level.name}{_lines_of(decoded)}"
        )
    if not matching:
        raise AssertionError(
            f"expected {expected}, but other rules were broken at {level.name}:{_lines(others)}"
        )
    if path is not None and path not in {item.path for item in matching}:
        raise AssertionError(f"expected {expected}, but the rule was broken elsewhere:{_lines(matching)}")
    if only and others:
        raise AssertionError(f"expected {expected} alone, but these are broken too:{_lines(others)}")
    return matching


def _lines_of(desc: object) -> str:
    return "" if desc is None else f"\nin {desc!r}"


def assert_same_desc(a: Any, b: Any) -> None:
    """Assert that two descs have equal values in all their structs, wherever these are in memory.

    ``a`` and ``b`` are operator descs or any other struct of the API, as structs, pointers or addresses; an address
    is that of a DML_OPERATOR_DESC. Null strides differ from explicit packed strides. Raises ``AssertionError`` that
    lists every differing field with both values, and what cannot be read.
    """
    __tracebackhide__ = True
    left, right = _decoded(a, "a"), _decoded(b, "b")
    unlike = list(differences(left, right))
    if unlike:
        lines = _lines(f"{path}: {value} != {other}" for path, value, other in unlike)
        raise AssertionError(f"the descs differ:{lines}\na is {left!r}\nb is {right!r}")


def _decoded(value: Any, name: str) -> Any:
    __tracebackhide__ = True
    kind = None if isinstance(value, OperatorDesc) else locate(value, name).type_name
    plain = kind is not None and not kind.endswith("_OPERATOR_DESC") and struct_schema(kind) is not None
    decoded = decode_struct(value, str(kind), name) if plain else decode_operator_desc(value, name)
    if decoded.faults or decoded.desc is None:
        raise AssertionError(f"{name} cannot be compared:{_lines(decoded.faults)}")
    return decoded.desc
