"""Benchmark directml-py against NumPy, PyTorch and ONNX Runtime, interleaved in one process.

Without options, the rows of README.md's table are measured. ``--all`` measures every row, ``--only TEXT``, which may be
repeated, those that contain every word of some TEXT, or a module's; ``--list`` lists them. After Ctrl-C the rows
measured so far are reported. ``--output FILE`` keeps a run for pyperf: ``python -m pyperf compare_to BEFORE AFTER``
says what a change has made faster, ``pyperf check`` and ``stats`` how steady the figures are. ``--readme`` writes this
processor's columns of README.md's table. ``--profile NETWORK`` profiles a network by node.

``--isa avx2`` measures what a processor without AVX-512 would do: our loops, NumPy and PyTorch are limited to AVX2.
ONNX Runtime cannot be, and has a column of its own unless the processor has nothing better.

Ratios are ours / the fastest peer, and ours / limit: this machine's fastest read or copy of the same bytes, or matrix
product of as many operations. PyTorch and ONNX Runtime are peers where they are installed. The package beside ``tools``
is measured, whatever the working directory; standard error shows its path.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pyperf
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import benchmarks
from benchmarks import architectures, instruction_sets, peers, profiler
from benchmarks.benchmark_case import Measurable
from benchmarks.readme_table import CHOSEN, README, remember, remembered, rewrite
from benchmarks.runs import Row, comparisons, metadata, suite

import directml_py as dml


def modules() -> Iterator[ModuleType]:
    """The benchmark modules: with ``cases``, one row each, or with ``rows``, which are measured together."""
    for entry in iter_modules(benchmarks.__path__):
        module = import_module(f"benchmarks.{entry.name}")
        if hasattr(module, "cases") or hasattr(module, "rows"):
            yield module


Wanted = Callable[[str], bool]
Measure = Callable[[int], Iterator[Row]]


def wanted(filters: Sequence[str], every: bool) -> Wanted:
    """A filter for titles of rows, and for names of modules whose rows are measured together."""

    def is_wanted(name: str) -> bool:
        if filters:
            return any(
                all(word in name for word in words.split()) or name == words.split()[0] for words in filters
            )
        return every or name in CHOSEN.values()

    return is_wanted


def chosen(is_wanted: Wanted) -> Iterator[tuple[str, Measure]]:
    """The title of each selected item, and a function that measures it with a number of threads."""
    for module in modules():
        name = module.__name__.rpartition(".")[2]
        if hasattr(module, "rows") and is_wanted(name):
            yield name, partial(together, module)
        for case in module.cases() if hasattr(module, "cases") else ():
            if is_wanted(case.title):
                yield case.title, partial(alone, case)


def together(module: ModuleType, threads: int) -> Iterator[Row]:
    yield from module.rows()


def alone(case: Measurable, threads: int) -> Iterator[Row]:
    yield case.measure(threads)


def measured(is_wanted: Wanted, threads: int) -> list[Row]:
    """Measure the selected rows; failures are reported on standard error and left out."""
    dml.set_thread_count(threads)
    peers.set_threads(threads)
    print(f"measuring {Path(dml.__file__).parent}", file=sys.stderr)
    rows: list[Row] = []
    subjects = list(chosen(is_wanted))
    for index, (name, measure) in enumerate(subjects):
        if sys.stderr.isatty():
            print(f"\r\033[K{index + 1} of {len(subjects)}: {name}", end="\r", file=sys.stderr, flush=True)
        try:
            rows += measure(threads)
        except KeyboardInterrupt:
            break
        except Exception as error:
            print(f"{name} cannot be measured: {type(error).__name__}: {error}", file=sys.stderr)
    return rows


def comparison_table(run: pyperf.BenchmarkSuite, unlimited: Sequence[str]) -> Table:
    """A line for each row, and in the footer the geometric means of the ratios; peers that are ``unlimited`` by
    ``--isa`` have columns of their own."""
    found = [*comparisons(run, unlimited)]
    table = Table(show_footer=len(found) > 1)
    for name in ("row", "ours", "fastest peer", "its"):
        table.add_column(name, "geometric mean" if name == "row" else "")
    table.add_column("ours / its", mean_of([one.ratio for one in found]))
    table.add_column("ours / limit")
    for index, name in enumerate(unlimited):
        table.add_column(f"ours / {name}, not limited", mean_of([one.apart[index] for one in found]))
    for one in found:
        table.add_row(*one[:-1], *one.apart)
    return table


def mean_of(ratios: Sequence[str]) -> str:
    """The geometric mean of those that there are."""
    numbers = [float(ratio) for ratio in ratios if ratio]
    return f"{statistics.geometric_mean(numbers):.2f}" if numbers else ""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="TEXT", help="the rows with all these words")
    add("--all", action="store_true", help="every row, not only those of README.md")
    add("--list", action="store_true", help="list the rows and measure nothing")
    add("--threads", type=int, default=dml.thread_count(), help="for all runtimes (default: %(default)s)")
    add("--output", type=Path, metavar="FILE", help="write the run for pyperf, as JSON")
    add("--readme", action="store_true", help="write this processor's columns of README.md's table")
    add(
        "--isa",
        choices=instruction_sets.VARIABLES,
        help="limit our loops and the peers to these instructions",
    )
    add("--profile", choices=architectures.NETWORKS, help="profile a network by node")
    arguments = parser.parse_args(argv)
    unlimited: Sequence[str] = ()
    if arguments.isa:
        if arguments.readme:
            parser.error("--readme is for processors as they are")
        instruction_sets.limit_libraries(arguments.isa, sys.argv)
        try:
            unlimited = instruction_sets.limit_loops(arguments.isa)
        except RuntimeError as error:
            parser.error(str(error))
    console = Console(width=None if sys.stdout.isatty() else 160)
    is_wanted = wanted(arguments.only, arguments.all)
    if arguments.list:
        for name, _ in chosen(is_wanted):
            print(name)
        return 0
    if arguments.profile:
        dml.set_thread_count(arguments.threads)
        console.print(profiler.profile_table(arguments.profile))
        return 0
    rows = measured(is_wanted, arguments.threads)
    if not rows:
        return 1
    run = suite(rows, metadata(arguments.threads))
    console.print(comparison_table(run, unlimited))
    if arguments.output:
        run.dump(str(arguments.output), replace=True)
    if arguments.readme:
        remember(suite([row for row in rows if row.title in CHOSEN.values()], metadata(arguments.threads)))
        README.write_text(rewrite(README.read_text(encoding="utf-8"), remembered()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    # Child processes must measure the same package.
    paths = str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    sys.exit(main())
