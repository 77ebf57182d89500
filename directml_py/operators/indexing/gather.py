"""GATHER, GATHER_ELEMENTS and SCATTER: indices along one axis."""

from __future__ import annotations

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import Coordinates, gather
from ...kernels.launch import launch_in_order
from ...kernels.linear_index import gather_within, is_inside, take
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..attributes import resized
from ..operator import (
    Advisory,
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shapes,
    Sizes,
    operator,
    operator_rule,
)
from .base import IndexedOperator, Reads, Writes, check_range, duplicates_rule, range_rule

# Microsoft's library does not check this; tensorflow-directml-plugin gathers batches in this way.
LEADING_ONES = operator_rule(
    "GATHER",
    "indices-leading-ones",
    "The sizes of IndicesTensor before the last IndexDimensions are 1",
    page_only=True,
)
BATCH = operator_rule(
    "GATHER",
    "indices-batch",
    "The size of IndicesTensor before the last IndexDimensions is 1 or the size of the batch, and all sizes "
    "before it are 1",
)
# Microsoft's library does not check this.
CROPPED_ONES = operator_rule(
    "GATHER",
    "cropped-ones",
    "The leading sizes of InputTensor that OutputTensor drops are 1",
    page_only=True,
)
INDEX_RANGE = {name: range_rule(name, "the axis") for name in ("GATHER", "GATHER_ELEMENTS", "SCATTER")}
DUPLICATE_INDICES = duplicates_rule("SCATTER")


def cropped_dimensions(desc: OperatorDesc) -> int:
    """The count of leading input dimensions that the output drops, of which only coordinate 0 is read."""
    count: int = desc.IndexDimensions
    return max(0, count - 1)


def index_sizes(desc: OperatorDesc) -> Sizes:
    """The sizes of the last IndexDimensions dimensions of the indices."""
    sizes: Sizes = desc.IndicesTensor.sizes
    return sizes[len(sizes) - desc.IndexDimensions :]


def batch_size(desc: OperatorDesc) -> int:
    """The size of the dimension before the last IndexDimensions of the indices: 1, or the count of batches."""
    sizes: Sizes = desc.IndicesTensor.sizes[: desc.IndicesTensor.dimension_count - desc.IndexDimensions]
    return sizes[-1] if sizes else 1


def further_slices(desc: OperatorDesc, output: Array) -> Array:
    """What the slices of the output behind the first hold where there are no index dimensions."""
    return output[:1] if desc.InputTensor.strides is not None else np.zeros(1, output.dtype)


