"""Gradients of pools: what the gradient of each step adds to the elements that it sees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from ...descs.values import OperatorDesc
from ...kernels import slide
from ...kernels.binding import Array, Run
from ...kernels.taps import Plan, Taps, apply
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
)
from ..sampling import blending_kernel
from .pooling import channel_starts, pool_window, pooled_sizes


def pooled_gradient(desc: OperatorDesc, sizes: Sizes) -> Shapes:
    """The incoming gradient is that of what a pool makes of ``sizes``.

    The pages say "typically", but a window has no further steps, and the gradients of fewer are those of another pool.
    """
    return {"InputGradientTensor": pooled_sizes(pool_window(desc), sizes, desc.InputGradientTensor.sizes)}


@operator("AVERAGE_POOLING_GRAD")
class AveragePoolingGrad(Operator):
    """What each element added to means (ns-directml-dml_average_pooling_grad_operator_desc).

    A step's gradient is shared out among as many elements as AVERAGE_POOLING divides by: what of it falls to padding
    is lost. Shares are in FLOAT64.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the outgoing gradient, which several inputs of the pool have in common."""
        if desc.OutputGradientTensor is None:
            return of_sizes(output_sizes, "OutputGradientTensor")
        return pooled_gradient(desc, desc.OutputGradientTensor.sizes)

    def plan(self, desc: OperatorDesc) -> Plan:
        """The means as sums of shares, transposed."""
        window, steps = pool_window(desc), desc.InputGradientTensor.sizes[2:]
        sizes = desc.OutputGradientTensor.sizes[2:]
        plan: Plan = {}
        for axis, counts in enumerate(window.counts(sizes, steps, desc.IncludePadding)):
            taps = Taps.under(window, axis, sizes[axis], steps[axis])
            shares = np.repeat(1 / np.maximum(counts, 1), taps.lengths)
            plan[2 + axis] = (taps._replace(weights=shares).transposed(),)
        return plan

    def compute(self, desc: OperatorDesc) -> Compute:
        return partial(apply, self.plan(desc))

    def kernel(self, desc: OperatorDesc) -> Kernel:
        plan = self.plan(desc)
        return blending_kernel(plan, partial(apply, plan))


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

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """The loop of MAX_POOLING2 finds the places, but not of steps that see nothing."""
        window, sizes, steps = pool_window(desc), desc.InputTensor.sizes, desc.InputGradientTensor.sizes
        twin = computing_kernel(self.compute(desc))
        counts = window.counts(sizes[2:], steps[2:], with_padding=False)
        if not all(count.all() for count in counts):
            return twin
        number, itemsize = prod(steps), desc.InputTensor.dtype.itemsize
        parts = np.cumsum([8 * number, 8 * prod(sizes), itemsize * number])

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (x, gradients), (output,) = inputs, outputs
            places, sums, largest, _ = np.split(scratch, parts)
            places = places.view(np.int64).reshape(steps)
            find = slide.maximum(x, largest.view(x.dtype).reshape(steps), places, window)
            add = slide.put_back(gradients, places, sums, output)
            if find is None or add is None:
                return twin.bind(inputs, outputs, scratch)

            def run() -> None:
                find()
                add()

            return run

        return Kernel(bind, int(parts[-1]))
