"""Matrix products: float GEMM, integer, and integer to float."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...api.enums import DML_MATRIX_TRANSFORM_TRANSPOSE
from ...descs.format import braces
from ...descs.operator_desc import OperatorDesc
from ...kernels.backend import backend
from ...kernels.elementwise.functions import BYTE, FLOAT64, centred, identity, plain
from ...kernels.elementwise.map import map_elements
from ...kernels.half import as_halves
from ...kernels.im2col import matmul
from ...kernels.launch import launch_in_order
from ...kernels.matmul import (
    byte_products,
    is_worth_panels,
    multiply,
    multiply_packed,
    pack_panels,
    panels_size,
)
from ...kernels.native_arrays import Array, Run
from ...kernels.post_ops import PROGRAMS, Accepts, PostOps, of_function, of_kernel
from ...validation.report import Report
from ..attributes import activated, is_of_elements, led
from ..numeric_warnings import report_elements
from ..operator import (
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    PrepackedKernel,
    Shapes,
    Sizes,
    WeightLayout,
    computing_kernel,
    operator,
    operator_of,
    operator_rule,
    summing_kernel,
)
from ..quantization_parameters import along, per_column, per_row


class Product(NamedTuple):
    """Batched products {rows, depth} x {depth, columns}; ``batch`` is the leading sizes."""

    batch: Sizes
    rows: int
    depth: int
    columns: int

    @property
    def right(self) -> Sizes:
        """The sizes of the right-hand matrix."""
        return (*self.batch, self.depth, self.columns)

    @property
    def result(self) -> Sizes:
        return (*self.batch, self.rows, self.columns)


def product_of(desc: OperatorDesc, transposed_a: bool = False, transposed_b: bool = False) -> Product:
    """The product given by the sizes of ATensor and the columns of BTensor."""
    *batch, rows, depth = transposed_sizes(desc.ATensor.sizes, transposed_a)
    return Product(tuple(batch), rows, depth, transposed_sizes(desc.BTensor.sizes, transposed_b)[-1])


def transposed_sizes(sizes: Sizes, transposed: bool) -> Sizes:
    """``sizes`` with rows and columns swapped if the matrices are ``transposed``."""
    return (*sizes[:-2], sizes[-1], sizes[-2]) if transposed else sizes


SOFTMAX = operator_rule(
    "GEMM",
    "softmax",
    "Fused ACTIVATION_SOFTMAX takes a single matrix: all sizes but the last two are 1",
    library=True,
)


@operator("GEMM")
class Gemm(Operator):
    """``FusedActivation(Alpha * TransA(A) x TransB(B) + Beta * C)`` (ns-directml-dml_gemm_operator_desc).

    ``C`` has the sizes of the output; a bias is broadcast by strides of 0. It is always multiplied by ``Beta``: by the
    formula, NaN and infinity propagate even if ``Beta`` is 0.
    """

    def accepts(self, desc: OperatorDesc) -> Accepts:
        return PROGRAMS

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        """For several matrices, ACTIVATION_SOFTMAX1 along the last axis does the same."""
        batch, fused = desc.ATensor.sizes[:-2], desc.FusedActivation
        if fused is not None and fused.name == "ACTIVATION_SOFTMAX" and prod(batch) > 1:
            text = (
                f"is DML_OPERATOR_ACTIVATION_SOFTMAX, which is for one matrix; ATensor.Sizes is "
                f"{braces(desc.ATensor.sizes)}, {prod(batch)} matrices"
            )
            report.add(SOFTMAX, "FusedActivation", text)

    def shapes(self, desc: OperatorDesc) -> Shapes:
        transposed_b = _is_transposed(desc.TransB)
        product = product_of(desc, _is_transposed(desc.TransA), transposed_b)
        return {"BTensor": transposed_sizes(product.right, transposed_b), "OutputTensor": product.result}

    def compute(self, desc: OperatorDesc) -> Compute:
        finish = self.finish(desc)

        def gemm(a: Array, b: Array, c: Array | None) -> Array:
            return finish(matmul(_left(desc, a), _right(desc, b)), c)

        return gemm

    def finish(self, desc: OperatorDesc) -> Callable[[Array, Array | None], Array]:
        """The epilogue: Alpha, ``Beta * C`` and the activation."""
        activation, scaled = activated(desc.FusedActivation), self.scaled(desc)
        return lambda product, c: activation(scaled(product, c))

    def scaled(self, desc: OperatorDesc) -> Callable[[Array, Array | None], Array]:
        """The epilogue without the activation."""

        def scaled(product: Array, c: Array | None) -> Array:
            result = product if desc.Alpha == 1 else product * desc.Alpha
            return result if c is None else result + (c if desc.Beta == 1 else c * desc.Beta)

        return scaled

    def post_ops(self, desc: OperatorDesc, sums: Array, c: Array | None, out: Array) -> PostOps:
        """The epilogue as post-operations: a softmax is computed by its own kernel, in FLOAT32."""
        fused = desc.FusedActivation
        if is_of_elements(fused):
            return [of_function(self.finish(desc), [sums, c], [out])]
        target = out if out.dtype == sums.dtype else sums
        post_ops = [of_kernel(operator_of(fused.name).kernel(fused).bind, sums, target)]
        if target is not out:
            post_ops.append(of_function(identity, [target], [out]))
        if desc.Alpha == 1 and c is None:
            return post_ops
        return [of_function(self.scaled(desc), [sums, c], [sums]), *post_ops]

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """Accumulates in the output if that is FLOAT32 with contiguous rows, or columns where nothing follows, and
        applies ``finish`` in place."""
        output = desc.OutputTensor
        is_product = desc.Alpha == 1 and desc.CTensor is None and desc.FusedActivation is None
        is_direct = output.dtype == np.float32 and (
            output.strides is None or 1 in output.strides[-2 if is_product else -1 :]
        )
        is_finished = is_direct and is_product
        transposed = _is_transposed(desc.TransA), _is_transposed(desc.TransB)

        def bind(
            inputs: Inputs,
            outputs: Outputs,
            scratch: Array,
            post_ops: PostOps = (),
            is_packed: bool = False,
        ) -> Run:
            (a, b, c), (out,) = inputs, outputs
            sums = out if is_direct else scratch[: 4 * out.size].view(np.float32).reshape(out.shape)
            if not is_finished:
                post_ops = [*self.post_ops(desc, sums, c, out), *post_ops]
            if is_packed:
                return multiply_packed(_left(desc, a), b, sums, post_ops)
            return multiply(_left(desc, a), _right(desc, b), sums, transposed, post_ops)

        kernel = Kernel(bind, 0 if is_direct else 4 * prod(output.sizes), fused=bind)
        packing = self.packing(desc)
        if packing is None:
            return kernel
        packed = partial(bind, is_packed=True)
        return kernel._replace(
            packed=PrepackedKernel(kernel._replace(bind=packed, fused=packed), {1: packing})
        )

    def packing(self, desc: OperatorDesc) -> WeightLayout | None:
        """The layout of prepacked B, where its products run in the microkernel over panels."""
        product = product_of(desc, _is_transposed(desc.TransA), _is_transposed(desc.TransB))
        sizes = (product.rows, product.depth, product.columns)
        if not desc.BTensor.is_owned_by_dml or not is_worth_panels(*sizes, desc.BTensor.dtype):
            return None

        def store(b: Array, memory: Array) -> None:
            columns = _right(desc, b).swapaxes(-1, -2)
            panel_bytes = panels_size(1, product.columns, product.depth)
            for number, batch in enumerate(np.ndindex(columns.shape[:-2])):
                pack_panels(
                    columns[batch][np.newaxis], 1, memory[number * panel_bytes : (number + 1) * panel_bytes]
                )

        return WeightLayout(prod(product.batch) * panels_size(1, product.columns, product.depth), store)


def _left(desc: OperatorDesc, a: Array) -> Array:
    """The left-hand matrices, transposed if TransA says so."""
    return np.swapaxes(a, -1, -2) if _is_transposed(desc.TransA) else a


def _right(desc: OperatorDesc, b: Array) -> Array:
    return np.swapaxes(b, -1, -2) if _is_transposed(desc.TransB) else b


def _is_transposed(transform: int) -> bool:
    return transform == DML_MATRIX_TRANSFORM_TRANSPOSE


def has_one_rank(desc: OperatorDesc) -> bool:
    """Whether the matrices have the same dimension count, as the pages require. Microsoft's library pads the others
    with leading ones."""
    a, b, output = desc.ATensor, desc.BTensor, desc.OutputTensor
    return bool(a.dimension_count == b.dimension_count == output.dimension_count)


@operator("MATRIX_MULTIPLY_INTEGER")
class MatrixMultiplyInteger(Operator):
    """``(A - AZeroPoint) x (B - BZeroPoint)`` as INT32, which wraps
    (ns-directml-dml_matrix_multiply_integer_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        product = product_of(desc)
        return {
            "AZeroPointTensor": per_row(desc.AZeroPointTensor, product.rows),
            "BTensor": led(product.right, desc.BTensor),
            "BZeroPointTensor": per_column(desc.BZeroPointTensor, product.columns),
            "OutputTensor": led(product.result, desc.OutputTensor),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        sizes = desc.OutputTensor.sizes
        return lambda *inputs: integer_products(*inputs).reshape(sizes)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        reference = computing_kernel(self.compute(desc))
        if not has_one_rank(desc):
            return reference

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return byte_products(*inputs, *outputs) or reference.bind(inputs, outputs, scratch)

        return Kernel(bind)


def integer_products(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None) -> Array:
    """``(a - a_zero) x (b - b_zero)`` as INT64, exact for integers of up to 16 bits.

    Zero points are per tensor, or per row of ``a`` and per column of ``b``.
    """
    return matmul(*centred_factors(a, a_zero, b, b_zero))


def finishing_kernel(
    desc: OperatorDesc, compute: Compute, finish: Compute, laid: Callable[[Any, int], Any]
) -> Kernel:
    """An integer product with an epilogue, for operators whose first inputs are ``a`` and ``b``, each with a scale and
    a zero point: ``finish`` takes the INT32 sums, both scales and the other inputs, which ``laid`` reshapes to a rank.

    Where sums may exceed INT32, the matrices differ in rank, or no native kernel takes the tensors, the reference
    kernel runs.
    """
    reference, sizes = summing_kernel(compute), desc.OutputTensor.sizes
    if backend.native is None or not has_one_rank(desc) or desc.ATensor.sizes[-1] * BYTE**2 >= 1 << 31:
        return reference

    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        a, a_scale, a_zero, b, b_scale, b_zero, *others = inputs
        sums = scratch[: 4 * prod(sizes)].view(np.int32).reshape(sizes)
        run = byte_products(a, a_zero, b, b_zero, sums)
        if not run:
            return reference.bind(inputs, outputs, scratch)
        parameters = [
            by_row(a_scale, a.ndim),
            by_column(b_scale, b.ndim),
            *(laid(parameter, a.ndim) for parameter in others),
        ]
        return launch_in_order([run, map_elements(finish, [sums, *parameters], outputs)])

    return Kernel(bind, 4 * prod(sizes))


def centred_factors(a: Array, a_zero: Array | None, b: Array, b_zero: Array | None) -> tuple[Array, Array]:
    left, right = by_row(a_zero, a.ndim), by_column(b_zero, b.ndim)
    return centred(a, left), centred(b, right)


def by_row(parameter: Array | None, rank: int) -> Any:
    """A parameter per tensor or per row, reshaped to broadcast to matrices of ``rank``."""
    return along(parameter, rank - 2, rank)


def by_column(parameter: Array | None, rank: int) -> Any:
    """A parameter per tensor or per column, reshaped to broadcast to matrices of ``rank``."""
    return along(parameter, rank - 1, rank)


HALF_RANGE = operator_rule(
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
    "half-range",
    "No factor of a FLOAT16 result leaves the range of FLOAT16",
    debug=True,
    library=True,
)


@operator("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
class MatrixMultiplyIntegerToFloat(MatrixMultiplyInteger):
    """``dequantized(A) x dequantized(B) + Bias`` (ns-directml-dml_matrix_multiply_integer_to_float_operator_desc).

    The page mentions an output scale and zero point, which the struct does not have. Sums of products of up to 16 bits
    are exact, those of 32 bits are accumulated in FLOAT64; the result is rounded once. For a FLOAT16 result, though,
    Microsoft's library dequantizes A and B to FLOAT16 and accumulates their products in FLOAT32.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        product = product_of(desc)
        return {
            "AScaleTensor": per_row(desc.AScaleTensor, product.rows),
            "BTensor": led(product.right, desc.BTensor),
            "BScaleTensor": per_column(desc.BScaleTensor, product.columns),
            "OutputTensor": led(product.result, desc.OutputTensor),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        # Sums of 32-bit products overflow INT64.
        is_wide = max(desc.ATensor.dtype.itemsize, desc.BTensor.dtype.itemsize) > 2
        is_half, sizes = desc.OutputTensor.dtype == np.float16, desc.OutputTensor.sizes

        def multiply(
            a: Array,
            a_scale: Array,
            a_zero: Array | None,
            b: Array,
            b_scale: Array,
            b_zero: Array | None,
            bias: Any,
        ) -> Array:
            left, right = centred_factors(a, a_zero, b, b_zero)
            row_scale, column_scale = by_row(a_scale, a.ndim), by_column(b_scale, b.ndim)
            if is_half:
                sums = matmul(halves(left, row_scale), halves(right, column_scale))
                return plain(np.reshape(sums if bias is None else sums + bias, sizes))
            if is_wide:
                left, right = left.astype(FLOAT64), right.astype(FLOAT64)
            result = dequantized(matmul(left, right), row_scale, column_scale, bias)
            return plain(np.reshape(result, sizes))

        return multiply

    def kernel(self, desc: OperatorDesc) -> Kernel:
        compute = self.compute(desc)
        if desc.OutputTensor.dtype == np.float16:
            return summing_kernel(compute)
        return finishing_kernel(desc, compute, dequantized, lambda bias, rank: bias)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        if desc.OutputTensor.dtype != np.float16:
            return
        a, a_scale, a_zero, b, b_scale, b_zero, _ = inputs
        assert a is not None
        assert b is not None
        factors = centred_factors(a, a_zero, b, b_zero)
        scales = by_row(a_scale, a.ndim), by_column(b_scale, b.ndim)
        for field, integers, scale in zip(("ATensor", "BTensor"), factors, scales):
            large = np.isinf(halves(integers, scale)) & np.isfinite(scale)
            words = ("element too large for FLOAT16", "elements too large for FLOAT16")
            report_elements(report, HALF_RANGE, field, large, *words)


def halves(integers: Array, scale: Array) -> Array:
    """Integers dequantized and rounded to FLOAT16, in FLOAT32."""
    return as_halves(integers * scale.astype(FLOAT64)).astype(np.float32)


def dequantized(sums: Array, a_scale: Array, b_scale: Array, bias: Array | None) -> Array:
    # In FLOAT64 the product of two FLOAT32 scales is exact.
    result = sums.astype(FLOAT64) * (a_scale.astype(FLOAT64) * b_scale)
    return plain(result if bias is None else result + bias)
