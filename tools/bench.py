"""Benchmark directml-py against NumPy, PyTorch and ONNX Runtime, interleaved in one process.

Without options, the most informative rows are measured, in less than ten minutes on an idle machine. ``--all`` measures
every row, ``--only TEXT``, which may be repeated, those that contain every word of some TEXT; ``--list`` lists them. A
run is printed to the terminal, written to files with ``--json FILE`` and ``--html FILE``, and with ``--readme`` to this
processor's columns of the table in README.md, of which only the rows are then measured; after Ctrl-C the rows measured
so far are reported.
``--load FILE`` loads one or several runs that ``--json`` wrote instead of measuring. ``--profile NETWORK`` profiles a
network by node.

Ratios are ours / the fastest peer, and ours / limit: this machine's fastest read or copy of the same bytes, or matrix
product of as many operations. PyTorch and ONNX Runtime are peers where they are installed. The package beside ``tools``
is measured, whatever the working directory; standard error shows its path.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import benchmarks
from benchmarks import architectures, peers, profiler
from benchmarks.bars import LEFT_OUT, matches
from benchmarks.benchmark_case import Measurable
from benchmarks.interleaved_timing import Row, title
from benchmarks.reports.html_page import page
from benchmarks.reports.readme import CHOSEN, README, remember, remembered, rewrite
from benchmarks.reports.text_table import print_table
from benchmarks.runs import BenchmarkRun, load, save, this_machine, today

import directml_py as dml


def modules() -> Iterator[ModuleType]:
    """The benchmark modules: with ``cases``, one row each, or with ``rows``, which are measured together."""
    for entry in iter_modules(benchmarks.__path__):
        module = import_module(f"benchmarks.{entry.name}")
        if entry.name != "cases" and (hasattr(module, "cases") or hasattr(module, "rows")):
            yield module


def family(module: ModuleType) -> str:
    return (module.__doc__ or "").partition("\n")[0].rstrip(".")


Wanted = Callable[[str], bool]
Measure = Callable[[int], Iterator[Row]]


def wanted(filters: Sequence[str], every: bool) -> Wanted:
    """A filter for titles of rows, and for names of modules whose rows are measured together."""

    def is_wanted(name: str) -> bool:
        if filters:
            return any(matches(name, words) or name == words.split()[0] for words in filters)
        return every or not any(matches(name, words) for words in LEFT_OUT)

    return is_wanted


def chosen(is_wanted: Wanted) -> Iterator[tuple[str, str, Measure]]:
    """The family and the title of each selected item, and a function that measures it with a number of threads."""
    for module in modules():
        name = module.__name__.rpartition(".")[2]
        if hasattr(module, "rows") and is_wanted(name):
            yield family(module), name, partial(together, module)
        for case in module.cases() if hasattr(module, "cases") else ():
            name = title(case.group, case.name)
            if is_wanted(name):
                yield family(module), name, partial(alone, case)


def together(module: ModuleType, threads: int) -> Iterator[Row]:
    yield from module.rows()


def alone(case: Measurable, threads: int) -> Iterator[Row]:
    yield case.measure(threads)


def measured(is_wanted: Wanted, threads: int) -> BenchmarkRun:
    """Measure the selected rows; failures are reported on standard error and left out."""
    dml.set_thread_count(threads)
    peers.set_threads(threads)
    print(f"measuring {Path(dml.__file__).parent}", file=sys.stderr)
    rows: list[Row] = []
    subjects = list(chosen(is_wanted))
    for index, (heading, name, measure) in enumerate(subjects):
        if sys.stderr.isatty():
            print(f"\r\033[K{index + 1} of {len(subjects)}: {name}", end="\r", file=sys.stderr, flush=True)
        try:
            rows += [replace(row, family=heading) for row in measure(threads)]
        except KeyboardInterrupt:
            break
        except Exception as error:
            print(f"{name} cannot be measured: {type(error).__name__}: {error}", file=sys.stderr)
    return BenchmarkRun(today(), this_machine(threads), rows)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="TEXT", help="the rows with all these words")
    add("--all", action="store_true", help="every row, not only the most informative ones")
    add("--list", action="store_true", help="list the rows and measure nothing")
    add("--threads", type=int, default=dml.thread_count(), help="for all runtimes (default: %(default)s)")
    add("--load", action="append", default=[], type=Path, metavar="FILE", help="a run that --json wrote")
    add("--json", type=Path, metavar="FILE", help="write the run as JSON")
    add("--html", type=Path, metavar="FILE", help="write the run as an HTML page")
    add(
        "--readme",
        action="store_true",
        help="measure the rows of README.md's table, and write this processor's columns",
    )
    add("--profile", choices=architectures.NETWORKS, help="profile a network by node")
    arguments = parser.parse_args(argv)
    console = Console(width=None if sys.stdout.isatty() else 160)
    is_wanted = wanted(arguments.only, arguments.all)
    if arguments.readme and not arguments.only and not arguments.all:
        is_wanted = set(CHOSEN.values()).__contains__
    if arguments.list:
        for _, name, _ in chosen(is_wanted):
            print(name)
        return 0
    if arguments.profile:
        dml.set_thread_count(arguments.threads)
        console.print(profiler.profile_table(arguments.profile))
        return 0
    run = load(arguments.load) if arguments.load else measured(is_wanted, arguments.threads)
    print_table(run, console)
    if arguments.json:
        save(run, arguments.json)
    if arguments.html:
        arguments.html.write_text(page(run), encoding="utf-8")
    if arguments.readme:
        remember(run)
        README.write_text(rewrite(README.read_text(encoding="utf-8"), remembered()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    # Child processes must measure the same package.
    paths = str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    sys.exit(main())
