"""Measure the errors of the functions of ELEMENT_WISE_* and ACTIVATION_* in ULP, over all magnitudes.

    python tools/accuracy.py
    python tools/accuracy.py --only SIN COS ACTIVATION_GELU --dtype float32 --samples 4096

An operator's results from ``directml_py.evaluate`` are compared with those of rational arithmetic or of C's functions
in FLOAT64, rounded to FLOAT32 after each operation of a formula. Each row has the largest error in units in the last
place from the nearest float, the error bound, and the share of results that are not correctly rounded. The exit code is
1 if an error exceeds its bound (``directml_py.testing.tolerances``). All 65,536 inputs of FLOAT16 are tried; for
FLOAT32, and for operators of two inputs, every exponent with ``--samples`` mantissas, and the neighbourhoods of points
where a function changes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring.error_search import DATA_TYPES, measured, tolerance
from measuring.measured_functions import FUNCTIONS

from directml_py.testing.tolerances import NOWHERE_NEAR

FAMILIES = ("ELEMENT_WISE_", "ACTIVATION_")
NAME_WIDTH = max(map(len, FUNCTIONS))


def operators(names: Sequence[str]) -> list[str]:
    """The operators with one of the names, with or without the family. Raises ``ValueError`` for an unknown name."""
    unknown = [name for name in names if not any(name in spellings(operator) for operator in FUNCTIONS)]
    if unknown:
        raise ValueError(f"no function is called {', '.join(unknown)}")
    return [
        function
        for function in sorted(FUNCTIONS)
        if not names or any(name in spellings(function) for name in names)
    ]


def spellings(operator: str) -> set[str]:
    return {operator, *(operator.removeprefix(family) for family in FAMILIES)}


def density(text: str) -> int:
    """The number of mantissas, at least 2: the first and the last."""
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"{text} is less than 2")
    return value


def table(chosen: Sequence[str], dtype: np.dtype[Any], samples: int) -> int:
    """Print a row for each operator; returns how many exceed their error bound."""
    too_far = 0
    print(f"{dtype.name.upper():{NAME_WIDTH}}    ULP   may be    results   not nearest   worst")
    for operator in chosen:
        errors, limit = measured(operator, dtype, samples), tolerance(operator, dtype)
        too_far += errors.ulps > limit
        ulps = "NaN" if errors.ulps == NOWHERE_NEAR else f"{errors.ulps:,}"
        where = f"TOO FAR: {errors.where}" if errors.ulps > limit else errors.where
        share = errors.off / errors.total
        row = f"{operator:{NAME_WIDTH}} {ulps:>6} {limit:>8} {errors.total:>10,} {share:>13.4%}   {where}"
        print(row.rstrip(), flush=True)
    return too_far


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only operators of these names")
    parser.add_argument(
        "--samples",
        type=density,
        default=64,
        metavar="N",
        help="mantissas per exponent (default: %(default)s)",
    )
    parser.add_argument("--dtype", choices=sorted(DATA_TYPES), help="default: all")
    arguments = parser.parse_args(argv)
    try:
        chosen = operators(arguments.only)
    except ValueError as error:
        parser.error(str(error))
    too_far = sum(
        table(chosen, np.dtype(name), arguments.samples)
        for name in DATA_TYPES
        if arguments.dtype in (None, name)
    )
    if too_far:
        print(f"{too_far} exceed their error bound")
    return 1 if too_far else 0


if __name__ == "__main__":
    sys.exit(main())
