"""FOLD and UNFOLD: what a sliding window sees, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...descs.sizes import unsigned_numbers
from ...descs.values import OperatorDesc
from ..operator import Operator, Shapes, Sizes, operator


def column_sizes(desc: OperatorDesc, spatial: Sizes, rank: int) -> Sizes:
    """The sizes {batch, channels * elements of a window, blocks} of what windows over sizes ``spatial`` see.

    The pages call this tensor 3D, but their tables take up to 8 dimensions, and they want both tensors to have as many
    of them. Leading ones, up to ``rank``, are the one way to have more.
    """
    batch, channels, *sizes = spatial
    windows = zip(desc.WindowSizes, desc.Strides, desc.Dilations)
    padded = map(sum, zip(sizes, desc.StartPadding, desc.EndPadding))
    blocks = prod(
        max(0, (size - dilation * (window - 1) - 1) // stride + 1)
        for size, (window, stride, dilation) in zip(padded, windows)
    )
    return (1,) * (rank - 3) + (batch, channels * prod(desc.WindowSizes), blocks)


@operator("UNFOLD")
class Unfold(Operator):
    """What a sliding window sees, block by block as columns (ns-directml-dml_unfold_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        rank = 3 if desc.OutputTensor is None else desc.OutputTensor.dimension_count
        return {"OutputTensor": column_sizes(desc, desc.InputTensor.sizes, rank)}


@operator("FOLD")
class Fold(Operator):
    """The blocks of UNFOLD back in their places, added up where they overlap (ns-directml-dml_fold_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: {batch, channels, spatial sizes}; the input says only how many blocks they have."""
        if output_sizes is not None:
            return {"OutputTensor": tuple(unsigned_numbers(output_sizes, "output_sizes"))}
        return {"InputTensor": column_sizes(desc, desc.OutputTensor.sizes, desc.InputTensor.dimension_count)}
