"""Recipes for valid descs: movement."""

from __future__ import annotations

from math import isqrt, prod

from ...api.enums import DML_PADDING_MODE_EDGE
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe
from ..window_samples import sliding

UINT_COUNT = 2**32


def parts(make: DescGenerator, whole: str) -> tuple[int, list[list[int]]]:
    """An axis, and the sizes of up to four tensors that are concatenated along it."""
    source, rank = make.source, make.rank(whole)
    axis, sizes = source.integer(0, rank - 1), make.shape(rank, 4)
    along = [sizes[axis]] + [source.integer(1, sizes[axis]) for _ in range(source.integer(1, 4) - 1)]
    return axis, [[*sizes[:axis], size, *sizes[axis + 1 :]] for size in along]


@recipe("JOIN")
def join(make: DescGenerator) -> Fields:
    axis, sizes = parts(make, "OutputTensor")
    return {"InputTensors": sizes, "Axis": axis}


@recipe("SPLIT")
def split(make: DescGenerator) -> Fields:
    axis, sizes = parts(make, "InputTensor")
    whole = [*sizes[0][:axis], sum(part_sizes[axis] for part_sizes in sizes), *sizes[0][axis + 1 :]]
    return {"InputTensor": whole, "OutputTensors": sizes, "Axis": axis}


@recipe("SLICE")
def slice_(make: DescGenerator) -> Fields:
    source, sizes = make.source, make.shape(make.rank("InputTensor"))
    rows = []
    for size in sizes:
        offset = source.integer(0, size - 1)
        stride = source.integer(1, size - offset)
        rows.append((offset, source.integer(1, (size - offset - 1) // stride + 1), stride))
    return {"InputTensor": sizes, **dict(zip(("Offsets", "Sizes", "Strides"), zip(*rows)))}


def slice_of_window(make: DescGenerator, whole: str, part: str) -> Fields:
    """A window in the tensor ``whole``; ``part`` may have fewer elements than the strides reach in it."""
    source, sizes = make.source, make.shape(make.rank(whole))
    rows = []
    for size in sizes:
        offset = source.integer(0, size - 1)
        window = source.integer(1, size - offset)
        stride = source.integer(1, window + 1)
        taken = source.integer(1, (window - 1) // stride + 1)
        rows.append((taken, offset, window, -stride if source.chance(50) else stride))
    names = (part, "InputWindowOffsets", "InputWindowSizes", "InputWindowStrides")
    return {whole: sizes, **dict(zip(names, zip(*rows)))}


@recipe("SLICE1")
def slice1(make: DescGenerator) -> Fields:
    return slice_of_window(make, "InputTensor", "OutputTensor")


@recipe("SLICE_GRAD")
def slice_grad(make: DescGenerator) -> Fields:
    return slice_of_window(make, "OutputGradientTensor", "InputGradientTensor")


@recipe("PADDING", "PADDING1")
def padding(make: DescGenerator) -> Fields:
    """Paddings of any length within the budget of elements; 2**32 - n removes n elements."""
    source, mode = make.source, make.enumerator("PaddingMode")
    rows = []
    for most in make.shape(make.rank("InputTensor")):
        if source.chance(30):
            # The whole input may be removed; which edge is then left is not known of Microsoft's library.
            taken = source.integer(0, most - 1 if mode == DML_PADDING_MODE_EDGE else most + 2)
            other = source.integer(taken - most + 1, taken)
            pair = [-taken % UINT_COUNT, other % UINT_COUNT]
            size, (start, end) = most, [pair[side] for side in source.permutation(2)]
        else:
            start = source.integer(0, most - 1)
            end = source.integer(0, most - 1 - start)
            size = most - start - end
        rows.append((size, start, end))
    return {"PaddingMode": mode, **dict(zip(("InputTensor", "StartPadding", "EndPadding"), zip(*rows)))}


@recipe("VALUE_SCALE_2D")
def value_scale_2d(make: DescGenerator) -> Fields:
    channels = make.source.choice((1, 3))
    batch, height, width = make.shape(3, channels)
    bias = [make.source.integer(-8, 8) / 4 for _ in range(channels)]
    return {"InputTensor": [batch, channels, height, width], "Bias": bias}


def blocks(make: DescGenerator) -> tuple[int, list[int]]:
    """A block size, and sizes that leave room for its elements."""
    block = make.source.integer(1, min(4, isqrt(make.max_elements)))
    return block, make.shape(4, block * block)


@recipe("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1")
def space_to_depth(make: DescGenerator) -> Fields:
    block, (batch, channels, height, width) = blocks(make)
    return {"InputTensor": [batch, channels, height * block, width * block], "BlockSize": block}


@recipe("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1")
def depth_to_space(make: DescGenerator) -> Fields:
    block, (batch, channels, height, width) = blocks(make)
    return {"InputTensor": [batch, channels * block * block, height, width], "BlockSize": block}


@recipe("TILE")
def tile(make: DescGenerator) -> Fields:
    sizes = make.shape(make.rank("InputTensor"), 8)
    return {"InputTensor": sizes, "Repeats": make.shape(len(sizes), prod(sizes))}


def unfolding(make: DescGenerator, spatial: str, columns: str) -> Fields:
    """The tensor ``spatial``, and its im2col windows as ``columns``, both with leading ones."""
    sliding_window = sliding(make, spatial)
    (batches, channels), size = sliding_window.leading, sliding_window.window.size
    return {
        spatial: [*sliding_window.leading, *sliding_window.sizes],
        columns: make.led(columns, batches, channels * prod(size), prod(sliding_window.output_sizes)),
        "WindowSizes": size,
        **sliding_window.attributes(make),
    }


@recipe("UNFOLD")
def unfold(make: DescGenerator) -> Fields:
    return unfolding(make, "InputTensor", "OutputTensor")


@recipe("FOLD")
def fold(make: DescGenerator) -> Fields:
    return unfolding(make, "OutputTensor", "InputTensor")
