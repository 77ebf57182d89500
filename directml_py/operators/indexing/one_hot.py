"""ONE_HOT."""

from __future__ import annotations

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...descs.tensor_size import unsigned_number
from ...kernels.gather_scatter_nd import exact_indices, scatter_nd, scratch_for
from ...kernels.launch import launch_in_order
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ..attributes import resized
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, Sizes, operator


def off_and_on(values: Array) -> tuple[Array, Array]:
    """0-d views of the off and on values. ValuesTensor may have a higher rank than the output: the second element is
    the next along the fastest-varying dimension longer than 1, whatever the strides."""
    off, on = (
        values[
            tuple(
                slice(int(coordinate), int(coordinate) + 1)
                for coordinate in np.unravel_index(number, values.shape)
            )
        ].reshape(())
        for number in (0, 1)
    )
    return off, on


@operator("ONE_HOT")
class OneHot(Operator):
    """One-hot encoding along an axis (ns-directml-dml_one_hot_operator_desc).

    An index out of range gives the off value everywhere; the page defines that, so there is no warning.
    """

    def shapes(self, desc: OperatorDesc, *, output_length: int | None = None) -> Shapes:
        """``output_length``: the output's size along Axis."""
        axis = desc.Axis
        if output_length is None:
            length = desc.OutputTensor.sizes[axis]
        else:
            length = unsigned_number(output_length, "output_length")
        return {"OutputTensor": resized(desc.IndicesTensor.sizes, axis, length)}

    def compute(self, desc: OperatorDesc) -> Compute:
        axis, sizes = desc.Axis, desc.OutputTensor.sizes
        ones: Sizes = (1,) * len(sizes)
        positions = np.arange(sizes[axis]).reshape(resized(ones, axis, sizes[axis]))

        def one_hot(indices: Array, values: Array) -> Array:
            off, on = off_and_on(values)
            return np.where(exact_indices(indices, sizes[axis] - 1) == positions, on, off)

        return one_hot

    def kernel(self, desc: OperatorDesc) -> Kernel:
        axis, sizes = desc.Axis, desc.IndicesTensor.sizes

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (indices, values), (output,) = inputs, outputs
            off, on = off_and_on(values)
            fill = move([(output, np.broadcast_to(off, output.shape))])
            coordinates = [indices if dimension == axis else None for dimension in range(output.ndim)]
            write = scatter_nd(output, coordinates, np.broadcast_to(on, sizes), scratch)
            return launch_in_order([fill, write])

        return Kernel(bind, scratch_for(sizes))
