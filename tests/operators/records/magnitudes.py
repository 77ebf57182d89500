"""Reproducible inputs of all magnitudes.

A sampler returns one array per input of an operator, all of the same sizes. ``density`` is the count of numbers for
each exponent and sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
DType: TypeAlias = np.dtype[Any]
Sampler = Callable[[DType, int], "list[Array]"]

ROW_LENGTH = 8
GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
NEIGHBOURS = np.arange(-2, 3)
POINTS = (
    *(
        0.0,
        1 / 3,
        0.5,
        1.0,
        math.sqrt(2),
        1.5,
        2.0,
        2.5,
        math.e,
        3.0,
        4.0,
        5.0,
        6.0,
        8.0,
        9.0,
        10.0,
        13.0,
        40.0,
    ),
    *(count * math.pi / 4 for count in range(1, 65)),
    *(math.ldexp(math.pi, exponent) for exponent in range(6, 128)),
    # The two floats closest to multiples of pi / 2: 1.6e-9 and 2e-9.
    *(math.ldexp(16367173, 72), math.ldexp(10741887, 11)),
)


def limits(dtype: DType) -> list[float]:
    """Thresholds at which exponentials, squares, reciprocals and rounding overflow, underflow or become exact."""
    info = np.finfo(dtype)
    largest, tiny, smallest = float(info.max), float(info.tiny), float(info.smallest_subnormal)
    ends = [largest, tiny, smallest]
    return [
        *ends,
        *(abs(math.log(end)) for end in ends),
        *(math.log(2) + abs(math.log(end)) for end in ends),
        *(math.sqrt(end) for end in ends),
        *(1 / end for end in (largest, tiny)),
        *(2.0 ** (info.nmant + more) for more in (-1, 0, 1)),
    ]


def bits_type(dtype: DType) -> DType:
    return np.dtype(f"u{dtype.itemsize}")


def of_both_signs(x: Array) -> Array:
    return np.concatenate([x, -x])


def special(dtype: DType) -> Array:
    """Special points of either sign with adjacent floats; infinities and NaN."""
    with np.errstate(over="ignore"):
        points = np.array([*POINTS, *limits(dtype)]).astype(dtype)
    points = np.unique(points[np.isfinite(points)])
    bits = points.view(bits_type(dtype)).astype(np.int64)[:, np.newaxis] + NEIGHBOURS
    adjacent = bits[bits >= 0].astype(bits_type(dtype)).view(dtype)
    return of_both_signs(np.append(np.unique(adjacent), np.array([np.inf, np.nan], dtype)))


def spread(dtype: DType, density: int) -> Array:
    """Every exponent, including subnormals, with evenly spaced mantissas that are shifted between exponents."""
    digits = int(np.finfo(dtype).nmant)
    exponents = np.arange(2 ** (8 * dtype.itemsize - 1 - digits) - 1)[:, np.newaxis]
    fractions = (np.arange(density) + exponents * GOLDEN_RATIO % 1) / density
    mantissas = (fractions * 2**digits).astype(np.int64)
    mantissas[:, 0], mantissas[:, -1] = 0, 2**digits - 1
    return of_both_signs(((exponents << digits) + mantissas).ravel().astype(bits_type(dtype)).view(dtype))


def single(dtype: DType, density: int) -> list[Array]:
    """Samples for functions of one number; all numbers for FLOAT16."""
    if dtype == np.float16:
        return [np.arange(2**16, dtype=np.uint16).view(dtype)]
    return [np.concatenate([special(dtype), spread(dtype, density)])]


def pairs(dtype: DType, density: int) -> list[Array]:
    """All pairs of some special numbers; all magnitudes with random and with similar ones."""
    rng = np.random.default_rng(1)
    few = rng.choice(special(dtype), 150, replace=False)
    few = np.concatenate([few, of_both_signs(np.array([0, 1, 2, np.inf, np.nan], dtype))])
    x = spread(dtype, density)
    with np.errstate(all="ignore"):
        factors = np.ldexp(rng.uniform(-2, 2, x.size), rng.integers(-26, 27, x.size))
        similar = (x.astype(np.float64) * factors).astype(dtype)
    first = [np.repeat(few, few.size), x, x]
    second = [np.tile(few, few.size), rng.permutation(x), similar]
    return [np.concatenate(first), np.concatenate(second)]


def powers(dtype: DType, density: int) -> list[Array]:
    """Pairs, and bases of all magnitudes with exponents that give results of all magnitudes."""
    rng = np.random.default_rng(2)
    info = np.finfo(dtype)
    bases = np.abs(spread(dtype, density))
    near_one = (1 + rng.uniform(-1, 1, bases.size) * 2.0 ** rng.integers(-info.nmant, 0, bases.size)).astype(
        dtype
    )
    bases = np.concatenate([bases, near_one])
    with np.errstate(all="ignore"):
        targets = rng.uniform(info.minexp - info.nmant - 2, info.maxexp + 1, bases.size)
        exponents = (targets / np.log2(bases.astype(np.float64))).astype(dtype)
        whole = np.rint(exponents)
    any_pairs = pairs(dtype, density)
    return [
        np.concatenate([any_pairs[0], bases, -bases]),
        np.concatenate([any_pairs[1], exponents, whole]),
    ]


def rows(dtype: DType, density: int) -> list[Array]:
    """Rows of numbers that are far apart, close together, and close together far from 0; some infinities and NaN."""
    rng = np.random.default_rng(3)
    shape = (density * 64, ROW_LENGTH)
    widths = 2.0 ** rng.uniform(-12, 7, (shape[0], 1))
    centres = rng.normal(0, 20, (shape[0], 1))
    x = (rng.normal(0, 1, shape) * widths + centres).astype(dtype)
    odd = rng.choice(special(dtype), (density * 8, ROW_LENGTH))
    return [np.concatenate([x, odd])]
