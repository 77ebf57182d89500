"""Resampling of images, and its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ..api.enums import DML_AXIS_DIRECTION_INCREASING, DML_INTERPOLATION_MODE_LINEAR
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..kernels.csr import Parts, Plan, apply, gather_along, gather_indices, map_apart, scratch_for
from ..kernels.interpolation import Stretched, linear, nearest
from ..kernels.native_arrays import Array, Run
from ..kernels.resample import resampled
from .operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, Sizes, of_sizes, operator

# Below this, FLOAT32 represents all multiples of 1/2.
HALVES = 1 << 22


class Dimension(NamedTuple):
    """How one dimension is resampled: ``out = (in + input_offset) * scale + output_offset``."""

    scale: float = 1.0
    input_offset: float = 0.5
    output_offset: float = -0.5

    def source_coordinates(self, count: int) -> Array:
        """The source coordinate of each of ``count`` results; 0 for NaN."""
        return self._less(count, self.input_offset)

    def bases(self, count: int) -> Array:
        """The first of the two elements that each of ``count`` results is interpolated between.

        Microsoft's library clamps InputPixelOffsets to [0, 1] here, so that it extrapolates with other offsets.
        """
        return np.floor(self._less(count, min(max(self.input_offset, 0.0), 1.0)))

    def _less(self, count: int, offset: float) -> Array:
        """Quotients are rounded to FLOAT32, the type of the scales: 11 / 1.1 must be 10, not slightly less."""
        with np.errstate(all="ignore"):
            exact = np.divide(np.arange(count) - self.output_offset, self.scale)
            quotients = np.where(np.abs(exact) < HALVES, exact.astype(np.float32), exact)
            coordinates: Array = np.where(np.isnan(quotients), 0.0, quotients) - offset
        return np.where(np.isnan(coordinates), 0.0, coordinates)


def halves_up(coordinates: Array) -> Array:
    return np.floor(coordinates + 0.5)


def rounding_of(desc: OperatorDesc) -> Callable[[Array], Array]:
    """The rounding of source coordinates in nearest-neighbour mode.

    With a RoundingDirection, always up or always down. Without, to the nearest with ties up: the remarks of RESAMPLE2's
    page say so (their 0.5 belongs to InputPixelOffsets, as it would otherwise be scaled), and ONNX Runtime and
    TensorFlow rely on it, which add 0.5 to InputPixelOffsets to round down. For integer tensors Microsoft's library
    rounds down.
    """
    if "RoundingDirection" not in desc.struct.index:
        return halves_up if tensors_of(desc)[0].dtype.kind == "f" else np.floor
    return np.ceil if desc.RoundingDirection == DML_AXIS_DIRECTION_INCREASING else np.floor


class Sampling(Operator):
    """Base of resampling. Coordinates outside a dimension are clamped to its edge, for filters too.

    Dimensions are resampled one after the other in FLOAT64, and results are rounded once. Integer results are
    truncated, as in CAST and ONNX Runtime, but after rounding to FLOAT32, so that whole results stay whole.
    """

    def dimensions(self, desc: OperatorDesc) -> Sequence[Dimension]:
        raise NotImplementedError

    @staticmethod
    def bases(dimension: Dimension, count: int) -> Array:
        """The first of the two elements that each of ``count`` results is interpolated between."""
        return dimension.bases(count)

    def filters(self, desc: OperatorDesc, counts: Sizes, sizes: Sizes) -> Plan:
        """The taps of each of ``counts`` results among ``sizes`` elements, by axis; unchanged axes are left out."""
        plan: Plan = {}
        for axis, (dimension, count, size) in enumerate(zip(self.dimensions(desc), counts, sizes)):
            coordinates = dimension.source_coordinates(count)
            if desc.InterpolationMode != DML_INTERPOLATION_MODE_LINEAR:
                plan[axis] = (nearest(rounding_of(desc)(coordinates), size),)
            elif getattr(desc, "Antialiased", False) and 0 < dimension.scale < 0.5:
                plan[axis] = Stretched(coordinates, size, 1 / dimension.scale)
            else:
                plan[axis] = (linear(coordinates, self.bases(dimension, count), size),)
        return {axis: parts for axis, parts in plan.items() if not changes_nothing(parts)}

    def plan(self, desc: OperatorDesc) -> Plan:
        return self.filters(desc, desc.OutputTensor.sizes, desc.InputTensor.sizes)

    def ordered_plan(self, desc: OperatorDesc) -> Plan:
        """The plan in the order of the dimensions' scales, smallest first."""
        plan, (before, after) = self.plan(desc), tensors_of(desc)
        order = sorted(plan, key=lambda axis: after.sizes[axis] / before.sizes[axis])
        return {axis: plan[axis] for axis in order}

    def compute(self, desc: OperatorDesc) -> Compute:
        plan = self.ordered_plan(desc)
        return partial(apply if is_exact(desc, plan) else apply_to_integers, plan)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """A gather if every result is one element; otherwise weighted sums, blocked over the other dimensions."""
        plan = self.ordered_plan(desc)
        indices, (x, _) = gather_indices(plan), tensors_of(desc)
        if indices is None:
            return blending_kernel(plan, self.compute(desc))
        # Of equal scales the innermost dimension first: then the others copy whole lines.
        indices = dict(sorted(indices.items(), key=lambda item: (len(item[1]) / x.sizes[item[0]], -item[0])))

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return gather_along(indices, inputs[0], outputs[0], scratch)

        return Kernel(bind, scratch_for(indices, x.sizes, x.dtype.itemsize))


