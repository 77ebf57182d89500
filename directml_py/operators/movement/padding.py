"""PADDING: a border of constant, repeated or mirrored elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from ...kernels.gather import gather
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..attributes import element
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, Sizes, Slices, operator, own_rule
from .slice import border, sides, strided_slices

UINT_COUNT = 2**32
# Above this count of parts, preparing the copies takes longer than a gather.
MOST_PARTS = 64

REMAINDER = {
    name: own_rule(
        name,
        "remainder",
        "At least one element of InputTensor remains in each dimension, unless PaddingMode is CONSTANT or EDGE",
    )
    for name in ("PADDING", "PADDING1")
}


def reflection(places: Array, count: int) -> Array:
    """Mirrors without repeating the edge; a single element is repeated."""
    places = places % max(1, 2 * (count - 1))
    return np.minimum(places, 2 * (count - 1) - places) if count > 1 else places


def symmetric(places: Array, count: int) -> Array:
    places = places % (2 * count)
    return np.asarray(np.minimum(places, 2 * count - 1 - places))


# For each mode, the source index in [0, count) of any coordinate, however far outside: by the pages the pattern repeats
# where the padding is longer than the input.
SOURCES: dict[int, Callable[[Array, int], Array]] = {
    DML_PADDING_MODE_EDGE: lambda places, count: np.clip(places, 0, count - 1),
    DML_PADDING_MODE_REFLECTION: reflection,
    DML_PADDING_MODE_SYMMETRIC: symmetric,
    DML_PADDING_MODE_WRAP: lambda places, count: places % count,
}


class Kept(NamedTuple):
    """The slice of an input dimension that remains, and its slice of the output; both empty if nothing remains."""

    source: slice
    place: slice

    @property
    def size(self) -> int:
        return int(self.source.stop - self.source.start)


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
    parts = []
    for size, start, end in zip(desc.InputTensor.sizes, desc.StartPadding, desc.EndPadding):
        whole = size + start + end
        is_taken = whole >= UINT_COUNT and start >= UINT_COUNT // 2
        if is_taken:
            start -= UINT_COUNT
        first, last = max(0, -start), min(size, whole % UINT_COUNT - start)
        if is_taken and desc.PaddingMode == DML_PADDING_MODE_CONSTANT:
            parts.append(Kept(slice(0, 0), slice(0, 0)))
        elif is_taken and desc.PaddingMode == DML_PADDING_MODE_EDGE:
            parts.append(Kept(slice(size - 1, size), slice(0, 1)))
        elif first < last:
            parts.append(Kept(slice(first, last), slice(first + start, last + start)))
        elif desc.PaddingMode == DML_PADDING_MODE_EDGE:
            parts.append(Kept(slice(0, 1), slice(0, 1)))
        else:
            parts.append(Kept(slice(0, 0), slice(0, 0)))
    return parts


def sources(desc: OperatorDesc, kept: Kept, places: slice) -> Array:
    """The source index within the remaining slice for each output coordinate, in modes other than CONSTANT."""
    return SOURCES[desc.PaddingMode](np.arange(places.start, places.stop) - kept.place.start, kept.size)


def parts(desc: OperatorDesc, kept: Kept, size: int) -> Iterator[tuple[slice, slice]]:
    """Slices of an output dimension, each with its source slice: strided, or one element repeated."""
    yield kept.place, slice(0, kept.size)
    for side in sides(size, kept.place):
        indices = sources(desc, kept, side)
        distances = np.diff(indices)
        turns = np.flatnonzero(np.diff(distances))
        begin = 0
        while begin < indices.size:
            next_turn = int(np.searchsorted(turns, begin))
            end = int(turns[next_turn]) + 2 if next_turn < turns.size else indices.size
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


@operator("PADDING", "PADDING1")
class Padding(Operator):
    """Constant, edge, mirror and wrap padding (ns-directml-dml_padding_operator_desc,
    ns-directml-dml_padding1_operator_desc).

    PADDING1 gives the constant in the tensors' own data type. The pages' sum of size and paddings is a sum of UINTs: a
    padding of 2**32 - n removes n elements, which is how ONNX Runtime passes the negative pads of its Pad. As there,
    elements are removed first, and only the rest is mirrored; CONSTANT and EDGE also work if nothing remains. WRAP,
    which no page describes, is ONNX's: the remaining elements repeat.
    """

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        # A pattern of no elements has no period: in the other modes the result would be undefined.
        if desc.PaddingMode == DML_PADDING_MODE_CONSTANT:
            return
        for dimension, kept in enumerate(kept_parts(desc)):
            if not kept.size:
                report.add(
                    REMAINDER[desc.name],
                    f"StartPadding[{dimension}]",
                    f"is {desc.StartPadding[dimension]}; with EndPadding {desc.EndPadding[dimension]} nothing remains "
                    f"of InputTensor's size {desc.InputTensor.sizes[dimension]} for the padding to repeat",
                )

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": padded_sizes(desc)}

    def compute(self, desc: OperatorDesc) -> Compute:
        sizes, kept = padded_sizes(desc), kept_parts(desc)
        remains = tuple(part.source for part in kept)

        def filled(x: Array) -> Array:
            output = np.full(sizes, element(desc.PaddingValue, desc.InputTensor.dtype), x.dtype)
            output[tuple(part.place for part in kept)] = x[remains]
            return output

        def repeated(x: Array) -> Array:
            indices = [sources(desc, part, slice(0, size)) for part, size in zip(kept, sizes)]
            return np.asarray(x[remains][np.ix_(*indices)])

        return filled if desc.PaddingMode == DML_PADDING_MODE_CONSTANT else repeated

    def kernel(self, desc: OperatorDesc) -> Kernel:
        sizes, kept = padded_sizes(desc), kept_parts(desc)
        remains: Slices = tuple(part.source for part in kept)
        place: Slices = tuple(part.place for part in kept)

        def bind_filled(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            output, value = outputs[0], element(desc.PaddingValue, outputs[0].dtype)
            parts = [output[slices] for slices in border(sizes, place)]
            fill = [(part, np.broadcast_to(value, part.shape)) for part in parts]
            return move([(output[place], inputs[0][remains]), *fill])

        def bind_repeated(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            output, x = outputs[0], inputs[0][remains]
            along = [list(islice(parts(desc, *each), MOST_PARTS + 1)) for each in zip(kept, sizes)]
            if prod(map(len, along)) <= MOST_PARTS:
                pairs = (tuple(zip(*slices)) for slices in product(*along))
                views = ((output[there], x[here]) for there, here in pairs)
                return move([(part, np.broadcast_to(source, part.shape)) for part, source in views])
            runs = [move([(output[place], x)])]
            # The last dimensions come first, so that the others repeat whole rows.
            for axis in reversed(range(len(sizes))):
                target = (*place[: axis + 1], ...)
                for side in sides(sizes[axis], place[axis]):
                    there = (*place[:axis], side, ...)
                    runs.append(gather(output[target], sources(desc, kept[axis], side), output[there], axis))

            def run() -> None:
                for copy in runs:
                    copy()

            return run

        return Kernel(bind_filled if desc.PaddingMode == DML_PADDING_MODE_CONSTANT else bind_repeated)
