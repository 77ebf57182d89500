"""Devices that compute FLOAT16 in FLOAT16, where ALLOW_HALF_PRECISION_COMPUTATION permits it.

From 2048 on FLOAT16 has only even numbers: adding ones sequentially stops there.
"""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.graph import Graph
from directml_py.operators import kernel_of
from directml_py.operators.half_precision import half_kernel_of, halves

from .helpers import Bench

HALF, FLOAT = dml.DML_TENSOR_DATA_TYPE_FLOAT16, dml.DML_TENSOR_DATA_TYPE_FLOAT32
ALLOWED, NONE = dml.DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION, dml.DML_EXECUTION_FLAG_NONE
DTYPES = {HALF: np.float16, FLOAT: np.float32}
COUNT = 3000
# Which operators may compute in FLOAT16, and which do not.
CHOICES = [
    pytest.param("half-precision", ALLOWED, True, id="allowed"),
    pytest.param("demanding", ALLOWED, True, id="demanding"),
    pytest.param("half-precision", NONE, False, id="not-allowed"),
    pytest.param("kind", ALLOWED, False, id="kind"),
]


def of(data_type, *sizes):
    return dml.tensor_desc(data_type, [1] * (4 - len(sizes)) + list(sizes))


def run(desc, *values, profile="half-precision", flags=ALLOWED, data_type=HALF):
    bench = Bench(profile=profile)
    arrays = [
        None if value is None else np.atleast_2d(np.asarray(value, DTYPES[data_type]))[np.newaxis, np.newaxis]
        for value in values
    ]
    return bench.evaluate(bench.compile(desc, flags), arrays)[0].ravel()


def doubled_and_less(data_type=HALF):
    """2x - 60000, which for 60000 is 60000; twice that lies beyond FLOAT16."""
    same = of(data_type, 1, 2)
    return dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(same, same, dml.DML_SCALE_BIAS(2, -60000))


def reduced(function):
    return dml.DML_REDUCE_OPERATOR_DESC(
        getattr(dml, f"DML_REDUCE_FUNCTION_{function}"), of(HALF, 1, COUNT), of(HALF, 1, 1), Axes=[3]
    )


@pytest.mark.parametrize(("profile", "flags", "is_half"), CHOICES)
def test_each_step_is_rounded(profile, flags, is_half):
    result = run(doubled_and_less(), [60000, 40000], profile=profile, flags=flags)
    assert result.tolist() == [np.inf if is_half else 60000, np.inf if is_half else 20000]


def test_float32_stays_float32():
    assert run(doubled_and_less(FLOAT), [60000, 40000], data_type=FLOAT).tolist() == [60000, 20000]


@pytest.mark.parametrize(("data_type", "is_half"), [(HALF, True), (FLOAT, False)])
def test_what_has_no_halves_runs_as_ever(data_type, is_half):
    desc = decode_operator_desc(doubled_and_less(data_type)).desc
    assert (half_kernel_of(desc) is not kernel_of(desc)) == is_half


def test_sums_that_name_no_axis_are_along_the_first():
    """As NumPy's: 2048 + 1 is 2048."""
    assert np.add.reduce(halves([[2048.0, 1.0], [1.0, 2.0]])).tolist() == [2048, 3]


# 3000 times -1: in FLOAT32, and where sums stop at 2048.
@pytest.mark.parametrize(
    ("function", "whole", "half"),
    [
        ("SUM", -3000, -2048),
        ("AVERAGE", -1, -2048 / 3000),
        ("L1", 3000, 2048),
        ("L2", 3000**0.5, 2048**0.5),
        ("SUM_SQUARE", 3000, 2048),
        ("MULTIPLY", 1, 1),
        ("MIN", -1, -1),
    ],
)
@pytest.mark.parametrize(("profile", "flags", "is_half"), CHOICES)
def test_sums_stop_growing(profile, flags, is_half, function, whole, half):
    result = run(reduced(function), np.full(COUNT, -1), profile=profile, flags=flags)
    assert result.tolist() == [np.float16(half if is_half else whole)]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("SUM", -1),
        ("AVERAGE", -0.5),
        ("L1", 7),
        ("L2", 5),
        ("SUM_SQUARE", 25),
        ("MULTIPLY", -12),
        ("MIN", -4),
        ("MAX", 3),
    ],
)
def test_numbers_that_halves_hold_come_out_as_they_are(function, expected):
    values = of(HALF, 1, 2)
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        getattr(dml, f"DML_REDUCE_FUNCTION_{function}"), values, of(HALF, 1, 1), Axes=[3]
    )
    assert run(desc, [3, -4]).tolist() == [expected]


SUM, PRODUCT = dml.DML_CUMULATIVE_SUMMATION_OPERATOR_DESC, dml.DML_CUMULATIVE_PRODUCT_OPERATOR_DESC


