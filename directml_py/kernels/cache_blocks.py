"""Cache blocking of arrays of equal sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, prod

from .native_arrays import Array

# Elements per block: few enough for the intermediates of a chain of functions to stay in the L2 cache, and enough for
# threads to seldom contend for the GIL between NumPy calls.
BLOCK = 1 << 16

Slices = tuple[slice, ...]


def joined(arrays: Sequence[Array], fixed: int = 0) -> list[Array]:
    """Views without dimensions of size 1, in the memory order of the first one, with dimensions merged where all arrays
    allow it.

    The first ``fixed`` dimensions stay as they are.
    """
    first = arrays[0]
    order = sorted(
        range(fixed, first.ndim), key=lambda axis: (first.shape[axis] == 1, -abs(first.strides[axis]))
    )
    sizes = list(first.shape[:fixed])
    for outer, axis in zip([None, *order], order):
        size = first.shape[axis]
        if size == 1:
            break
        if outer is not None and all(x.strides[outer] == x.strides[axis] * size for x in arrays):
            sizes[-1] *= size
        else:
            sizes.append(size)
    return [x.transpose(*range(fixed), *order).reshape(sizes) for x in arrays]


def block_sizes(arrays: Sequence[Array], axis: int) -> list[int]:
    """The sizes of a block: as long as possible along ``axis``, but square if some array has a smaller stride along
    another axis."""
    sizes = arrays[0].shape
    lengths = [1] * len(sizes)
    near = {axis, *(nearest(x, axis) for x in arrays)}
    for each in near:
        lengths[each] = min(sizes[each], int(BLOCK ** (1 / len(near))))
    for each in (axis, *reversed(range(len(sizes)))):
        lengths[each] = min(sizes[each], lengths[each] * (BLOCK // prod(lengths)))
    return lengths


def nearest(x: Array, axis: int) -> int:
    """The dimension with the smallest stride; ``axis`` if the array is broadcast along that."""
    distances = {axis: abs(stride) for axis, stride in enumerate(x.strides) if stride}
    return min(distances, key=lambda each: (distances[each], each != axis)) if axis in distances else axis


class Grid:
    """The slices of all blocks, by number."""

    def __init__(self, sizes: Iterable[int], lengths: Iterable[int]) -> None:
        lengths = tuple(lengths)
        counts = [ceil(size / length) for size, length in zip(sizes, lengths)]
        self.count = prod(counts)
        # By dimension: the number of consecutive blocks with the same slice, the number of slices, and their length.
        self.axes = [
            (prod(counts[i + 1 :]), count, length) for i, (count, length) in enumerate(zip(counts, lengths))
        ]

    def slices_at(self, number: int) -> Slices:
        starts = [(number // same % count * length, length) for same, count, length in self.axes]
        return tuple([slice(start, start + length) for start, length in starts])
