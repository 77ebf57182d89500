"""The tests of Microsoft's tensorflow-directml-plugin on the emulator, each isolated from the others.

    git clone https://github.com/microsoft/tensorflow-directml-plugin
    git -C tensorflow-directml-plugin checkout cc6673c      # the tests of the wheel 0.4.0.dev230202
    python -m directml_py exec python tools/clients/tf_plugin.py tensorflow-directml-plugin/test results.jsonl
    python tools/clients/tf_plugin.py tensorflow-directml-plugin/test results.jsonl --table

Needs the plugin, TensorFlow, portpicker, scipy and tensorboard-plugin-profile in the environment (docs/tensorflow.md).
It runs the Python tests that the plugin's ``tests.json`` names for Linux. Each file runs in a child process; after a
test that ends the process, or takes too long, another child continues with the next test. A test that has a line in the
results is not run again, unless ``--again`` repeats those that did not pass. The table lists these.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

SECONDS = 300.0
RIGHT, FAILED, ENDED, SKIPPED = "right", "failed", "ended", "skipped"
# A row about a file: no test of it is left.
WHOLE = "whole"
# The environment variable through which a child finds the pipe to its parent.
PIPE = "TF_PLUGIN_PIPE"
RULE = re.compile(r"\[((?:DML|D3D12|DXGI|Hazard)-[\w-]+)\]")
FATAL = re.compile(r": F |HRESULT|Fatal Python error|[Cc]heck failed|terminate called|what\(\)|Error\b")
# The number of characters kept of an error, and of the end of a child's output, which is searched for errors.
SAID = 3000
TAIL = 50_000

Row = dict[str, Any]


class TestFile(NamedTuple):
    """An entry of ``tests.json``."""

    name: str
    path: Path
    args: list[str]


def files(root: Path) -> Iterator[TestFile]:
    """The Python test files that ``tests.json`` does not disable."""
    document = json.loads((root / "tests.json").read_text(encoding="utf-8"))
    for group in document["groups"]:
        for test in group["tests"] if group["is_python_test"] else []:
            if not test.get("disabled") and os.name not in test.get("disabled_platforms", []):
                path = root / test["file"]
                yield TestFile(test.get("name", path.stem), path, test.get("args", []))


class Telling(unittest.TestResult):
    """A test result that reports to the parent process when each test begins and ends."""

    def __init__(self, pipe: IO[str]) -> None:
        super().__init__()
        self.pipe = pipe
        self.verdict, self.why = RIGHT, ""

    def tell(self, **told: Any) -> None:
        self.pipe.write(json.dumps(told) + "\n")
        self.pipe.flush()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.verdict, self.why = RIGHT, ""
        self.tell(test=title(test))

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.tell(test=title(test), verdict=self.verdict, why=self.why)

    def failed(self, error: Any) -> None:
        self.verdict, self.why = FAILED, self.why or f"{error[0].__name__}: {error[1]}"[:SAID]

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self.failed(err)
        # An error of setUpClass is reported instead of the class's tests.
        if not isinstance(test, unittest.TestCase):
            self.tell(test=str(test), verdict=self.verdict, why=self.why)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self.failed(err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.failed(err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.verdict, self.why = SKIPPED, reason


def title(test: unittest.TestCase) -> str:
    """Its class and name, without the addresses of functions that parameterized names may contain."""
    return re.sub(r" at 0x[0-9a-f]+", "", test.id().split(".", 1)[1])


def cases(suite: unittest.TestSuite | unittest.TestCase) -> Iterator[unittest.TestCase]:
    if isinstance(suite, unittest.TestCase):
        yield suite
    else:
        for test in suite:
            yield from cases(test)


def child(path: Path, args: list[str]) -> None:
    """Run a test file as its ``main`` does, except for the tests named on standard input."""
    known = set(json.load(sys.stdin))
    pipe = os.fdopen(int(os.environ.pop(PIPE)), "w")
    # Programs that a test starts must not hold the pipe open.
    os.set_inheritable(pipe.fileno(), False)

    def run(program: Any) -> None:
        program.result = result = Telling(pipe)
        # One suite, so that classes are set up once.
        unittest.TestSuite(test for test in cases(program.test) if title(test) not in known).run(result)

    unittest.TestProgram.runTests = run  # type: ignore[assignment]
    sys.argv[:] = [str(path), *args]
    sys.path[0] = str(path.parent)
    runpy.run_path(str(path), run_name="__main__")


def run_file(file: TestFile, known: set[str], seconds: float) -> Iterator[Row]:
    """The rows of the tests that are not in ``known``."""
    known = set(known)
    while True:
        ended = False
        for row in _in_child(file, known, seconds):
            known.add(row["test"])
            ended = ended or row["verdict"] == ENDED
            yield {"file": file.name, **row}
        if "" in known:
            return
        if not ended:
            break
    yield {"file": file.name, "test": "", "verdict": WHOLE}


def _in_child(file: TestFile, known: set[str], seconds: float) -> Iterator[Row]:
    """The rows of one child; the last one has the verdict ENDED if a test ended the process.

    Its test is "" if the process ended before the first test.
    """
    with tempfile.TemporaryFile() as said:
        process, pipe = _started(file, known, said)
        try:
            running, began, count = "", time.monotonic(), 0
            for told in _lines(pipe, seconds, process):
                if "verdict" not in told:
                    running, began = told["test"], time.monotonic()
                    continue
                count += 1
                yield {**told, **_found(told["why"]), "seconds": round(time.monotonic() - began, 2)}
                running, began = "", time.monotonic()
            why = _ending(process.wait(), seconds)
        finally:
            pipe.close()
            # It has a process group of its own, which an interrupt from the keyboard does not reach.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        # Some end during interpreter shutdown, after all tests.
        if running or (why and not count):
            text = _said_last(said)
            yield {"test": running, "verdict": ENDED, "why": f"{why}: {text}", **_found(text)}


def _started(file: TestFile, known: set[str], said: IO[bytes]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """A child process, and the pipe through which it reports its tests."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, __file__, "--child", str(file.path), *file.args],
        stdin=subprocess.PIPE,
        stdout=said,
        stderr=said,
        env={**os.environ, PIPE: str(writing)},
        cwd=file.path.parent,
        pass_fds=(writing,),
        # A group of its own, not a session: Linux's autogroups weigh `nice` within a session only.
        preexec_fn=os.setpgrp,
    )
    os.close(writing)
    assert process.stdin is not None
    with process.stdin:
        process.stdin.write(json.dumps(sorted(known)).encode())
    return process, os.fdopen(reading, "rb", buffering=0)


