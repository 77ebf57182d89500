"""Who computes what a program dispatches: native kernels or NumPy, and for how long.

    python -m directml_py capture OUT -- PROGRAM
    python tools/clients/kernel_shares.py OUT

Every dispatch of the capture is executed again on the memory that it found, with each of its steps timed. The table
has, by operator, the time of native kernels and that of NumPy, and the reasons why native kernels decline. Initializers
are left out: they copy or pack what operators own, once.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.step_times import TimedLibrary, TimedProgram, TimedStep, fastest, timed_library

import directml_py as dml
from directml_py.capturing.event_types import DispatchEvent
from directml_py.capturing.parser import CaptureError, CaptureLog, read_capture
from directml_py.capturing.replay import is_unknown
from directml_py.capturing.replay_state import ReplayState
from directml_py.descs import encode
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.text.plural import counted_words

# The fastest of these executions counts, since the first one pays for new memory.
ROUNDS = 3
PART = "Python calls native kernels, between which it computes"


@dataclass
class OperatorShare:
    """The steps of one operator, their time in nanoseconds, and why native kernels decline what NumPy computes."""

    steps: int = 0
    native: int = 0
    numpy: int = 0
    reasons: set[str] = field(default_factory=set)

    def add(self, step: TimedStep) -> None:
        self.steps += 1
        self.native += step.native
        self.numpy += step.nanoseconds - step.native
        if not step.is_native:
            self.reasons.update(*map(reasons, step.descs))

    def merge(self, other: OperatorShare) -> None:
        self.steps += other.steps
        self.native += other.native
        self.numpy += other.numpy
        self.reasons |= other.reasons


class KernelShares:
    """``by_operator``: the names of fused operators are joined by " + "."""

    def __init__(self) -> None:
        self.by_operator: dict[str, OperatorShare] = defaultdict(OperatorShare)

    def add(self, logs: Iterable[CaptureLog]) -> None:
        """Add all dispatches of some processes."""
        for log in logs:
            for step in executed(log):
                self.by_operator[step.operator].add(step)

    def merge(self, other: KernelShares) -> None:
        for name, share in other.by_operator.items():
            self.by_operator[name].merge(share)

    @property
    def total(self) -> int:
        return sum(share.native + share.numpy for share in self.by_operator.values())

    @property
    def numpy(self) -> float:
        """NumPy's share of the time."""
        return sum(share.numpy for share in self.by_operator.values()) / max(1, self.total)

    def __str__(self) -> str:
        """Markdown, with those operators first that NumPy computes longest."""
        lines = [
            "| operator | steps | native, ms | NumPy, ms | NumPy's share of all | why |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for name, share in sorted(
            self.by_operator.items(), key=lambda item: (-item[1].numpy, -item[1].native)
        ):
            cells = [name, str(share.steps), f"{share.native / 1e6:.3f}", f"{share.numpy / 1e6:.3f}"]
            cells += [f"{share.numpy / max(1, self.total):.2%}", "; ".join(sorted(share.reasons))]
            lines.append(f"| {' | '.join(cells)} |")
        steps = sum(share.steps for share in self.by_operator.values())
        return "\n".join(
            [
                *lines,
                "",
                f"{counted_words(steps, 'step')}, {self.total / 1e6:.1f} ms, of which NumPy computed {self.numpy:.2%}.",
            ]
        )


def executed(log: CaptureLog) -> Iterator[TimedStep]:
    """The steps of all dispatches of operators and graphs."""
    with timed_library() as library:
        yield from _executed(log, library)


def _executed(log: CaptureLog, library: TimedLibrary | None) -> Iterator[TimedStep]:
    rounds: list[list[TimedStep]] = []
    for op in {dispatch.dispatchable.op for dispatch in log.dispatches}:
        if op is not None:
            timed: Any = TimedProgram(op.program, rounds.append, library)
            op.program = timed
    state = ReplayState(log)
    for _, command in log.ran:
        state.find(command)
        dispatch = command.what
        if isinstance(dispatch, DispatchEvent) and not is_unknown(dispatch):
            rounds.clear()
            for _ in range(1 if dispatch.operators else ROUNDS):
                state.execute(dispatch)
            yield from fastest(rounds)
        state.leave(command)


@cache
def reasons(desc: OperatorDesc) -> tuple[str, ...]:
    choice = dml.explain(encode(desc))
    return (PART,) if choice.is_native else tuple(f"{kernel}: {why}" for kernel, why in choice.declined)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("captures", nargs="+", type=Path, metavar="OUT", help="the folder of a capture")
    for folder in parser.parse_args().captures:
        shares = KernelShares()
        try:
            shares.add(read_capture(folder))
        except (OSError, CaptureError) as error:
            parser.error(str(error))
        print(shares)
    return 0


if __name__ == "__main__":
    sys.exit(main())
