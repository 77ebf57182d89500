"""Regions of interest, each brought to one size."""

from __future__ import annotations

from collections.abc import Sequence

from ...descs.values import OperatorDesc
from ..operator import Operator, Shapes, of_sizes, operator


@operator("ROI_POOLING")
class RoiPooling(Operator):
    """The largest elements of regions (ns-directml-dml_roi_pooling_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        regions, channels = desc.ROITensor.sizes[2], desc.InputTensor.sizes[1]
        return {
            "ROITensor": (1, 1, regions, 5),
            "OutputTensor": (regions, channels, desc.PooledSize.Height, desc.PooledSize.Width),
        }


@operator("ROI_ALIGN", "ROI_ALIGN1")
class RoiAlign(Operator):
    """Regions resampled (ns-directml-dml_roi_align_operator_desc, ns-directml-dml_roi_align1_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the output; the last two are free."""
        regions = desc.ROITensor.sizes[-2]
        free = () if desc.OutputTensor is None else desc.OutputTensor.sizes[2:]
        output = {"OutputTensor": (regions, desc.InputTensor.sizes[1], *free)} if free else {}
        return {
            "ROITensor": (*(1,) * (desc.ROITensor.dimension_count - 2), regions, 4),
            "BatchIndicesTensor": (*(1,) * (desc.BatchIndicesTensor.dimension_count - 1), regions),
            **output,
            **of_sizes(output_sizes),
        }
