"""Average, Lp and max pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels import depthwise_pool
from ...kernels.backend import backend
from ...kernels.csr import Plan, Taps
from ...kernels.decisions import Declined
from ...kernels.elementwise.functions import fmax, plain, quieted
from ...kernels.elementwise.map import map_packed
from ...kernels.native_arrays import Array, Run
from ...kernels.post_ops import PROGRAMS, Accepts, PostOps, followed, of_function
from ...kernels.reduce import fold
from ...kernels.resample import resampled
from ...kernels.windows import Window
from ..attributes import any_output_sizes
from ..operator import (
    Compute,
    Inputs,
    Kernel,
    Outputs,
    Shapes,
    Sizes,
    of_sizes,
    operator,
)
from .repeated_windows import RepeatedWindows

if TYPE_CHECKING:
    import numpy.typing as npt

# The limit on taps stored per dimension; only windows as large as whole images exceed it.
MOST_TAPS = 1 << 20


def pool_window(desc: OperatorDesc) -> Window:
    return Window.of(
        desc.WindowSize, desc.Strides, getattr(desc, "Dilations", ()), desc.StartPadding, desc.EndPadding
    )


def pooled_sizes(window: Window, sizes: Sizes, described: Sizes | None) -> Sizes:
    """The output sizes of a pool over an input of ``sizes``: ``described`` if valid, else the inferred ones.

    Inferred are as many whole windows as fit, but at least one, as in DirectMLX. One more window may begin inside and
    reach beyond the padding, as ONNX Runtime and browsers request when they round up. The pages' formula omits
    dilations, and so does DirectMLX for averages: up to that many windows are accepted too. With a
    stride of 0 any count fits.
    """
    spatial, strides = sizes[2:], window.strides
    window = window._replace(strides=tuple(max(1, stride) for stride in strides))
    least = tuple(max(1, count) for count in window.forward(spatial))
    if described is not None:
        undilated = window._replace(dilations=(1,) * len(spatial)).forward(spatial)
        rounded_up = (count + (unseen > 0) for count, unseen in zip(least, window.unseen(spatial, least)))
        most = map(max, rounded_up, undilated)
        terms = zip(least, described[2:], most, strides)
        if all(low <= count <= high or not stride for low, count, high, stride in terms):
            least = described[2:]
    any_count = (1,) * len(spatial) if described is None else described[2:]
    output_sizes = (count if stride else free for count, free, stride in zip(least, any_count, strides))
    return (*sizes[:2], *output_sizes)


def divisors(desc: OperatorDesc, sizes: Sizes, output_sizes: Sizes) -> Callable[[], Array]:
    """The divisor of each window of an averaging pool over spatial ``sizes``, computed lazily; it may be 0."""

    @cache
    def counted() -> Array:
        return np.asarray(reduce(np.multiply.outer, element_counts(desc, sizes, output_sizes)))

    return counted


def element_counts(desc: OperatorDesc, sizes: Sizes, output_sizes: Sizes) -> list[npt.NDArray[np.int64]]:
    """The count of elements of each window along each dimension.

    IncludePadding counts the desc's padding, not what lies beyond it, and at least one element: the mean of a window
    beyond the padding is 0.
    """
    counts = pool_window(desc).counts(sizes, output_sizes, desc.IncludePadding)
    return [np.maximum(one, 1) for one in counts] if desc.IncludePadding else counts


def most_window_elements(window: Window, axis: int, size: int, output_size: int) -> int:
    """An upper bound on the taps of all windows along a dimension."""
    return output_size * min(size, window.size[axis])


def channel_starts(sizes: Sizes) -> Array:
    """The linear index of the first element of each batch and channel."""
    spatial = sizes[2:]
    starts = np.arange(sizes[0] * sizes[1]) * int(np.prod(spatial))
    return starts.reshape(*sizes[:2], *(1,) * len(spatial))


def only_window(window: Window, x: Array, output: Array) -> Array | None:
    """The elements in the only window of a global pool; None if there are several windows, or it is empty."""
    slices = [window.covered(axis, 0, size) for axis, size in enumerate(x.shape[2:])]
    if backend.native is None or prod(output.shape[2:]) > 1 or None in slices:
        return None
    every: Any = (..., *slices)
    covered: Array = x[every]
    return covered


class Pool(RepeatedWindows):
    """Base of pools: one function of all elements in a window."""

    advises_sizes = True

    def accepts(self, desc: OperatorDesc) -> Accepts:
        return PROGRAMS

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes, if not the default."""
        described = None if desc.OutputTensor is None else desc.OutputTensor.sizes
        follow = pooled_sizes(pool_window(desc), desc.InputTensor.sizes, described)
        return {"OutputTensor": any_output_sizes(follow), **of_sizes(output_sizes)}

    def moving_kernel(self, desc: OperatorDesc) -> Kernel:
        compute = self.moving_compute(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array, post_ops: PostOps = ()) -> Run:
            run = self.native(desc, inputs[0], outputs, post_ops)
            return run or followed(partial(map_packed, compute, inputs, outputs), post_ops)

        return Kernel(bind, fused=bind)

    def native(self, desc: OperatorDesc, x: Array, outputs: Outputs, post_ops: PostOps) -> Run | Declined:
        """The native kernel, and post-operations over the first output."""
        raise NotImplementedError


