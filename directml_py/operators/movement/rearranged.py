"""Operators that move data: slices, padding, tiles, blocks of space and depth."""

from __future__ import annotations

from collections.abc import Sequence

from ...descs.sizes import unsigned_numbers
from ...descs.tensor import TensorDesc
from ...descs.values import OperatorDesc
from ...validation.report import Report
from ...validation.rule import Rule
from ..axes import resized
from ..operator import Operator, Shapes, Sizes, operator, own_rule

UINT_COUNT = 2**32

SLICE_BOUNDS = own_rule("SLICE", "bounds", "Every element of the slice lies within InputTensor")
SLICE1_WINDOW = own_rule("SLICE1", "window", "The window lies within InputTensor")
SLICE_GRAD_WINDOW = own_rule("SLICE_GRAD", "window", "The window lies within OutputGradientTensor")


@operator("SLICE")
class Slice(Operator):
    """A part of a tensor, taken with a stride per dimension (ns-directml-dml_slice_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        dimensions = zip(desc.Offsets, desc.Sizes, desc.Strides, desc.InputTensor.sizes)
        for dimension, (offset, count, stride, size) in enumerate(dimensions):
            last = offset + (count - 1) * stride
            if last >= size:
                report.add(
                    SLICE_BOUNDS,
                    f"Offsets[{dimension}]",
                    f"is {offset}; with Sizes {count} and Strides {stride} the slice reads element {last}, but "
                    f"InputTensor's size is {size}",
                )

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": desc.Sizes}


def check_window(desc: OperatorDesc, field: str, rule: Rule, report: Report) -> None:
    """InputWindowOffsets and InputWindowSizes lie within the tensor ``field``, if it is there already."""
    tensor: TensorDesc | None = getattr(desc, field)
    dimensions = zip(desc.InputWindowOffsets, desc.InputWindowSizes, tensor.sizes if tensor else ())
    for dimension, (offset, count, size) in enumerate(dimensions):
        if offset + count > size:
            report.add(
                rule,
                f"InputWindowOffsets[{dimension}]",
                f"is {offset}; with InputWindowSizes {count} the window reaches beyond {field}'s size, which is {size}",
            )


def reachable(desc: OperatorDesc) -> Sizes:
    """How many elements the strides meet within the window, per dimension."""
    return tuple(
        1 + (size - 1) // abs(stride) for size, stride in zip(desc.InputWindowSizes, desc.InputWindowStrides)
    )


def sliced_sizes(desc: OperatorDesc, own: Sizes) -> Sizes:
    """The sizes nearest to ``own`` that a slice of this window may have: not all that is reachable need be copied."""
    return tuple(min(size, most) for size, most in zip(own, reachable(desc)))


@operator("SLICE1")
class Slice1(Operator):
    """A part of a window, backwards where a stride is negative (ns-directml-dml_slice1_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        check_window(desc, "InputTensor", SLICE1_WINDOW, report)

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of a slice of fewer elements than the window reaches."""
        if output_sizes is None and desc.OutputTensor is None:
            return {"OutputTensor": reachable(desc)}
        wanted = (
            desc.OutputTensor.sizes
            if output_sizes is None
            else unsigned_numbers(output_sizes, "output_sizes")
        )
        return {"OutputTensor": sliced_sizes(desc, tuple(wanted))}


@operator("SLICE_GRAD")
class SliceGrad(Operator):
    """The inverse of SLICE1: what was sliced goes where it came from, among zeros
    (ns-directml-dml_slice_grad_operator_desc)."""

    def attributes(self, desc: OperatorDesc, report: Report) -> None:
        check_window(desc, "OutputGradientTensor", SLICE_GRAD_WINDOW, report)

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the tensor that was sliced."""
        if output_sizes is not None:
            return {"OutputGradientTensor": tuple(unsigned_numbers(output_sizes, "output_sizes"))}
        return {"InputGradientTensor": sliced_sizes(desc, desc.InputGradientTensor.sizes)}


@operator("PADDING", "PADDING1")
class Padding(Operator):
    """A tensor with a border of constant, repeated or mirrored elements (ns-directml-dml_padding_operator_desc,
    ns-directml-dml_padding1_operator_desc).

    PADDING1 says the constant in the tensors' own data type. The pages' sum of size and paddings is one of UINTs: a
    padding of 2**32 - n takes n elements away. That is how ONNX Runtime hands over the negative pads of its Pad.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        dimensions = zip(desc.InputTensor.sizes, desc.StartPadding, desc.EndPadding)
        return {"OutputTensor": tuple(sum(terms) % UINT_COUNT for terms in dimensions)}


@operator("TILE")
class Tile(Operator):
    """Copies of a tensor side by side (ns-directml-dml_tile_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        dimensions = zip(desc.InputTensor.sizes, desc.Repeats)
        return {"OutputTensor": tuple(size * count for size, count in dimensions)}


@operator("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1")
class DepthToSpace(Operator):
    """Blocks of BlockSize by BlockSize elements, laid out from channels (ns-directml-dml_depth_to_space_operator_desc,
    ns-directml-dml_depth_to_space1_operator_desc).

    DEPTH_TO_SPACE1 says how channels are ordered; DEPTH_TO_SPACE has the order DEPTH_COLUMN_ROW.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, height, width = desc.InputTensor.sizes
        block = desc.BlockSize
        return {"OutputTensor": (batch, channels // (block * block), height * block, width * block)}


@operator("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1")
class SpaceToDepth(Operator):
    """Blocks of BlockSize by BlockSize elements, put away in channels (ns-directml-dml_space_to_depth_operator_desc,
    ns-directml-dml_space_to_depth1_operator_desc).

    The pages print the output sizes of DEPTH_TO_SPACE; their examples, which are its inverse, decide.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, height, width = desc.InputTensor.sizes
        block = desc.BlockSize
        return {"OutputTensor": (batch, channels * block * block, height // block, width // block)}


@operator("REVERSE_SUBSEQUENCES")
class ReverseSubsequences(Operator):
    """The first elements along an axis in reverse (ns-directml-dml_reverse_subsequences_desc).

    A length beyond the axis reverses all of it.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"SequenceLengthsTensor": resized(desc.InputTensor.sizes, desc.Axis, 1)}


@operator("VALUE_SCALE_2D")
class ValueScale2D(Operator):
    """Scale * x + Bias, with a bias per channel (ns-directml-dml_value_scale_2d_operator_desc)."""
