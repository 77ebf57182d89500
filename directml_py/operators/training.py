"""Gradients, an optimizer, and the statistics of training.

Of LOCAL_RESPONSE_NORMALIZATION_GRAD the catalog's tables say all sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..descs.values import OperatorDesc
from . import normalization as normalization  # operators of this family, too
from . import optimizer as optimizer
from . import sampling as sampling  # operators of this family, too
from .operator import Operator, Shapes, of_sizes, operator
from .window import gradients as gradients  # operators of this family, too


def gradient_of_sizes(output_sizes: Sequence[int] | None) -> Shapes:
    """The sizes of a gradient with respect to something that may have had any."""
    return of_sizes(output_sizes, "OutputGradientTensor")


@operator("ROI_ALIGN_GRAD")
class RoiAlignGrad(Operator):
    """Gradients with respect to the image and to the regions (ns-directml-dml_roi_align_grad_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the image's gradient, where there is no image."""
        regions = desc.ROITensor.sizes[-2]
        image = desc.OutputGradientTensor if desc.InputTensor is None else desc.InputTensor
        channels = (desc.InputGradientTensor if image is None else image).sizes[1]
        return {
            "ROITensor": (*(1,) * (desc.ROITensor.dimension_count - 2), regions, 4),
            "BatchIndicesTensor": (*(1,) * (desc.BatchIndicesTensor.dimension_count - 1), regions),
            "InputGradientTensor": (regions, channels, *desc.InputGradientTensor.sizes[2:]),
            **gradient_of_sizes(output_sizes),
        }
