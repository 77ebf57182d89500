"""TILE, DEPTH_TO_SPACE and SPACE_TO_DEPTH: one copy between tensors whose dimensions are taken apart.

A view may always take a dimension apart; it is merging that some strides do not allow. So each side of the copy has the
dimensions of the other taken apart.
"""

from __future__ import annotations

from operator import mul
from typing import ClassVar

import numpy as np

from ...api.enums import DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH, DML_DEPTH_SPACE_ORDER_DEPTH_COLUMN_ROW
from ...descs.operator_desc import OperatorDesc
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, operator


@operator("TILE")
class Tile(Operator):
    """Copies of a tensor side by side (ns-directml-dml_tile_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return {"OutputTensor": tuple(map(mul, desc.InputTensor.sizes, desc.Repeats))}

    def compute(self, desc: OperatorDesc) -> Compute:
        return lambda values: np.tile(values, desc.Repeats)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        # By part of a dimension of the output: its size, and that of the input. Loops have few dimensions; a size of 1
        # need not be among them.
        pairs = zip(desc.Repeats, desc.InputTensor.sizes)
        parts = [part for count, size in pairs for part in ((count, 1), (size, size)) if part[0] != 1]
        tiles, own = [size for size, _ in parts], [size for _, size in parts]

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return move([(outputs[0].reshape(tiles), np.broadcast_to(inputs[0].reshape(own), tiles))])

        return Kernel(bind)


def block_views(desc: OperatorDesc, depth: Array, space: Array) -> tuple[Array, Array]:
    """Views of both tensors with sizes {batch, channels, height, row of the block, width, column of the block}.

    ``depth`` has the blocks in its channels, ``space`` in its height and width.
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
    """A copy between a tensor of blocks in depth and one of blocks in space."""

    is_spread: ClassVar[bool]

    def pair(self, desc: OperatorDesc, x: Array, output: Array) -> tuple[Array, Array]:
        """Where to copy, and what."""
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
    """Blocks of BlockSize by BlockSize elements, laid out from channels (ns-directml-dml_depth_to_space_operator_desc,
    ns-directml-dml_depth_to_space1_operator_desc).

    DEPTH_TO_SPACE1 says how channels are ordered; DEPTH_TO_SPACE has the order DEPTH_COLUMN_ROW.
    """

    is_spread = True

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, height, width = desc.InputTensor.sizes
        block = desc.BlockSize
        return {"OutputTensor": (batch, channels // (block * block), height * block, width * block)}


@operator("SPACE_TO_DEPTH", "SPACE_TO_DEPTH1")
class SpaceToDepth(DepthSpaceRearrangement):
    """Blocks of BlockSize by BlockSize elements, put away in channels (ns-directml-dml_space_to_depth_operator_desc,
    ns-directml-dml_space_to_depth1_operator_desc).

    The pages print the output sizes of DEPTH_TO_SPACE; their examples, which are its inverse, decide.
    """

    is_spread = False

    def shapes(self, desc: OperatorDesc) -> Shapes:
        batch, channels, height, width = desc.InputTensor.sizes
        block = desc.BlockSize
        return {"OutputTensor": (batch, channels * block * block, height // block, width // block)}
