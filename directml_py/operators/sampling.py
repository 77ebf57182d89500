"""Images brought to another size."""

from __future__ import annotations

from collections.abc import Sequence

from ..descs.values import OperatorDesc
from .operator import Operator, Shapes, of_sizes, operator


@operator("UPSAMPLE_2D")
class Upsample2D(Operator):
    """Height and width times whole numbers (ns-directml-dml_upsample_2d_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        *others, height, width = desc.InputTensor.sizes
        scale = desc.ScaleSize
        return {"OutputTensor": (*others, height * scale.Height, width * scale.Width)}


@operator("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
class Resample(Operator):
    """Any dimensions, by any scales (ns-directml-dml_resample_operator_desc and those of its newer versions).

    The output may have any sizes: it is cropped, or its edge repeated.
    """

    has_sizes = False

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the output."""
        return of_sizes(output_sizes)
