"""Quantization and dequantization: block-wise and dynamic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..descs.operator_desc import OperatorDesc
from ..kernels.elementwise import functions
from ..kernels.elementwise.functions import FLOAT32, FLOAT64, fmax, fmin, quieted
from ..kernels.elementwise.map import map_elements, store
from ..kernels.half import widened
from ..kernels.native_arrays import Array, Run
from ..kernels.reduce import fold
from ..validation.report import Report
from .operator import (
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shapes,
    computing_kernel,
    operator,
    operator_rule,
)
from .quantization_parameters import single

_BLOCKS = {
    name: operator_rule(name, "blocks", "Each size of QuantizationTensors divides that of InputTensor")
    for name in ("QUANTIZE", "DEQUANTIZE")
}
# The range of 4-bit integers, by the kind of their 8-bit NumPy type.
NIBBLES = {"i": (-8, 7), "u": (0, 15)}


@operator("QUANTIZE", "DEQUANTIZE")
class BlockQuantization(Operator):
    """Block-wise quantization: a scale and an optional zero point per block (ns-directml-dml_quantize_operator_desc and
    ns-directml-dml_dequantize_operator_desc).

    The pages leave the sizes of QuantizationTensors open. As in ONNX Runtime's MatMulNBits, each of their elements
    belongs to a block of the tensor, so that each of their sizes divides the tensor's. ONNX Runtime's QuantizeLinear of
    opset 21 passes the parameters of any axis along the last dimension: {1,1,1,3} for {1,3,3,2}. No axis could be told
    from that, so it is refused where it does not divide. The pages leave the arithmetic open too: it is that of
    ELEMENT_WISE_QUANTIZE_LINEAR and ELEMENT_WISE_DEQUANTIZE_LINEAR, and without a zero point none is subtracted, from
    UINT4 neither, where ONNX Runtime's MatMulNBits means 8. A zero point may have any
    type in the support tables, so that it may be out of the quantized type's range, or fractional.
    """

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        for index, tensor in enumerate(desc.QuantizationTensors):
            for dimension, (size, blocks) in enumerate(zip(desc.InputTensor.sizes, tensor.sizes)):
                if size % blocks:
                    path = f"QuantizationTensors[{index}].Sizes[{dimension}]"
                    text = f"is {blocks}; it must divide InputTensor.Sizes[{dimension}], which is {size}"
                    report.add(_BLOCKS[desc.name], path, text)

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": desc.InputTensor.sizes}

    def compute(self, desc: OperatorDesc) -> Compute:
        function, sizes = function_of(desc), desc.InputTensor.sizes
        return lambda x, *parameters: function(x, *(repeated(parameter, sizes) for parameter in parameters))

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """Views split dimensions into blocks, along which scales and zero points are broadcast."""
        sizes = zip(desc.InputTensor.sizes, *(tensor.sizes for tensor in desc.QuantizationTensors))
        factors = [parts for size, *blocks in sizes if (parts := factors_of(size, blocks)) is not None]
        if len(factors) < desc.InputTensor.dimension_count:
            return computing_kernel(self.compute(desc))
        function = function_of(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return map_elements(function, [split(x, factors) for x in inputs], [split(outputs[0], factors)])

        return Kernel(bind)


def function_of(desc: OperatorDesc) -> Compute:
    """The element-wise function of the tensor, scale and zero point."""
    if desc.name == "DEQUANTIZE":
        return lambda x, scale, zero_point=None: functions.dequantize(x, scale, zero_point)
    output = desc.OutputTensor

    def quantize(x: Array, scale: Array, zero_point: Array | None = None) -> Array:
        values = functions.quantize(x, scale, zero_point, output.dtype)
        return np.clip(values, *NIBBLES[output.dtype.kind]) if output.is_nibbles else values

    return quantize


def repeated(parameter: Array, sizes: Sequence[int]) -> Array:
    """``parameter`` with each element repeated over its block."""
    for axis, size in enumerate(sizes):
        parameter = np.repeat(parameter, size // parameter.shape[axis], axis)
    return parameter


def factors_of(size: int, blocks: Sequence[int]) -> list[int] | None:
    """Factors of ``size`` such that each count in ``blocks`` is a product of the first ones.

    None if there are none: 6 cannot be split into both 2 and 3 blocks.
    """
    counts = sorted({1, *blocks, size})
    if any(larger % smaller for smaller, larger in pairwise(counts)):
        return None
    return [larger // smaller for smaller, larger in pairwise(counts)]


def split(array: Array, factors: Sequence[Sequence[int]]) -> Array:
    """A view in which each dimension is split into its leading factors, then 1s."""
    sizes = []
    for size, parts in zip(array.shape, factors):
        remaining = size
        for part in parts:
            sizes.append(part if remaining > 1 else 1)
            remaining //= sizes[-1]
    return array.reshape(sizes)


@operator("DYNAMIC_QUANTIZE_LINEAR")
class DynamicQuantizeLinear(Operator):
    """Dynamic quantization by the range of the values (ns-directml-dml_dynamic_quantize_linear_operator_desc).

    The range is widened to include 0, as in ONNX, whose operator ONNX Runtime passes through unchanged. The page's
    formula does not say so; without that it requires zero points outside the type's range as soon as all values have
    the same sign. All arithmetic is in FLOAT32. NaN is ignored, as in REDUCE's MIN and MAX.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {
            "OutputTensor": desc.InputTensor.sizes,
            "OutputScaleTensor": single(desc.InputTensor),
            "OutputZeroPointTensor": single(desc.InputTensor),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        dtype = desc.OutputTensor.dtype

        def quantize(x: Array) -> tuple[Array, Array, Array]:
            axes = tuple(range(x.ndim))
            low, high = (
                function.reduce(quieted(x), axis=axes, keepdims=True) for function in (np.fmin, np.fmax)
            )
            scale, zero_point = fitted(low, high, dtype)
            return functions.quantize(x, scale, zero_point, dtype), scale, zero_point

        return quantize

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """Two passes: one finds the range, the other quantizes."""
        dtype, ones = desc.OutputTensor.dtype, single(desc.InputTensor)

        def quantize(x: Array, scale: Array, zero_point: Array) -> Array:
            return functions.quantize(x, scale, zero_point, dtype)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, axes = inputs[0], tuple(range(len(ones)))
            low, high = np.empty(ones, x.dtype), np.empty(ones, x.dtype)
            scale, zero_point = np.empty(ones, FLOAT32), np.empty(ones, dtype)
            folds = [fold("MIN", x, low, axes), fold("MAX", x, high, axes)]
            apply = map_elements(quantize, [x, scale, zero_point], outputs[:1])

            def run() -> None:
                for reduction in folds:
                    reduction()
                with np.errstate(all="ignore"):
                    store([scale, zero_point], fitted(widened(low), widened(high), dtype))
                store(outputs[1:], (scale, zero_point))
                apply()

            return run

        return Kernel(bind)


def fitted(low: Array, high: Array, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """The FLOAT32 scale and the zero point of a range that includes 0.

    As in Microsoft's library the range is multiplied by the inverse of 255, and the scale is 0 where all elements are:
    the zero point, 0 / 0, is then the least integer. Zero points are rounded to the nearest, ties to even.
    """
    limits = np.iinfo(dtype)
    low, high = fmin(low, FLOAT32.type(0)), fmax(high, FLOAT32.type(0))
    scale = (high - low) * FLOAT32.type(1 / (limits.max - limits.min))
    zero_point = np.rint(limits.min - (low / scale).astype(FLOAT64))
    return scale, functions.saturated(fmax(zero_point, limits.min), dtype)
