"""PADDING: a border of constant, repeated or mirrored elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice, product
from math import prod
from typing import NamedTuple

import numpy as np

from ...api.enums import (
    DML_PADDING_MODE_CONSTANT,
    DML_PADDING_MODE_EDGE,
    DML_PADDING_MODE_REFLECTION,
    DML_PADDING_MODE_SYMMETRIC,
    DML_PADDING_MODE_WRAP,
)
from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import gather
from ...kernels.launch import launch_in_order
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ..attributes import element
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, Sizes, Slices, operator
from .slice import border, sides, strided_slices

UINT_COUNT = 2**32
# Above this count of parts, preparing the copies takes longer than a gather.
MOST_PARTS = 64


def reflection(coordinates: Array, count: int) -> Array:
    """Mirrors without repeating the edge; a single element is repeated."""
    coordinates = coordinates % max(1, 2 * (count - 1))
    return np.minimum(coordinates, 2 * (count - 1) - coordinates) if count > 1 else coordinates


def symmetric(coordinates: Array, count: int) -> Array:
    coordinates = coordinates % (2 * count)
    return np.asarray(np.minimum(coordinates, 2 * count - 1 - coordinates))


# For each mode, the source index in [0, count) of any coordinate, however far outside: by the pages the pattern repeats
# where the padding is longer than the input.
SOURCES: dict[int, Callable[[Array, int], Array]] = {
    DML_PADDING_MODE_EDGE: lambda coordinates, count: np.clip(coordinates, 0, count - 1),
    DML_PADDING_MODE_REFLECTION: reflection,
    DML_PADDING_MODE_SYMMETRIC: symmetric,
    DML_PADDING_MODE_WRAP: lambda coordinates, count: coordinates % count,
}


class Kept(NamedTuple):
    """The slice of an input dimension that remains, and its slice of the output; both empty if nothing remains.

    The output's element ``target`` is, apart from the mode, the input's ``target + first``.
    """

    source: slice
    target: slice
    first: int


def padded_sizes(desc: OperatorDesc) -> Sizes:
    dimensions = zip(desc.InputTensor.sizes, desc.StartPadding, desc.EndPadding)
    return tuple(sum(terms) % UINT_COUNT for terms in dimensions)


def kept_parts(desc: OperatorDesc) -> list[Kept]:
    """The remaining slice of each dimension; for EDGE, at least one element.

    A padding crops only if the sum wraps; it is then the one of 2**31 or more. If that is StartPadding, Microsoft's
    library compares it unsigned with the coordinates: all of them are before the input, and so constant, and the last
    edge is nearest to all. If EndPadding removes the whole input, all coordinates are before it, too, and the first
    edge is nearest.
    """
    nothing = slice(0, 0)
    parts = []
    for size, start, end in zip(desc.InputTensor.sizes, desc.StartPadding, desc.EndPadding):
        whole = size + start + end
        is_taken = whole >= UINT_COUNT and start >= UINT_COUNT // 2
        if is_taken:
            start -= UINT_COUNT
        first, last = max(0, -start), min(size, whole % UINT_COUNT - start)
        if is_taken and desc.PaddingMode == DML_PADDING_MODE_CONSTANT:
            parts.append(Kept(nothing, nothing, size))
        elif is_taken and desc.PaddingMode == DML_PADDING_MODE_EDGE:
            parts.append(Kept(slice(size - 1, size), slice(0, 1), size - 1))
        elif first < last:
            parts.append(Kept(slice(first, last), slice(first + start, last + start), -start))
        elif desc.PaddingMode == DML_PADDING_MODE_EDGE:
            parts.append(Kept(slice(0, 1), slice(0, 1), -start))
        else:
            parts.append(Kept(nothing, nothing, -start))
    return parts


def sources(desc: OperatorDesc, kept: Kept, count: int, coordinates: slice) -> Array:
    """The source index in an input dimension of ``count`` elements for each output coordinate, in modes other than
    CONSTANT."""
    return SOURCES[desc.PaddingMode](np.arange(coordinates.start, coordinates.stop) + kept.first, count)


def parts(desc: OperatorDesc, kept: Kept, count: int, size: int) -> Iterator[tuple[slice, slice]]:
    """Slices of an output dimension, each with its source slice: strided, or one element repeated."""
    yield kept.target, kept.source
    for side in sides(size, kept.target):
        indices = sources(desc, kept, count, side)
        distances = np.diff(indices)
        breaks = np.flatnonzero(np.diff(distances))
        begin = 0
        while begin < indices.size:
            next_break = int(np.searchsorted(breaks, begin))
            end = int(breaks[next_break]) + 2 if next_break < breaks.size else indices.size
            first, distance = int(indices[begin]), int(distances[begin]) if end - begin > 1 else 0
            target = slice(side.start + begin, side.start + end)
            yield (
                target,
                *(
                    strided_slices([first], [end - begin], [distance])
                    if distance
                    else (slice(first, first + 1),)
                ),
            )
            begin = end


def reads_removed(desc: OperatorDesc, kept: Kept, count: int, size: int) -> bool:
    """Whether elements of the input that the output lacks are repeated in it."""
    indices = [sources(desc, kept, count, side) for side in sides(size, kept.target)]
    return any(((each < kept.source.start) | (each >= kept.source.stop)).any() for each in indices)


def repeated(desc: OperatorDesc, x: Array) -> Array:
    """The whole output, in modes other than CONSTANT."""
    dimensions = zip(kept_parts(desc), x.shape, padded_sizes(desc))
    indices = [sources(desc, kept, count, slice(0, size)) for kept, count, size in dimensions]
    return np.asarray(x[np.ix_(*indices)])


@operator("PADDING", "PADDING1")
class Padding(Operator):
    """Constant, edge, mirror and wrap padding (ns-directml-dml_padding_operator_desc,
    ns-directml-dml_padding1_operator_desc).

    PADDING1 gives the constant in the tensors' own data type. The pages' sum of size and paddings is a sum of UINTs: a
    padding of 2**32 - n removes n elements, which is how ONNX Runtime passes the negative pads of its Pad. ONNX removes
    elements first; Microsoft's library mirrors the whole input and then removes them, so that all modes work if nothing
    remains. WRAP, which no page describes and the library does not have yet, repeats the whole input, too.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": padded_sizes(desc)}

    def compute(self, desc: OperatorDesc) -> Compute:
        sizes, kept = padded_sizes(desc), kept_parts(desc)
        remains = tuple(part.source for part in kept)

        def filled(x: Array) -> Array:
            output = np.full(sizes, element(desc.PaddingValue, desc.InputTensor.dtype), x.dtype)
            output[tuple(part.target for part in kept)] = x[remains]
            return output

        return filled if desc.PaddingMode == DML_PADDING_MODE_CONSTANT else partial(repeated, desc)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        sizes, kept = padded_sizes(desc), kept_parts(desc)
        remains: Slices = tuple(part.source for part in kept)
        target_slices: Slices = tuple(part.target for part in kept)
        value_of = cache(partial(element, desc.PaddingValue))

        def bind_filled(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            output, value = outputs[0], value_of(outputs[0].dtype)
            parts = [output[slices] for slices in border(sizes, target_slices)]
            fill = [(part, np.broadcast_to(value, part.shape)) for part in parts]
            return move([(output[target_slices], inputs[0][remains]), *fill])

        def bind_repeated(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            output, x = outputs[0], inputs[0]
            dimensions = list(zip(kept, x.shape, sizes))
            along = [list(islice(parts(desc, *each), MOST_PARTS + 1)) for each in dimensions]
            if prod(map(len, along)) <= MOST_PARTS:
                pairs = (tuple(zip(*slices)) for slices in product(*along))
                views = ((output[there], x[here]) for there, here in pairs)
                return move([(part, np.broadcast_to(source, part.shape)) for part, source in views])
            if any(reads_removed(desc, *each) for each in dimensions):
                return lambda: np.copyto(output, repeated(desc, x))
            runs = [move([(output[target_slices], x[remains])])]
            # The last dimensions come first, so that the others repeat whole rows.
            for axis in reversed(range(len(sizes))):
                target = (*target_slices[: axis + 1], ...)
                for side in sides(sizes[axis], target_slices[axis]):
                    there = (*target_slices[:axis], side, ...)
                    indices = sources(desc, kept[axis], x.shape[axis], side) - kept[axis].source.start
                    runs.append(gather(output[target], indices, output[there], axis))
            return launch_in_order(runs)

        return Kernel(bind_filled if desc.PaddingMode == DML_PADDING_MODE_CONSTANT else bind_repeated)
