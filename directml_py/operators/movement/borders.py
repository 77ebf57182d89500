"""What lies around a part of a tensor."""

from __future__ import annotations

from ..operator import Place, Sizes


def border(sizes: Sizes, place: Place) -> list[Place]:
    """All outside of ``place``, whose slices have no steps, in parts that have no element in common."""
    parts: list[Place] = []
    for axis, (size, inner) in enumerate(zip(sizes, place)):
        behind = (slice(None),) * (len(sizes) - axis - 1)
        parts += [(*place[:axis], side, *behind) for side in sides(size, inner)]
    return parts


def sides(size: int, inner: slice) -> list[slice]:
    """What is before and behind ``inner`` in a dimension, where there is something."""
    both = (slice(0, inner.start), slice(inner.stop, size))
    return [side for side in both if side.start < side.stop]
