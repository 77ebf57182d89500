"""``tools/fuzz.py programs``."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pprint import pprint

from .breaks import BREAKS, broken
from .trial import Outcome, Trial

SHARE = 50
SHOWN = 20
ENOUGH = 0.99


def _run(seeds: range) -> Outcome:
    trial = Trial()
    for seed in seeds:
        trial.run(seed)
    return trial.outcome


def _again(seed: int) -> int:
    """Replay one program: print it, and the rules reported for it and for its mutants."""
    trial = Trial()
    program = trial.program(seed)
    pprint(program.steps)
    print("right:", sorted(trial.play(program)))
    for mistake in BREAKS:
        wrong = broken(program, mistake, seed)
        if wrong is not None:
            changed = [step for step in wrong.program.steps if step not in program.steps]
            print(f"{mistake}: {sorted(wrong.told.hazards)}, said {sorted(trial.play(wrong.program))}")
            pprint(changed)
    return 0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="fuzz.py programs", description="Random programs under the debug layers."
    )
    parser.add_argument("--count", type=int, default=1000, help="programs to try")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program; later ones count up")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--case", type=int, help="print and run only the program of this seed")
    options = parser.parse_args(arguments)
    if options.case is not None:
        return _again(options.case)
    start, end = time.monotonic(), options.seed + options.count
    shares = [range(first, min(first + SHARE, end)) for first in range(options.seed, end, SHARE)]
    total = Outcome()
    with ProcessPoolExecutor(max(1, options.workers)) as pool:
        for outcome in pool.map(_run, shares):
            total.add(outcome)
    print(
        f"{total.programs} programs in {time.monotonic() - start:.0f} s, {len(total.false_alarms)} false alarms"
    )
    for mistake, rate in total.rates().items():
        print(f"{mistake}: found {total.found[mistake]} of {total.tried[mistake]} ({rate:.4f})")
    for title, cases in (("missed", total.missed), ("false alarm", total.false_alarms)):
        for case in cases[:SHOWN]:
            print(f"{title}: {case}")
    return 0 if min(total.rates().values(), default=1) >= ENOUGH and not total.false_alarms else 1
