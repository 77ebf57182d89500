"""Pools: what becomes of all that a window sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ...descs.operator_desc import OperatorDesc
from ...kernels import depthwise_pool
from ...kernels.backend import backend
from ...kernels.csr import Plan, Taps
from ...kernels.decisions import Declined
from ...kernels.elementwise.map import map_whole
from ...kernels.launch import launch_in_order
from ...kernels.native_arrays import Array, Run
from ...kernels.reduce import fold
from ...kernels.resample import resampled
from ...kernels.windows import Window
from ..operator import (
    Advisory,
    Compute,
    Inputs,
    Kernel,
    Operator,
    Outputs,
    Shapes,
    Sizes,
    of_sizes,
    operator,
)

# Of what is kept of a dimension; windows that see more are as large as whole images.
MOST_TAPS = 1 << 20


def pool_window(desc: OperatorDesc) -> Window:
    return Window.of(
        desc.WindowSize, desc.Strides, getattr(desc, "Dilations", ()), desc.StartPadding, desc.EndPadding
    )


def pooled_sizes(window: Window, sizes: Sizes, own: Sizes | None) -> Sizes:
    """The sizes of a pool's output over an input of ``sizes``: ``own``, if they may be, or else those that follow.

    What follows are as many whole steps as fit, but one step at least, as DirectMLX has it. There may be one more that
    begins inside and reaches beyond the padding, which ONNX Runtime and browsers ask for when they round up. The
    pages' formula forgets dilations, and so does DirectMLX for averages: up to that many steps are taken too.
    """
    spatial = sizes[2:]
    least = tuple(max(1, count) for count in window.forward(spatial))
    if own is not None:
        undilated = window._replace(dilations=(1,) * len(spatial)).forward(spatial)
        rounded_up = (count + (unseen > 0) for count, unseen in zip(least, window.unseen(spatial, least)))
        most = map(max, rounded_up, undilated)
        if all(low <= count <= high for low, count, high in zip(least, own[2:], most)):
            least = own[2:]
    return (*sizes[:2], *least)


def divisors(desc: OperatorDesc, sizes: Sizes, steps: Sizes) -> Callable[[], Array]:
    """How many elements each step of an averaging pool counts over spatial ``sizes``, worked out when first asked.

    It may be 0.
    """

    @cache
    def counted() -> Array:
        return np.asarray(reduce(np.multiply.outer, element_counts(desc, sizes, steps)))

    return counted


def element_counts(desc: OperatorDesc, sizes: Sizes, steps: Sizes) -> list[npt.NDArray[np.int64]]:
    """How many elements each step counts along each dimension.

    IncludePadding counts the padding that the desc names, not what lies behind it, and at least one element: the mean
    of what is beyond is 0.
    """
    counts = pool_window(desc).counts(sizes, steps, desc.IncludePadding)
    return [np.maximum(one, 1) for one in counts] if desc.IncludePadding else counts


def most_window_elements(window: Window, axis: int, size: int, steps: int) -> int:
    """How many elements all steps along a dimension see together, at most."""
    return steps * min(size, window.size[axis])


def channel_starts(sizes: Sizes) -> Array:
    """For each batch and channel the index of its first element, which runs on from one to the next."""
    spatial = sizes[2:]
    starts = np.arange(sizes[0] * sizes[1]) * int(np.prod(spatial))
    return starts.reshape(*sizes[:2], *(1,) * len(spatial))


def seen_at_once(window: Window, x: Array, output: Array) -> Array | None:
    """What the only step of a pool sees; None if there are more steps, or it sees nothing."""
    places = [window.seen(axis, 0, size) for axis, size in enumerate(x.shape[2:])]
    if backend.native is None or prod(output.shape[2:]) > 1 or None in places:
        return None
    every: Any = (..., *places)
    seen: Array = x[every]
    return seen


def any_output_sizes(sizes: Sizes) -> Advisory:
    """Microsoft's library looks at batches and channels alone: further steps see nothing, and fewer are fewer."""
    return Advisory(sizes, (*sizes[:2], *(None for _ in sizes[2:])))


