"""Programs joined into one, compared with the programs one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.elementwise import functions
from directml_py.kernels.elementwise.fuse import Chain
from directml_py.kernels.elementwise.ir import Program
from directml_py.kernels.elementwise.lower import Code, bound_code, code_for, program_of
from directml_py.kernels.elementwise.map import map_whole

from .test_lower import numbers

HALF, FLOAT = np.dtype(np.float16), np.dtype(np.float32)
BITS = np.dtype(np.uint16)


def scaled(x):
    """In FLOAT64, from which FLOAT16 is rounded directly."""
    return functions.scale_bias(x, float(np.float32(1 / 3)), 1e-4)


def plus_one(x):
    return x + np.float32(1)


def inverted(x):
    return np.invert(x)


def run(stages, x):
    """``stages``: a function, the type that it loads, and the one that it stores."""
    chain = Chain()
    value = chain.input(stages[0][1])
    for function, loaded, stored in stages:
        program = program_of(function, (loaded,), (stored,))
        assert isinstance(program, Program)
        (value,) = chain.then(program, [value], [loaded], [stored])
    chain.output(value)
    code = code_for(chain.program)
    assert isinstance(code, Code)
    output = np.empty(x.shape, value.dtype)
    bound_code(code, [x.view(stages[0][1])], [output])()
    return output


def run_one_by_one(stages, x):
    for function, loaded, stored in stages:
        output = np.empty(x.shape, stored)
        map_whole(function, [x.view(loaded)], [output])
        x = output
    return x


STAGES = {
    "from 64 bits": (scaled, HALF, HALF),
    "from 32 bits": (plus_one, HALF, HALF),
    "bits": (inverted, BITS, BITS),
    "loaded alone": (lambda x: x, HALF, HALF),
}


@swept("names", list(product(STAGES, repeat=3)))
def test_halves(native, names):
    """Every FLOAT16, also those that a stage makes of bits; NaN has other digits here and there."""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    stages = [STAGES[name] for name in names]
    found, expected = run(stages, x).view(np.float16), run_one_by_one(stages, x).view(np.float16)
    if "bits" in names[1:]:
        # A NaN's payload may become anything.
        sure = ~np.isnan(run_one_by_one(stages[:-1], x).view(np.float16)) & ~np.isnan(
            run_one_by_one(stages[:1], x).view(np.float16)
        )
        found, expected = found[sure], expected[sure]
    np.testing.assert_array_equal(
        found.view(np.uint16)[~np.isnan(found)], expected.view(np.uint16)[~np.isnan(expected)]
    )
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))


def added(x, y):
    return x + y


def multiplied(x, y):
    return x * y


def positive(x, y):
    return functions.fmax(x, 0)


@pytest.mark.parametrize("columns", [1, 5, 128, 129, 300, 5000])
def test_second_operands_of_halves(native, columns):
    """Whole tensors, rows, columns and single elements, after the first stage too; results may replace a tensor."""
    x = numbers("float16", 40 * columns).reshape(40, columns)
    row, column, element = x[:1], x[:, -1:], x[:1, :1]
    for stages in (
        ((added, row), (positive, x), (multiplied, x)),
        ((multiplied, column), (added, element), (positive, x)),
        ((positive, x), (added, row), (multiplied, column)),
    ):
        chain, expected = Chain(), x
        value = chain.input(HALF)
        for function, other in stages:
            program = program_of(function, (HALF, HALF), (HALF,))
            (value,) = chain.then(program, [value, chain.input(HALF)], [HALF, HALF], [HALF])
            before, expected = expected, np.empty_like(x)
            map_whole(function, [before, other], [expected])
        chain.output(value)
        code = code_for(chain.program)
        assert isinstance(code, Code)
        tensor = x.copy()
        for output in (np.empty((40, columns + 3), HALF)[:, 1:-2], np.empty_like(x), tensor):
            bound_code(code, [tensor, *(tensor if other is x else other for _, other in stages)], [output])()
            np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("size", [1, 7, 255, 256, 257, 1024, 1025, 5000])
def test_sizes(native, size):
    x = numbers("float16", size)
    stages = [STAGES[name] for name in ("from 64 bits", "from 32 bits", "from 64 bits")]
    np.testing.assert_array_equal(run(stages, x), run_one_by_one(stages, x))


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_integers_of_the_other_sign(native, kind):
    """Sums wrap, and are seen as bits, as unsigned numbers, by what comes next."""
    own = np.dtype(kind)
    unsigned = np.dtype(f"u{own.itemsize}")
    half = own.type(np.iinfo(own).max // 2 + 1)

    def moved(x):
        return x + half

    def shifted(x):
        return functions.shift_right(x, np.full_like(np.ones(1, unsigned), 3)[0])

    def negative(x):
        return np.negative(x)

    stages = [
        (moved, own, own),
        (shifted, unsigned, unsigned),
        (negative, own, own),
        (inverted, unsigned, unsigned),
    ]
    x = numbers(kind, 3000)
    np.testing.assert_array_equal(run(stages, x), run_one_by_one(stages, x))


def test_floats_are_rounded_once_for_each_program(native):
    """1 + 2^-24 + 2^-24 is 1, as each sum is, and not the sum of all."""
    small = float(np.float32(2**-24))
    stages = [(lambda x: functions.scale_bias(x, 1.0, small), FLOAT, FLOAT)] * 2
    assert run(stages, np.ones(3, np.float32)).tolist() == [1, 1, 1]
    # Of FLOAT64, too, which has all digits of the sum.
    stages = [(lambda x: x.astype(np.float64) + small / 2 + small / 2, FLOAT, FLOAT)] * 2
    assert run(stages, np.ones(3, np.float32)).tolist() == [1, 1, 1]


def test_what_is_too_large(native):
    chain = Chain()
    values = [chain.input(FLOAT) for _ in range(17)]
    total = values[0]
    for value in values[1:]:
        program = program_of(np.add, (FLOAT, FLOAT), (FLOAT,))
        (total,) = chain.then(program, [total, value], [FLOAT, FLOAT], [FLOAT])
    chain.output(total)
    assert code_for(chain.program) == "18 tensors are more than 16"
