"""References of operators over quantized tensors: the pages' formulas, in FLOAT64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..values import as_stored
from .onnx_node import run
from .row import Row, Values, integers


class PowersOfTwo(Values):
    """Scales by which nothing is rounded, so that halves are halves."""

    def draw(self, rng: np.random.Generator, tensor: Any) -> Any:
        return as_stored(tensor, np.exp2(rng.integers(-2, 3, tensor.sizes)).astype(tensor.dtype))


def quantized_add(desc: Any, *inputs: Any) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = (
        0.0 if one is None else one.astype(np.float64) for one in inputs
    )
    a_value = (a - np.ravel(a_zero)[0]) * np.ravel(a_scale)[0]
    b_value = (b - np.ravel(b_zero)[0]) * np.ravel(b_scale)[0]
    limits = np.iinfo(desc.OutputTensor.dtype)
    rounded = np.rint((a_value + b_value) / np.ravel(scale)[0]) + np.ravel(zero)[0]
    return np.clip(rounded, limits.min, limits.max).astype(np.int64)


def one_sided(desc: Any) -> Values:
    """Of ranges, some have no 0 in them."""
    return (Values(-4, 4), Values(0.5, 9), Values(-9, -0.5), Values(step=0.5))[desc.InputTensor.sizes[0] % 4]


def of_blocks(parameter: Any, sizes: Any) -> Any:
    """Element i of a dimension belongs to block ``i * blocks // size``."""
    if parameter is None:
        return np.zeros(sizes, object)
    places = [np.arange(size) * blocks // size for size, blocks in zip(sizes, parameter.shape)]
    return parameter[np.ix_(*places)]


def quantize(desc: Any, x: Any, scale: Any, zero_point: Any = None) -> Any:
    """``clamp(round(x / scale) + zero_point)``, all in FLOAT32; NaN becomes the least."""
    output = desc.OutputTensor
    bits, signed = output.element_bits, output.dtype.kind == "i"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    quotients = x.astype(np.float32) / of_blocks(scale, x.shape).astype(np.float32)

    def one(quotient: Any, zero: Any) -> int:
        if math.isinf(quotient) or math.isnan(quotient):
            return high if quotient > 0 else low
        return min(max(round(float(np.float32(round(float(quotient))) + np.float32(zero))), low), high)

    return integers(one, 2)(quotients, of_blocks(zero_point, x.shape))


def dequantize(desc: Any, x: Any, scale: Any, zero_point: Any = None) -> Any:
    return ((x - of_blocks(zero_point, x.shape)) * of_blocks(scale, x.shape)).astype(np.float64)


def dynamic(desc: Any, x: Any) -> Any:
    """ONNX has UINT8 alone; INT8 is 128 less."""
    types = ["uint8", "float32", "uint8"]
    y, scale, zero_point = run("DynamicQuantizeLinear", [x.astype(np.float32)], types, opset=11)
    less = 128 if desc.OutputTensor.dtype.kind == "i" else 0
    ones = (1,) * x.ndim
    return [
        y.astype(object) - less,
        scale.astype(np.float64).reshape(ones),
        zero_point.reshape(ones).astype(object) - less,
    ]


SCALES = ("AScaleTensor", "BScaleTensor", "OutputScaleTensor")
POSITIVE = Values(0.05, 4)
ROWS = {
    "DEQUANTIZE": Row(dequantize, {"QuantizationTensors": POSITIVE}, samples=64),
    "DYNAMIC_QUANTIZE_LINEAR": Row(dynamic, one_sided, samples=64),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": Row(quantized_add, dict.fromkeys(SCALES, PowersOfTwo())),
    "QUANTIZE": Row(
        quantize,
        {"InputTensor": Values(-300, 300, special=True), "QuantizationTensors": POSITIVE},
        samples=64,
    ),
}
