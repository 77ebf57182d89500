"""Overlap test: whether two elements of a strided tensor share an address."""

from __future__ import annotations

import math
from collections.abc import Sequence

SEARCH_LIMIT = 200_000


def elements_overlap(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """True if two different coordinates have the same offset. Sizes and strides are in elements.

    Exact: searches for a nonzero difference of coordinates whose offset is zero. Strides for which the search reaches
    its limit count as overlapping.
    """
    dims = sorted(((stride, size - 1) for size, stride in zip(sizes, strides) if size > 1), reverse=True)
    if any(stride == 0 for stride, _ in dims):
        return True
    reach = [0] * (len(dims) + 1)
    divisor = [0] * (len(dims) + 1)
    for i in range(len(dims) - 1, -1, -1):
        stride, extent = dims[i]
        reach[i] = reach[i + 1] + stride * extent
        divisor[i] = math.gcd(divisor[i + 1], stride)
    if all(dims[i][0] > reach[i + 1] for i in range(len(dims))):
        return False
    if math.prod(extent + 1 for _, extent in dims) > reach[0] + 1:
        return True
    budget = SEARCH_LIMIT

    def reachable(i: int, target: int) -> bool:
        """Whether differences in dimensions ``i`` and later can give the offset ``target``."""
        nonlocal budget
        if target == 0:
            return True
        if abs(target) > reach[i] or target % divisor[i]:
            return False
        stride, extent = dims[i]
        low = max(-extent, -((reach[i + 1] - target) // stride))
        high = min(extent, (reach[i + 1] + target) // stride)
        for step in range(low, high + 1):
            budget -= 1
            if budget < 0 or reachable(i + 1, target - step * stride):
                return True
        return False

    for i, (stride, extent) in enumerate(dims):
        for step in range(1, min(extent, reach[i + 1] // stride) + 1):
            budget -= 1
            if budget < 0 or reachable(i + 1, -step * stride):
                return True
    return False
