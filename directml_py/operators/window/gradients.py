"""Gradients of pools: what the gradient of each step adds to the elements that it sees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...descs.values import OperatorDesc
from ...kernels.binding import Array
from ...kernels.fold import accumulator
from ..operator import Compute, Operator, Shapes, Sizes, of_sizes, operator
from .pooling import channel_starts, divisors, pool_window, pooled_sizes


def pooled_gradient(desc: OperatorDesc, sizes: Sizes) -> Shapes:
    """The incoming gradient is that of what a pool makes of ``sizes``.

    The pages say "typically", but a window has no further steps, and the gradients of fewer are those of another pool.
    """
    return {"InputGradientTensor": pooled_sizes(pool_window(desc), sizes, desc.InputGradientTensor.sizes)}


@operator("AVERAGE_POOLING_GRAD")
class AveragePoolingGrad(Operator):
    """What each element added to means (ns-directml-dml_average_pooling_grad_operator_desc).

    A step's gradient is shared out among as many elements as AVERAGE_POOLING divides by: what of it falls to padding
    is lost.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the outgoing gradient, which several inputs of the pool have in common."""
        if desc.OutputGradientTensor is None:
            return of_sizes(output_sizes, "OutputGradientTensor")
        return pooled_gradient(desc, desc.OutputGradientTensor.sizes)

    def compute(self, desc: OperatorDesc) -> Compute:
        window, kind = pool_window(desc), accumulator(desc.InputGradientTensor.dtype)
        sizes, steps = desc.OutputGradientTensor.sizes[2:], desc.InputGradientTensor.sizes[2:]
        divisor = divisors(desc, sizes, steps)
        return lambda gradients: window.spread(np.divide(gradients, divisor(), dtype=kind), sizes)


@operator("MAX_POOLING_GRAD")
class MaxPoolingGrad(Operator):
    """Gradients put where the largest elements were, and summed up there
    (ns-directml-dml_max_pooling_grad_operator_desc).

    Which element is the largest is as in MAX_POOLING2. Gradients of steps that see padding alone are lost.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        return pooled_gradient(desc, desc.InputTensor.sizes)

    def compute(self, desc: OperatorDesc) -> Compute:
        window, sizes = pool_window(desc), desc.InputTensor.sizes
        steps, count = desc.InputGradientTensor.sizes[2:], int(np.prod(sizes))

        def gradient(x: Array, gradients: Array) -> Array:
            _, offsets = window.first_largest(x, steps)
            places, inside = offsets + channel_starts(sizes), offsets >= 0
            # Sums are in FLOAT64.
            sums: Array = np.bincount(places[inside], gradients[inside], count).reshape(sizes)
            return sums

        return gradient