def blending_kernel(plan: Plan, compute: Compute) -> Kernel:
    def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
        (x,), (output,) = inputs, outputs
        return resampled(plan, x, output) or map_apart(compute, x, output, plan)

    return Kernel(bind)


def tensors_of(desc: OperatorDesc) -> tuple[TensorDesc, TensorDesc]:
    """The only input and the only output."""
    x, output = (slot.tensor for slot in (*desc.inputs, *desc.outputs))
    assert x is not None
    assert output is not None
    return x, output


def changes_nothing(parts: Parts) -> bool:
    return isinstance(parts, tuple) and parts[0].are_all


def is_exact(desc: OperatorDesc, plan: Plan) -> bool:
    """Whether results need no truncation: floats, or elements copied unchanged."""
    return tensors_of(desc)[0].dtype.kind == "f" or gather_indices(plan) is not None


def apply_to_integers(plan: Plan, x: Array) -> Array:
    return np.trunc(apply(plan, x).astype(np.float32))


@operator("UPSAMPLE_2D")
class Upsample2D(Sampling):
    """Height and width scaled by integers (ns-directml-dml_upsample_2d_operator_desc).

    Works like RESAMPLE, which the page calls a more flexible version of it, with half-pixel centers.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        *others, height, width = desc.InputTensor.sizes
        scale = desc.ScaleSize
        return {"OutputTensor": (*others, height * scale.Height, width * scale.Width)}

    def dimensions(self, desc: OperatorDesc) -> Sequence[Dimension]:
        others = [Dimension()] * (desc.InputTensor.dimension_count - 2)
        return [*others, Dimension(desc.ScaleSize.Height), Dimension(desc.ScaleSize.Width)]


class AnyScales(Sampling):
    def dimensions(self, desc: OperatorDesc) -> Sequence[Dimension]:
        if "InputPixelOffsets" not in desc.struct.index:
            return [Dimension(scale) for scale in desc.Scales]
        return list(map(Dimension, desc.Scales, desc.InputPixelOffsets, desc.OutputPixelOffsets))


@operator("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
class Resample(AnyScales):
    """Any dimensions, by any scales (ns-directml-dml_resample_operator_desc and its newer versions).

    The output may have any sizes: it is cropped, or its edge is repeated. The antialiasing filter is stretched, as on
    the page of RESAMPLE3, along each dimension whose scale is below 1 / 2, in one step.
    """

    has_sizes = False

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes."""
        return of_sizes(output_sizes)


@operator("RESAMPLE_GRAD", "RESAMPLE_GRAD1")
class ResampleGrad(AnyScales):
    """The gradient of RESAMPLE, its transpose (ns-directml-dml_resample_grad_operator_desc,
    ns-directml-dml_resample_grad1_operator_desc).

    As resampling crops images and repeats edges, the two tensors may have any sizes. The pages say that all attributes
    are those of the resampling; in Microsoft's library the offsets are those of this operator's own input and output:
    InputPixelOffsets refer to the gradient that it reads.
    """

    has_sizes = False

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the sizes of the outgoing gradient."""
        return of_sizes(output_sizes, "OutputGradientTensor")

    def dimensions(self, desc: OperatorDesc) -> Sequence[Dimension]:
        return list(map(Dimension, desc.Scales, desc.OutputPixelOffsets, desc.InputPixelOffsets))

    @staticmethod
    def bases(dimension: Dimension, count: int) -> Array:
        """Unlike for RESAMPLE, Microsoft's library does not extrapolate."""
        return np.floor(dimension.source_coordinates(count))

    def plan(self, desc: OperatorDesc) -> Plan:
        """The transposed plan of the resampling."""
        filters = self.filters(desc, desc.InputGradientTensor.sizes, desc.OutputGradientTensor.sizes)
        return {axis: tuple(taps.transposed() for taps in parts) for axis, parts in filters.items()}
