"""Trials: correct programs must be clean, and mutants with a mistake must be detected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from . import program_values as v
from .breaks import BREAKS, broken
from .expected_rules import OF_VALUES, speaking_of
from .player import Stage
from .step_kinds import kinds
from .writer import ProgramWriter

SUBMITS = 6
PROGRAMS_OF_A_DEVICE = 20


class FuzzTrial(NamedTuple):
    """The program of ``seed``, correct or with a ``mistake``, and the hazards missed or the rules reported wrongly."""

    seed: int
    mistake: str
    what: tuple[str, ...]

    def __str__(self) -> str:
        return f"program {self.seed}, {self.mistake or 'right'}: {', '.join(self.what)}"


class Outcome:
    """``tried`` and ``found`` count mistakes by kind."""

    def __init__(self) -> None:
        self.programs = 0
        self.tried: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.false_alarms: list[FuzzTrial] = []
        self.missed: list[FuzzTrial] = []

    def add(self, other: Outcome) -> None:
        self.programs += other.programs
        self.tried += other.tried
        self.found += other.found
        self.false_alarms += other.false_alarms
        self.missed += other.missed

    def rates(self) -> dict[str, float]:
        """The detection rate of each kind of mistake."""
        return {
            mistake: self.found[mistake] / self.tried[mistake] for mistake in BREAKS if self.tried[mistake]
        }


class Trial:
    def __init__(self) -> None:
        self._stage = Stage()
        self._kinds = kinds(self._stage.session)
        self._played = 0
        self.outcome = Outcome()

    def program(self, seed: int) -> v.FuzzProgram:
        return ProgramWriter(seed, self._kinds).program(Random(seed).randint(1, SUBMITS))

    def play(self, program: v.FuzzProgram) -> set[str]:
        """The rules reported for a program."""
        if self._stage.is_broken or self._played >= PROGRAMS_OF_A_DEVICE:
            self._stage, self._played = Stage(), 0
        self._played += 1
        return self._stage.play(program)

    def run(self, seed: int, mistakes: Iterable[str] = tuple(BREAKS)) -> None:
        """Try one correct program, and its mutants with a mistake of each kind."""
        program = self.program(seed)
        self.outcome.programs += 1
        reported = self.play(program)
        if reported:
            self.outcome.false_alarms.append(FuzzTrial(seed, "", tuple(sorted(reported))))
            return
        for mistake in mistakes:
            self._run_broken(program, mistake, seed)

    def _run_broken(self, program: v.FuzzProgram, mistake: str, seed: int) -> None:
        mutant = broken(program, mistake, seed)
        if mutant is None:
            return
        reported = self.play(mutant.program)
        self.outcome.tried[mistake] += 1
        if speaking_of(mutant.told.hazards, reported):
            self.outcome.found[mistake] += 1
        else:
            self.outcome.missed.append(FuzzTrial(seed, mistake, tuple(sorted(mutant.told.hazards))))
        surplus = reported - speaking_of(mutant.told.all, reported) - OF_VALUES
        if surplus:
            self.outcome.false_alarms.append(FuzzTrial(seed, mistake, tuple(sorted(surplus))))
