"""Recipes for valid descs: reduction."""

from __future__ import annotations

from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe


@recipe("REDUCE")
def reduce(make: DescGenerator) -> Fields:
    function = make.enumerator("Function")
    rank = make.rank("InputTensor", Function=function)
    return {"Function": function, "InputTensor": make.shape(rank), "Axes": make.axes(rank)}
