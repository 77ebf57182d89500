"""Change the code in one place at a time, and see whether a test notices.

    python tools/mutate.py directml_py/dml directml_py/d3d12 --count 150 --seed 1
    python tools/mutate.py directml_py/dml/bindings.py --list     # what would be tried

Works on a copy of the tree. First the tests run once, watched, to learn which of them come by which line; then each
mutant is given to the tests of its line, at most ``--seconds`` long. A mutant that survives is a line that could be
wrong without a test to say so, or code that means the same.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("directml_py", "include", "tests", "tools", "docs", "pyproject.toml", "README.md", "noxfile.py")
TESTS = (
    "tests/dml",
    "tests/d3d12",
    "tests/hazards",
    "tests/descs",
    "tests/validation",
    "tests/abi",
    "tests/rules",
)
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
# Of the tests that come by a line, which may be thousands.
MOST_TESTS = 400
# Test id -> file -> lines; a fixture's lines belong to the test that is set up.
Lines = dict[str, dict[str, list[int]]]


class Mutant(NamedTuple):
    """One expression of ``file`` (relative to the tree) written otherwise; offsets are in the text's bytes."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.old}  ->  {self.new}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Other nodes in the place of ``node``."""
    if isinstance(node, ast.Compare):
        for index, op in enumerate(node.ops):
            compared = copy.deepcopy(node)
            compared.ops[index] = SWAPS[type(op)]()  # type: ignore[call-overload]
            yield compared
    elif isinstance(node, (ast.BoolOp, ast.BinOp)) and type(node.op) in SWAPS:
        other = copy.deepcopy(node)
        other.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
        yield other
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)


def expressions(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions that run: no annotations, no texts, nothing that type checkers alone read."""
    if isinstance(node, (ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and "'" in ast.unparse(node):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from expressions(child)


def mutants_of(path: Path, file: str) -> Iterator[Mutant]:
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in expressions(ast.parse(data)):
        if not isinstance(node, ast.expr) or node.end_lineno is None or node.end_col_offset is None:
            continue
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for other in changes(node):
            # Brackets keep the precedence, and newlines the numbers of the lines behind it.
            padding = "\n" * (node.end_lineno - node.lineno)
            yield Mutant(file, node.lineno, start, end, ast.unparse(node), f"({ast.unparse(other)}{padding})")


class Watch:
    """A pytest plugin that writes which lines below ``folders`` each test comes by."""

    def __init__(self, root: str, folders: Sequence[str], output: Path) -> None:
        self.root, self.output = root, output
        self.folders = tuple(os.path.join(root, folder) for folder in folders)
        self.lines: dict[str, dict[str, set[int]]] = {}
        self.now: dict[str, set[int]] = defaultdict(set)
        self.failed: set[str] = set()

    def _call(self, frame: Any, event: str, argument: Any) -> Callable[..., Any] | None:
        name = frame.f_code.co_filename
        if not name.startswith(self.folders):
            return None
        seen = self.now[name]

        def line(frame: Any, event: str, argument: Any) -> Callable[..., Any]:
            seen.add(frame.f_lineno)
            return line

        seen.add(frame.f_lineno)
        return line

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.now = self.lines[nodeid] = defaultdict(set)
        threading.settrace(self._call)
        sys.settrace(self._call)

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Nothing can be said by a test that fails without a change, be it because it is watched."""
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        found = {
            test: {os.path.relpath(file, self.root): sorted(lines) for file, lines in files.items()}
            for test, files in self.lines.items()
            if test not in self.failed
        }
        self.output.write_text(json.dumps(found), encoding="utf-8")


def watch(root: str, folders: Sequence[str], output: str, tests: Sequence[str]) -> int:
    import pytest

    plugin = Watch(root, folders, Path(output))
    return int(pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[plugin]))


