"""Operators over quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..descs.values import OperatorDesc
from ..kernels import elementary
from ..kernels.binding import Array
from ..kernels.windows import Window
from ..validation.report import Report
from . import quantization as quantization  # operators of this family, too
from .matrix.products import product_of
from .operator import Compute, Inputs, Operator, Shapes, of_sizes, operator
from .quantization_parameters import inspect_scales, per_channel, per_column, per_row, single
from .window.pooling import pool_window, pooled_sizes


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
        """The scales and zero points are single elements, whatever their dimension count."""
        dtype = desc.OutputTensor.dtype

        def add(
            a: Array, a_scale: Array, a_zero: Any, b: Array, b_scale: Array, b_zero: Any, *output: Any
        ) -> Array:
            left = elementary.dequantize(a, element(a_scale), element(a_zero))
            right = elementary.dequantize(b, element(b_scale), element(b_zero))
            scale, zero_point = map(element, output)
            return elementary.quantize(left + right, scale, zero_point, dtype)

        return add

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        inspect_scales(desc, inputs, report)


def element(tensor: Array | None) -> Any:
    """The only element of a tensor; None of one that is absent."""
    return None if tensor is None else tensor.reshape(-1)[0]


@operator("QUANTIZED_LINEAR_MATRIX_MULTIPLY")
class QuantizedLinearMatrixMultiply(Operator):
    """``quantized(dequantized(A) x dequantized(B))``
    (ns-directml-dml_quantized_linear_matrix_multiply_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        product = product_of(desc)
        return {
            "AScaleTensor": per_row(desc.AScaleTensor, product.rows),
            "AZeroPointTensor": per_row(desc.AZeroPointTensor, product.rows),
            "BTensor": product.right,
            "BScaleTensor": per_column(desc.BScaleTensor, product.columns),
            "BZeroPointTensor": per_column(desc.BZeroPointTensor, product.columns),
            "OutputScaleTensor": per_row(desc.OutputScaleTensor, product.rows),
            "OutputZeroPointTensor": per_row(desc.OutputZeroPointTensor, product.rows),
            "OutputTensor": product.result,
        }


@operator("QUANTIZED_LINEAR_CONVOLUTION")
class QuantizedLinearConvolution(Operator):
    """``quantized(convolution(dequantized(Input), dequantized(Filter)) + Bias)``
    (ns-directml-dml_quantized_linear_convolution_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, *spatial = desc.InputTensor.sizes
        features, _, *kernel = desc.FilterTensor.sizes
        window = Window.of(kernel, desc.Strides, desc.Dilations, desc.StartPadding, desc.EndPadding)
        return {
            "InputScaleTensor": single(desc.InputScaleTensor),
            "InputZeroPointTensor": single(desc.InputZeroPointTensor),
            "FilterTensor": (features, channels // desc.GroupCount, *kernel),
            "FilterScaleTensor": per_channel(desc.FilterScaleTensor, features),
            "FilterZeroPointTensor": per_channel(desc.FilterZeroPointTensor, features),
            "BiasTensor": (1, features, *(1,) * len(spatial)),
            "OutputScaleTensor": single(desc.OutputScaleTensor),
            "OutputZeroPointTensor": single(desc.OutputZeroPointTensor),
            "OutputTensor": (batch, features, *window.forward(spatial)),
        }


@operator("QUANTIZED_LINEAR_AVERAGE_POOLING")
class QuantizedLinearAveragePooling(Operator):
    """``quantized(average over windows of dequantized(Input))``
    (ns-directml-dml_quantized_linear_average_pooling_operator_desc).

    The output has the sizes of any pool: ONNX Runtime's QLinearAveragePool rounds them up too, where ceil_mode is set.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the output, where another number of steps is wanted."""
        sizes, channels = desc.InputTensor.sizes, desc.InputTensor.sizes[1]
        own = None if desc.OutputTensor is None else desc.OutputTensor.sizes
        return {
            "InputScaleTensor": per_channel(desc.InputScaleTensor, channels),
            "InputZeroPointTensor": per_channel(desc.InputZeroPointTensor, channels),
            "OutputScaleTensor": per_channel(desc.OutputScaleTensor, channels),
            "OutputZeroPointTensor": per_channel(desc.OutputZeroPointTensor, channels),
            "OutputTensor": pooled_sizes(pool_window(desc), sizes, own),
            **of_sizes(output_sizes),
        }
