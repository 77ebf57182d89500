"""References of operators over quantized tensors: the pages' formulas, in FLOAT64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..helpers import as_stored
from .matrix import by_row, scaled
from .record import Record, Values, integers
from .window import convolution_integer, steps


class PowersOfTwo(Values):
    """Scales by which nothing is rounded, so that halves are halves; ``low`` and ``high`` are exponents."""

    def draw(self, rng: np.random.Generator, tensor: Any) -> Any:
        return as_stored(
            tensor,
            np.exp2(rng.integers(self.low, self.high, tensor.sizes, endpoint=True)).astype(tensor.dtype),
        )


def quantized_add(desc: Any, *inputs: Any) -> Any:
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero = (
        0.0 if one is None else one.astype(np.float64) for one in inputs
    )
    a_value = (a - np.ravel(a_zero)[0]) * np.ravel(a_scale)[0]
    b_value = (b - np.ravel(b_zero)[0]) * np.ravel(b_scale)[0]
    limits = np.iinfo(desc.OutputTensor.dtype)
    rounded = np.rint((a_value + b_value) / np.ravel(scale)[0]) + np.ravel(zero)[0]
    return np.clip(rounded, limits.min, limits.max).astype(np.int64)


def quantized_product(desc: Any, *inputs: Any) -> Any:
    """In fractions, except the value to be quantized and its quotient, which are FLOAT32."""
    *factors, scale, zero = inputs
    result = np.matmul(*scaled(*factors)).astype(np.float64).astype(np.float32)
    rounded = np.rint(result / by_row(scale).astype(np.float32))
    limits = np.iinfo(desc.OutputTensor.dtype)
    return np.clip(rounded + by_row(zero).astype(np.float64), limits.min, limits.max).astype(np.int64)


def one_sided(desc: Any) -> Values:
    """Some ranges do not contain 0."""
    return (Values(-4, 4), Values(0.5, 9), Values(-9, -0.5), Values(step=0.5))[desc.InputTensor.sizes[0] % 4]


def of_blocks(parameter: Any, sizes: Any) -> Any:
    """Element i of a dimension belongs to block ``i * blocks // size``."""
    if parameter is None:
        return np.zeros(sizes, object)
    places = [np.arange(size) * blocks // size for size, blocks in zip(sizes, parameter.shape)]
    return parameter[np.ix_(*places)]


def quantize(desc: Any, x: Any, scale: Any, zero_point: Any = None) -> Any:
    """``clamp(round(x / scale) + zero_point)``, all in FLOAT32; NaN gives the least integer."""
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
    """ONNX's formula, but multiplying by 1 / 255 instead of dividing by 255, as in Microsoft's library."""
    x, limits = x.astype(np.float32), np.iinfo(desc.OutputTensor.dtype)
    low, high = np.fmin(0, np.nanmin(x)), np.fmax(0, np.nanmax(x))
    scale = (high - low) * np.float32(1 / 255)

    def rounded(values: Any) -> Any:
        """NaN gives the least integer."""
        return np.nan_to_num(np.clip(np.rint(values), limits.min, limits.max), nan=limits.min).astype(int)

    zero_point = rounded(limits.min - low / scale)
    ones = (1,) * x.ndim
    return [
        rounded(np.rint(x / scale) + zero_point).astype(object),
        scale.astype(np.float64).reshape(ones),
        zero_point.reshape(ones).astype(object),
    ]


def requantized(desc: Any, values: Any, scale: Any, zero_point: Any) -> Any:
    """An exact result, rounded to FLOAT32 and quantized per channel or per tensor."""
    limits = np.iinfo(desc.OutputTensor.dtype)
    rounded = np.rint(values.astype(np.float32) / by_channel(scale, values).astype(np.float32))
    sums = rounded + by_channel(zero_point, values)
    return np.where(np.isnan(sums), limits.min, np.clip(sums, limits.min, limits.max)).astype(np.int64)


def by_channel(parameter: Any, x: Any) -> Any:
    """In FLOAT64; 0 if absent."""
    if parameter is None:
        return np.zeros(x.shape)
    return np.stack(
        [np.full(x.shape[2:], one, np.float64) for one in np.broadcast_to(parameter.ravel(), x.shape[1])]
    )


def quantized_convolution(desc: Any, *inputs: Any) -> Any:
    """The bias's scale is the product of the scales."""
    x, x_scale, x_zero, weights, weights_scale, weights_zero, bias, scale, zero = inputs
    total = convolution_integer(desc, x, x_zero, weights, weights_zero)
    total = (total if bias is None else total + bias).astype(np.float64)
    return requantized(desc, total * by_channel(weights_scale, total) * x_scale.item(), scale, zero)


def quantized_average_pooling(desc: Any, x: Any, x_scale: Any, x_zero: Any, scale: Any, zero: Any) -> Any:
    values = (x.astype(np.float64) - by_channel(x_zero, x)) * by_channel(x_scale, x)
    means = np.empty(desc.OutputTensor.sizes)
    for seen in steps(desc):
        total = sum((values[(..., *at)] for at in seen.inside), np.zeros(x.shape[:2]))
        means[(..., *seen.place)] = total / seen.count(desc)
    return requantized(desc, means, scale, zero)


def either(exact: tuple[int, int], other: tuple[float, float]) -> Any:
    """Scales: powers of two, with which halves are halves, or any in a range."""
    return lambda desc: PowersOfTwo(*exact) if desc.inputs[0].tensor.sizes[-1] % 2 else Values(*other)


def convolution_values(desc: Any) -> dict[str, Values]:
    """Small scales and biases, so that not all results saturate."""
    small, large = either((-8, -5), (0.003, 0.03))(desc), either((-4, 0), (0.05, 1))(desc)
    scales = {"InputScaleTensor": small, "FilterScaleTensor": small, "OutputScaleTensor": large}
    return {**scales, "BiasTensor": Values(-20000, 20000, limited=True)}


def product_scales(desc: Any) -> dict[str, Values]:
    """Sums of products of very different magnitudes."""
    small, large = either((-7, -3), (0.01, 0.1))(desc), either((-1, 3), (0.5, 8))(desc)
    return {"AScaleTensor": small, "BScaleTensor": small, "OutputScaleTensor": large}


def pooling_scales(desc: Any) -> dict[str, Values]:
    small, large = either((-3, 0), (0.1, 1))(desc), either((-1, 1), (0.5, 2))(desc)
    return {"InputScaleTensor": small, "OutputScaleTensor": large}


SCALES = ("AScaleTensor", "BScaleTensor", "OutputScaleTensor")
POSITIVE = Values(0.05, 4)
RECORDS = {
    "DEQUANTIZE": Record(dequantize, {"QuantizationTensors": POSITIVE}, samples=64),
    "DYNAMIC_QUANTIZE_LINEAR": Record(dynamic, one_sided, samples=64),
    "ELEMENT_WISE_QUANTIZED_LINEAR_ADD": Record(quantized_add, dict.fromkeys(SCALES, PowersOfTwo(-2, 2))),
    "QUANTIZED_LINEAR_AVERAGE_POOLING": Record(quantized_average_pooling, pooling_scales, samples=48),
    "QUANTIZED_LINEAR_CONVOLUTION": Record(quantized_convolution, convolution_values, samples=48),
    "QUANTIZED_LINEAR_MATRIX_MULTIPLY": Record(quantized_product, product_scales, samples=72),
    "QUANTIZE": Record(
        quantize,
        {"InputTensor": Values(-300, 300, special=True), "QuantizationTensors": POSITIVE},
        samples=64,
    ),
}
