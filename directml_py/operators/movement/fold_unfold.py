"""FOLD and UNFOLD: col2im and im2col."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...descs.tensor_size import unsigned_numbers
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ...kernels.windows import Window
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, Sizes, operator


def column_window(desc: OperatorDesc) -> Window:
    return Window.of(desc.WindowSizes, desc.Strides, desc.Dilations, desc.StartPadding, desc.EndPadding)


def column_sizes(desc: OperatorDesc, whole: Sizes, rank: int) -> Sizes:
    """The sizes {batch, channels * elements of a window, blocks} of the columns of ``whole``.

    ``whole`` is {batch, channels, spatial sizes}. The pages call the tensor of columns 3D, but their tables allow up to
    8 dimensions, and they require both tensors to have the same rank. The only way to that is leading ones, up to
    ``rank``.
    """
    batch, channels, *spatial = whole
    blocks = prod(max(0, count) for count in column_window(desc).forward(spatial))
    return (1,) * (rank - 3) + (batch, channels * prod(desc.WindowSizes), blocks)


def spread(columns: Array, window: Window, whole: Sizes) -> Array:
    """A view of columns with sizes {batch, channels, window, count}, window and count in C order."""
    batch, channels, *spatial = whole
    return columns.reshape(batch, channels, *window.size, *window.forward(spatial))


@operator("UNFOLD")
class Unfold(Operator):
    """im2col: sliding windows as columns (ns-directml-dml_unfold_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        rank = 3 if desc.OutputTensor is None else desc.OutputTensor.dimension_count
        return {"OutputTensor": column_sizes(desc, desc.InputTensor.sizes, rank)}

    def compute(self, desc: OperatorDesc) -> Compute:
        window, spatial = column_window(desc), desc.InputTensor.sizes[2:]

        def unfolded(x: Array) -> Array:
            indices: list[Any] = [slice(None), slice(None)]
            is_inside = np.array(True)
            for axis, (size, count) in enumerate(zip(spatial, window.forward(spatial))):
                along = np.add.outer(
                    np.arange(window.size[axis]) * window.dilations[axis],
                    np.arange(count) * window.strides[axis] - window.start_padding[axis],
                )
                # The dimensions within a window come before those of the windows.
                other_axes = [each for each in range(2 * len(spatial)) if each % len(spatial) != axis]
                along = np.expand_dims(along, other_axes)
                is_inside = is_inside & (along >= 0) & (along < size)
                indices.append(np.clip(along, 0, size - 1))
            columns = np.where(is_inside, x[tuple(indices)], x.dtype.type(0))
            return np.asarray(columns.reshape(desc.OutputTensor.sizes))

        return unfolded

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """One strided copy of a padded input, unless it has more padding than both tensors have elements."""
        window, whole = column_window(desc), desc.InputTensor.sizes
        counts = window.forward(whole[2:])
        dimensions = len(counts)
        if prod(window.reach(counts)) > prod(whole[2:]) + prod(window.size) * prod(counts):
            return super().kernel(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            columns = spread(outputs[0], window, whole)
            window_axes = range(2, 2 + dimensions)
            target = np.moveaxis(columns, window_axes, range(-dimensions, 0))

            def run() -> None:
                move([(target, window.view(window.padded(inputs[0], counts), counts))])()

            return run

        return Kernel(bind)


@operator("FOLD")
class Fold(Operator):
    """col2im: columns summed into the windows that they came from (ns-directml-dml_reduce_operator_desc).

    Elements that fall into the padding are dropped; elements that no window covers are 0. Integers wrap.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: {batch, channels, spatial sizes}, of which the input gives only the count of blocks."""
        if output_sizes is not None:
            return {"OutputTensor": tuple(unsigned_numbers(output_sizes, "output_sizes"))}
        return {"InputTensor": column_sizes(desc, desc.OutputTensor.sizes, desc.InputTensor.dimension_count)}

    def compute(self, desc: OperatorDesc) -> Compute:
        window, whole = column_window(desc), desc.OutputTensor.sizes
        counts = window.forward(whole[2:])
        # The dimensions that shrink come first, so that no intermediate is larger than the larger tensor.
        growth = [size / (taps * count) for size, taps, count in zip(whole[2:], window.size, counts)]
        order = sorted(range(len(counts)), key=growth.__getitem__)

        def folded(columns: Array) -> Array:
            array = spread(columns, window, whole)
            for axis in order:
                array = put_back(array, window, axis, whole[2 + axis])
            return np.asarray(array.reshape(whole))

        return folded


def put_back(array: Array, window: Window, axis: int, size: int) -> Array:
    """Sum overlapping windows along one spatial dimension: {.. window .. count ..} becomes {.. 1 .. size ..}."""
    tap_axis, window_axis = 2 + axis, 2 + len(window.size) + axis
    sizes = list(array.shape)
    sizes[tap_axis], sizes[window_axis] = 1, size
    result = np.zeros(sizes, array.dtype)
    target = np.moveaxis(result, (tap_axis, window_axis), (0, 1))[0]
    source = np.moveaxis(array, (tap_axis, window_axis), (0, 1))
    stride, dilation = window.strides[axis], window.dilations[axis]
    if source.shape[1] < source.shape[0]:
        # Elements of a window and windows are interchangeable: loop over the fewer.
        source, stride, dilation = source.swapaxes(0, 1), dilation, stride
    taps, windows = source.shape[:2]
    line = Window.of([taps], [stride], [dilation], [window.start_padding[axis]])
    for tap in range(taps):
        hits = line.hits(0, tap, range(size), range(windows))
        if hits is not None:
            elements, source_windows = hits
            target[elements] += source[tap, source_windows]
    return result
