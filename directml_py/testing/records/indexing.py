"""Recipes for valid descs: indexing."""

from __future__ import annotations

from ..maker import Fields, Maker
from ..recipes import recipe


@recipe("GATHER")
def gather(make: Maker) -> Fields:
    source = make.source
    rank = make.rank("InputTensor")
    axis, index_dimensions = source.integer(0, rank - 1), source.integer(1, rank)
    sizes, indices = make.shape(rank, 64), [1] * rank
    indices[rank - index_dimensions :] = make.shape(index_dimensions, 64)
    # What does not fit in the rank must be leading ones, which are cropped: of the input, then of the indices.
    excess = index_dimensions - 1
    from_input = source.integer(0, min(axis, excess))
    sizes[:from_input] = [1] * from_input
    first = rank - index_dimensions
    indices[first : first + excess - from_input] = [1] * (excess - from_input)
    return {"InputTensor": sizes, "IndicesTensor": indices, "Axis": axis, "IndexDimensions": index_dimensions}
