"""Validation of operator descs: the catalog's rules, then the operator's own, then sizes."""

from __future__ import annotations

from functools import lru_cache

from ..abi.rules import RULES, Diagnostic, Rule
from ..descs.decode import decode_operator_desc
from ..descs.operator_desc import OperatorDesc
from ..validation.desc_rules import check_operator
from ..validation.operator_rules import page_sizes_rule, rules_of, sizes_rule
from ..validation.report import Report
from .operator import SCHEMAS, Kernel, operator_of
from .shape_check import check_sizes


def check(value: object, level: int, name: str = "desc") -> tuple[OperatorDesc | None, Report]:
    """Decode an operator desc and report all violations at feature level ``level``.

    Raises ``TypeError``, which names ``name``, if ``value`` is not a desc.
    """
    desc, faults = decode_operator_desc(value, name)
    report = Report()
    if desc is None or faults:
        check_operator(desc, faults, level, report)
    else:
        desc, diagnostics = checked(desc, level)
        report.diagnostics += diagnostics
    return desc, report


# Programs describe the same few operators again and again.
@lru_cache(maxsize=1024)
def checked(desc: OperatorDesc, level: int) -> tuple[OperatorDesc, tuple[Diagnostic, ...]]:
    """An interned ``desc`` and all its violations at ``level``."""
    report = Report()
    if check_inputs(desc, level, report):
        check_sizes(desc, operator_of(desc.name).shapes(desc), report)
    return desc, tuple(report.diagnostics)


def check_inputs(desc: OperatorDesc, level: int, report: Report, complete: bool = True) -> bool:
    """Report violations other than of inferred sizes; a desc that is not ``complete`` has no outputs yet.

    Returns whether ``shapes`` may be called.
    """
    if not check_operator(desc, (), level, report, complete):
        return False
    before = len(report.errors)
    operator_of(desc.name).attributes(desc, report)
    return len(report.errors) == before


@lru_cache(maxsize=1024)
def kernel_of(desc: OperatorDesc) -> Kernel:
    """The kernel of an operator."""
    return operator_of(desc.name).kernel(desc)


def every_rule() -> list[Rule]:
    """The rules of all operators and all loaded modules, sorted by identifier."""
    for name, schema in SCHEMAS.items():
        rules_of(schema)
        if operator_of(name).has_sizes:
            sizes_rule(schema)
        if operator_of(name).advises_sizes:
            page_sizes_rule(schema)
    return [RULES[identifier] for identifier in sorted(RULES)]
