"""Recipes for valid descs: movement."""

from __future__ import annotations

from ..maker import Fields, Maker
from ..recipes import recipe


def parts(make: Maker, whole: str) -> tuple[int, list[list[int]]]:
    """An axis, and the sizes of up to four parts along it."""
    source, rank = make.source, make.rank(whole)
    axis, sizes = source.integer(0, rank - 1), make.shape(rank, 4)
    along = [sizes[axis]] + [source.integer(1, sizes[axis]) for _ in range(source.integer(1, 4) - 1)]
    return axis, [[*sizes[:axis], size, *sizes[axis + 1 :]] for size in along]


@recipe("JOIN")
def join(make: Maker) -> Fields:
    axis, sizes = parts(make, "OutputTensor")
    return {"InputTensors": sizes, "Axis": axis}


@recipe("SPLIT")
def split(make: Maker) -> Fields:
    axis, sizes = parts(make, "InputTensor")
    whole = [*sizes[0][:axis], sum(one[axis] for one in sizes), *sizes[0][axis + 1 :]]
    return {"InputTensor": whole, "OutputTensors": sizes, "Axis": axis}
