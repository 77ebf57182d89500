"""Gradients of average and max pooling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from math import prod

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels import depthwise_pool
from ...kernels.csr import Plan, Taps, apply
from ...kernels.launch import launch_in_order
from ...kernels.native_arrays import Array, Run
from ...kernels.windows import Window
from ..attributes import any_output_sizes
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
from .pooling import (
    MOST_TAPS,
    channel_starts,
    most_window_elements,
    pool_window,
    pooled_sizes,
)

WRAP = 1 << 32


@operator("AVERAGE_POOLING_GRAD")
class AveragePoolingGrad(Operator):
    """The gradient of AVERAGE_POOLING (ns-directml-dml_average_pooling_grad_operator_desc).

    A window's gradient is divided by AVERAGE_POOLING's divisor and added to each of its elements: the padding's part is
    lost. Shares are in FLOAT64. The page says that the incoming gradient "typically" has the sizes of the pool's
    output.
    """

    advises_sizes = True

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the sizes of the outgoing gradient, as pools of several input sizes have equal outputs."""
        if desc.OutputGradientTensor is None:
            return of_sizes(output_sizes, "OutputGradientTensor")
        sizes, described = desc.OutputGradientTensor.sizes, desc.InputGradientTensor.sizes
        return {"InputGradientTensor": any_output_sizes(pooled_sizes(pool_window(desc), sizes, described))}

    def plan(self, desc: OperatorDesc) -> Plan:
        """The transposed plan of the averages as weighted sums."""
        window, window_counts = pool_window(desc), desc.InputGradientTensor.sizes[2:]
        sizes = desc.OutputGradientTensor.sizes[2:]
        plan: Plan = {}
        for axis, counts in enumerate(window.counts(sizes, window_counts, desc.IncludePadding)):
            parts = Shares(window, axis, sizes[axis], 1 / np.maximum(counts, 1))
            plan[2 + axis] = parts if parts.length < parts.size else tuple(parts)
        return plan

    def compute(self, desc: OperatorDesc) -> Compute:
        return lambda gradients: apply(self.plan(desc), gradients)

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """The plan is as large as an image, so it is built on first use."""

        @cache
        def blending() -> Kernel:
            plan = self.plan(desc)
            return blending_kernel(plan, partial(apply, plan))

        return Kernel(lambda inputs, outputs, scratch: blending().bind(inputs, outputs, scratch))


class Shares:
    """The transposed taps of an average pool: for each of ``size`` elements, the windows that cover it.

    An iterable of blocks of ``length`` elements, of which each takes no more than ``MOST_TAPS`` taps.
    """

    def __init__(self, window: Window, axis: int, size: int, shares: Array) -> None:
        self.window, self.axis, self.size, self.shares = window, axis, size, shares
        count = len(shares)
        all_at_once = most_window_elements(window, axis, size, count) <= MOST_TAPS
        self.length = size if all_at_once else max(1, MOST_TAPS // count)

    def __iter__(self) -> Iterator[Taps]:
        for start in range(0, self.size, self.length):
            elements = range(start, min(start + self.length, self.size))
            taps = Taps.under(self.window, self.axis, elements, len(self.shares))
            yield taps._replace(weights=np.repeat(self.shares, taps.lengths)).transposed()


@operator("MAX_POOLING_GRAD")
class MaxPoolingGrad(Operator):
    """Gradients added to the elements that were the maxima (ns-directml-dml_max_pooling_grad_operator_desc).

    The maximum is chosen as in MAX_POOLING2, where the index for an empty window is 0. Microsoft's library adds the
    gradient of such a window to that element if the window reaches over it, its elements being on both sides of the
    image, and loses it otherwise. Of the window counts of MAX_POOLING2, the library accepts only as many as fit, at
    least one.
    """

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes, window = desc.InputTensor.sizes, pool_window(desc)
        terms = zip(sizes[2:], window.paddings, window.extents, window.strides)
        # The library adds in 32 bits, and its subtraction saturates at 0.
        window_counts = (
            max(0, (size + padding) % WRAP - extent % WRAP) // stride + 1
            for size, padding, extent, stride in terms
        )
        return {"InputGradientTensor": (*sizes[:2], *window_counts)}

    def compute(self, desc: OperatorDesc) -> Compute:
        window, sizes = pool_window(desc), desc.InputTensor.sizes
        window_counts, count = desc.InputGradientTensor.sizes[2:], int(np.prod(sizes))

        def gradient(x: Array, gradients: Array) -> Array:
            _, offsets = window.first_largest(x, window_counts)
            offsets = np.where((offsets < 0) & reaches_over_first(window, window_counts), 0, offsets)
            indices, inside = offsets + channel_starts(sizes), offsets >= 0
            # Sums are in FLOAT64.
            sums: Array = np.bincount(indices[inside], gradients[inside], count).reshape(sizes)
            return sums

        return gradient

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """MAX_POOLING2's kernel finds the indices, unless windows are empty."""
        window, sizes, pooled = pool_window(desc), desc.InputTensor.sizes, desc.InputGradientTensor.sizes
        reference = computing_kernel(self.compute(desc))

        @cache
        def all_see_something() -> bool:
            return all(count.all() for count in window.counts(sizes[2:], pooled[2:], with_padding=False))

        number, itemsize = prod(pooled), desc.InputTensor.dtype.itemsize
        parts = np.cumsum([8 * number, 8 * prod(sizes), itemsize * number])

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            (x, gradients), (output,) = inputs, outputs
            indices, sums, largest, _ = np.split(scratch, parts)
            indices = indices.view(np.int64).reshape(pooled)
            find = depthwise_pool.maximum(x, largest.view(x.dtype).reshape(pooled), indices, window)
            add = depthwise_pool.put_back(gradients, indices, sums, output)
            if not find or not add or not all_see_something():
                return reference.bind(inputs, outputs, scratch)
            return launch_in_order([find, add])

        return Kernel(bind, int(parts[-1]))


def reaches_over_first(window: Window, window_counts: Sizes) -> Array:
    """Whether the first element of the image lies between the first and the last element of each window, inclusive."""
    reaches = np.ones((), bool)
    for count, stride, padding, extent in zip(
        window_counts, window.strides, window.start_padding, window.extents
    ):
        first = np.arange(count) * stride - padding
        reaches = np.logical_and.outer(reaches, (first <= 0) & (first + extent > 0))
    return reaches
