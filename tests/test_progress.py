"""How far a run is, as a file sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from progress import MANY

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

SUITE = f"""
import pytest

@pytest.mark.parametrize("number", range({MANY}))
def test_it(number):
    if number == 1:
        pytest.skip("not this one")
    assert number != 2
"""
PLUGIN = """
from progress import Progress

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress())
"""


def test_ten_lines_and_what_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    pytester.makeconftest(PLUGIN)
    pytester.makeini(f"[pytest]\npythonpath = {Path(__file__).parent}")
    result = pytester.runpytest_subprocess("-n", "1", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=MANY - 2, skipped=1, failed=1)
    assert [line.strip("F") for line in result.outlines if line.endswith(f" of {MANY} tests")] == [
        f"{MANY * step // 10} of {MANY} tests" for step in range(1, 11)
    ]
    assert not any(line.startswith("..") for line in result.outlines)
