"""``tools/accuracy.py`` measures errors correctly, and detects wrong functions."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import accuracy
import numpy as np
import pytest
from accuracy import FUNCTIONS, errors, measured, tolerance

from directml_py.operators import element_wise
from directml_py.testing.ulps import NOWHERE_NEAR, ulps_apart

from ..operators.records import RECORDS, magnitudes
from ..toolchain import need_package

SCRIPT = Path(accuracy.__file__)
FLOATS = ("float16", "float32", "float64")
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("name", FLOATS)
def test_distances(name):
    info = np.finfo(name)
    smallest, largest = info.smallest_subnormal, info.max
    digits = info.nmant
    cases = [
        (1, 1, 0),
        (1, 1 + info.eps, 1),
        (1, 1 - info.eps, 2),
        (-2, -2 - 4 * info.eps, 2),
        (0, -0.0, 0),
        (0, smallest, 1),
        (-smallest, smallest, 2),
        (info.tiny, info.tiny - smallest, 1),
        (largest, INF, 1),
        (1, 2, 2**digits),
        (-largest, largest, 2 * ((info.maxexp - info.minexp + 1) * 2**digits - 1)),
        (NAN, NAN, 0),
        (NAN, 1, NOWHERE_NEAR),
        (INF, NAN, NOWHERE_NEAR),
    ]
    one, other, wanted = zip(*cases)
    one, other = np.array(one, name), np.array(other, name)
    assert ulps_apart(one, other).tolist() == list(wanted)
    assert ulps_apart(other, one).tolist() == list(wanted)


def test_errors_say_how_many_results_are_off_and_which_is_worst():
    x = np.linspace(1, 2, 9, dtype=np.float32)
    wanted = np.sqrt(x.astype(np.float64))
    results = wanted.astype(np.float32)
    assert errors(results, wanted, [x]) == (9, 0, 0, "")
    results[2] += np.float32(2**-23)
    results[5] -= np.float32(3 * 2**-23)
    total, off, ulps, where = errors(results, wanted, [x], "Mode 3")
    assert (total, off, ulps) == (9, 2, 3)
    assert where == "1.2747545 for 1.625, Mode 3; 1.274754878 is right"
    # 2^-22 is 2 ULP there.
    granted = errors(results, wanted, [x], granted=np.float64(2**-22))
    assert (granted.off, granted.ulps) == (1, 1)
    results[1] = np.nan
    assert errors(results, wanted, [x], granted=np.float64(2**-22)).ulps > NOWHERE_NEAR - 4
    assert errors(results, wanted, [x]).ulps == NOWHERE_NEAR


def test_every_function_of_floats_is_measured():
    assert {"ACTIVATION_SOFTMAX1", "ELEMENT_WISE_ATAN_YX", "ELEMENT_WISE_CLIP1"} <= set(FUNCTIONS)
    assert not {"CAST", "ELEMENT_WISE_BIT_NOT", "ELEMENT_WISE_IS_NAN"} & set(FUNCTIONS)
    assert {name for name, record in RECORDS.items() if record.is_function} <= set(FUNCTIONS)


def test_a_record_without_attributes_is_named(monkeypatch):
    monkeypatch.setitem(
        accuracy.RECORDS, "ACTIVATION_CELU", RECORDS["ACTIVATION_CELU"]._replace(attributes=[{}])
    )
    with pytest.raises(
        ValueError, match="record of ACTIVATION_CELU has no attributes to measure with: Alpha"
    ):
        measured("ACTIVATION_CELU", np.dtype(np.float32), 2)


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_samples_are_of_all_magnitudes(name):
    dtype = np.dtype(name)
    (x,) = magnitudes.single(dtype, 4)
    with np.errstate(invalid="ignore"):
        exponents = np.frexp(x[np.isfinite(x) & (x != 0)].astype(np.float64))[1]
    info = np.finfo(dtype)
    assert set(range(info.minexp + 1, info.maxexp + 1)) <= set(exponents.tolist())
    special = [0.0, 1.0, 1 + info.eps, 1 - info.eps, info.tiny, info.smallest_subnormal, info.max, INF]
    assert set(special) <= set(x.tolist())
    assert {-one for one in special} <= set(x.tolist())
    assert np.isnan(x).any()
    assert np.array_equal(magnitudes.single(dtype, 4)[0], x, equal_nan=True)
    for sampler in (magnitudes.pairs, magnitudes.powers):
        first, second = sampler(dtype, 4)
        assert first.shape == second.shape
        assert first.dtype == second.dtype == dtype


@pytest.mark.parametrize(
    ("table", "name", "wrong", "worst"),
    [
        # In one binade alone; infinities that are lost, the nearest of them so far from 3e38; near a single number.
        (
            element_wise.SCALED,
            "ELEMENT_WISE_SIN",
            lambda x: np.sin(x) * (1 + 2**-20 * (abs(x) // 8 == 1)),
            "16",
        ),
        (element_wise.SCALED, "ELEMENT_WISE_EXP", lambda x: np.minimum(np.exp(x), 3e38), "1,986,074"),
        (element_wise.SCALED, "ELEMENT_WISE_LOG", lambda x: np.log(np.abs(x)), "NaN"),
        (element_wise.SCALED, "ELEMENT_WISE_ERF", lambda x: np.tanh(1.1283792 * x), ""),
        (element_wise.PLAIN, "ELEMENT_WISE_ADD", lambda a, b: a + b + (a == 1) * 2**-23, ""),
        (element_wise.PLAIN, "ELEMENT_WISE_MAX", np.maximum, "NaN"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_function_is_seen(monkeypatch, capsys, table, name, wrong, worst):
    monkeypatch.setitem(table, name.removeprefix("ELEMENT_WISE_"), lambda *arrays: wrong(*map(wide, arrays)))
    assert accuracy.main(["--only", name, "--samples", "4", "--dtype", "float32"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert re.match(rf"{name} +{worst}.* TOO FAR: ", lines[1])
    assert lines[2] == "1 exceed their error bound"


def wide(array):
    return array.astype(np.float64)


def test_nothing_is_seen_within_the_tolerance(monkeypatch, capsys):
    assert tolerance("ELEMENT_WISE_TAN", np.dtype(np.float32)) == 4
    monkeypatch.setitem(element_wise.SCALED, "TAN", lambda x: np.tan(wide(x)) * (1 + 2**-23))
    assert accuracy.main(["--only", "TAN", "--samples", "4", "--dtype", "float32"]) == 0
    assert "TOO FAR" not in capsys.readouterr().out


@pytest.mark.parametrize("operator", sorted(FUNCTIONS))
def test_functions_are_as_exact_as_they_should_be(operator):
    dtype = np.dtype(np.float32)
    found = measured(operator, dtype, 2)
    assert found.ulps <= tolerance(operator, dtype), found.where


def test_one_unit_of_a_subnormal_factor_is_many_of_the_product():
    """The logistic function's last place is 2^-149 there, which the input multiplies by 300."""
    dtype, x = np.dtype(np.float32), np.linspace(290, 346, 1000, dtype=np.float32)
    found = measured("ACTIVATION_SWISH", dtype, 2, [x])
    assert found.ulps <= tolerance("ACTIVATION_SWISH", dtype), found.where


def script(*arguments, timeout=120):
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


@pytest.mark.slow
def test_the_script():
    need_package("onnxruntime")
    result = script("--only", "RECIP", "ACTIVATION_TANH", "SOFTMAX1", "--samples", "2")
    assert (result.returncode, result.stderr) == (0, "")
    rows = [line.split()[0] for line in result.stdout.splitlines()]
    names = ["ACTIVATION_SOFTMAX1", "ACTIVATION_TANH", "ELEMENT_WISE_RECIP"]
    assert rows == ["FLOAT16", *names, "FLOAT32", *names]


@pytest.mark.slow
def test_all_functions_over_all_magnitudes():
    need_package("onnxruntime")
    result = script(timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(result.stdout.splitlines()) == 2 + 2 * len(FUNCTIONS)


@pytest.mark.slow
def test_the_script_knows_its_functions():
    result = script("--only", "SIN", "GATHER")
    assert result.returncode == 2
    assert "no function is called GATHER" in result.stderr
