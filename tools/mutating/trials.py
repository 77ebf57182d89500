"""Fork server for mutation tests: tests run once to record coverage, then again for each mutant in a forked process.

The most expensive parts, interpreter start, imports and pytest's collection, are done once. A mutant that takes effect
at import time cannot be tested this way; ``mutate.py`` starts a new process for it.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

# The number of the test that a forked process is running, from 1.
PROGRESS = struct.Struct("<q")
# The timeout of a test: a constant, plus a multiple of its usual duration.
HANG_SECONDS = 15.0
HANG_TIMES = 20.0


class Seen(NamedTuple):
    """A test that passes without a mutant: its duration, and the numbers of the mutants it covers."""

    seconds: float
    numbers: tuple[int, ...]


class MutantVerdict(NamedTuple):
    kind: str
    test: str = ""


# The number of parametrizations of each own-room test function that rank equal with the first one of other rooms.
OWN = 20


class Chooser:
    """Test selection: those that cover the mutant, its own room's first, within a budget of ``seconds``."""

    def __init__(
        self, files: Sequence[int], rooms: Sequence[str], at_import: Sequence[bool], seconds: float
    ) -> None:
        self.files, self.rooms, self.at_import, self.seconds = files, rooms, at_import, seconds

    def __call__(self, number: int, seen: dict[str, Seen], imported: bool) -> list[str]:
        # A module that is imported lazily was imported by one of the tests that need it.
        imported |= self.at_import[number - 1]
        file, room = self.files[number - 1], self.rooms[number - 1]
        by_place = {test for test in seen if number in seen[test].numbers}
        by_file = {test for test in seen if file in seen[test].numbers}
        # Results computed once, at import time or for a cache, are used by tests without coverage of the mutant.
        relevant, others = (by_file, set(seen)) if imported or not by_place else (by_place, by_file)
        # Few parametrizations of each function first, since they are similar.
        ranks: Counter[str] = Counter()
        order = []
        for test in seen:
            if test not in relevant and test not in others:
                continue
            function = test.partition("[")[0]
            ranks[function] += 1
            elsewhere = test not in relevant
            is_own = test.startswith(f"tests/{room}/")
            rank = 1 + ranks[function] // OWN if is_own else ranks[function]
            # Many cheap parametrizations cost no more than the first one of an expensive function.
            order.append((elsewhere, rank * seen[test].seconds, rank, elsewhere or not is_own, test))
        # Half of the budget is reserved for the other tests where they may be as relevant.
        budget = {False: self.seconds / 2 if imported else self.seconds, True: self.seconds / 2}
        chosen: list[tuple[bool, bool, bool, str, str]] = []
        for elsewhere, _, rank, away, test in sorted(order):
            budget[elsewhere] -= seen[test].seconds
            if budget[elsewhere] >= 0 or not chosen:
                # Tests of a file are adjacent, so that shared fixtures are set up once.
                chosen.append((elsewhere, rank > 1, away, test.partition("::")[0], test))
        return [test for *_, test in sorted(chosen)]


def _spent() -> float:
    """CPU time in seconds, including that of finished child processes, so that other load does not count."""
    return sum(os.times()[:4])