@operator("AVERAGE_POOLING", "AVERAGE_POOLING1")
class AveragePooling(Pool):
    """Average pooling (ns-directml-dml_average_pooling_operator_desc, ns-directml-dml_average_pooling1_operator_desc).

    The mean of an empty window is NaN, but 0 with IncludePadding, as in Microsoft's library.
    """

    def moving_compute(self, desc: OperatorDesc) -> Compute:
        window, output_sizes = pool_window(desc), desc.OutputTensor.sizes[2:]
        divisor = divisors(desc, desc.InputTensor.sizes[2:], output_sizes)

        def average(x: Array) -> Array:
            total = window.fold(x, output_sizes, np.add, 0)
            mean: Array = np.divide(total, divisor().astype(total.dtype), out=total)
            return mean

        return average

    def native(self, desc: OperatorDesc, x: Array, outputs: Outputs, post_ops: PostOps) -> Run | Declined:
        window, (output,) = pool_window(desc), outputs
        counts = element_counts(desc, x.shape[2:], output.shape[2:])
        covered = only_window(window, x, output)
        # Padding that counts goes into the divisor, but has no taps.
        if covered is not None and [int(count[0]) for count in counts] == list(covered.shape[2:]):
            return followed(fold("AVERAGE", covered, output, tuple(range(2, x.ndim))), post_ops)
        return depthwise_pool.mean(x, output, window, counts, post_ops)


@operator("LP_POOLING", "LP_POOLING1")
class LpPooling(Pool):
    """Lp pooling (ns-directml-dml_lp_pooling_operator_desc, ns-directml-dml_lp_pooling1_operator_desc).

    The norm is of magnitudes: the pages' formula omits the absolute values, and would have no real root for many odd P.
    The norm of an empty window is 0.
    """

    def moving_compute(self, desc: OperatorDesc) -> Compute:
        window, output_sizes, order = pool_window(desc), desc.OutputTensor.sizes[2:], desc.P

        def total(terms: Array, function: np.ufunc = np.add, initial: float = 0) -> Array:
            return window.fold(terms, output_sizes, function, initial)

        def norm(x: Array) -> Array:
            if order == 1:
                return total(np.abs(x, dtype=np.float64))
            if order == 2:
                return np.asarray(np.sqrt(total(np.square(x, dtype=np.float64))))
            # Powers would overflow or underflow; their logarithms do not.
            logarithms = np.log(np.abs(x, dtype=np.float64)) * order
            return np.asarray(np.exp(total(logarithms, np.logaddexp, -np.inf) / order))

        return norm

    def native(self, desc: OperatorDesc, x: Array, outputs: Outputs, post_ops: PostOps) -> Run | Declined:
        window, (output,) = pool_window(desc), outputs
        plan: Plan = {}
        for axis, (size, output_size) in enumerate(zip(x.shape[2:], output.shape[2:])):
            if most_window_elements(window, axis, size, output_size) > MOST_TAPS:
                return Declined("resample", f"the windows have more than {MOST_TAPS} taps along a dimension")
            plan[2 + axis] = (Taps.under(window, axis, range(size), output_size),)
        run = resampled(plan, x, output, desc.P)
        return run and followed(run, post_ops)


