"""Bugs that programs really have: each with the message that it gets, or none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import directml_py as dml

from ..hazards.hazard import HazardBench

PREFIX = "D3D12_MESSAGE_ID_"
# The lines where a test recorded, bound and created things, which a table leaves out.
ORIGIN = re.compile(r" \((?:recorded|bound|called|created) at [^)]*\)")


class Bug(NamedTuple):
    """``program(bench, wrong)`` has the bug if ``wrong``; a desc that it returns is created and compiled.

    ``rules`` are the identifiers of all messages, empty for a bug that nothing finds. ``repair`` is the part of the
    first message that alone names the repair; empty if it says where to look, but not what to write.
    """

    title: str
    rules: tuple[str, ...]
    repair: str
    program: Callable[[HazardBench, bool], Any]


BUGS: list[Bug] = []


def bug(
    title: str, *rules: str, repair: str = ""
) -> Callable[[Callable[[HazardBench, bool], Any]], Callable[[HazardBench, bool], Any]]:
    """Decorator: register a program."""

    def declare(program: Callable[[HazardBench, bool], Any]) -> Callable[[HazardBench, bool], Any]:
        BUGS.append(Bug(title, rules, repair, program))
        return program

    return declare


class Told(NamedTuple):
    """A message: its rule, or the name of its D3D12_MESSAGE_ID without the common beginning."""

    rule: str
    text: str


def messages(found: Bug, wrong: bool) -> list[Told]:
    """The messages that the program gets, with its bug or without."""
    bench = HazardBench()
    raised: list[Any] = []
    try:
        made = found.program(bench, wrong)
        if made is not None:
            bench.compile(made)
    except dml.DMLError as error:
        raised = [Told(one.rule, str(one)) for one in error.diagnostics]
    count = bench.info.GetNumStoredMessages()
    stored = [bench.info.GetMessage(index) for index in range(count)]
    told = [Told(one.rule or one.ID.name.removeprefix(PREFIX), one.pDescription) for one in stored]
    return [Told(*one) for one in dict.fromkeys(_plain(one) for one in [*raised, *told])]


def _plain(told: Told) -> tuple[str, str]:
    """Without the rule in brackets and what follows it: the HRESULT, and lines of this program."""
    text = ORIGIN.sub("", told.text)
    return told.rule, text.partition(f" [{told.rule}]")[0]
