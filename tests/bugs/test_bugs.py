"""Each bug gets its messages and no others, and the same program without it gets none."""

from __future__ import annotations

from sweeps import swept

from .bug import BUGS, Bug, messages
from .every_bug import GROUPS

every_bug = swept("found", BUGS)


@every_bug
def test_told(found: Bug) -> None:
    assert tuple(one.rule for one in messages(found, True)) == found.rules


@every_bug
def test_without_the_bug(found: Bug) -> None:
    assert messages(found, False) == []


def test_groups() -> None:
    """The last are those that nothing finds."""
    *told, silent = GROUPS.values()
    assert sum(map(len, told)) >= 30
    assert all(one.rules for group in told for one in group)
    assert not any(one.rules for one in silent)
    assert sum(map(len, GROUPS.values())) == len(BUGS)
