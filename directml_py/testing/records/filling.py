"""Recipes for valid descs: filling."""

from __future__ import annotations

from ..maker import Fields, Maker
from ..recipes import recipe

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1


def diagonal(make: Maker) -> int:
    """Where a diagonal begins: in the matrix or somewhat beside it, at times as far away as can be."""
    far = make.source.chance(10)
    return make.source.choice((INT_MIN, INT_MAX)) if far else make.source.integer(-6, 6)


@recipe("DIAGONAL_MATRIX")
def diagonal_matrix(make: Maker) -> Fields:
    return {"OutputTensor": make.shape(make.rank("OutputTensor")), "Offset": diagonal(make)}


@recipe("DIAGONAL_MATRIX1")
def diagonal_matrix1(make: Maker) -> Fields:
    sizes = make.shape(make.rank("OutputTensor"))
    tensors = dict.fromkeys(("OutputTensor", *make.some("InputTensor")), sizes)
    return {**tensors, "DiagonalFillBegin": diagonal(make), "DiagonalFillEnd": diagonal(make)}


@recipe("RANDOM_GENERATOR")
def random_generator(make: Maker) -> Fields:
    sizes = make.shape(make.rank("OutputTensor"))
    tensors = {"InputStateTensor": make.led("InputStateTensor", 6), "OutputTensor": sizes}
    return {**tensors, "present": make.some("OutputStateTensor")}
