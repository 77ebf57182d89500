"""Recipes for valid descs: ordering."""

from __future__ import annotations

from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe


@recipe("TOP_K", "TOP_K1")
def top_k(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("InputTensor"))
    axis = make.source.integer(0, len(sizes) - 1)
    return {"InputTensor": sizes, "Axis": axis, "K": make.source.integer(1, sizes[axis])}
