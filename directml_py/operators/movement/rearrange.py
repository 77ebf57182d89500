"""JOIN and SPLIT; TILE, DEPTH_TO_SPACE and SPACE_TO_DEPTH, one copy between views with split dimensions.

A view can always split a dimension, but some strides do not permit merging. So each side of the copy is split to match
the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import ClassVar

import numpy as np

from ...api.enums import DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH, DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW
from ...descs.operator_desc import OperatorDesc
from ...descs.tensor_size import unsigned_numbers
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ..attributes import resized
from ..operator import Compute, Inputs, Kernel, Move, Operator, Outputs, Shapes, Slices, operator


@operator("TILE")
class Tile(Operator):
    """NumPy's ``tile`` (ns-directml-dml_tile_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": tuple(map(mul, desc.InputTensor.sizes, desc.Repeats))}

    def compute(self, desc: OperatorDesc) -> Compute:
        return lambda values: np.tile(values, desc.Repeats)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        # Each output dimension splits into repeats and input size. Native loops take few dimensions, so sizes of 1 are
        # dropped.
        pairs = zip(desc.Repeats, desc.InputTensor.sizes)
        parts = [part for count, size in pairs for part in ((count, 1), (size, size)) if part[0] != 1]
        tiles, repeated = [size for size, _ in parts], [size for _, size in parts]

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return move([(outputs[0].reshape(tiles), np.broadcast_to(inputs[0].reshape(repeated), tiles))])

        return Kernel(bind)


def block_views(desc: OperatorDesc, depth: Array, space: Array) -> tuple[Array, Array]:
    """Views of both tensors with sizes {batch, channels, height, row of the block, width, column of the block}.

    ``depth`` holds the blocks in its channels, ``space`` in its height and width.
    """
    block = desc.BlockSize
    batch, channels, height, width = depth.shape
    channels //= block * block
    order = getattr(desc, "Order", DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW)
    if order == DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH:
        apart = depth.reshape(batch, channels, block, block, height, width).transpose(0, 1, 4, 2, 5, 3)
    else:
        apart = depth.reshape(batch, block, block, channels, height, width).transpose(0, 3, 4, 1, 5, 2)
    return apart, space.reshape(apart.shape)


class DepthSpaceRearrangement(Operator):
    """Base of DEPTH_TO_SPACE (pixel shuffle) and SPACE_TO_DEPTH: one copy between two views."""

    is_spread: ClassVar[bool]

    def pair(self, desc: OperatorDesc, x: Array, output: Array) -> tuple[Array, Array]:
        """The destination and source views."""
        if self.is_spread:
            depth, space = block_views(desc, x, output)
            return space, depth
        return block_views(desc, output, x)

    def compute(self, desc: OperatorDesc) -> Compute:
        def moved(x: Array) -> Array:
            output = np.empty(desc.OutputTensor.sizes, x.dtype)
            np.copyto(*self.pair(desc, x, output))
            return output

        return moved

    def kernel(self, desc: OperatorDesc) -> Kernel:
        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return move([self.pair(desc, inputs[0], outputs[0])])

        return Kernel(bind)


@operator("DEPTH_TO_SPACE", "DEPTH_TO_SPACE1")
class DepthToSpace(DepthSpaceRearrangement):
    """Channels rearranged into blocks of BlockSize by BlockSize elements (ns-directml-dml_depth_to_space_operator_desc,
    ns-directml-dml_depth_to_space1_operator_desc).

    DEPTH_TO_SPACE1 has an attribute for the order of channels; DEPTH_TO_SPACE uses DEPTH_COLUMN_ROW.
    """

    is_spread = True

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, height, width = desc.InputTensor.sizes
        block = desc.BlockSize
        return {"OutputTensor": (batch, channels // (block * block), height * block, width * block)}


@operator("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1")
class SpaceToDepth(DepthSpaceRearrangement):
    """Blocks of BlockSize by BlockSize elements rearranged into channels (ns-directml-dml_space_to_depth_operator_desc,
    ns-directml-dml_space_to_depth1_operator_desc).

    The pages print the output sizes of DEPTH_TO_SPACE; their examples, which show its inverse, take precedence.
    """

    is_spread = False

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, height, width = desc.InputTensor.sizes
        block = desc.BlockSize
        return {"OutputTensor": (batch, channels * block * block, height // block, width // block)}


def slices_along(axis: int, sizes: Sequence[int]) -> list[Slices]:
    """The slices of consecutive parts with these sizes along ``axis``."""
    before = (slice(None),) * axis
    ends = list(accumulate(sizes))
    return [(*before, slice(start, end)) for start, end in zip([0, *ends], ends)]


@operator("JOIN")
class Join(Operator):
    """Concatenation along one axis (ns-directml-dml_join_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        axis, first = desc.Axis, desc.InputTensors[0].sizes
        before, behind = first[:axis], first[axis + 1 :]
        along = [tensor.sizes[axis] for tensor in desc.InputTensors]
        return {
            "InputTensors": [(*before, size, *behind) for size in along],
            "OutputTensor": (*before, sum(along), *behind),
        }

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        slices = slices_along(desc.Axis, [tensor.sizes[desc.Axis] for tensor in desc.InputTensors])
        return [Move(index, (), 0, part) for index, part in enumerate(slices)]


@operator("SPLIT")
class Split(Operator):
    """The inverse of JOIN (ns-directml-dml_split_operator_desc)."""

    def shapes(self, desc: OperatorDesc, *, sizes: Sequence[int] | None = None) -> Shapes:
        """``sizes``: the outputs' sizes along Axis."""
        axis, whole = desc.Axis, desc.InputTensor.sizes
        if sizes is not None:
            return {
                "OutputTensors": [resized(whole, axis, size) for size in unsigned_numbers(sizes, "sizes")]
            }
        along = [tensor.sizes[axis] for tensor in desc.OutputTensors]
        return {
            "InputTensor": resized(whole, axis, sum(along)),
            "OutputTensors": [resized(whole, axis, size) for size in along],
        }

    def moves(self, desc: OperatorDesc) -> Sequence[Move]:
        slices = slices_along(desc.Axis, [tensor.sizes[desc.Axis] for tensor in desc.OutputTensors])
        return [Move(0, part, index, ()) for index, part in enumerate(slices)]
