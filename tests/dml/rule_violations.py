"""One case per rule violation: a call that is valid except for one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest


class Violation(NamedTuple):
    """``prepare(bench, wrong)`` returns the call to make: valid, or if ``wrong`` violating ``rule`` at ``path``.

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
    """Decorator: declare a violation; with ``kind_device`` only on a kind device, as others require more."""
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
