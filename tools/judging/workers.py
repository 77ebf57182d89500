"""Worker processes that query both sides, and survive crashes of the library."""

from __future__ import annotations

import itertools
import json
import mmap
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from directml_py import hardware
from directml_py.abi.hresult import E_INVALIDARG, S_OK
from directml_py.abi.rules import Diagnostic
from directml_py.descs.encode import encode
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.hardware.real_directml import Library
from directml_py.operators import SCHEMAS, check
from directml_py.text.terminal import track

from . import pipelines
from .streams import LEVEL, NAMES, STREAMS, Judgeable

LOOK_SECONDS = 0.05
# The streams whose operators and graphs are also compiled: CompileOperator crashes on descs that CreateOperator takes.
COMPILED = ("graphs", "calls")
# What a worker shares with its parent, in INT64: the current case, the index of the desc within it, and the counts of
# judged descs by operator.
CASE, POSITION = range(2)
COUNTS = {name: index for index, name in enumerate([*sorted(SCHEMAS), *NAMES], 2)}


class JudgingWorker:
    """Judges the cases ``first``, ``first + step`` ... below ``end`` of a stream in a child process, which is forked
    again after each desc that crashed it."""

    def __init__(self, library: Path, stream: str, first: int, step: int, end: int) -> None:
        self._library, self._stream, self._step, self._end = library, stream, step, end
        self._first = first
        # Each number is stored at once: bytes that struct packs are seen half-written by the parent.
        self._shared = memoryview(mmap.mmap(-1, 8 * (2 + len(COUNTS)))).cast("q")
        self._shared[CASE] = first
        handle, name = tempfile.mkstemp(suffix=".jsonl")
        os.close(handle)
        self._found = Path(name)
        self.pid = 0
        self.start()

    @property
    def cases(self) -> int:
        """How many of its cases are done."""
        return (self._shared[CASE] - self._first) // self._step

    @property
    def counts(self) -> Counter[str]:
        """The counts of judged descs by operator."""
        return Counter({name: self._shared[index] for name, index in COUNTS.items() if self._shared[index]})

    def start(self) -> None:
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                self._work()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)

    def ended(self, status: int) -> bool:
        """Whether the work is done; if not, the child is forked again after the desc that crashed it."""
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                raise RuntimeError("a worker failed")
            return True
        case, step = self._shared[CASE], self._shared[POSITION]
        judged = next(
            candidate for index, candidate in enumerate(STREAMS[self._stream](case)) if index == step
        )
        self._write(self._entry(judged, judgment(judged.desc)[1], f"signal {os.WTERMSIG(status)}"))
        self._shared[POSITION] = step + 1
        self.start()
        return False

    def _entry(self, judged: Any, diagnostics: Any, theirs: str) -> dict[str, Any]:
        return {
            "operator": judged.desc.name,
            "field": judged.field,
            "rules": sorted({diagnostic.rule for diagnostic in diagnostics}),
            "theirs": theirs,
            "desc": repr(judged.desc),
            "ours": "; ".join(map(str, diagnostics)),
        }

    def _write(self, entry: dict[str, Any]) -> None:
        with self._found.open("a", encoding="utf-8") as file:
            print(json.dumps(entry), file=file)

    def _work(self) -> None:
        case, skipped = self._shared[CASE], self._shared[POSITION]
        pipelines.enable()
        with hardware.open(self._library) as library:
            library.compiles = self._stream in COMPILED
            while case < self._end:
                for step, judged in enumerate(STREAMS[self._stream](case)):
                    if step < skipped:
                        continue
                    self._shared[POSITION] = step
                    self._shared[COUNTS[judged.desc.name]] += 1
                    expected, diagnostics = judgment(judged.desc)
                    found = self._theirs(library, judged.desc)
                    if found != expected:
                        self._write(self._entry(judged, diagnostics, f"0x{found:08x}"))
                skipped = 0
                case += self._step
                self._shared[POSITION] = 0
                self._shared[CASE] = case

    @staticmethod
    def _theirs(library: Library, judged: OperatorDesc | Judgeable) -> int:
        verdict = library.validate(judged) if isinstance(judged, OperatorDesc) else judged.theirs(library)
        return verdict.hresult & 0xFFFFFFFF

    def results(self) -> Iterator[dict[str, Any]]:
        with self._found.open(encoding="utf-8") as file:
            yield from map(json.loads, file)
        self._found.unlink()


def judgment(judged: OperatorDesc | Judgeable) -> tuple[int, list[Diagnostic]]:
    """Our HRESULT and errors: of CreateOperator for a desc."""
    if not isinstance(judged, OperatorDesc):
        return judged.ours(LEVEL)
    errors = check(encode(judged), LEVEL)[1].errors
    return E_INVALIDARG if errors else S_OK, errors


def _cases_done(running: list[JudgingWorker]) -> Iterator[None]:
    """An item for each case that the workers have done, until all of them have ended and left the list."""
    everyone, told = list(running), 0
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            worker = next(each for each in running if each.pid == pid)
            if worker.ended(status):
                running.remove(worker)
        else:
            time.sleep(LOOK_SECONDS)
        done = sum(each.cases for each in everyone)
        yield from itertools.repeat(None, done - told)
        told = done


def judge(
    library: Path, stream: str, cases: int, workers: int, seed: int
) -> tuple[Counter[str], list[dict[str, Any]]]:
    """The counts of judged descs by operator in a stream, and the disagreements."""
    first = seed * cases
    running = [
        JudgingWorker(library, stream, first + index, workers, first + cases) for index in range(workers)
    ]
    everyone = list(running)
    for _ in track(_cases_done(running), stream, cases):
        pass
    counts = sum((each.counts for each in everyone), Counter[str]())
    return counts, [entry for each in everyone for entry in each.results()]