@pytest.mark.parametrize("profile", ["half-precision", "demanding", "kind"])
@pytest.mark.parametrize(("flags", "is_half"), [(ALLOWED, True), (NONE, False)])
def test_running_sums_and_products(profile, flags, is_half):
    """On every device; that of sums is recorded of Microsoft's library."""
    values, inf = of(HALF, 1, 8), np.inf
    forward = {"Axis": 3, "AxisDirection": dml.DML_AXIS_DIRECTION_INCREASING}
    sums = run(SUM(values, values, **forward), [60000] * 4 + [-60000] * 4, profile=profile, flags=flags)
    assert sums.tolist() == [60000, inf, inf, inf, inf, inf, *([inf, inf] if is_half else [60000, 0])]
    backward = {"Axis": 3, "AxisDirection": dml.DML_AXIS_DIRECTION_DECREASING, "HasExclusiveProduct": True}
    products = run(
        PRODUCT(values, values, **backward), [5, 0.5, 0.5, 0.5, 1, 1, 2, 60000], profile=profile, flags=flags
    )
    lost = [inf] * 5 if is_half else [15000, 30000, 60000, inf, inf]
    assert products.tolist() == [*lost, inf, 60000, 1]


def test_every_product_of_a_sum_counts():
    desc = dml.DML_GEMM_OPERATOR_DESC(of(HALF, 1, 3), of(HALF, 3, 1), None, of(HALF, 1, 1), Alpha=1, Beta=0)
    assert run(desc, [1, 2, 3], [[4], [5], [6]], None).tolist() == [32]


def test_the_logarithm_of_a_sum():
    assert run(reduced("LOG_SUM"), np.ones(COUNT)).tolist() == [np.float16(np.log(2048))]


def test_reducing_two_axes_and_keeping_one():
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        dml.DML_REDUCE_FUNCTION_SUM, of(HALF, 2, 50, 60), of(HALF, 2, 1, 1), Axes=[3, 2]
    )
    values = np.stack([np.ones((50, 60)), np.full((50, 60), 0.5)])
    bench = Bench(profile="half-precision")
    (result,) = bench.evaluate(bench.compile(desc, ALLOWED), [values[np.newaxis].astype(np.float16)])
    # The halves come to 1024 exactly, and stop there: from 1024 on the distance is 1, of which 0.5 is a tie.
    assert result.ravel().tolist() == [2048, 1024]


@pytest.mark.parametrize(("profile", "flags", "is_half"), CHOICES)
def test_products_of_matrices(profile, flags, is_half):
    desc = dml.DML_GEMM_OPERATOR_DESC(
        of(HALF, 2, COUNT), of(HALF, COUNT, 2), None, of(HALF, 2, 2), Alpha=1, Beta=0
    )
    left = np.stack([np.ones(COUNT), np.full(COUNT, 2)])
    right = np.stack([np.ones(COUNT), np.full(COUNT, 0.25)], 1)
    result = run(desc, left, right, None, profile=profile, flags=flags)
    # Twos stop at 4096, quarters at 512, halves at 1024.
    assert result.tolist() == ([2048, 512, 4096, 1024] if is_half else [3000, 750, 6000, 1500])


@pytest.mark.parametrize(("profile", "flags", "is_half"), CHOICES)
def test_graphs(profile, flags, is_half):
    """Element-wise functions that are fused elsewhere, followed by a sum."""
    bench = Bench(profile=profile)
    graph = Graph(bench.dml)
    x = graph.input_tensor(0, HALF, [1, 1, 1, COUNT])
    ones = graph.identity(graph.identity(x, scale_bias=(2, -60000)), scale_bias=(0, 1))
    compiled = graph.compile(
        [graph.reduce(ones, function=dml.DML_REDUCE_FUNCTION_SUM, axes=[3])], flags=flags
    )
    (result,) = compiled.run([np.full((1, 1, 1, COUNT), 30000, np.float16)])
    assert result.ravel().tolist() == [2048 if is_half else 3000]


def test_graphs_round_each_step():
    bench = Bench(profile="half-precision")
    graph = Graph(bench.dml)
    x = graph.input_tensor(0, HALF, [1, 1, 1, 2])
    y = graph.identity(graph.identity(x, scale_bias=(2, -60000)), scale_bias=(1, 0))
    (result,) = graph.compile([y], flags=ALLOWED).run([np.full((1, 1, 1, 2), 60000, np.float16)])
    assert result.ravel().tolist() == [np.inf, np.inf]


def test_nobody_has_the_flag_unless_it_is_given():
    bench = Bench(profile="half-precision")
    compiled = bench.dml.CompileOperator(bench.dml.CreateOperator(doubled_and_less()))
    (result,) = bench.evaluate(compiled, [np.full((1, 1, 1, 2), 60000, np.float16)])
    assert result.ravel().tolist() == [60000, 60000]