def _lines(pipe: IO[bytes], seconds: float, process: subprocess.Popen[bytes]) -> Iterator[Row]:
    """The lines that a child writes until it ends. It is killed once it is silent for longer than ``seconds``."""
    data = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(seconds):
            part = os.read(pipe.fileno(), 1 << 16)
            if not part:
                return
            *lines, data = (data + part).split(b"\n")
            for line in lines:
                yield json.loads(line)
    os.killpg(process.pid, signal.SIGKILL)


def _ending(code: int, seconds: float) -> str:
    """How a child ended, by its exit code; "" for success."""
    if code == -signal.SIGKILL:
        return f"longer than {seconds:g} s, or killed"
    return "" if code == 0 else signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _said_last(said: IO[bytes]) -> str:
    """The errors in a child's last output, without the stack trace that TensorFlow adds to them."""
    said.seek(max(0, said.seek(0, os.SEEK_END) - TAIL))
    text = said.read().decode(errors="replace")
    ruled, fatal = ([line for line in text.splitlines() if kind.search(line)] for kind in (RULE, FATAL))
    return "\n".join((ruled or fatal)[-3:] or [text])[-SAID:]


def _found(text: str) -> Row:
    rules = RULE.findall(text)
    return {"rule": rules[-1]} if rules else {}


def read(path: Path) -> dict[tuple[str, str], Row]:
    """The rows by file and test; the last one of a test that was repeated."""
    if not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(row["file"], row["test"]): row for row in rows}


def known_tests(rows: dict[tuple[str, str], Row], file: TestFile, again: bool) -> set[str] | None:
    """The tests of a file that must not be run again; None if all of its tests are known."""
    verdicts = {test: row["verdict"] for (name, test), row in rows.items() if name == file.name}
    known = {
        test for test, verdict in verdicts.items() if test and not (again and verdict in (FAILED, ENDED))
    }
    return None if "" in verdicts and len(known) == len(verdicts) - 1 and verdicts[""] == WHOLE else known


def table(rows: Iterable[Row]) -> str:
    """Markdown: the tests that did not pass, and the totals."""
    tests = [row for row in rows if row["verdict"] != WHOLE]
    wrong = [row for row in tests if row["verdict"] in (FAILED, ENDED)]
    lines = ["| file | test | verdict | rule | why |", "| --- | --- | --- | --- | --- |"]
    for row in sorted(wrong, key=lambda row: (row["file"], row["test"])):
        cells = row["file"], row["test"], row["verdict"], row.get("rule", ""), _cell(row["why"])
        lines.append(f"| {' | '.join(cells)} |")
    counts = Counter(row["verdict"] for row in tests)
    ruled = sum("rule" in row for row in wrong)
    names = {row["file"] for row in tests}
    lines += [
        "",
        f"{len(names)} files, {len(names - {row['file'] for row in wrong})} of them without a failure.",
        f"{counts[RIGHT]} {RIGHT}, {counts[FAILED]} {FAILED}, {counts[ENDED]} {ENDED} the process, "
        f"{counts[SKIPPED]} {SKIPPED}. Of those that did not pass, {ruled} name a rule.",
        f"{counts[RIGHT] / max(1, counts[RIGHT] + len(wrong)):.2%} of the tests that were not skipped pass.",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())[:200]


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(Path(sys.argv[2]), sys.argv[3:])
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tests", type=Path, help="the folder `test` of the plugin's repository")
    parser.add_argument("results", type=Path, help="a file of JSON lines; an existing file is continued")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--again", action="store_true", help="repeat the tests that did not pass")
    parser.add_argument("--files", default="", help="a regular expression of their names")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one test")
    arguments = parser.parse_args()
    rows = read(arguments.results)
    if not arguments.table:
        with arguments.results.open("a", encoding="utf-8") as results:
            for file in files(arguments.tests.resolve()):
                known = known_tests(rows, file, arguments.again)
                if known is None or not re.search(arguments.files, file.name):
                    continue
                print(file.name, file=sys.stderr, flush=True)
                for row in run_file(file, known, arguments.seconds):
                    rows[row["file"], row["test"]] = row
                    results.write(json.dumps(row) + "\n")
                    results.flush()
    print(table(rows.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
