"""Programs that Hypothesis draws: correct ones must be clean, and one with a mistake reported as the model predicts."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pprint import pformat
from random import Random
from typing import Any, ClassVar

from hypothesis import HealthCheck, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from . import program_values as v
from .breaks import BREAKS, broken
from .expected_rules import OF_VALUES, speaking_of
from .player import Stage
from .step_kinds import kinds
from .writer import ProgramWriter

STEPS = 10


@cache
def operator_kinds() -> tuple[v.OperatorKind, ...]:
    return kinds(Stage().session)


def play(program: v.FuzzProgram) -> set[str]:
    """The rules reported for a program, on devices of its own."""
    return Stage().play(program)


class ProgramMachine(RuleBasedStateMachine):
    """A program grows step by step; when it ends it is played, and then again with a mistake of each kind.

    ``tried`` counts the mistakes that made a difference, in all programs.
    """

    tried: ClassVar[Counter[str]] = Counter()

    @initialize(random=st.randoms())
    def begin(self, random: Random) -> None:
        self.random = random
        self.writer = ProgramWriter(random, operator_kinds())

    @rule()
    def cpu(self) -> None:
        self.writer.cpu_step()

    @rule(queue=st.integers(0, 2))
    def submit(self, queue: int) -> None:
        self.writer.submit(queue % len(self.writer.queues))

    @precondition(lambda self: self.writer.submissions)
    @rule()
    def submit_again(self) -> None:
        self.writer.submit_again()

    def teardown(self) -> None:
        if not hasattr(self, "writer"):
            return
        program = self.writer.finished()
        note(pformat(program.steps))
        assert play(program) == set(), "a correct program is reported"
        for mistake in BREAKS:
            self.make(mistake, program)

    def make(self, mistake: str, program: v.FuzzProgram) -> None:
        wrong = broken(program, mistake, self.random)
        if wrong is None:
            return
        self.tried[mistake] += 1
        note(f"{mistake}: {pformat([step for step in wrong.program.steps if step not in program.steps])}")
        reported = play(wrong.program)
        assert speaking_of(wrong.told.hazards, reported), f"none of {set(wrong.told.hazards)} in {reported}"
        assert reported <= speaking_of(wrong.told.all, reported) | OF_VALUES, "what is no hazard is reported"


def run(count: int, first: int | None = None, **options: Any) -> None:
    """Try ``count`` programs; the first failure is made small, printed and raised. ``first`` is Hypothesis' seed,
    ``options`` are settings of its."""
    machine = ProgramMachine if first is None else seed(first)(ProgramMachine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=count,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            **options,
        ),
    )
