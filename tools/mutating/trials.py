"""Tests that ran once, each with the mutants it came by, and then again for every mutant, in a process that is forked.

What costs most of a run, Python's start, imports and pytest's collection, is done once. A mutant that works while a
module is imported cannot be tried so; ``mutate.py`` starts a process for it.
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

# The number of the test that a forked process is at; the first is 1.
PROGRESS = struct.Struct("<q")
# A test hangs after as many seconds, and after as many times what it took.
HANG_SECONDS = 15.0
HANG_TIMES = 20.0


class Seen(NamedTuple):
    """A test that passes without a change: what it took, and the numbers of the mutants that it came by."""

    seconds: float
    numbers: tuple[int, ...]


class MutantVerdict(NamedTuple):
    kind: str
    test: str = ""


# So many of each function of the mutant's own room come with the first of the others'.
OWN = 20


class Chooser:
    """Which tests a mutant is given: those that come by its place, of its room first, as many as take ``seconds``."""

    def __init__(
        self, files: Sequence[int], rooms: Sequence[str], at_import: Sequence[bool], seconds: float
    ) -> None:
        self.files, self.rooms, self.at_import, self.seconds = files, rooms, at_import, seconds

    def __call__(self, number: int, seen: dict[str, Seen], imported: bool) -> list[str]:
        # A module that is imported late was so by one of the tests that need it.
        imported |= self.at_import[number - 1]
        file, room = self.files[number - 1], self.rooms[number - 1]
        by_place = {test for test in seen if number in seen[test].numbers}
        by_file = {test for test in seen if file in seen[test].numbers}
        # What is computed once, when modules are imported or for a cache, is used by tests that do not come by.
        first, others = (by_file, set(seen)) if imported or not by_place else (by_place, by_file)
        # Few of each function first, which are much alike.
        ranks: Counter[str] = Counter()
        order = []
        for test in seen:
            if test not in first and test not in others:
                continue
            function = test.partition("[")[0]
            ranks[function] += 1
            elsewhere = test not in first
            is_own = test.startswith(f"tests/{room}/")
            rank = 1 + ranks[function] // OWN if is_own else ranks[function]
            # A cheap test of a function that has many costs no more than the first of one that is expensive.
            order.append((elsewhere, rank * seen[test].seconds, rank, elsewhere or not is_own, test))
        # The others have half of the time to themselves where they may know as much.
        left = {False: self.seconds / 2 if imported else self.seconds, True: self.seconds / 2}
        chosen: list[tuple[bool, bool, bool, str, str]] = []
        for elsewhere, _, rank, away, test in sorted(order):
            left[elsewhere] -= seen[test].seconds
            if left[elsewhere] >= 0 or not chosen:
                # What a file's tests share is made once if they stand together.
                chosen.append((elsewhere, rank > 1, away, test.partition("::")[0], test))
        return [test for *_, test in sorted(chosen)]


def _spent() -> float:
    """Seconds of processors, those of ended processes among them: what others do meanwhile does not count."""
    return sum(os.times()[:4])


class Trials:
    """A pytest plugin that runs the tests in forked processes, for one mutant after the other.

    ``choose`` says which tests a mutant is given. ``output`` is a file that gets a line of JSON for everything found.
    """

    def __init__(self, numbers: Sequence[int], choose: Chooser, output: Path) -> None:
        self.numbers, self.choose = numbers, choose
        self._output = output
        self._failed = False
        self._progress = mmap.mmap(-1, PROGRESS.size)
        self._items: dict[str, pytest.Item] = {}
        # Imported before pytest is: the module that answers the changed text.
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

    def _tell(self, **found: Any) -> None:
        with self._output.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(found)}\n")

    def _learned(self) -> dict[str, Seen]:
        path = self._output.with_name("seen.json")
        process = self._forked(lambda: self._watch(path))
        os.waitpid(process, 0)
        found = json.loads(path.read_text(encoding="utf-8"))
        return {test: Seen(seconds, tuple(numbers)) for test, (seconds, numbers) in found.items()}

    def _watch(self, path: Path) -> int:
        found: dict[str, tuple[float, list[int]]] = {}
        self._switch.watch()
        # What the processes write that tests start.
        elsewhere = path.with_name("elsewhere.txt")
        os.environ["MUTANT_SEEN"] = str(elsewhere)
        items = list(self._items.values())
        for item, following in zip(items, [*items[1:], None]):
            self._failed = False
            self._switch.seen.clear()
            start = _spent()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            # Nothing can be said by a test that fails without a change.
            if not self._failed:
                taken = _spent() - start
                if elsewhere.exists():
                    self._switch.seen.update(map(int, elsewhere.read_text(encoding="utf-8").split()))
                    elsewhere.unlink()
                found[item.nodeid] = (taken, sorted(self._switch.seen))
        path.write_text(json.dumps(found), encoding="utf-8")
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
        for place, (item, following) in enumerate(zip(items, [*items[1:], None]), 1):
            PROGRESS.pack_into(self._progress, 0, place)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return 1
        return 0

    def _ended(self, number: int, tests: Sequence[str], seen: dict[str, Seen]) -> tuple[str, int]:
        """How a process ended that ran ``tests``, and the number of the test that it was at."""
        PROGRESS.pack_into(self._progress, 0, 0)
        process = self._forked(lambda: self._run(number, tests))
        place, since = 0, time.monotonic()
        while True:
            ended, status = os.waitpid(process, os.WNOHANG)
            (now,) = PROGRESS.unpack_from(self._progress, 0)
            if ended:
                kind = "survived" if status == 0 else "killed"
                break
            if now != place:
                place, since = now, time.monotonic()
            usual = seen[tests[place - 1]].seconds if place else 0.0
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
        left = list(tests)
        while left:
            kind, place = self._ended(number, left, seen)
            if kind == "survived":
                break
            test = left[place - 1]
            # A test that fails without the mutant as well, in a process of its own, has nothing to say.
            if self._ended(0, [test], seen)[0] == "survived":
                return MutantVerdict(kind, test)
            left = left[place:]
        return MutantVerdict("survived")


def main(arguments: Sequence[str]) -> int:
    (path,) = map(Path, arguments)
    task = json.loads(path.read_text(encoding="utf-8"))
    chooser = Chooser(task["files"], task["rooms"], task["at_import"], task["seconds"])
    # Modules that are imported from now on are watched; processes that tests start have a way of their own.
    os.environ.pop("MUTANT_WATCH", None)
    plugin = Trials(range(1, len(task["files"]) + 1), chooser, path.with_name("found.txt").absolute())
    return int(pytest.main(["-q", "-p", "no:cacheprovider", *task["tests"]], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
