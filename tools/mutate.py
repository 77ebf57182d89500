"""Mutation testing: change one expression at a time, and check that a test fails.

    python tools/mutate.py directml_py/dml directml_py/d3d12 --count 150 --seed 1
    python tools/mutate.py directml_py/dml/bindings.py:168       # all mutants of a line
    python tools/mutate.py directml_py/dml/bindings.py --list     # list the mutants

Works on a copy of the tree whose files contain all mutants, with a switch that activates one. The tests that may cover
the changed rooms (or ``--tests``) run once without a mutant, to record their coverage and durations; then each mutant
is tested with those that cover it, within a budget of ``--seconds``. A surviving mutant is either untested code or an
equivalent change.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutating.code_changes import QUESTION, Mutant, mutants_of, switched

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("directml_py", "include", "tests", "tools", "docs", "pyproject.toml", "README.md", "noxfile.py")
# Test folders that do not cover most rooms and take long.
APART = {"checkers", "docs", "kernels", "operators", "packaging", "tools"}
# Numbers from here on, above those of mutants, record that a test covers a function of a file.
FILES = 1 << 20
# The timeout of a separate process, as a multiple of its tests' budget, which leaves time for collection.
HANG = 4
# Every process of the copy loads this module: ``sitecustomize`` or the package imports it.
SWITCH = f"""
import builtins
import os

class Seen(set):
    def __init__(self, path=None):
        self.path = path

    def add(self, number):
        if number not in self:
            super().add(number)
            if self.path is not None:
                with open(self.path, "a") as file:
                    print(number, file=file)

seen = Seen(os.environ.get("MUTANT_SEEN"))

def choose(number):
    setattr(builtins, "{QUESTION}", number.__eq__)
    os.environ["MUTANT"] = str(number)

def watch():
    setattr(builtins, "{QUESTION}", seen.add)

choose(int(os.environ.get("MUTANT", "0")))
if "MUTANT_WATCH" in os.environ or "MUTANT_SEEN" in os.environ:
    watch()
