"""Recipes for valid descs: quantized."""

from __future__ import annotations

from ...api.enums import (
    DML_QUANTIZATION_TYPE_SCALE,
    DML_TENSOR_DATA_TYPE_FLOAT16,
    DML_TENSOR_DATA_TYPE_FLOAT32,
)
from ...validation.support_tables import same_of
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe
from ..window_samples import sliding
from .matrix import factors, scales
from .window import filtered

# The most elements in a block.
BLOCK = 8


def parameters(make: DescGenerator, *others: str) -> Fields:
    """Any subset of the zero points and ``others``; scales of any rank, shared by zero points of equal sizes."""
    names = [entry.name for entry in make.schema.struct.tensors]
    zero_points = [name for name in names if name.endswith("ZeroPointTensor")]
    alike = {name for entry in same_of(make.schema) if "Sizes" in entry.properties for name in entry.fields}
    free = {name for name in names if name.endswith("ScaleTensor")} | set(zero_points).difference(alike)
    return {"present": make.some(*zero_points, *others), "any_rank": free}


@recipe("ELEMENT_WISE_QUANTIZED_LINEAR_ADD")
def quantized_linear_add(make: DescGenerator) -> Fields:
    return {"ATensor": make.shape(make.rank("ATensor")), **parameters(make)}


@recipe("QUANTIZED_LINEAR_MATRIX_MULTIPLY")
def quantized_linear_matrix_multiply(make: DescGenerator) -> Fields:
    a, b = factors(make)
    return {
        "ATensor": a,
        "BTensor": b,
        **scales(make, a[-2], b[-1], "OutputScaleTensor"),
        "present": parameters(make)["present"],
    }


@recipe("QUANTIZED_LINEAR_CONVOLUTION")
def quantized_linear_convolution(make: DescGenerator) -> Fields:
    return {**filtered(sliding(make, "InputTensor", leading=4), make), **parameters(make, "BiasTensor")}


@recipe("QUANTIZED_LINEAR_AVERAGE_POOLING")
def quantized_linear_average_pooling(make: DescGenerator) -> Fields:
    """Only scales that CompileOperator accepts too."""
    sliding_window = sliding(make, "InputTensor")
    sizes = [*sliding_window.leading, *sliding_window.sizes]
    scales = {}
    for name in ("InputScaleTensor", "OutputScaleTensor"):
        rank = make.source.choice((len(sizes), 5))
        scales[name] = make.broadcast((1, sizes[1], *(1,) * (rank - 2)))
    return {"InputTensor": sizes, **scales, **sliding_window.attributes(make), **parameters(make)}


@recipe("QUANTIZE", "DEQUANTIZE")
def block_quantization(make: DescGenerator) -> Fields:
    """A scale, or a scale and a zero point, per block of a tensor; the two may have different blocks."""
    source, kind = make.source, make.enumerator("QuantizationType")
    blocks = make.shape(make.rank("InputTensor"), BLOCK)
    sizes, budget = [], BLOCK
    for count in blocks:
        width = source.integer(1, budget)
        sizes.append(count * width)
        budget //= width
    ends = ("InputTensor", "OutputTensor")
    wide, narrow = ends if make.schema.name == "QUANTIZE" else reversed(ends)
    types = make.data_types(ends, {})
    parameters = [types[wide], types[narrow]]
    parameter_sizes = [make.broadcast(blocks), make.broadcast(blocks)]
    if source.chance(30):
        parameter_sizes[1] = tuple(source.choice(divisors(size)) for size in sizes)
    if source.chance(20):
        parameters[1] = make.data_types(["QuantizationTensors"], {})["QuantizationTensors"]
    if make.schema.name == "QUANTIZE" and source.chance(30):
        parameters[0] = source.choice((DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16))
    count = 1 if kind == DML_QUANTIZATION_TYPE_SCALE else 2
    return {
        "InputTensor": sizes,
        "QuantizationType": kind,
        "QuantizationTensors": parameter_sizes[:count],
        "types": {**types, "QuantizationTensors": parameters[:count]},
    }


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]
