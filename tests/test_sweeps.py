"""Sweeps run every case and name the one that fails."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sweeps import swept


def test_all_combinations_are_run():
    seen = []

    @swept("a, b", [(1, 2), (3, 4)])
    @swept("c", "xy")
    def test(fixture, a, b, c):
        seen.append((fixture, a, b, c))

    assert list(inspect.signature(test).parameters) == ["fixture"]
    test(fixture=0)
    assert seen == [(0, 1, 2, "x"), (0, 1, 2, "y"), (0, 3, 4, "x"), (0, 3, 4, "y")]


def test_the_case_that_fails_is_named():
    @swept("size", range(4))
    @swept("kind", [np.float32])
    def test(size, kind):
        assert size < 2

    with pytest.raises(AssertionError, match=r"^size=2: kind=float32: "):
        test()


def test_a_case_may_be_skipped():
    @swept("size", [1, 2])
    def test(size):
        if size >= least:
            pytest.skip(f"{size} is too much")

    least = 2
    test()
    least = 1
    with pytest.raises(pytest.skip.Exception, match="1 is too much"):
        test()


def test_parameters_must_exist():
    with pytest.raises(AssertionError, match="has not all of"):

        @swept("sizes", [1])
        def test(size):
            pass
