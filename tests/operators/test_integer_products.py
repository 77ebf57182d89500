"""Integer products: sums beyond the precision of floats, and comparison with ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.descs import decode_operator_desc

from .helpers import generator, tensor, tensor_of
from .records.onnx_node import MICROSOFT, run, saturates

INTEGERS = "MATRIX_MULTIPLY_INTEGER"
TO_FLOAT = "MATRIX_MULTIPLY_INTEGER_TO_FLOAT"
QUANTIZED = "QUANTIZED_LINEAR_MATRIX_MULTIPLY"
# The square of its length is beyond INT32.
LONG = np.full((1, 40_000), 255, np.uint8)


def product(name, kind, **inputs):
    """The product of matrices; parameters are given in desc order with their tensors' names."""
    sizes = (inputs["ATensor"].shape[0], inputs["BTensor"].shape[1])
    tensors = {field: tensor_of(array) for field, array in inputs.items()}
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    fields = [field for field, _ in struct._fields_ if field != "OutputTensor"]
    desc = struct(**tensors, OutputTensor=tensor(kind, sizes))
    return dml.evaluate(desc, [inputs.get(field) for field in fields])[0]


def drawn(rng, kind, sizes):
    """Any integers of a type."""
    return rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, sizes, kind)


def factors(rng, a_type, b_type):
    """Matrices of any integers, of which ONNX Runtime computes the product on this processor."""
    a, b = drawn(rng, a_type, (5, 20)), drawn(rng, b_type, (20, 7))
    return a >> (a_type == "uint8" and b_type == "int8" and saturates()), b


@pytest.mark.operator(INTEGERS)
@pytest.mark.parametrize("depth", [258, 259, 1000])
def test_sums_beyond_float32(depth):
    """From 259 products of 255 by 255, FLOAT32 cannot represent all sums: odd ones are lost."""
    a, b = np.full((1, depth), 255, np.uint8), np.full((depth, 2), 255, np.uint8)
    b[-1] = 2, 3
    wanted = [(depth - 1) * 255 * 255 + 510, (depth - 1) * 255 * 255 + 765]
    assert product(INTEGERS, "INT32", ATensor=a, BTensor=b).tolist() == [wanted]


@pytest.mark.operator(INTEGERS)
def test_sums_beyond_int32_wrap():
    result = product(INTEGERS, "INT32", ATensor=LONG, BTensor=LONG.T)
    assert result.item() == LONG.size * 255 * 255 - 2**32


@pytest.mark.operator(TO_FLOAT)
def test_floats_do_not_wrap():
    one = np.ones(1, np.float32)
    factors = {"ATensor": LONG, "BTensor": LONG.T}
    result = product(TO_FLOAT, "FLOAT32", **factors, AScaleTensor=one, BScaleTensor=one)
    assert result.item() == np.float32(LONG.size * 255 * 255)


