"""ROI pooling and ROI align."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ...api.enums import DML_INTERPOLATION_MODE_LINEAR, DML_REDUCE_FUNCTION_MAX
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor import TensorDesc
from ...kernels.gather_scatter_nd import safe_indices
from ...kernels.half import widened
from ...kernels.native_arrays import Array, Run
from ...kernels.roi.patches import parts_of, patches
from ...kernels.roi.pooling import average_regions, largest_of_regions, takes_regions
from ...kernels.roi.sample_points import BinSamples, Grid, windows_of
from ...text.plural import counted_words
from ...validation.report import Report
from ..indexing.base import check_range
from ..operator import (
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shapes,
    Sizes,
    computing_kernel,
    of_sizes,
    operator,
    operator_rule,
)

BATCHES = {
    name: operator_rule(name, "batch-range", "Every batch index is within the image's batches", debug=True)
    for name in ("ROI_POOLING", "ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD")
}
CORNERS = operator_rule(
    "ROI_POOLING", "corners", "No second corner of a region is before the first", debug=True
)


def image_of(x: Array) -> Array:
    """An NHWC view."""
    image: Array = x.transpose(0, 2, 3, 1)
    return image


def by_channel(elements: Array, sizes: Sizes) -> Array:
    """Channels-last elements of regions or images as an NCHW view of ``sizes``."""
    number, channels, height, width = sizes
    output: Array = elements.reshape(number, height, width, channels).transpose(0, 3, 1, 2)
    return output


@operator("ROI_POOLING")
class RoiPooling(Operator):
    """ROI max pooling (ns-directml-dml_roi_pooling_operator_desc).

    Corners are scaled in FLOAT32 and rounded to the nearest, ties to even, as in Microsoft's library, where ONNX
    Runtime rounds ties away from 0. A region whose second corner is before the first has one element there. The maximum
    of a region outside the image is 0, as is that of a region with a NaN corner. As in Direct3D, a number is larger
    than NaN. Batch indices are truncated and clamped to the valid range.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        regions, channels = desc.ROITensor.sizes[2], desc.InputTensor.sizes[1]
        # Microsoft's library refuses exchanged sizes too, which ONNX Runtime's MaxRoiPool sends.
        return {
            "ROITensor": (1, 1, regions, 5),
            "OutputTensor": (regions, channels, desc.PooledSize.Height, desc.PooledSize.Width),
        }

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        batch, x1, y1, x2, y2 = inputs[1].reshape(-1, 5).T
        last = desc.InputTensor.sizes[0] - 1
        is_batch = (batch >= 0) & (batch <= last) & (batch == np.floor(batch))
        for rule, is_right, violation in (
            (BATCHES["ROI_POOLING"], is_batch, f"whose batch is not a whole number in [0, {last}]"),
            (CORNERS, (x2 >= x1) & (y2 >= y1), "whose second corner is not at or after the first"),
        ):
            wrong = np.flatnonzero(~is_right)
            if wrong.size:
                counted = counted_words(wrong.size, "region")
                report.add(
                    rule, "ROITensor", f"has {counted} {violation}; the first has the index {wrong[0]}"
                )

    def windows_of_regions(
        self, desc: OperatorDesc, regions: Array
    ) -> tuple[Array, Callable[[slice], tuple[BinSamples, BinSamples]]]:
        """The batch indices of the regions, and a function that returns the windows of a slice of regions."""
        regions = regions.reshape(-1, 5)
        corners = (regions[:, 1:] * np.float32(desc.SpatialScale)).reshape(-1, 2, 2)
        rows, columns = zip(desc.InputTensor.sizes[2:], desc.OutputTensor.sizes[2:])

        def windows(part: slice) -> tuple[BinSamples, BinSamples]:
            return windows_of(corners[part, :, 1], *rows), windows_of(corners[part, :, 0], *columns)

        # NaN becomes 0, as it has no integer value.
        batches = np.fmin(np.fmax(regions[:, 0], 0), desc.InputTensor.sizes[0] - 1).astype(np.intp)
        return batches, windows

    def compute(self, desc: OperatorDesc) -> Compute:
        output, channels = desc.OutputTensor.sizes, desc.InputTensor.sizes[1]
        numbers = self.numbers(desc)

        def pool(x: Array, regions: Array) -> Array:
            batches, windows = self.windows_of_regions(desc, regions)
            result = np.empty((output[0] * output[2] * output[3], channels))
            for patch in patches(output[0], windows, numbers, channels):
                result[patch.outputs] = patch.maximum(patch.read(image_of(x), batches, 0.0))
            return by_channel(result, output)

        return pool

    def numbers(self, desc: OperatorDesc) -> int:
        """The approximate count of numbers that the windows of a region take."""
        return int(sum(desc.InputTensor.sizes[2:]) + prod(desc.OutputTensor.sizes[2:]))

    def kernel(self, desc: OperatorDesc) -> Kernel:
        reference, numbers = computing_kernel(self.compute(desc)), self.numbers(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (x, regions), (output,) = inputs, outputs
            if not takes_regions(x, output):
                return reference.bind(inputs, outputs, scratch)

            def run() -> None:
                with np.errstate(all="ignore"):
                    batches, windows = self.windows_of_regions(desc, widened(regions))
                    for part in parts_of(len(output), numbers):
                        largest_of_regions(x, batches[part], *windows(part), output[part])

            return run

        return Kernel(bind)


class AlignedRegions(Operator):
    """Base of ROI align: regions sampled on a regular grid.

    A sample more than one element outside the image, or with NaN coordinates, is out of bounds; other samples outside
    are clamped to the edge. The pages leave that open: it is ONNX's rule, and agrees with DirectML results in ONNX
    Runtime's tests. A sample at exactly -1, inside in ONNX, is out of bounds in Microsoft's library. A sample halfway
    between two elements is nearest to the second, as there. Elements of weight 0 are not read, so that infinity does
    not turn into NaN.

    The formula of ROI_ALIGN1 applies to all versions. Its last line about sizes has X instead of Y, and its loops run
    once too often for the example and for the sample count that it gives. As in ONNX, the count of samples is rounded
    up. It is at least one, for empty regions; inverted regions have as many as others.

    AlignRegionsToCorners is not in the formula. By the page, the first and the last sample of a region are exactly at
    its corners; Microsoft's library spaces the samples accordingly, but still adds the offsets. Samples outside the
    first and the last element are out of bounds there.

    Batch indices are clamped to the valid range; the pages leave others undefined.
    """

    def image(self, desc: OperatorDesc) -> TensorDesc:
        """The image, or something that has its sizes."""
        tensor: TensorDesc = desc.InputTensor
        return tensor

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        batches = self.image(desc).sizes[0]
        check_range(BATCHES[desc.name], inputs[-1], batches, report, field="BatchIndicesTensor")

    def grids(self, desc: OperatorDesc, output_sizes: Sequence[int]) -> tuple[Grid, Grid]:
        """The sampling grids along rows and columns that give ``output_sizes`` elements along each."""
        rows, columns = (
            Grid(
                size,
                count,
                scale,
                desc.MinimumSamplesPerOutput,
                desc.MaximumSamplesPerOutput,
                getattr(desc, "InputPixelOffset", 0.5),
                getattr(desc, "OutputPixelOffset", -0.5),
                bool(getattr(desc, "AlignRegionsToCorners", False)),
                desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR,
            )
            for size, count, scale in zip(
                self.image(desc).sizes[2:], output_sizes, (desc.SpatialScaleY, desc.SpatialScaleX)
            )
        )
        return rows, columns

    def sampled(
        self, desc: OperatorDesc, regions: Array, output_sizes: Sequence[int], slopes: bool = False
    ) -> tuple[Callable[[slice], tuple[BinSamples, BinSamples]], int]:
        """A function that returns the samples of a slice of regions, and the count of numbers per region."""
        rows, columns = self.grids(desc, output_sizes)
        ends_alone = desc.ReductionFunction == DML_REDUCE_FUNCTION_MAX
        corners = regions.reshape(-1, 2, 2)

        def sample(part: slice) -> tuple[BinSamples, BinSamples]:
            return (
                rows.bin_samples(corners[part, :, 1], ends_alone, slopes),
                columns.bin_samples(corners[part, :, 0], ends_alone, slopes),
            )

        return sample, 2 * (rows.size + columns.size) + rows.output_size * columns.output_size


@operator("ROI_ALIGN", "ROI_ALIGN1")
class RoiAlign(AlignedRegions):
    """ROI align (ns-directml-dml_roi_align_operator_desc, ns-directml-dml_roi_align1_operator_desc).

    Out-of-bounds samples count, with value OutOfBoundsInputValue. As in Direct3D, a number is larger than NaN.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes, of which the last two are free."""
        regions = desc.ROITensor.sizes[-2]
        free = () if desc.OutputTensor is None else desc.OutputTensor.sizes[2:]
        output = {"OutputTensor": (regions, desc.InputTensor.sizes[1], *free)} if free else {}
        return {
            "ROITensor": (*(1,) * (desc.ROITensor.dimension_count - 2), regions, 4),
            "BatchIndicesTensor": (*(1,) * (desc.BatchIndicesTensor.dimension_count - 1), regions),
            **output,
            **of_sizes(output_sizes),
        }

    def kernel(self, desc: OperatorDesc) -> Kernel:
        reference = computing_kernel(self.compute(desc))
        if desc.ReductionFunction == DML_REDUCE_FUNCTION_MAX:
            return reference
        count, output_sizes, outside = (
            desc.OutputTensor.sizes[0],
            desc.OutputTensor.sizes[2:],
            desc.OutOfBoundsInputValue,
        )

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (x, corners, indices), (output,) = inputs, outputs
            if not takes_regions(x, output):
                return reference.bind(inputs, outputs, scratch)

            def run() -> None:
                batches = safe_indices(indices.reshape(-1), len(x) - 1)
                with np.errstate(all="ignore"):
                    sample, numbers = self.sampled(desc, widened(corners), output_sizes)
                    for part in parts_of(count, numbers):
                        rows, columns = sample(part)
                        average_regions(x, batches[part], rows, columns, output[part], outside)

            return run

        return Kernel(bind)

    def compute(self, desc: OperatorDesc) -> Compute:
        output = desc.OutputTensor.sizes
        is_maximum = desc.ReductionFunction == DML_REDUCE_FUNCTION_MAX

        def align(x: Array, regions: Array, indices: Array) -> Array:
            batches = safe_indices(indices.reshape(-1), len(x) - 1)
            sample, numbers = self.sampled(desc, regions, output[2:])
            result = np.empty((output[0] * output[2] * output[3], output[1]))
            for patch in patches(output[0], sample, numbers, output[1]):
                values = patch.read(image_of(x), batches, desc.OutOfBoundsInputValue)
                result[patch.outputs] = patch.maximum(values) if is_maximum else patch.mean(values)
            return by_channel(result, output)

        return align
