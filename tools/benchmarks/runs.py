"""What a run measured, as pyperf keeps it: a benchmark for each side of each row, in one suite.

So ``python -m pyperf`` shows a run, checks that it is stable, and compares it with one before a change.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import pyperf

from directml_py import __version__
from directml_py.kernels import backend

from . import peers

OURS, LIMIT = "directml-py", "limit"
# Of what pyperf finds out about the machine; the rest changes with each run, or names folders or the kernel's build.
MACHINE = ("date", "cpu_model_name", "cpu_count")


class Row(NamedTuple):
    """A line of the table: what each side needed in each round, in seconds or, if ``unit`` is ``byte``, in bytes.

    The sides are this package, its peers, and the machine's limit.
    """

    title: str
    sides: Mapping[str, Sequence[float]]
    unit: str = "second"


class RowComparison(NamedTuple):
    """The medians of a row, as pyperf writes them, and ratios of ours; ``best`` is the fastest peer. ``apart`` are the
    ratios to peers that are not among these."""

    title: str
    ours: str = ""
    best: str = ""
    theirs: str = ""
    ratio: str = ""
    limit_ratio: str = ""
    apart: tuple[str, ...] = ()


def metadata(threads: int) -> dict[str, str | int]:
    """This machine, and what is installed on it."""
    found = pyperf.Run([1.0]).get_metadata()
    machine: dict[str, str | int] = {name: found[name] for name in MACHINE if name in found}
    machine.update(platform=platform.system(), python_version=platform.python_version())
    versions = {OURS: f"{__version__}, {backend.title}", **peers.versions()}
    return {**machine, **{f"{name}_version": text for name, text in versions.items()}, "threads": threads}


def suite(rows: Sequence[Row], about: Mapping[str, str | int]) -> pyperf.BenchmarkSuite:
    return pyperf.BenchmarkSuite(
        [
            pyperf.Benchmark(
                [
                    pyperf.Run(
                        values,
                        metadata={**about, "name": _name(row.title, side), "unit": row.unit},
                        collect_metadata=False,
                    )
                ]
            )
            for row in rows
            for side, values in row.sides.items()
        ]
    )


def _name(title: str, side: str) -> str:
    return f"{title} [{side}]"


def comparisons(run: pyperf.BenchmarkSuite, apart: Sequence[str] = ()) -> Iterator[RowComparison]:
    """Compare the sides of each row; with the peers ``apart`` each by itself."""
    rows: dict[str, dict[str, pyperf.Benchmark]] = {}
    for benchmark in run:
        title, _, side = benchmark.get_name().removesuffix("]").rpartition(" [")
        rows.setdefault(title, {})[side] = benchmark
    for title, sides in rows.items():
        ours, limit = sides.pop(OURS), sides.pop(LIMIT, None)

        def ratio(other: pyperf.Benchmark, ours: pyperf.Benchmark = ours) -> str:
            return f"{ours.median() / other.median():.2f}"

        others = [sides.pop(name, None) for name in apart]
        comparison = RowComparison(
            title,
            ours.format_value(ours.median()),
            limit_ratio=ratio(limit) if limit else "",
            apart=tuple("" if other is None else ratio(other) for other in others),
        )
        if sides:
            best = min(sides, key=lambda side: sides[side].median())
            fastest = sides[best]
            comparison = comparison._replace(
                best=best, theirs=fastest.format_value(fastest.median()), ratio=ratio(fastest)
            )
        yield comparison
