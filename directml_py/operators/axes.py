"""The rules that operators with one axis or a list of axes share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ..descs.format import braces
from ..descs.tensor import TensorDesc
from ..descs.values import TensorSlot
from ..validation.report import Report
from ..validation.rule import Rule
from .operator import Place


def check_axis(axis: int, tensor: TensorDesc, where: str, rule: Rule, report: Report) -> bool:
    """``Axis`` lies within the dimensions of ``tensor``, which ``where`` names."""
    if axis < tensor.dimension_count:
        return True
    report.add(
        rule,
        "Axis",
        f"is {axis}; it must be less than {where}.DimensionCount, which is {tensor.dimension_count}",
    )
    return False


def resized(sizes: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    """``sizes`` with ``size`` in the dimension ``axis``: what a part and its whole are to each other."""
    return tuple(size if dimension == axis else other for dimension, other in enumerate(sizes))


def check_parts(
    whole: TensorSlot,
    parts: tuple[TensorSlot, ...],
    axis: int,
    off_axis: Rule,
    sum_rule: Rule,
    report: Report,
) -> None:
    """The parts (of a join or split) fill ``whole`` along ``axis`` and equal it in every other dimension.

    Parts of another rank are passed over: that they have one is a rule of its own.
    """
    assert whole.tensor is not None
    sizes = whole.tensor.sizes
    alike = [part for part in parts if part.tensor is not None and part.tensor.dimension_count == len(sizes)]
    for part in alike:
        assert part.tensor is not None
        own = part.tensor.sizes
        for dimension, (size, expected) in enumerate(zip(own, sizes)):
            if size != expected and dimension != axis:
                report.add(
                    off_axis,
                    f"{part.path}.Sizes[{dimension}]",
                    f"is {size}; every size off Axis {axis} must equal {whole.path}'s, which is {expected}",
                )
    if len(alike) != len(parts):
        return
    along = [part.tensor.sizes[axis] for part in alike if part.tensor is not None]
    if sum(along) != sizes[axis]:
        report.add(
            sum_rule,
            f"{whole.path}.Sizes[{axis}]",
            f"is {sizes[axis]}; the sizes along Axis {axis} are {braces(along)}, which add up to {sum(along)}",
        )


def places_along(axis: int, sizes: Sequence[int]) -> list[Place]:
    """Where parts of these sizes lie in the whole, one behind the other along ``axis``."""
    before = (slice(None),) * axis
    ends = list(accumulate(sizes))
    return [(*before, slice(start, end)) for start, end in zip([0, *ends], ends)]
