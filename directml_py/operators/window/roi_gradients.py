"""The gradient of ROI align."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...api.enums import DML_REDUCE_FUNCTION_MAX
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...kernels.gather_scatter_nd import safe_indices
from ...kernels.native_arrays import Array
from ...kernels.roi.patches import Patch, patches
from ..operator import Compute, Shapes, of_sizes, operator
from .roi import AlignedRegions, by_channel, image_of


@operator("ROI_ALIGN_GRAD")
class RoiAlignGrad(AlignedRegions):
    """Gradients with respect to the image and to the regions (ns-directml-dml_roi_align_grad_operator_desc).

    A mean's gradient is divided among its samples; a maximum's goes to the largest sample, in row order the first of
    those equal in FLOAT32. The share of out-of-bounds samples is lost; for a maximum they are 0, as in Microsoft's
    library. The share of batches out of range is lost too.

    The gradient with respect to a region is by the page's pseudo-code, which Microsoft's library follows, and not the
    derivative of ROI_ALIGN1: the slopes at a sample are weighted with the row and the column of its element of
    InputGradientTensor, and with the image's sizes minus these; SpatialScaleX and SpatialScaleY do not matter. Slopes
    are those of linear interpolation in either mode, and 0 at integer coordinates. The pseudo-code assumes one sample
    per element; the slopes of several are averaged, and of a maximum's samples only the largest counts.
    """

    def image(self, desc: OperatorDesc) -> TensorDesc:
        """The image, or something that has its sizes."""
        tensor: TensorDesc = desc.OutputGradientTensor if desc.InputTensor is None else desc.InputTensor
        return tensor

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the sizes of the image's gradient, if there is no image."""
        regions = desc.ROITensor.sizes[-2]
        image = self.image(desc)
        channels = (desc.InputGradientTensor if image is None else image).sizes[1]
        return {
            "ROITensor": (*(1,) * (desc.ROITensor.dimension_count - 2), regions, 4),
            "BatchIndicesTensor": (*(1,) * (desc.BatchIndicesTensor.dimension_count - 1), regions),
            "InputGradientTensor": (regions, channels, *desc.InputGradientTensor.sizes[2:]),
            **of_sizes(output_sizes, "OutputGradientTensor"),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        sizes, (number, channels, *gradient_sizes) = self.image(desc).sizes, desc.InputGradientTensor.sizes
        is_maximum = desc.ReductionFunction == DML_REDUCE_FUNCTION_MAX
        wants_image, wants_regions = (
            desc.OutputGradientTensor is not None,
            desc.OutputROIGradientTensor is not None,
        )
        ends = np.array([sizes[3], sizes[2]])

        def gradients(
            x: Array | None, incoming: Array, regions: Array, indices: Array
        ) -> tuple[Array | None, ...]:
            named = indices.reshape(-1)
            batches = safe_indices(named, sizes[0] - 1)
            outputs = image_of(incoming).reshape(-1, channels)
            of_image = np.zeros((sizes[0], *sizes[2:], channels)) if wants_image else None
            of_regions = np.zeros((number, 2, 2)) if wants_regions else None
            sample, numbers = self.sampled(desc, regions, gradient_sizes, slopes=wants_regions)
            # Without an image, as for means without gradients of the regions, no element is read.
            image = image_of(incoming if x is None else x)
            for patch in patches(number, sample, numbers, channels):
                if is_maximum:
                    values = patch.read(image, batches, 0.0).astype(np.float32)
                    parts = patch.chosen(outputs[patch.outputs], values)
                else:
                    parts = patch.spread(outputs[patch.outputs])
                if of_image is not None:
                    patch.add(of_image, named, parts)
                if of_regions is not None:
                    outputs_of = np.arange(patch.outputs.start, patch.outputs.stop)[patch.owners]
                    _, row, column = np.unravel_index(outputs_of, (number, *gradient_sizes))
                    coordinates = np.stack([column, row], axis=1)
                    pulled = pulls(patch, image, batches, parts)
                    np.add.at(of_regions[:, 0], patch.regions, pulled * (ends - coordinates))
                    np.add.at(of_regions[:, 1], patch.regions, pulled * coordinates)
            return (
                None if of_image is None else by_channel(of_image, sizes),
                None if of_regions is None else of_regions.reshape(desc.ROITensor.sizes),
            )

        return gradients


def pulls(patch: Patch, image: Array, batches: Array, parts: Array) -> Array:
    """The gradients of the sample points along columns and rows, summed over channels: {points, 2}."""
    along_rows, along_columns = patch.slopes(image, batches)
    # 0 times an infinite slope must stay 0.
    sums = [np.where(parts == 0, 0, parts * slopes).sum(axis=1) for slopes in (along_columns, along_rows)]
    return np.stack(sums, axis=1)
