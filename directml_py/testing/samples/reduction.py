"""Recipes for valid descs: reduction."""

from __future__ import annotations

from ..desc_generator import Fields, Maker
from ..recipes import recipe


@recipe("REDUCE")
def reduce(make: Maker) -> Fields:
    function = make.enumerator("Function")
    rank = make.rank("InputTensor", Function=function)
    return {"Function": function, "InputTensor": make.shape(rank), "Axes": make.axes(rank)}
