"""NONZERO_COORDINATES."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.native_arrays import Array, Run
from ...kernels.nonzero import nonzero, nonzero_whole
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, operator
from .gather_nd import with_leading_ones


@operator("NONZERO_COORDINATES")
class NonzeroCoordinates(Operator):
    """The coordinates and the count of nonzero elements (ns-directml-dml_nonzero_coordinates_operator_desc).

    Coordinates may omit leading dimensions of size 1. The outputs have ranks of their own, as in DirectMLX's
    NonZeroCoordinates; the page's {1,1,M,N} is what the ranks of feature level 3_0 allow. The coordinates after the
    last nonzero element, which the page prints as 0 and calls undefined, are 0. NaN is not zero.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes, count, coordinates = (
            desc.InputTensor.sizes,
            desc.OutputCountTensor,
            desc.OutputCoordinatesTensor,
        )
        rank = len(sizes)
        described = rank if coordinates is None else coordinates.sizes[-1]
        leading_ones = next((index for index, size in enumerate(sizes) if size > 1), rank)
        width = min(max(described, rank - leading_ones), rank)
        return {
            "OutputCountTensor": with_leading_ones((1,), 1 if count is None else count.dimension_count),
            "OutputCoordinatesTensor": with_leading_ones(
                (prod(sizes), width), 2 if coordinates is None else coordinates.dimension_count
            ),
        }

    def compute(self, desc: OperatorDesc) -> Compute:
        rows, width = desc.OutputCoordinatesTensor.sizes[-2:]

        def found(x: Array) -> tuple[int, Array]:
            coordinates = np.empty((rows, width), np.uint32)
            return nonzero_whole(x, coordinates), coordinates

        return found

    def kernel(self, desc: OperatorDesc) -> Kernel:
        sizes = desc.OutputCoordinatesTensor.sizes[-2:]

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            count, coordinates = outputs
            # Only dimensions of size 1 are dropped, so that this is a view.
            search = nonzero(inputs[0], coordinates.reshape(sizes))

            def run() -> None:
                count[...] = search()

            return run

        return Kernel(bind)

    def defined(self, desc: OperatorDesc, outputs: Outputs) -> Sequence[tuple[Any, ...]]:
        # One row counts as written even where none is: reading back both outputs at once is no mistake.
        rows = max(1, int(outputs[0].flat[0]))
        return (), (..., slice(rows), slice(None))