@operator("GATHER")
class Gather(Operator):
    """A gather along one axis, NumPy's ``take`` (ns-directml-dml_gather_operator_desc).

    IndexDimensions may equal the indices' DimensionCount: the page's text excludes it, its examples 1 and 3 do it. The
    output has the input's sizes with those of the indices in place of Axis; to make room for these, as many leading
    dimensions of the input are cropped, as in DirectMLX. (In the page's example 3, {3,2} and {1,2}, nothing can be
    cropped before Axis 0; Microsoft's library overruns its heap.)

    Beyond the page there are batches, TensorFlow's batch_dims: the indices may have one more dimension, of the size of
    the first dimension of the input that is not cropped. Each slice of the input along that takes its own indices:
    output[b, ..., i, ...] = input[b, ..., indices[b, i], ...].

    Without index dimensions the output has one slice. Microsoft's library accepts any number of them: further ones
    repeat it if the input has strides, and otherwise lie beyond the input.

    The page leaves indices beyond the axis undefined. In Microsoft's library they run into the next row; reads beyond
    the tensor give 0, as in Direct3D.
    """

    advises_sizes = True

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        x, indices = desc.InputTensor, desc.IndicesTensor
        cropped = cropped_dimensions(desc)
        batches = x.sizes[cropped] if cropped < desc.Axis else 1
        last = indices.dimension_count - desc.IndexDimensions - 1
        for dimension, size in enumerate(indices.sizes[: last + 1]):
            if size == 1:
                continue
            text = f"is {size}; with IndexDimensions {desc.IndexDimensions} it is not an index dimension and must be 1"
            rule = LEADING_ONES if dimension == last and size == batches else BATCH
            if rule is BATCH and dimension == last and batches != 1:
                text += f", or InputTensor.Sizes[{cropped}], {batches}, for a batch"
            report.add(rule, f"IndicesTensor.Sizes[{dimension}]", text)
        for dimension, size in enumerate(x.sizes[:cropped]):
            if size != 1:
                text = f"is {size}; with IndexDimensions {desc.IndexDimensions} it is cropped and must be 1"
                report.add(CROPPED_ONES, f"InputTensor.Sizes[{dimension}]", text)

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes, axis = desc.InputTensor.sizes, desc.Axis
        if desc.IndexDimensions == 0:
            rest = (*sizes[:axis], *sizes[axis + 1 :])
            return {"OutputTensor": Advisory((1, *rest), (None, *rest))}
        return {
            "OutputTensor": (*sizes[cropped_dimensions(desc) : axis], *index_sizes(desc), *sizes[axis + 1 :])
        }

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        check_range(INDEX_RANGE[desc.name], inputs[1], desc.InputTensor.sizes[desc.Axis], report)

    def compute(self, desc: OperatorDesc) -> Compute:
        first = (0,) * cropped_dimensions(desc)
        axis, sizes, batches = desc.Axis - len(first), index_sizes(desc), batch_size(desc)
        is_batched = batches > 1

        def gather(x: Array, indices: Array) -> Array:
            indices = indices.reshape((batches, *sizes) if is_batched else sizes)
            taken = take(x[first], indices, axis, is_batched)
            if desc.IndexDimensions:
                return np.reshape(taken, desc.OutputTensor.sizes)
            result: Array = np.empty(desc.OutputTensor.sizes, x.dtype)
            result[0] = np.reshape(taken, result.shape[1:])
            result[1:] = further_slices(desc, result)
            return result

        return gather

    def kernel(self, desc: OperatorDesc) -> Kernel:
        first = (0,) * cropped_dimensions(desc)
        axis, sizes, batches = desc.Axis - len(first), index_sizes(desc), batch_size(desc)
        is_batched = batches > 1

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            run = bind_slices(inputs, outputs)
            if desc.IndexDimensions or len(outputs[0]) == 1:
                return run
            return launch_in_order([run, lambda: np.copyto(outputs[0][1:], further_slices(desc, outputs[0]))])

        def bind_slices(inputs: Inputs, outputs: Outputs) -> Run:
            # The dropped dimensions have size 1, so that these are views.
            x, output = inputs[0][first], outputs[0] if desc.IndexDimensions else outputs[0][:1]
            indices = inputs[1].reshape((batches, *sizes) if is_batched else sizes)

            def outside() -> None:
                np.copyto(output, np.reshape(take(x, indices, axis, is_batched), output.shape))

            if not is_batched:
                return gather_within(x, indices, output, axis, outside)
            results = output if desc.IndexDimensions else output[0]
            # An ellipsis keeps scalars views.
            within = launch_in_order(
                [gather(x[batch], indices[batch, ...], results[batch], axis - 1) for batch in range(batches)]
            )
            return lambda: within() if is_inside(indices, x.shape[axis]) else outside()

        return Kernel(bind)


class AlongAxis(IndexedOperator):
    """IndicesTensor has any size along Axis, and the sizes of InputTensor in all other dimensions."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        axis = desc.Axis
        return {"IndicesTensor": resized(desc.InputTensor.sizes, axis, desc.IndicesTensor.sizes[axis])}

    def dimensions(self, desc: OperatorDesc) -> Sizes:
        sizes: Sizes = desc.InputTensor.sizes
        return sizes

    def coordinates(self, desc: OperatorDesc, indices: Array) -> Coordinates:
        return [indices if dimension == desc.Axis else None for dimension in range(indices.ndim)]

    def coordinate_sizes(self, desc: OperatorDesc) -> Sizes:
        sizes: Sizes = desc.IndicesTensor.sizes
        return sizes

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        check_range(INDEX_RANGE[desc.name], inputs[1], desc.InputTensor.sizes[desc.Axis], report)


@operator("GATHER_ELEMENTS")
class GatherElements(AlongAxis, Reads):
    """NumPy's ``take_along_axis`` (ns-directml-dml_gather_elements_operator_desc)."""


@operator("SCATTER")
class Scatter(AlongAxis, Writes):
    """A copy in which one element per index is replaced: the inverse of GATHER_ELEMENTS
    (ns-directml-dml_scatter_operator_desc)."""

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        super().inspect(desc, inputs, report)
        self.check_duplicates(DUPLICATE_INDICES, desc, inputs[1], report)