class Tree:
    """A copy of the tree in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif (ROOT / name).exists():
                shutil.copy(ROOT / name, folder / name)
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPATH": str(folder),
        }
        self._time = 1_000_000_000

    def write(self, file: str, data: bytes) -> None:
        """Every version has a time of its own, by which Python knows that what it compiled is another's."""
        self._time += 1
        (self.root / file).write_bytes(data)
        os.utime(self.root / file, (self._time, self._time))

    def run(self, command: Sequence[str], seconds: float | None = None) -> tuple[int | None, str]:
        """The exit code (None: not ended in time) and the last line of what was printed."""
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
        return process.returncode, (output.strip().splitlines() or [""])[-1]

    def learn(self, folders: Sequence[str], tests: Sequence[str]) -> Lines:
        output = self.root / "lines.json"
        _, last = self.run(
            ["tools/mutate.py", "--watch", str(self.root), *folders, "--", str(output), *tests]
        )
        print(f"without a change: {last}", flush=True)
        return json.loads(output.read_text(encoding="utf-8"))  # type: ignore[no-any-return]

    def verdict(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> str:
        data = (self.root / mutant.file).read_bytes()
        self.write(mutant.file, data[: mutant.start] + mutant.new.encode() + data[mutant.end :])
        chosen = self.root / "chosen.txt"
        chosen.write_text("\n".join(tests), encoding="utf-8")
        try:
            code, _ = self.run(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"@{chosen}"], seconds)
        finally:
            self.write(mutant.file, data)
        if code is None:
            return "timeout"
        # What else pytest ends with says that it did not come to the tests: look at those by hand.
        return {0: "survived", 1: "killed", 2: "killed"}.get(code, f"pytest ended with {code}")


def tests_of(mutant: Mutant, lines: Lines) -> list[str]:
    """The tests of the mutant's line, or of its file where the line runs when the module is imported."""
    by_file = [test for test, files in lines.items() if mutant.file in files]
    by_line = [test for test in by_file if mutant.line in lines[test][mutant.file]]
    found = by_line or by_file or list(lines)
    # Tests of the room first, and few of each function, which are much alike.
    room = mutant.file.split("/")[1]
    ranks: Counter[str] = Counter()
    order = []
    for test in found:
        function = test.partition("[")[0]
        ranks[function] += 1
        order.append((ranks[function], not test.startswith(f"tests/{room}/"), test))
    chosen = sorted(order)[:MOST_TESTS]
    # A file is collected once if its tests stand together.
    return [test for _, away, test in sorted(chosen, key=lambda entry: (entry[1], entry[2]))]


def sample(root: Path, paths: Sequence[str], count: int, seed: int) -> list[Mutant]:
    files = sorted(
        path
        for name in paths
        for path in ([root / name] if (root / name).is_file() else (root / name).rglob("*.py"))
    )
    found = [mutant for path in files for mutant in mutants_of(path, path.relative_to(root).as_posix())]
    return random.Random(seed).sample(found, min(count, len(found)))


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--watch"]:
        root, *rest = arguments[1:]
        middle = rest.index("--")
        return watch(root, rest[:middle], rest[middle + 1], rest[middle + 2 :])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", help="modules or folders, from the tree's root")
    parser.add_argument("--count", type=int, default=100, help="how many mutants (default: 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120, help="for the tests of a mutant (default: 120)")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="what pytest is given")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    options = parser.parse_args(arguments)
    if options.list:
        print(*sample(ROOT, options.paths, options.count, options.seed), sep="\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree(Path(folder))
        mutants = sample(tree.root, options.paths, options.count, options.seed)
        lines = tree.learn(options.paths, options.tests)
        counts: Counter[str] = Counter()
        for mutant in mutants:
            tests = tests_of(mutant, lines)
            verdict = tree.verdict(mutant, tests, options.seconds)
            counts[verdict] += 1
            print(f"{verdict} ({len(tests)} tests) {mutant}", flush=True)
    found = sum(counts.values()) - counts["survived"]
    print(f"{found} of {len(mutants)} found ({counts['timeout']} by not ending)")
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