@pytest.mark.operator(TO_FLOAT)
@pytest.mark.parametrize(("a_type", "b_type"), [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")])
def test_to_float_as_onnx_runtime(a_type, b_type):
    rng = generator(a_type, b_type)
    a, b = factors(rng, a_type, b_type)
    scales = rng.uniform(0.1, 2, 1).astype(np.float32), rng.uniform(0.1, 2, 7).astype(np.float32)
    zeros = np.array([3], a_type), rng.integers(0, 100, 7).astype(b_type)
    bias = rng.uniform(-9, 9, 7).astype(np.float32)
    (wanted,) = run("MatMulIntegerToFloat", [a, b, *scales, *zeros, bias], ["float32"], domain=MICROSOFT)
    result = product(
        TO_FLOAT,
        "FLOAT32",
        ATensor=a,
        AScaleTensor=scales[0],
        AZeroPointTensor=zeros[0],
        BTensor=b,
        BScaleTensor=scales[1],
        BZeroPointTensor=zeros[1],
        BiasTensor=np.tile(bias, (5, 1)),
    )
    np.testing.assert_allclose(result, wanted, rtol=1e-6, atol=1e-3)


@pytest.mark.operator(QUANTIZED)
@pytest.mark.parametrize(("a_type", "b_type"), [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")])
@pytest.mark.parametrize("scales", [1, 7])
def test_quantized_as_onnx_runtime(a_type, b_type, scales):
    """With scales such that only the end is rounded, so that there are ties; one scale, or one per column."""
    rng = generator(a_type, b_type)
    a, b = factors(rng, a_type, b_type)
    a_scale, scale = np.array([0.5], np.float32), np.array([256], np.float32)
    b_scale = np.exp2(rng.integers(-2, 2, scales)).astype(np.float32)
    b_zeros = rng.integers(0, 100, 7) if scales == 7 else np.array([np.iinfo(b_type).min + 130])
    zeros = np.array([3], a_type), b_zeros.astype(b_type), np.array([100], a_type)
    (wanted,) = run(
        "QLinearMatMul",
        [a, a_scale, zeros[0], b, b_scale, zeros[1], scale, zeros[2]],
        [a_type],
    )
    result = product(
        QUANTIZED,
        a_type.upper(),
        ATensor=a,
        AScaleTensor=a_scale,
        AZeroPointTensor=zeros[0],
        BTensor=b,
        BScaleTensor=b_scale,
        BZeroPointTensor=zeros[1],
        OutputScaleTensor=scale,
        OutputZeroPointTensor=zeros[2],
    )
    assert len(np.unique(wanted)) > 10
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.operator(QUANTIZED)
def test_quantized_with_a_scale_a_row():
    """Powers of two, so that only the end is rounded, with ties to even."""
    rng = generator(QUANTIZED)
    a, b = drawn(rng, "uint8", (2, 9, 70)), drawn(rng, "int8", (2, 70, 21))
    zeros = drawn(rng, "uint8", (9, 1))
    scales = np.exp2(rng.integers(-3, 3, (9, 1))).astype(np.float32)
    rows = {"sizes": (1, 9, 1)}
    desc = dml.DML_QUANTIZED_LINEAR_MATRIX_MULTIPLY_OPERATOR_DESC(
        ATensor=tensor("UINT8", a.shape),
        AScaleTensor=tensor("FLOAT32", **rows),
        AZeroPointTensor=tensor("UINT8", **rows),
        BTensor=tensor("INT8", b.shape),
        BScaleTensor=tensor("FLOAT32", (1, 1, 1)),
        BZeroPointTensor=tensor("INT8", (1, 1, 1)),
        OutputScaleTensor=tensor("FLOAT32", (1, 1, 1)),
        OutputZeroPointTensor=tensor("INT8", (1, 1, 1)),
        OutputTensor=tensor("INT8", (2, 9, 21)),
    )
    single = [
        np.full((1, 1, 1), value, kind) for value, kind in ((2, "f4"), (-7, "i1"), (1024, "f4"), (5, "i1"))
    ]
    given = [a, scales[np.newaxis], zeros[np.newaxis], b, *single]
    exact = (a.astype(np.float64) - zeros) @ (b.astype(np.float64) + 7) * scales * 2 / 1024
    wanted = np.clip(np.rint(exact) + 5, -128, 127)
    assert len(np.unique(wanted)) > 100
    np.testing.assert_array_equal(dml.evaluate(desc, given)[0], wanted)


# Sizes of A {2, 3, 4}, B {2, 4, 5} and the output {2, 3, 5}, one or more with other leading ones.
LED = [
    ((1, 2, 3, 4), (2, 4, 5), (2, 3, 5)),
    ((2, 3, 4), (1, 2, 4, 5), (2, 3, 5)),
    ((2, 3, 4), (2, 4, 5), (1, 2, 3, 5)),
    ((1, 2, 3, 4), (2, 4, 5), (1, 2, 3, 5)),
]


def led_product(name, a_sizes, b_sizes, output_sizes, single=False):
    """The desc of a product of bytes with a scale and a zero point for each row and column, or a single one."""
    rows, columns = (1, 1) if single else (a_sizes[-2], b_sizes[-1])
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    kinds = {INTEGERS: "INT32", TO_FLOAT: "FLOAT32", QUANTIZED: "INT8"}
    tensors = {
        "ATensor": tensor("UINT8", a_sizes),
        "AZeroPointTensor": tensor("UINT8", (rows, 1)),
        "BTensor": tensor("INT8", b_sizes),
        "BZeroPointTensor": tensor("INT8", (columns,)),
        "OutputTensor": tensor(kinds[name], output_sizes),
    }
    if name != INTEGERS:
        tensors["AScaleTensor"] = tensor("FLOAT32", (rows, 1))
        tensors["BScaleTensor"] = tensor("FLOAT32", (columns,))
    if name == TO_FLOAT:
        tensors["BiasTensor"] = tensor("FLOAT32", output_sizes)
    if name == QUANTIZED:
        tensors["OutputScaleTensor"] = tensor("FLOAT32", (1, rows, 1))
        tensors["OutputZeroPointTensor"] = tensor("INT8", (1, rows, 1))
    return struct(**tensors)


@pytest.mark.parametrize("name", [INTEGERS, TO_FLOAT, QUANTIZED])
@swept("sizes", LED)
@swept("rows, single", [(3, False), (3, True), (1, False)])
def test_leading_ones_that_one_matrix_has_alone(name, sizes, rows, single):
    """Microsoft's library accepts them, even with a batch of two, whichever kernel runs without them."""
    sizes = [tuple(rows if size == 3 else size for size in one) for one in sizes]
    desc = led_product(name, *sizes, single)
    assert dml.validate(desc) == []
    page = {found.rule for found in dml.validate(desc, strict=True)}
    counts = {f"DML-{name}-b-dimension-count", f"DML-{name}-output-dimension-count"}
    assert page
    assert page <= counts | {f"DML-{name}-{end}" for end in SCALE_COUNTS}
    rng = generator(name, sizes)
    a, b, bias = (
        rng.integers(*ends, one) for ends, one in zip(ENDS, ((2, rows, 4), (2, 4, 5), (2, rows, 5)))
    )
    count, columns = (1, 1) if single else (rows, 5)
    a_zero, b_zero = np.arange(1, 4).reshape(3, 1)[:count], np.arange(2, 7)[:columns]
    a_scale, b_scale = np.array([[1.0], [2], [0.5]])[:count], np.array([0.5, 2, 3, 1, 0.5])[:columns]
    scale, zero = np.array([[2.0], [4], [1]])[:count], np.array([[1], [0], [-3]])[:count]
    wanted = np.matmul(a - a_zero, b - b_zero)
    if name != INTEGERS:
        wanted = wanted * a_scale * b_scale
    if name == TO_FLOAT:
        wanted = wanted + bias
    if name == QUANTIZED:
        wanted = np.clip(np.rint(wanted / scale) + zero, -128, 127)
    given = {
        "ATensor": a,
        "AScaleTensor": a_scale,
        "AZeroPointTensor": a_zero,
        "BTensor": b,
        "BScaleTensor": b_scale,
        "BZeroPointTensor": b_zero,
        "BiasTensor": bias,
        "OutputScaleTensor": scale,
        "OutputZeroPointTensor": zero,
    }
    (result,) = dml.evaluate(
        desc,
        [
            None
            if slot.tensor is None
            else given[slot.field].reshape(slot.tensor.sizes).astype(slot.tensor.dtype)
            for slot in decode_operator_desc(desc)[0].inputs
        ],
    )
    np.testing.assert_array_equal(result, wanted.reshape(sizes[2]))


# What the elements of A, B and the bias are drawn between.
ENDS = ((0, 9), (-9, 9), (0, 9))
SCALE_COUNTS = ("scale-dimension-count", "b-scale-dimension-count", "output-scale-dimension-count")


@pytest.mark.parametrize("name", [INTEGERS, TO_FLOAT, QUANTIZED])
@pytest.mark.parametrize(
    ("sizes", "field"),
    [
        (((2, 3, 4), (4, 5), (2, 3, 5)), "BTensor"),
        (((3, 4), (2, 4, 5), (3, 5)), "BTensor"),
        (((2, 3, 4), (1, 4, 5), (2, 3, 5)), "BTensor"),
        (((1, 3, 4), (2, 4, 5), (2, 3, 5)), "BTensor"),
        (((1, 3, 4), (4, 5), (2, 3, 5)), "OutputTensor"),
    ],
)
def test_matrices_are_not_broadcast(name, sizes, field):
    rules = {(found.rule, found.path) for found in dml.validate(led_product(name, *sizes))}
    assert (f"DML-{name}-sizes", f"{field}.Sizes") in rules


@pytest.mark.parametrize("name", [INTEGERS, TO_FLOAT, QUANTIZED])
@pytest.mark.parametrize(
    ("sizes", "is_right"), [((1,), True), ((1, 1), True), ((3,), False), ((1, 3), False)]
)
def test_parameters_of_one_dimension_are_rows(name, sizes, is_right):
    """One of A for each row of the matrix is a column."""
    desc = led_product(name, (3, 4), (4, 5), (3, 5))
    desc.AZeroPointTensor = tensor("UINT8", sizes)
    if name != INTEGERS:
        desc.AScaleTensor = tensor("FLOAT32", sizes)
    field = "AZeroPointTensor" if name == INTEGERS else "AScaleTensor"
    found = [(one.rule, one.path) for one in dml.validate(desc)]
    assert found == ([] if is_right else [(f"DML-{name}-sizes", f"{field}.Sizes")])


@pytest.mark.operator(TO_FLOAT)
@pytest.mark.parametrize("kinds", [("float16", "float32"), ("float32", "float16"), ("float16", "float16")])
@pytest.mark.parametrize("output", ["FLOAT32", "FLOAT16"])
def test_scales_of_other_types(kinds, output):
    scales = np.array([0.5], kinds[0]), np.array([3], kinds[1])
    a, b = np.array([[3, 5]], np.uint8), np.array([[7], [2]], np.int8)
    result = product(TO_FLOAT, output, ATensor=a, AScaleTensor=scales[0], BTensor=b, BScaleTensor=scales[1])
    assert result.item() == (3 * 7 + 5 * 2) * 0.5 * 3
    assert result.dtype.name == output.lower()


@pytest.mark.operator(TO_FLOAT)
def test_factors_of_float16_overflow():
    """300 * 300 is beyond FLOAT16, though the final result is not."""
    a, b = np.array([[300, 1]], np.int16), np.array([[1], [1]], np.int8)
    scales = {"AScaleTensor": np.array([300], np.float32), "BScaleTensor": np.array([0.25], np.float32)}
    assert product(TO_FLOAT, "FLOAT16", ATensor=a, BTensor=b, **scales).item() == np.inf
    assert product(TO_FLOAT, "FLOAT32", ATensor=a, BTensor=b, **scales).item() == 301 * 75
