"""Operators over quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..abi.hresult import E_INVALIDARG
from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..kernels import depthwise_pool
from ..kernels.convolution import Quantization, byte_convolution
from ..kernels.elementwise import functions
from ..kernels.elementwise.functions import BYTE
from ..kernels.im2col import exact_float
from ..kernels.matmul import byte_products
from ..kernels.native_arrays import Array, Run
from ..validation.report import Report
from .attributes import any_output_sizes, led
from .matrix.matmul import by_column, by_row, dequantized, finishing_kernel, integer_products, product_of
from .operator import (
    Advisory,
    Broadcast,
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shapes,
    computing_kernel,
    of_sizes,
    operator,
    operator_rule,
)
from .quantization_parameters import along, inspect_scales, per_channel, per_column, per_row, single
from .window.convolution import filter_window, integer_convolution
from .window.pooling import divisors, element_counts, pool_window, pooled_sizes
from .window.repeated_windows import RepeatedWindows


@operator("ELEMENT_WISE_QUANTIZED_LINEAR_ADD")
class QuantizedLinearAdd(Operator):
    """The sum of two tensors of the same sizes (ns-directml-dml_element_wise_quantized_linear_add_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        parameters = ("AScale", "AZeroPoint", "BScale", "BZeroPoint", "OutputScale", "OutputZeroPoint")
        return {
            "BTensor": desc.ATensor.sizes,
            **{f"{name}Tensor": single(getattr(desc, f"{name}Tensor")) for name in parameters},
            "OutputTensor": desc.ATensor.sizes,
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        """Scales and zero points have one element, whatever their dimension count."""
        dtype = desc.OutputTensor.dtype

        def add(
            a: Array, a_scale: Array, a_zero: Any, b: Array, b_scale: Array, b_zero: Any, *output: Any
        ) -> Array:
            left = functions.dequantize(a, element(a_scale), element(a_zero))
            right = functions.dequantize(b, element(b_scale), element(b_zero))
            scale, zero_point = map(element, output)
            return functions.quantize(left + right, scale, zero_point, dtype)

        return add

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        inspect_scales(desc, inputs, report)


def element(tensor: Array | None) -> Any:
    """The only element of a tensor; None if absent."""
    return None if tensor is None else tensor.reshape(-1)[0]


@operator("QUANTIZED_LINEAR_MATRIX_MULTIPLY")
class QuantizedLinearMatrixMultiply(Operator):
    """``quantized(dequantized(A) x dequantized(B))``
    (ns-directml-dml_quantized_linear_matrix_multiply_operator_desc).

    The result before quantization is exact up to one rounding to FLOAT32.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        product = product_of(desc)
        return {
            "AScaleTensor": per_row(desc.AScaleTensor, product.rows),
            "BTensor": led(product.right, desc.BTensor),
            "BScaleTensor": per_column(desc.BScaleTensor, product.columns),
            "OutputScaleTensor": per_row(desc.OutputScaleTensor, product.rows),
            "OutputTensor": led(product.result, desc.OutputTensor),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        sizes, rank, finish = desc.OutputTensor.sizes, desc.OutputTensor.dimension_count, self.finish(desc)

        def multiply(
            a: Array, a_scale: Array, a_zero: Any, b: Array, b_scale: Array, b_zero: Any, *output: Any
        ) -> Array:
            parameters = [
                by_row(a_scale, rank),
                by_column(b_scale, rank),
                *(by_row(parameter, rank) for parameter in output),
            ]
            result: Array = finish(integer_products(a, a_zero, b, b_zero).reshape(sizes), *parameters)
            return result

        return multiply

    def finish(self, desc: OperatorDesc) -> Compute:
        """The epilogue: a function of the integer sums, the scales, and the output's scale and zero point."""
        dtype = desc.OutputTensor.dtype

        def finish(sums: Array, a_scale: Array, b_scale: Array, scale: Array, zero: Any) -> Array:
            return functions.quantize(dequantized(sums, a_scale, b_scale, None), scale, zero, dtype)

        return finish

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """8-bit outputs with a per-tensor scale and zero point are requantized in the product's kernel."""
        kernel = finishing_kernel(desc, self.compute(desc), self.finish(desc), by_row)
        if not kernel.scratch or desc.OutputTensor.sizes[-2] == 1:
            return kernel

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = inputs
            (output,) = outputs
            if any(parameter is not None and parameter.size > 1 for parameter in (b_scale, scale, zero)):
                return kernel.bind(inputs, outputs, scratch)
            quantization = Quantization(b_scale, a_scale, None, scale, zero)
            run = byte_products(a, a_zero, b, b_zero, output, quantization)
            return run or kernel.bind(inputs, outputs, scratch)

        return kernel._replace(bind=bind)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        inspect_scales(desc, inputs, report)


@operator("QUANTIZED_LINEAR_CONVOLUTION")
class QuantizedLinearConvolution(Operator):
    """``quantized(convolution(dequantized(Input), dequantized(Filter)) + Bias)``
    (ns-directml-dml_quantized_linear_convolution_operator_desc).

    The page does not give the bias's scale. It is InputScale * FilterScale, as in ONNX, whose bias ONNX Runtime passes
    through unchanged. Padding is 0 in the dequantized input. The result before quantization is exact up to one rounding
    to FLOAT32.
    """

    advises_sizes = True

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, *spatial = desc.InputTensor.sizes
        features, _, *kernel = desc.FilterTensor.sizes
        bias = desc.BiasTensor or desc.InputTensor
        return {
            "InputScaleTensor": single(desc.InputScaleTensor),
            "FilterTensor": (features, channels // desc.GroupCount, *kernel),
            "FilterScaleTensor": per_channel(desc.FilterScaleTensor, features),
            "BiasTensor": (1, features, *(1,) * (bias.dimension_count - 2)),
            "OutputScaleTensor": single(desc.OutputScaleTensor),
            "OutputTensor": any_output_sizes((batch, features, *filter_window(desc).forward(spatial))),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        convolution = integer_convolution(desc)
        rank, dtype = desc.InputTensor.dimension_count, desc.OutputTensor.dtype

        def convolve(
            x: Array,
            x_scale: Array,
            x_zero: Any,
            weights: Array,
            weights_scale: Array,
            weights_zero: Any,
            bias: Array | None,
            scale: Array,
            zero: Any,
        ) -> Array:
            total = convolution(x, x_zero, weights, weights_zero)
            if bias is not None:
                total += along(bias, 1, rank)
            unit = along(x_scale, 1, rank).astype(np.float64) * along(weights_scale, 1, rank)
            return functions.quantize(total * unit, along(scale, 1, rank), along(zero, 1, rank), dtype)

        return convolve

    def kernel(self, desc: OperatorDesc) -> Kernel:
        reference, window = computing_kernel(self.compute(desc)), filter_window(desc)
        rank = desc.InputTensor.dimension_count
        # Sums of more products may overflow INT32.
        if prod(desc.FilterTensor.sizes[1:]) * BYTE**2 >= 1 << 31:
            return reference

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, x_scale, x_zero, filters, filter_scale, filter_zero, bias, scale, zero = inputs
            quantization = Quantization(x_scale, filter_scale, bias, scale, zero)
            (output,), groups = outputs, desc.GroupCount
            if x.shape[1] == groups:
                scales = [along(one, 1, rank) for one in (x_scale, filter_scale, scale)]
                zeros = [along(one, 1, rank) for one in (x_zero, filter_zero, zero)]
                addend = along(bias, 1, rank)
                run = depthwise_pool.quantized_products(
                    x, filters, addend, output, window, groups, scales, zeros
                )
                if run:
                    return run
            run = byte_convolution(x, x_zero, filters, filter_zero, output, window, groups, quantization)
            return run or reference.bind(inputs, outputs, scratch)

        return Kernel(bind)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        inspect_scales(desc, inputs, report)


MOST_DIMENSIONS = 5
_SCALES = operator_rule(
    "QUANTIZED_LINEAR_AVERAGE_POOLING",
    "compiled-scales",
    "Scales have at least two dimensions, at least four if InputTensor has four, and 1 or all channels",
    library=True,
)


@operator("QUANTIZED_LINEAR_AVERAGE_POOLING")
class QuantizedLinearAveragePooling(RepeatedWindows):
    """``quantized(average over windows of dequantized(Input))``
    (ns-directml-dml_quantized_linear_average_pooling_operator_desc).

    The output sizes follow the rules of all pools: ONNX Runtime's QLinearAveragePool rounds them up too, where
    ceil_mode is set. Padding is 0 in the dequantized input. The mean before quantization is exact up to one rounding to
    FLOAT32; the mean of no elements, NaN, becomes the least integer.
    """

    advises_sizes = True

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes, if the count of windows is not the default."""
        sizes, channels = desc.InputTensor.sizes, desc.InputTensor.sizes[1]
        described = None if desc.OutputTensor is None else desc.OutputTensor.sizes
        return {
            "InputScaleTensor": self.scale_shape(desc.InputScaleTensor, channels),
            "OutputScaleTensor": self.scale_shape(desc.OutputScaleTensor, channels),
            "OutputTensor": any_output_sizes(pooled_sizes(pool_window(desc), sizes, described)),
            **of_sizes(output_sizes),
        }

    @staticmethod
    def scale_shape(scale: TensorDesc | None, channels: int) -> Broadcast | Advisory:
        """CreateOperator accepts scales of any sizes."""
        expected = per_channel(scale, channels)
        if scale is None or all(actual in (1, size) for actual, size in zip(scale.sizes, expected.sizes)):
            return expected
        return Advisory(expected.sizes)

    def check_compilation(self, desc: OperatorDesc, report: Report) -> int:
        rank, channels = desc.InputTensor.dimension_count, desc.InputTensor.sizes[1]
        for field in ("InputScaleTensor", "OutputScaleTensor"):
            scale = getattr(desc, field)
            has_rank = scale.dimension_count > 1 and (
                rank == MOST_DIMENSIONS or scale.dimension_count >= rank
            )
            if not has_rank or scale.sizes[1] not in (1, channels):
                expected = braces((1, channels, *(1,) * (rank - 2)))
                text = f"is {braces(scale.sizes)}; the operator compiles with {expected}, or 1 for {channels}"
                report.add(_SCALES, f"{field}.Sizes", text)
        return E_INVALIDARG

    def moving_compute(self, desc: OperatorDesc) -> Compute:
        window, output_sizes = pool_window(desc), desc.OutputTensor.sizes[2:]
        rank, dtype = desc.InputTensor.dimension_count, desc.OutputTensor.dtype
        divisor = divisors(desc, desc.InputTensor.sizes[2:], output_sizes)
        # Sums are exact.
        kind = exact_float(prod(window.size) * BYTE)

        def average(x: Array, x_scale: Array, x_zero: Any, scale: Array, zero: Any) -> Array:
            values = functions.centred(x, along(x_zero, 1, rank)).astype(kind)
            total = window.fold(values, output_sizes, np.add, 0).astype(np.float64)
            mean = total * along(x_scale, 1, rank) / divisor()
            return functions.quantize(mean, along(scale, 1, rank), along(zero, 1, rank), dtype)

        return average

    def moving_kernel(self, desc: OperatorDesc) -> Kernel:
        reference, window = computing_kernel(self.moving_compute(desc)), pool_window(desc)
        sizes, rank = desc.InputTensor.sizes, desc.InputTensor.dimension_count
        counts = element_counts(desc, sizes[2:], desc.OutputTensor.sizes[2:])

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (x, *parameters), (output,) = inputs, outputs
            x_scale, x_zero, scale, zero = (along(parameter, 1, rank) for parameter in parameters)
            run = depthwise_pool.quantized_mean(x, output, window, counts, [x_scale, scale], [x_zero, zero])
            return run or reference.bind(inputs, outputs, scratch)

        return Kernel(bind)

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        inspect_scales(desc, inputs, report)
