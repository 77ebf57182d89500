"""One case per way to break a rule: a call that is right but for one thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest


class Breach(NamedTuple):
    """``prepare(bench, wrong)`` returns the call to make: right, or with ``wrong`` breaking ``rule`` at ``path``.

    ``void`` tells whether the call is of a method that cannot fail, but removes the device.
    """

    rule: str
    path: str
    void: bool
    prepare: Callable


BREACHES: list[Breach] = []


def breaks(rule, path, void=True):
    """Decorator: declare a breach."""

    def declare(prepare):
        BREACHES.append(Breach(rule, path, void, prepare))
        return prepare

    return declare


def cases():
    return [pytest.param(breach, id=f"{breach.rule}-{breach.prepare.__name__}") for breach in BREACHES]
