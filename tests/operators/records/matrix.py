"""Matrix products and attention."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import directml_py as dml

from . import attention
from .activation import fused
from .library import OfLargest
from .onnx_node import run
from .record import DYADIC, Record, Twins, Values


def gemm(desc: Any, a: Any, b: Any, c: Any) -> Any:
    """ONNX's Gemm has two dimensions."""
    attributes = {
        "alpha": desc.Alpha,
        "beta": desc.Beta,
        "transA": int(desc.TransA == dml.DML_MATRIX_TRANSFORM_TRANSPOSE),
        "transB": int(desc.TransB == dml.DML_MATRIX_TRANSFORM_TRANSPOSE),
    }
    result = np.empty(desc.OutputTensor.sizes)
    for place in np.ndindex(result.shape[:-2]):
        matrices = [a[place], b[place], *([] if c is None else [c[place]])]
        (result[place],) = run("Gemm", matrices, **attributes)
    return fused(desc, result)


def integers(desc: Any, a: Any, a_zero: Any, b: Any, b_zero: Any) -> Any:
    """ONNX's MatMulInteger, row by row: ONNX Runtime takes one zero point of A at a time."""
    a, b = a.astype(desc.ATensor.dtype), b.astype(desc.BTensor.dtype)
    result = np.empty(desc.OutputTensor.sizes, np.int32)
    b = b.reshape(*a.shape[:-2], *b.shape[-2:])
    for *place, row in np.ndindex(result.shape[:-1]):
        zeros = [
            None if a_zero is None else np.array(a_zero.ravel()[row if a_zero.size > 1 else 0], a.dtype),
            None if b_zero is None else b_zero.ravel().astype(b.dtype),
        ]
        factors = [a[(*place, slice(row, row + 1))], b[tuple(place)]]
        (result[(*place, row)],) = run("MatMulInteger", [*factors, *zeros], ["int32"])[0]
    return result.astype(object)


def scaled(a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any) -> Any:
    """A and B dequantized to fractions, broadcast to the same leading sizes."""
    left = by_row(a_scale) * (a - by_row(a_zero))
    right = by_column(b_scale) * (b - by_column(b_zero))
    return left, right.reshape(*left.shape[:-2], *right.shape[-2:])


def to_float(desc: Any, *inputs: Any) -> Any:
    """For a FLOAT16 result, factors are rounded to FLOAT16 before they are multiplied."""
    *given, bias = inputs
    left, right = scaled(*given)
    if desc.OutputTensor.dtype == np.float16:
        left, right = as_half(left), as_half(right)
    result = np.matmul(left, right)
    if bias is not None:
        result = result + np.frompyfunc(Fraction, 1, 1)(bias)
    return result.astype(np.float64)


def as_half(fractions: Any) -> Any:
    """The nearest numbers of FLOAT16."""
    halves = fractions.astype(np.float64).astype(np.float16)
    return np.frompyfunc(Fraction, 1, 1)(halves.astype(np.float64))


def by_row(parameter: Any) -> Any:
    """A parameter per row as fractions, aligned with the matrices."""
    return np.reshape(by_column(parameter), (-1, 1))


def by_column(parameter: Any) -> Any:
    return np.array([0 if parameter is None else Fraction(one) for one in np.ravel(parameter)], object)


def of_output(desc: Any) -> Any:
    """For FLOAT16, factors some of which it cannot represent, and sums exact in FLOAT32."""
    if desc.OutputTensor.dtype != np.float16:
        return Values()
    scales = dict.fromkeys(("AScaleTensor", "BScaleTensor", "BiasTensor"), DYADIC)
    return dict.fromkeys((slot.field for slot in desc.inputs), Values(-100, 100, limited=True)) | scales


RECORDS = {
    **attention.RECORDS,
    "GEMM": Record(
        gemm,
        DYADIC,
        samples=72,
        either_zero=True,
        # FLOAT16 is rounded before the activation.
        library=OfLargest(1, numpy=2),
        twins=Twins(dyadic=True),
    ),
    "MATRIX_MULTIPLY_INTEGER": Record(integers, samples=48),
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": Record(
        to_float,
        of_output,
        samples=72,
        either_zero=True,
        # That device cuts some factors to FLOAT16 instead of rounding them; see fidelity/test_products.py.
        library=OfLargest(1),
    ),
}
