"""Registry of test cases for rules: for every rule one or more calls or descs that break it, each with a valid variant.

Any test module may register cases; only those of this folder and of the modules that ``cases`` lists are used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import directml_py as dml
from directml_py.operators import every_rule
from directml_py.validation import RULES, Diagnostic

from ..dml.helpers import DEBUG, Bench

# Catalog-derived rules are registered on first use.
every_rule()
LATEST = max(dml.DML_FEATURE_LEVEL)


class Found(NamedTuple):
    """The outcome of a call: all diagnostics, and the exception's HRESULT if there was one."""

    diagnostics: list[Diagnostic]
    hresult: int | None


class Case(NamedTuple):
    """``run(True)`` breaks ``rule`` at every one of ``paths``, and nothing else; ``run(False)`` does nothing wrong.

    ``hresult`` is that of the exception, None where the rule is only reported. Examples are made of the functions
    ``play(…, wrong)``, for which ``way`` is wrong and ``fine`` right, or which has a ``twin`` instead of the argument.
    """

    rule: str
    paths: tuple[str, ...]
    hresult: int | None
    name: str
    run: Callable[[bool], Found]
    play: Callable[..., Any] | None = None
    way: Any = True
    fine: Any = False
    twin: Callable[..., Any] | None = None


class Desc(NamedTuple):
    """An operator desc and the feature level that it is for."""

    desc: Any
    level: int


CASES: dict[str, list[Case]] = {}
DESCS: list[tuple[str, Desc, Desc]] = []


def register(case: Case) -> None:
    CASES.setdefault(case.rule, []).append(case)


def found_by(call: Callable[[], Any]) -> Found:
    """The diagnostics of the exception that ``call`` raises, or those that it returns."""
    try:
        result = call()
    except dml.DMLError as error:
        return Found(error.diagnostics, error.hresult)
    is_list = isinstance(result, list) and all(isinstance(item, Diagnostic) for item in result)
    return Found(result if is_list else [], None)


def breaks(rule: str, path: str, *more: str, hresult: int | None = dml.E_INVALIDARG) -> Callable:
    """Decorator of ``prepare(wrong)``, which returns the call to make: right, or breaking ``rule`` at ``path``."""

    def declare(prepare: Callable[[bool], Callable[[], Any]]) -> Callable[[bool], Callable[[], Any]]:
        name, run = prepare.__name__, lambda wrong: found_by(prepare(wrong))
        register(Case(rule, (path, *more), hresult, name, run, prepare))
        return prepare

    return declare


def tolerated(rule: str, path: str) -> Callable:
    """Decorator of ``prepare(bench, wrong)``, which returns the call to make: right, or breaking at ``path`` a
    ``rule`` that only a page knows. A strict device refuses it, another one does not."""

    def declare(prepare: Callable[[Bench, bool], Callable[[], Any]]) -> Callable[..., Any]:
        def run(wrong: bool) -> Found:
            lenient = found_by(prepare(Bench(DEBUG), wrong))
            return Found(
                found_by(prepare(Bench(DEBUG, profile="strict"), wrong)).diagnostics, lenient.hresult
            )

        register(Case(rule, (path,), None, prepare.__name__, run, prepare))
        return prepare

    return declare


def broken(
    rule: str,
    path: str,
    desc: Any,
    twin: Any,
    level: int = LATEST,
    *,
    also: tuple[str, ...] = (),
    twin_level: int | None = None,
) -> None:
    """Register an operator desc that breaks ``rule`` at ``path`` (and ``also``); ``twin`` is valid."""
    wrong, right = Desc(desc, level), Desc(twin, level if twin_level is None else twin_level)
    DESCS.append((rule, wrong, right))

    def run(is_wrong: bool) -> Found:
        found = wrong if is_wrong else right
        diagnostics = dml.validate(found.desc, feature_level=found.level, strict=True)
        refused = dml.validate(found.desc, feature_level=found.level)
        return Found(diagnostics, dml.E_INVALIDARG if refused else None)

    hresult = None if RULES[rule].page_only else dml.E_INVALIDARG
    register(Case(rule, (path, *also), hresult, repr(desc)[:80], run))
