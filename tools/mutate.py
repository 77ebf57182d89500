"""Change the code in one place at a time, and see whether a test notices.

    python tools/mutate.py directml_py/dml directml_py/d3d12 --count 150 --seed 1
    python tools/mutate.py directml_py/dml/bindings.py:168       # all of a line
    python tools/mutate.py directml_py/dml/bindings.py --list     # what would be tried

Works on a copy of the tree, whose files hold all mutants and are told which one is meant. First the tests run once,
those that may know the rooms that are changed (or ``--tests``), to learn which of them come by
which place and how long they take; then each mutant is given to the tests of its place, as many as take ``--seconds``.
A mutant that survives is a line that could be wrong without a test to say so, or code that means the same.
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
# These know nothing of most rooms, and take long.
APART = {"checkers", "docs", "kernels", "operators", "packaging", "tools"}
# Above all numbers of mutants: that a test came by a function of a file.
FILES = 1 << 20
# A process of its own hangs after as many times what its tests took, and what it takes to collect them.
HANG = 4
# Every process of the copy has this module, whoever starts it: ``sitecustomize`` or the package imports it.
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
    """A copy of the tree whose modules hold all of ``mutants``; the first is number 1."""

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
            places = {(mutant.start, mutant.end) for _, mutant in chosen}
            for mutant in mutants_of(path, file):
                if not mutant.at_import and (mutant.start, mutant.end) not in places:
                    places.add((mutant.start, mutant.end))
                    chosen.append((self.files[file], mutant))
            path.write_bytes(switched(path.read_bytes(), chosen))
        # A Python inside a C++ program has no ``sitecustomize``.
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
        """What a process of its own says of a mutant that works when modules are imported."""
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
        # 2 to 4 say that it did not come to the tests, since the package could not be imported.
        return {0: "survived", 1: "killed", 2: "killed", 3: "killed", 4: "killed"}.get(
            code, f"ended with {code}"
        )


def sample(root: Path, paths: Sequence[str], count: int, seed: int) -> list[Mutant]:
    found: dict[Mutant, None] = {}
    for name in paths:
        place, _, line = name.partition(":")
        files = [root / place] if (root / place).is_file() else sorted((root / place).rglob("*.py"))
        for path in files:
            for mutant in mutants_of(path, path.relative_to(root).as_posix()):
                if line in ("", str(mutant.line)):
                    found[mutant] = None
    return random.Random(seed).sample(list(found), min(count, len(found)))


def knowing(root: Path, paths: Sequence[str]) -> list[str]:
    """All tests, of the folders ``APART`` only those of the rooms that ``paths`` lie in."""
    meant = {part for path in paths for part in Path(path).parts[1:2]}
    rooms = sorted(path.name for path in (root / "tests").iterdir() if any(path.glob("test_*.py")))
    return [f"tests/{room}" for room in rooms if room not in APART - meant]


def lines_of(path: Path, process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """What ``process`` writes to ``path``, as soon as it does."""
    path.touch()
    with path.open(encoding="utf-8") as file:
        rest = ""
        while True:
            ended = process.poll() is not None
            rest += file.read()
            *lines, rest = rest.split("\n")
            yield from map(json.loads, lines)
            if ended:
                return
            time.sleep(0.1)


def verdicts(
    tree: Tree, mutants: Sequence[Mutant], tests: Sequence[str], seconds: float
) -> Iterator[tuple[int, str, str, int]]:
    """Each mutant's number, what became of it, the test that found it, and how many tests it was given."""
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
        for found in lines_of(tree.root / "found.txt", process):
            if "passed" in found:
                print(f"without a change: {found['passed']} of {found['tests']} pass", flush=True)
            elif found["verdict"] == "imported":
                fresh.append((found["number"], found["tests"]))
            else:
                yield found["number"], found["verdict"], found["test"], len(found["tests"])
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
    parser.add_argument("paths", nargs="+", help="folders, modules or their lines, from the tree's root")
    parser.add_argument("--count", type=int, default=100, help="how many mutants (default: 100)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60, help="of tests for a mutant (default: 60)")
    parser.add_argument(
        "--tests", nargs="+", help="what pytest is given (default: those that know the paths)"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    options = parser.parse_args(arguments)
    mutants = sample(ROOT, options.paths, options.count, options.seed)
    tests = options.tests or knowing(ROOT, options.paths)
    if options.list:
        print(*mutants, sep="\n")
        return 0
    # Ended from outside, it takes the processes of the tests with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree(Path(folder), mutants)
        counts: Counter[str] = Counter()
        for number, kind, test, given in verdicts(tree, mutants, tests, options.seconds):
            counts[kind] += 1
            by = f" by {test}" if test else f" ({given} tests)"
            print(f"{kind}{by}: {mutants[number - 1]}", flush=True)
    killed = sum(counts.values()) - counts["survived"]
    print(f"{killed} of {len(mutants)} killed, {counts['timeout']} of them by not ending")
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
