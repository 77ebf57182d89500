"""Recipes for valid descs: filling."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...descs.data_types import data_type_of
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1


def diagonal(make: DescGenerator) -> int:
    """The offset of a diagonal: within the matrix or slightly outside, sometimes the extreme values."""
    far = make.source.chance(10)
    return make.source.choice((INT_MIN, INT_MAX)) if far else make.source.integer(-6, 6)


def number(make: DescGenerator, data_type: int) -> float:
    """A number of the type, of either sign, sometimes the least or the largest."""
    dtype: np.dtype[Any] = data_type_of(data_type).dtype
    far = make.source.chance(20)
    if dtype.kind == "f":
        most = float(np.finfo(dtype).max)
        return make.source.choice((-most, most)) if far else make.source.integer(-40, 40) / 8
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    return make.source.choice((low, high)) if far else make.source.integer(max(low, -99), min(high, 99))


def valued(make: DescGenerator, *values: str) -> Fields:
    """Numbers of the output's data type."""
    types = make.data_types(["OutputTensor"], {})
    return {"types": types, **{name: number(make, types["OutputTensor"]) for name in values}}


@recipe("FILL_VALUE_CONSTANT")
def fill_value_constant(make: DescGenerator) -> Fields:
    return {"OutputTensor": make.shape(make.rank("OutputTensor")), **valued(make, "Value")}


@recipe("FILL_VALUE_SEQUENCE")
def fill_value_sequence(make: DescGenerator) -> Fields:
    return {"OutputTensor": make.shape(make.rank("OutputTensor")), **valued(make, "ValueStart", "ValueDelta")}


@recipe("DIAGONAL_MATRIX")
def diagonal_matrix(make: DescGenerator) -> Fields:
    value = make.source.integer(-2400, 2400) / 8
    return {"OutputTensor": make.shape(make.rank("OutputTensor")), "Offset": diagonal(make), "Value": value}


@recipe("DIAGONAL_MATRIX1")
def diagonal_matrix1(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("OutputTensor"))
    tensors = dict.fromkeys(("OutputTensor", *make.some("InputTensor")), sizes)
    span = {"DiagonalFillBegin": diagonal(make), "DiagonalFillEnd": diagonal(make)}
    return {**tensors, **valued(make, "Value"), **span}


@recipe("RANDOM_GENERATOR")
def random_generator(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("OutputTensor"))
    tensors = {"InputStateTensor": make.led("InputStateTensor", 6), "OutputTensor": sizes}
    return {**tensors, "present": make.some("OutputStateTensor")}