class Pool(Operator):
    """One function of all that a window sees."""

    advises_sizes = True

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the output, where another number of steps is wanted."""
        own = None if desc.OutputTensor is None else desc.OutputTensor.sizes
        follow = pooled_sizes(pool_window(desc), desc.InputTensor.sizes, own)
        return {"OutputTensor": any_output_sizes(follow), **of_sizes(output_sizes)}

    def kernel(self, desc: OperatorDesc) -> Kernel:
        compute = self.compute(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            return self.native(desc, inputs, outputs) or partial(map_whole, compute, inputs, outputs)

        return Kernel(bind)

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs) -> Run | Declined:
        """The same in a native kernel."""
        raise NotImplementedError


@operator("AVERAGE_POOLING", "AVERAGE_POOLING1")
class AveragePooling(Pool):
    """The mean (ns-directml-dml_average_pooling_operator_desc, ns-directml-dml_average_pooling1_operator_desc).

    The mean of nothing is NaN, but 0 with IncludePadding, as in Microsoft's library.
    """

    def compute(self, desc: OperatorDesc) -> Compute:
        window, steps = pool_window(desc), desc.OutputTensor.sizes[2:]
        divisor = divisors(desc, desc.InputTensor.sizes[2:], steps)

        def average(x: Array) -> Array:
            total = window.fold(x, steps, np.add, 0)
            mean: Array = np.divide(total, divisor().astype(total.dtype), out=total)
            return mean

        return average

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs) -> Run | Declined:
        window, (x,), (output,) = pool_window(desc), inputs, outputs
        counts = element_counts(desc, x.shape[2:], output.shape[2:])
        seen = seen_at_once(window, x, output)
        # Padding that counts is divided by, but there to see it is not.
        if seen is not None and [int(count[0]) for count in counts] == list(seen.shape[2:]):
            return fold("AVERAGE", seen, output, tuple(range(2, x.ndim)))
        return depthwise_pool.mean(x, output, window, counts)


@operator("LP_POOLING", "LP_POOLING1")
class LpPooling(Pool):
    """The norm of order P (ns-directml-dml_lp_pooling_operator_desc, ns-directml-dml_lp_pooling1_operator_desc).

    It is a norm, of magnitudes: the pages' formula leaves them out, and would have no root for many odd P. That of
    nothing is 0.
    """

    def compute(self, desc: OperatorDesc) -> Compute:
        window, steps, order = pool_window(desc), desc.OutputTensor.sizes[2:], desc.P

        def total(terms: Array, function: np.ufunc = np.add, initial: float = 0) -> Array:
            return window.fold(terms, steps, function, initial)

        def norm(x: Array) -> Array:
            if order == 1:
                return total(np.abs(x, dtype=np.float64))
            if order == 2:
                return np.asarray(np.sqrt(total(np.square(x, dtype=np.float64))))
            # Powers would overflow or vanish; their logarithms do not.
            logarithms = np.log(np.abs(x, dtype=np.float64)) * order
            return np.asarray(np.exp(total(logarithms, np.logaddexp, -np.inf) / order))

        return norm

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs) -> Run | Declined:
        window, (x,), (output,) = pool_window(desc), inputs, outputs
        plan: Plan = {}
        for axis, (size, steps) in enumerate(zip(x.shape[2:], output.shape[2:])):
            if most_window_elements(window, axis, size, steps) > MOST_TAPS:
                return Declined("resample", f"a step sees more than {MOST_TAPS} elements along a dimension")
            plan[2 + axis] = (Taps.under(window, axis, range(size), steps),)
        return resampled(plan, x, output, desc.P)


LEAST = float(np.finfo(np.float32).min)


def raise_to_least(output: Array) -> None:
    """FLOAT16, which has no such number, keeps -infinity."""
    with np.errstate(over="ignore"):
        np.fmax(output, np.asarray(LEAST).astype(output.dtype), out=output)


def least(dtype: np.dtype[Any]) -> float:
    """What the largest of nothing is."""
    if dtype.kind == "f":
        return LEAST
    return 0 if dtype == np.int16 else int(np.iinfo(dtype).min)


@operator("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")
class MaxPooling(Pool):
    """The largest element and where it is (ns-directml-dml_max_pooling_operator_desc,
    ns-directml-dml_max_pooling1_operator_desc, ns-directml-dml_max_pooling2_operator_desc).

    Padding is never the largest, whatever else there is. As in Direct3D, a number is larger than NaN. Microsoft's
    library begins with the least FLOAT32 that is finite: so large is the largest of nothing, of NaN and of -infinity.
    Of integers, the largest of nothing is the least that the type has, but 0 in INT16. The index of nothing is 0.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        shapes = super().shapes(desc, output_sizes=output_sizes)
        if desc.OutputTensor is None:
            return {**shapes, "OutputIndicesTensor": shapes["OutputTensor"]}
        return {**shapes, "OutputIndicesTensor": desc.OutputTensor.sizes}

    def compute(self, desc: OperatorDesc) -> Compute:
        window, sizes, steps = pool_window(desc), desc.InputTensor.sizes, desc.OutputTensor.sizes[2:]

        @cache
        def nothing() -> Array:
            counts = window.counts(sizes[2:], steps, with_padding=False)
            return np.asarray(reduce(np.logical_or.outer, [count == 0 for count in counts]))

        def maximum(x: Array) -> Array:
            lowest = least(x.dtype)
            # NaN is an identity of fmax.
            values = window.fold(x, steps, np.fmax, np.nan if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
            values[..., nothing()] = lowest
            return np.fmax(values, lowest, out=values) if x.dtype.kind == "f" else values

        def maximum_and_index(x: Array) -> tuple[Array, Array]:
            values, offsets = window.first_largest(x, steps)
            indices = np.where(nothing(), 0, offsets + channel_starts(sizes))
            lowest = least(x.dtype)
            values[..., nothing()] = lowest
            return np.fmax(values, lowest, out=values) if x.dtype.kind == "f" else values, indices

        return maximum if getattr(desc, "OutputIndicesTensor", None) is None else maximum_and_index

    def native(self, desc: OperatorDesc, inputs: Inputs, outputs: Outputs) -> Run | Declined:
        window, (x,), (output, *indices) = pool_window(desc), inputs, outputs
        seen = seen_at_once(window, x, output)
        if seen is not None and not any(index is not None for index in indices):
            run = fold("MAX", seen, output, tuple(range(2, x.ndim)))
            return launch_in_order([run, partial(raise_to_least, output)]) if x.dtype.kind == "f" else run
        return depthwise_pool.maximum(x, output, indices[0] if indices else None, window)