"""
FIRST = "import os as _os\n"


class Tree:
    """A copy of the tree whose modules contain all of ``mutants``, numbered from 1."""

    def __init__(self, folder: Path, mutants: Sequence[Mutant]) -> None:
        self.root = folder
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif (ROOT / name).exists():
                shutil.copy(ROOT / name, folder / name)
        (folder / "mutant_switch.py").write_text(SWITCH, encoding="utf-8")
        (folder / "sitecustomize.py").write_text("import mutant_switch\n", encoding="utf-8")
        choices: dict[str, list[tuple[int, Mutant]]] = defaultdict(list)
        for number, mutant in enumerate(mutants, 1):
            choices[mutant.file].append((number, mutant))
        self.files = {file: FILES + index for index, file in enumerate(choices)}
        for file, chosen in choices.items():
            path = folder / file
            spans = {(mutant.start, mutant.end) for _, mutant in chosen}
            for mutant in mutants_of(path, file):
                if not mutant.at_import and (mutant.start, mutant.end) not in spans:
                    spans.add((mutant.start, mutant.end))
                    chosen.append((self.files[file], mutant))
            path.write_bytes(switched(path.read_bytes(), chosen))
        # A Python embedded in a C++ program does not load ``sitecustomize``.
        package = folder / "directml_py" / "__init__.py"
        text = package.read_text(encoding="utf-8")
        package.write_text(
            text.replace(FIRST, f"import mutant_switch as _switch\n{FIRST}", 1), encoding="utf-8"
        )

    def start(self, command: Sequence[str], **more: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "", **more}
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.root,
            env=environment,
            stdout=(self.root / "printed.txt").open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def verdict(self, number: int, tests: Sequence[str], seconds: float) -> str:
        """Test a mutant that takes effect at import time, in a separate process."""
        chosen = self.root / "chosen.txt"
        chosen.write_text("\n".join(tests), encoding="utf-8")
        command = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"@{chosen}"]
        process = self.start(command, MUTANT=str(number))
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "timeout"
        # Exit codes 2 to 4 mean that no test ran, since the package could not be imported.
        return {0: "survived", 1: "killed", 2: "killed", 3: "killed", 4: "killed"}.get(
            code, f"ended with {code}"
        )


def sample(root: Path, paths: Sequence[str], count: int, seed: int) -> list[Mutant]:
    mutants: dict[Mutant, None] = {}
    for name in paths:
        target, _, line = name.partition(":")
        files = [root / target] if (root / target).is_file() else sorted((root / target).rglob("*.py"))
        for path in files:
            for mutant in mutants_of(path, path.relative_to(root).as_posix()):
                if line in ("", str(mutant.line)):
                    mutants[mutant] = None
    return random.Random(seed).sample(list(mutants), min(count, len(mutants)))


def knowing(root: Path, paths: Sequence[str]) -> list[str]:
    """All test folders, of those in ``APART`` only the ones for the rooms of ``paths``."""
    rooms_of_paths = {part for path in paths for part in Path(path).parts[1:2]}
    rooms = sorted(path.name for path in (root / "tests").iterdir() if any(path.glob("test_*.py")))
    return [f"tests/{room}" for room in rooms if room not in APART - rooms_of_paths]


def lines_of(path: Path, process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """Follow the JSON lines that ``process`` writes to ``path``."""
    path.touch()
    with path.open(encoding="utf-8") as file:
        partial = ""
        while True:
            ended = process.poll() is not None
            partial += file.read()
            *lines, partial = partial.split("\n")
            yield from map(json.loads, lines)
            if ended:
                return
            time.sleep(0.1)


def verdicts(
    tree: Tree, mutants: Sequence[Mutant], tests: Sequence[str], seconds: float
) -> Iterator[tuple[int, str, str, int]]:
    """Each mutant's number, its verdict, the test that killed it, and the number of tests tried."""
    task = {
        "files": [tree.files[mutant.file] for mutant in mutants],
        "rooms": [mutant.file.split("/")[1] for mutant in mutants],
        "at_import": [mutant.at_import for mutant in mutants],
        "tests": tests,
        "seconds": seconds,
    }
    (tree.root / "task.json").write_text(json.dumps(task), encoding="utf-8")
    process = tree.start(["tools/mutating/trials.py", "task.json"], MUTANT_WATCH="1")
    fresh = []
    try:
        for entry in lines_of(tree.root / "found.txt", process):
            if "passed" in entry:
                print(f"without a change: {entry['passed']} of {entry['tests']} pass", flush=True)
            elif entry["verdict"] == "imported":
                fresh.append((entry["number"], entry["tests"]))
            else:
                yield entry["number"], entry["verdict"], entry["test"], len(entry["tests"])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    if process.wait():
        raise SystemExit((tree.root / "printed.txt").read_text(encoding="utf-8"))
    for number, chosen in fresh:
        yield number, tree.verdict(number, chosen, HANG * seconds), "", len(chosen)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "paths", nargs="+", help="folders, modules or lines (FILE:LINE), relative to the root"
    )
    parser.add_argument("--count", type=int, default=100, help="number of mutants (default: 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="test budget per mutant (default: 60)")
    parser.add_argument(
        "--tests", nargs="+", help="arguments for pytest (default: the tests that may cover the paths)"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    options = parser.parse_args(arguments)
    mutants = sample(ROOT, options.paths, options.count, options.seed)
    tests = options.tests or knowing(ROOT, options.paths)
    if options.list:
        print(*mutants, sep="\n")
        return 0
    # When terminated, it terminates its test processes too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree(Path(folder), mutants)
        counts: Counter[str] = Counter()
        for number, kind, test, given in verdicts(tree, mutants, tests, options.seconds):
            counts[kind] += 1
            by = f" by {test}" if test else f" ({given} tests)"
            print(f"{kind}{by}: {mutants[number - 1]}", flush=True)
    killed = sum(counts.values()) - counts["survived"]
    print(f"{killed} of {len(mutants)} killed, {counts['timeout']} of them by timeout")
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
