"""Products of matrices: of floats, of integers, of integers with a scale."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...api.enums import DML_MATRIX_TRANSFORM_TRANSPOSE
from ...descs.values import OperatorDesc
from ...kernels.binding import Array
from ...kernels.contract import matmul
from ...kernels.elementary import FLOAT64, centred
from ..fused import activated
from ..operator import Compute, Kernel, Operator, Shapes, Sizes, adding_kernel, operator
from ..quantization_parameters import along, per_column, per_row


class Product(NamedTuple):
    """As many products {rows, depth} x {depth, columns} as ``batch``, the leading sizes, has elements."""

    batch: Sizes
    rows: int
    depth: int
    columns: int

    @property
    def right(self) -> Sizes:
        """The sizes of the second factor."""
        return (*self.batch, self.depth, self.columns)

    @property
    def result(self) -> Sizes:
        return (*self.batch, self.rows, self.columns)


def product_of(desc: OperatorDesc, transposed_a: bool = False, transposed_b: bool = False) -> Product:
    """The product that ATensor and the columns of BTensor describe."""
    *batch, rows, depth = turned(desc.ATensor.sizes, transposed_a)
    return Product(tuple(batch), rows, depth, turned(desc.BTensor.sizes, transposed_b)[-1])


def turned(sizes: Sizes, transposed: bool) -> Sizes:
    """``sizes`` with rows and columns exchanged if the matrices are ``transposed``."""
    return (*sizes[:-2], sizes[-1], sizes[-2]) if transposed else sizes


@operator("GEMM")
class Gemm(Operator):
    """``FusedActivation(Alpha * TransA(A) x TransB(B) + Beta * C)`` (ns-directml-dml_gemm_operator_desc).

    ``C`` has the sizes of the output; a bias is broadcast by strides of 0. It is multiplied by ``Beta`` whatever that
    is: NaN and infinity come through a factor of 0, as the formula has it.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        transposed_b = _is_transposed(desc.TransB)
        product = product_of(desc, _is_transposed(desc.TransA), transposed_b)
        return {"BTensor": turned(product.right, transposed_b), "OutputTensor": product.result}

    def compute(self, desc: OperatorDesc) -> Compute:
        transposed_a, transposed_b = _is_transposed(desc.TransA), _is_transposed(desc.TransB)
        activation = activated(desc.FusedActivation)

        def gemm(a: Array, b: Array, c: Array | None, out: Array | None = None) -> Array:
            left = np.swapaxes(a, -1, -2) if transposed_a else a
            right = np.swapaxes(b, -1, -2) if transposed_b else b
            result = matmul(left, right, out)
            if desc.Alpha != 1:
                result *= desc.Alpha
            if c is not None:
                result += c if desc.Beta == 1 else c * desc.Beta
            fused: Array = activation(result)
            return fused

        return gemm

    def kernel(self, desc: OperatorDesc) -> Kernel:
        return adding_kernel(self.compute(desc))


def _is_transposed(transform: int) -> bool:
    return transform == DML_MATRIX_TRANSFORM_TRANSPOSE


@operator("MATRIX_MULTIPLY_INTEGER")
class MatrixMultiplyInteger(Operator):
    """``(A - AZeroPoint) x (B - BZeroPoint)`` as INT32, which wraps
    (ns-directml-dml_matrix_multiply_integer_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        product = product_of(desc)
        return {
            "AZeroPointTensor": per_row(desc.AZeroPointTensor, product.rows),
            "BTensor": product.right,
            "BZeroPointTensor": per_column(desc.BZeroPointTensor, product.columns),
            "OutputTensor": product.result,
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        return integer_products


def integer_products(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None) -> Array:
    """``(a - a_zero) x (b - b_zero)`` as INT64, exact for integers of up to 16 bits.

    Zero points are for a tensor, or for each row of ``a`` and each column of ``b``.
    """
    return matmul(*centred_factors(a, a_zero, b, b_zero))


def centred_factors(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None) -> tuple[Array, Array]:
    left, right = by_row(a_zero, a.ndim), by_column(b_zero, b.ndim)
    return centred(a, left), centred(b, right)


def by_row(parameter: Array | None, rank: int) -> Any:
    """One element, or one for each row of matrices, beside a tensor of ``rank``."""
    return along(parameter, rank - 2, rank)


def by_column(parameter: Array | None, rank: int) -> Any:
    """One element, or one for each column of matrices, beside a tensor of ``rank``."""
    return along(parameter, rank - 1, rank)


@operator("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
class MatrixMultiplyIntegerToFloat(MatrixMultiplyInteger):
    """``dequantized(A) x dequantized(B) + Bias`` (ns-directml-dml_matrix_multiply_integer_to_float_operator_desc).

    The page speaks of an output scale and zero point, which the struct does not have. Sums of products of up to 16 bits
    are exact, those of 32 bits are added up in FLOAT64; the result is rounded once.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        product = product_of(desc)
        return {
            **super().shapes(desc),
            "AScaleTensor": per_row(desc.AScaleTensor, product.rows),
            "BScaleTensor": per_column(desc.BScaleTensor, product.columns),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        # INT64 has no room for sums of products of 32 bits.
        is_wide = max(desc.ATensor.dtype.itemsize, desc.BTensor.dtype.itemsize) > 2

        def multiply(
            a: Array,
            a_scale: Array,
            a_zero: Array | None,
            b: Array,
            b_scale: Array,
            b_zero: Array | None,
            bias: Array | None,
        ) -> Array:
            left, right = centred_factors(a, a_zero, b, b_zero)
            if is_wide:
                left, right = left.astype(FLOAT64), right.astype(FLOAT64)
            result = matmul(left, right).astype(FLOAT64, copy=False)
            result *= by_row(a_scale, a.ndim)
            result *= by_column(b_scale, b.ndim)
            if bias is not None:
                result += bias
            return result

        return multiply
