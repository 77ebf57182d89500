"""Worker processes that query both sides, and survive crashes of the library."""

from __future__ import annotations

import itertools
import json
import mmap
import os
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from directml_py import hardware
from directml_py.abi.rules import Diagnostic
from directml_py.cli.progress import track
from directml_py.descs.encode import encode
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.operators import SCHEMAS, check

from .graph_descs import NAME, GraphOfDescs, may_be_late
from .streams import LEVEL, STREAMS

E_INVALIDARG = 0x80070057
LOOK_SECONDS = 0.05
# A worker's progress: the current case, and the index of the desc within it.
PLACE = struct.Struct("<qq")
# After the progress follow the counts of judged descs by operator.
NUMBERS = {name: number for number, name in enumerate([*sorted(SCHEMAS), NAME])}
COUNT = struct.Struct("<q")


class JudgingWorker:
    """Judges the cases ``first``, ``first + step`` ... below ``end`` of a stream in a child process, which is forked
    again after each desc that crashed it."""

    def __init__(self, library: Path, stream: str, first: int, step: int, end: int) -> None:
        self._library, self._stream, self._step, self._end = library, stream, step, end
        self._first = first
        self._place = mmap.mmap(-1, PLACE.size + COUNT.size * len(NUMBERS))
        PLACE.pack_into(self._place, 0, first, 0)
        handle, name = tempfile.mkstemp(suffix=".jsonl")
        os.close(handle)
        self._found = Path(name)
        self.pid = 0
        self.start()

    @property
    def cases(self) -> int:
        """How many of its cases are done."""
        case, _ = PLACE.unpack_from(self._place)
        return int((case - self._first) // self._step)

    @property
    def counts(self) -> Counter[str]:
        """The counts of judged descs by operator."""
        numbers = {name: COUNT.unpack_from(self._place, _offset(name))[0] for name in NUMBERS}
        return Counter({name: number for name, number in numbers.items() if number})

    def _count(self, name: str) -> None:
        (number,) = COUNT.unpack_from(self._place, _offset(name))
        COUNT.pack_into(self._place, _offset(name), number + 1)

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
        case, step = PLACE.unpack_from(self._place)
        judged = next(
            candidate for index, candidate in enumerate(STREAMS[self._stream](case)) if index == step
        )
        own = judged.desc.ours(LEVEL) if isinstance(judged.desc, GraphOfDescs) else errors(judged.desc)
        self._write(self._entry(judged, own, f"signal {os.WTERMSIG(status)}"))
        PLACE.pack_into(self._place, 0, case, step + 1)
        self.start()
        return False

    def _entry(self, judged: Any, own: Any, theirs: str) -> dict[str, Any]:
        return {
            "operator": judged.desc.name,
            "field": judged.field,
            "rules": sorted({diagnostic.rule for diagnostic in own}),
            "theirs": theirs,
            "desc": repr(judged.desc),
            "ours": "; ".join(map(str, own)),
        }

    def _write(self, entry: dict[str, Any]) -> None:
        with self._found.open("a", encoding="utf-8") as file:
            print(json.dumps(entry), file=file)

    def _work(self) -> None:
        case, skipped = PLACE.unpack_from(self._place)
        with hardware.open(self._library) as library:
            while case < self._end:
                for step, judged in enumerate(STREAMS[self._stream](case)):
                    if step < skipped:
                        continue
                    PLACE.pack_into(self._place, 0, case, step)
                    self._count(judged.desc.name)
                    if isinstance(judged.desc, GraphOfDescs):
                        verdict, own = judged.desc.theirs(library), judged.desc.ours(LEVEL)
                    else:
                        verdict, own = library.validate(judged.desc), errors(judged.desc)
                    expected = E_INVALIDARG if own else 0
                    if verdict.hresult != expected and not may_be_late(own):
                        self._write(self._entry(judged, own, f"0x{verdict.hresult:08x}"))
                skipped = 0
                case += self._step
                PLACE.pack_into(self._place, 0, case, 0)

    def results(self) -> Iterator[dict[str, Any]]:
        with self._found.open(encoding="utf-8") as file:
            yield from map(json.loads, file)
        self._found.unlink()


def errors(desc: OperatorDesc) -> list[Diagnostic]:
    return check(encode(desc), LEVEL)[1].errors


def _offset(operator: str) -> int:
    return PLACE.size + COUNT.size * NUMBERS[operator]


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
