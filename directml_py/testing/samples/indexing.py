"""Recipes for valid descs: indexing."""

from __future__ import annotations

from math import prod

from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe


@recipe("GATHER")
def gather(make: DescGenerator) -> Fields:
    source = make.source
    rank = make.rank("InputTensor")
    axis = source.integer(0, rank - 1)
    index_dimensions = source.integer(0, axis + 1)
    sizes, indices = make.shape(rank, 64), [1] * rank
    indices[rank - index_dimensions :] = make.shape(index_dimensions, 64)
    # The output has no room for these dimensions.
    cropped = max(index_dimensions - 1, 0)
    sizes[:cropped] = [1] * cropped
    return {"InputTensor": sizes, "IndicesTensor": indices, "Axis": axis, "IndexDimensions": index_dimensions}


@recipe("GATHER_ELEMENTS", "SCATTER")
def along_axis(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("InputTensor"))
    axis = make.source.integer(0, len(sizes) - 1)
    fewer = [*sizes[:axis], make.source.integer(1, sizes[axis]), *sizes[axis + 1 :]]
    may_be_more = make.schema.name == "GATHER_ELEMENTS" and make.source.chance(50)
    several = (fewer, sizes) if may_be_more else (sizes, fewer)
    return {**dict(zip(("InputTensor", "IndicesTensor"), several)), "Axis": axis}


@recipe("GATHER_ND", "GATHER_ND1", "SCATTER_ND")
def tuples_of_indices(make: DescGenerator) -> Fields:
    source, rank = make.source, make.rank("InputTensor")
    input_rank, indices_rank = source.integer(1, rank), source.integer(1, rank)
    has_batches = "BatchDimensionCount" in make.schema.struct.index
    batches = source.integer(0, min(input_rank, indices_rank) - 1) if has_batches else 0
    # The dimensions of the indices and the remaining ones of the input must fit in the rank.
    fewest = max(1, indices_rank - 1 + input_rank - batches - rank)
    coordinates = source.integer(fewest, input_rank - batches)
    sizes = make.shape(input_rank, 64)
    tuples = sizes[:batches] + make.shape(indices_rank - 1 - batches, 8 * prod(sizes))
    return {
        "InputTensor": [1] * (rank - input_rank) + sizes,
        "IndicesTensor": [1] * (rank - indices_rank) + [*tuples, coordinates],
        "InputDimensionCount": input_rank,
        "IndicesDimensionCount": indices_rank,
        **({"BatchDimensionCount": batches} if has_batches else {}),
    }


@recipe("ONE_HOT")
def one_hot(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("OutputTensor"))
    axis = make.source.integer(0, len(sizes) - 1)
    values = make.shape(len(sizes), 2)
    if prod(values) < 2:
        values[make.source.integer(0, len(sizes) - 1)] = 2
    indices = [*sizes[:axis], 1, *sizes[axis + 1 :]]
    return {"IndicesTensor": indices, "ValuesTensor": values, "OutputTensor": sizes, "Axis": axis}


@recipe("NONZERO_COORDINATES")
def nonzero_coordinates(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("InputTensor"), 8)
    effective = next((len(sizes) - index for index, size in enumerate(sizes) if size > 1), 1)
    width = make.source.integer(effective, len(sizes))
    return {
        "InputTensor": sizes,
        "OutputCountTensor": make.led("OutputCountTensor", 1),
        "OutputCoordinatesTensor": make.led("OutputCoordinatesTensor", prod(sizes), width),
    }
