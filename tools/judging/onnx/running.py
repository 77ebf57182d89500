"""Cases in child processes, which may end, or take too long, without the rest."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .drawn_cases import DrawnCase, cases
from .schemas import SchemaVersion
from .sides import THEIRS_CRASHES, SweepVerdict, text_of, verdict_of

SECONDS = 60.0


def judge(version: SchemaVersion, seed: int, titles: Sequence[str] = ()) -> Iterator[SweepVerdict]:
    """The verdicts on all cases of a version, or on those that have one of ``titles`` in theirs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = [
            case
            for case in cases(version, seed)
            if not titles or any(title in case.title for title in titles)
        ]
    nodes = iter(map(text_of, drawn))
    while drawn:
        done = 0
        for verdict in _process(drawn):
            yield verdict._replace(node=next(nodes))
            done += 1
        drawn = drawn[done:]


def _process(drawn: list[DrawnCase]) -> Iterator[SweepVerdict]:
    """Fork a process that judges cases, up to the one that ends it."""
    ours, theirs = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(ours)
            with warnings.catch_warnings(), np.errstate(all="ignore"), os.fdopen(theirs, "w") as told:
                warnings.simplefilter("ignore")
                _work(drawn, told)
            code = 0
        finally:
            os._exit(code)
    os.close(theirs)
    done, stage = 0, THEIRS_CRASHES
    why = ""
    with os.fdopen(ours) as lines:
        while True:
            if not select.select([lines], [], [], SECONDS)[0]:
                why = f"longer than {SECONDS:g} s"
                os.kill(child, signal.SIGKILL)
                break
            line = lines.readline()
            if not line:
                break
            found = json.loads(line)
            if isinstance(found, str):
                stage = found
                continue
            yield SweepVerdict(*found)
            done += 1
    _, status = os.waitpid(child, 0)
    if done < len(drawn):
        why = why or f"status {os.waitstatus_to_exitcode(status)}"
        yield SweepVerdict(drawn[done].title, stage, why)


def _work(drawn: Sequence[DrawnCase], told: object) -> None:
    # What libraries print is no verdict.
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)

    def tell(what: object) -> None:
        print(json.dumps(what), file=told, flush=True)  # type: ignore[call-overload]

    for case in drawn:
        tell(verdict_of(case, tell))


def save(path: Path, found: Sequence[SweepVerdict]) -> None:
    path.write_text(json.dumps([one._asdict() for one in found], indent=1) + "\n", encoding="utf-8")