LEAST = float(np.finfo(np.float32).min)


def raised_to_least(x: Array) -> Array:
    """Clamps to the least finite FLOAT32; FLOAT16, which cannot represent that, keeps -infinity."""
    return plain(fmax(x, LEAST))


def least(dtype: np.dtype[Any]) -> float:
    """The maximum of an empty window."""
    if dtype.kind == "f":
        return LEAST
    return 0 if dtype == np.int16 else int(np.iinfo(dtype).min)


@operator("MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2")
class MaxPooling(Pool):
    """Max pooling, optionally with indices (ns-directml-dml_max_pooling_operator_desc,
    ns-directml-dml_max_pooling1_operator_desc, ns-directml-dml_max_pooling2_operator_desc).

    Padding is never the maximum. As in Direct3D, a number is larger than NaN. Microsoft's library starts from the least
    finite FLOAT32, which is therefore the maximum of an empty window, of NaN and of -infinity. For integers, the
    maximum of an empty window is the type's least value, but 0 for INT16. The index for an empty window is 0.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        shapes = super().shapes(desc, output_sizes=output_sizes)
        if desc.OutputTensor is None:
            return {**shapes, "OutputIndicesTensor": shapes["OutputTensor"]}
        return {**shapes, "OutputIndicesTensor": desc.OutputTensor.sizes}

    def moving_compute(self, desc: OperatorDesc) -> Compute:
        window, sizes, output_sizes = pool_window(desc), desc.InputTensor.sizes, desc.OutputTensor.sizes[2:]

        @cache
        def nothing() -> Array:
            counts = window.counts(sizes[2:], output_sizes, with_padding=False)
            return np.asarray(reduce(np.logical_or.outer, [count == 0 for count in counts]))

        def maximum(x: Array) -> Array:
            lowest = least(x.dtype)
            # NaN is the identity of fmax.
            values = window.fold(
                quieted(x), output_sizes, np.fmax, np.nan if x.dtype.kind == "f" else np.iinfo(x.dtype).min
            )
            values[..., nothing()] = lowest
            return np.fmax(values, lowest, out=values) if x.dtype.kind == "f" else values

        def maximum_and_index(x: Array) -> tuple[Array, Array]:
            values, offsets = window.first_largest(quieted(x), output_sizes)
            indices = np.where(nothing(), 0, offsets + channel_starts(sizes))
            lowest = least(x.dtype)
            values[..., nothing()] = lowest
            return np.fmax(values, lowest, out=values) if x.dtype.kind == "f" else values, indices

        return maximum if getattr(desc, "OutputIndicesTensor", None) is None else maximum_and_index

    def native(self, desc: OperatorDesc, x: Array, outputs: Outputs, post_ops: PostOps) -> Run | Declined:
        window, (output, *indices) = pool_window(desc), outputs
        covered = only_window(window, x, output)
        if covered is not None and not any(index is not None for index in indices):
            if x.dtype.kind == "f":
                post_ops = [of_function(raised_to_least, [output], [output]), *post_ops]
            return followed(fold("MAX", covered, output, tuple(range(2, x.ndim))), post_ops)
        return depthwise_pool.maximum(x, output, indices[0] if indices else None, window, post_ops)
