"""One case per way to break a rule: a call that is right but for one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest


class Violation(NamedTuple):
    """``prepare(bench, wrong)`` returns the call to make: right, or with ``wrong`` breaking ``rule`` at ``path``.

    ``void`` tells whether the call is of a method that cannot fail, but removes the device; ``marks`` are those of
    its tests.
    """

    rule: str
    path: str
    void: bool
    prepare: Callable
    marks: tuple = ()


VIOLATIONS: list[Violation] = []


def breaks(rule, path, void=True, kind_device=False):
    """Decorator: declare a violation; of those of a ``kind_device`` others ask for more."""
    marks = (pytest.mark.kind_device,) if kind_device else ()

    def declare(prepare):
        VIOLATIONS.append(Violation(rule, path, void, prepare, marks))
        return prepare

    return declare


def cases():
    return [
        pytest.param(violation, id=f"{violation.rule}-{violation.prepare.__name__}", marks=violation.marks)
        for violation in VIOLATIONS
    ]