class Trials:
    """A pytest plugin that runs the tests in forked processes, for one mutant at a time.

    ``choose`` selects the tests for a mutant. ``output`` is a file to which results are appended as JSON lines.
    """

    def __init__(self, numbers: Sequence[int], choose: Chooser, output: Path) -> None:
        self.numbers, self.choose = numbers, choose
        self._output = output
        self._failed = False
        self._progress = mmap.mmap(-1, PROGRESS.size)
        self._items: dict[str, pytest.Item] = {}
        # The switch module, which is imported before pytest.
        self._switch: Any = sys.modules["mutant_switch"]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        imported = frozenset(self._switch.seen)
        seen = self._learned()
        self._tell(tests=len(session.items), passed=len(seen))
        for number in self.numbers:
            tests = self.choose(number, seen, number in imported)
            verdict = MutantVerdict("imported") if number in imported else self._tried(number, tests, seen)
            self._tell(number=number, verdict=verdict.kind, test=verdict.test, tests=tests)
        return True

    def _tell(self, **entry: Any) -> None:
        with self._output.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(entry)}\n")

    def _learned(self) -> dict[str, Seen]:
        path = self._output.with_name("seen.json")
        process = self._forked(lambda: self._watch(path))
        os.waitpid(process, 0)
        durations = json.loads(path.read_text(encoding="utf-8"))
        return {test: Seen(seconds, tuple(numbers)) for test, (seconds, numbers) in durations.items()}

    def _watch(self, path: Path) -> int:
        results: dict[str, tuple[float, list[int]]] = {}
        self._switch.watch()
        # Written by child processes that tests start.
        elsewhere = path.with_name("elsewhere.txt")
        os.environ["MUTANT_SEEN"] = str(elsewhere)
        items = list(self._items.values())
        for item, following in zip(items, [*items[1:], None]):
            self._failed = False
            self._switch.seen.clear()
            start = _spent()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            # A test that fails without a mutant cannot detect one.
            if not self._failed:
                duration = _spent() - start
                if elsewhere.exists():
                    self._switch.seen.update(map(int, elsewhere.read_text(encoding="utf-8").split()))
                    elsewhere.unlink()
                results[item.nodeid] = (duration, sorted(self._switch.seen))
        path.write_text(json.dumps(results), encoding="utf-8")
        return 0

    def _forked(self, work: Callable[[], int]) -> int:
        process = os.fork()
        if process:
            return process
        code = 3
        try:
            os.setsid()
            code = work()
        finally:
            os._exit(code)

    def _run(self, number: int, tests: Sequence[str]) -> int:
        self._switch.choose(number)
        items = [self._items[test] for test in tests]
        for index, (item, following) in enumerate(zip(items, [*items[1:], None]), 1):
            PROGRESS.pack_into(self._progress, 0, index)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return 1
        return 0

    def _ended(self, number: int, tests: Sequence[str], seen: dict[str, Seen]) -> tuple[str, int]:
        """Run ``tests`` in a forked process; returns its outcome and the number of the last test."""
        PROGRESS.pack_into(self._progress, 0, 0)
        process = self._forked(lambda: self._run(number, tests))
        index, since = 0, time.monotonic()
        while True:
            ended, status = os.waitpid(process, os.WNOHANG)
            (now,) = PROGRESS.unpack_from(self._progress, 0)
            if ended:
                kind = "survived" if status == 0 else "killed"
                break
            if now != index:
                index, since = now, time.monotonic()
            usual = seen[tests[index - 1]].seconds if index else 0.0
            if time.monotonic() - since > HANG_SECONDS + HANG_TIMES * usual:
                kind = "timeout"
                break
            time.sleep(0.002)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        if kind == "timeout":
            os.waitpid(process, 0)
        return kind, now

    def _tried(self, number: int, tests: Sequence[str], seen: dict[str, Seen]) -> MutantVerdict:
        remaining = list(tests)
        while remaining:
            kind, index = self._ended(number, remaining, seen)
            if kind == "survived":
                break
            test = remaining[index - 1]
            # A test that also fails alone without the mutant does not count.
            if self._ended(0, [test], seen)[0] == "survived":
                return MutantVerdict(kind, test)
            remaining = remaining[index:]
        return MutantVerdict("survived")


def main(arguments: Sequence[str]) -> int:
    (path,) = map(Path, arguments)
    task = json.loads(path.read_text(encoding="utf-8"))
    chooser = Chooser(task["files"], task["rooms"], task["at_import"], task["seconds"])
    # Modules imported from now on record coverage; child processes of tests use MUTANT_SEEN instead.
    os.environ.pop("MUTANT_WATCH", None)
    plugin = Trials(range(1, len(task["files"]) + 1), chooser, path.with_name("found.txt").absolute())
    return int(pytest.main(["-q", "-p", "no:cacheprovider", *task["tests"]], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
