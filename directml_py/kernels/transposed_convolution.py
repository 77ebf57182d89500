"""Transposed convolution as forward ones: output elements a stride apart use the same subset of filter taps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np

from . import depthwise_pool
from .convolution import convolution
from .decisions import Declined
from .launch import launch_in_order
from .move import move
from .native_arrays import Array, Run
from .post_ops import IDENTITY, Activation
from .reorder import lie_together
from .windows import Sizes, Window

# The size of a part that is computed at once, for non-contiguous output elements.
PART_BYTES = 1 << 22

UNREACHED = "some elements of the output are reached by no element of the filter, but have a bias"


class Phase(NamedTuple):
    """Output elements along one dimension that the same ``length`` ``taps`` of the filter reach: those from ``first``
    on, a stride apart. The first of them reads element ``offset`` of the input with the first tap, and elements
    ``dilation`` apart with the following ones."""

    first: int
    taps: slice
    length: int
    offset: int
    dilation: int


def phases_of(window: Window, axis: int) -> Iterator[Phase]:
    """The phases. Their taps are in descending order, as positions ascend with the taps in a forward convolution."""
    size, stride, dilation = window.size[axis], window.strides[axis], window.dilations[axis]
    padding, common = window.start_padding[axis], gcd(stride, dilation)
    for first in range(stride):
        hits = [tap for tap in range(size) if (first + padding - tap * dilation) % stride == 0]
        if not hits:
            yield Phase(first, slice(0), 0, 0, 1)
            continue
        tap_stride, last = stride // common, hits[-1]
        offset = (first + padding - last * dilation) // stride
        # The first hit lies before the first step: later ones reach it.
        yield Phase(first, slice(last, None, -tap_stride), len(hits), offset, dilation // common)


def scratch_of(filters: Sizes, outputs: Sizes, window: Window) -> int:
    """The most bytes of temporary memory that ``convolution_back`` needs."""
    part = 0 if max(window.strides) == 1 else max(PART_BYTES, 4 * plane_of(outputs, window))
    return 4 * (prod(filters) + prod(window.strides)) + part


def plane_of(outputs: Sizes, window: Window) -> int:
    """The most elements per channel in one phase."""
    return prod(-(-size // stride) for size, stride in zip(outputs[2:], window.strides))


def convolution_back(
    x: Array,
    filters: Array,
    bias: Array | None,
    output: Array,
    window: Window,
    groups: int,
    scratch: Array,
    *,
    is_flipped: bool = False,
    **options: Any,
) -> Run | Declined:
    """The call that stores the result of ``im2col.convolve_back``, as ``convolution.convolution`` does for the forward
    direction.

    Output elements that no tap reaches are the activation of 0, as the padding is; there must be none if there is a
    bias. Filters must be finite when the call runs: the forward kernel multiplies them by zero padding.
    """
    activation: Activation = options.get("activation", IDENTITY)
    # The bounds of activations other than CLIP are 0.
    of_zero = max(activation.low, min(0.0, activation.high))
    inner, whole = window.without_output_padding(output.shape[2:]), output
    within: Any = (..., *map(slice, inner))
    output = whole[within]
    phases = [list(phases_of(window, axis)) for axis in range(len(window.size))]
    if bias is not None and any(phase.length == 0 for axis in phases for phase in axis):
        return Declined("conv", UNREACHED)
    by_group = filters.reshape(groups, -1, *filters.shape[1:]).swapaxes(1, 2)
    if is_flipped:
        by_group = np.flip(by_group, tuple(range(3, by_group.ndim)))
    packing: list[tuple[Array, Array]] = []
    runs: list[Run] = []
    used = 0
    memory = scratch[4 * (prod(filters.shape) + prod(window.strides)) :].view(output.dtype)
    for numbers in np.ndindex(*window.strides):
        phase_of_axes = [phase[number] for phase, number in zip(phases, numbers)]
        every: Any = (
            ...,
            *(slice(axis_phase.first, None, by) for axis_phase, by in zip(phase_of_axes, window.strides)),
        )
        chosen: Any = (..., *(axis_phase.taps for axis_phase in phase_of_axes))
        inside: Any = (..., *(slice(max(0, axis_phase.offset), None) for axis_phase in phase_of_axes))
        target, taps, source = output[every], by_group[chosen], x[inside]
        if target.size == 0:
            continue
        if 0 in (taps.size, source.size):
            if bias is not None:
                return Declined("conv", UNREACHED)
            packing.append((target, np.broadcast_to(output.dtype.type(of_zero), target.shape)))
            continue
        packed = scratch[used : used + filters.itemsize * taps.size].view(filters.dtype).reshape(taps.shape)
        used += 4 * taps.size
        packing.append((packed, taps))
        for task in pieces(source, packed, bias, target, window):
            run = forward(*task, memory, phase_of_axes, **options)
            if not run:
                return run
            runs.append(run)
    if any(window.output_padding):
        runs.append(partial(fill_padding, whole, inner, of_zero))
    return launch_in_order([move(packing), *runs])


def fill_padding(output: Array, inner: Sizes, value: float) -> None:
    """Store ``value`` in the output elements beyond ``inner``."""
    for axis, size in enumerate(inner, 2):
        beyond = (slice(None),) * axis + (slice(size, None),)
        output[beyond] = value


def pieces(
    x: Array, filters: Array, bias: Array | None, output: Array, window: Window
) -> Iterator[tuple[Array, Array, Array | None, Array]]:
    """Parts of a phase that fit in temporary memory: some groups, or some features of one. ``filters`` are {G, M / G, C
    / G, ...}."""
    groups, features, channels = filters.shape[:3]
    if max(window.strides) == 1:
        yield x, filters, bias, output
        return
    most = max(1, PART_BYTES // (4 * prod(output.shape[2:])))
    groups_at_once, features_at_once = max(1, most // features), min(most, features)
    for image in range(len(x)):
        for group in range(0, groups, groups_at_once):
            for first in range(0, features, features_at_once):
                part = filters[group : group + groups_at_once, first : first + features_at_once]
                begin = group * features + first
                out = slice(begin, begin + part.shape[0] * part.shape[1])
                group_channels = slice(group * channels, (group + part.shape[0]) * channels)
                yield (
                    x[image : image + 1, group_channels],
                    part,
                    None if bias is None else bias[:, out],
                    output[image : image + 1, out],
                )


def forward(
    x: Array,
    filters: Array,
    bias: Array | None,
    output: Array,
    memory: Array,
    phase_of_axes: Sequence[Phase],
    **options: Any,
) -> Run | Declined:
    """A phase of the output, or a part of it, computed in ``memory`` if its elements are not contiguous."""
    window = Window.of(
        [phase.length for phase in phase_of_axes],
        dilations=[phase.dilation for phase in phase_of_axes],
        start_padding=[max(0, -phase.offset) for phase in phase_of_axes],
    )
    # A view: from several groups, all features are taken.
    flat = filters.reshape(-1, *filters.shape[2:])
    is_apart = not lie_together(output, 2)
    if is_apart and memory.size < output.size:
        return Declined("conv", "a part of the output is not contiguous, and there is no scratch for it")
    part = memory[: output.size].reshape(output.shape) if is_apart else output
    task = (x, flat, bias, part, window, len(filters))
    run = depthwise_pool.products(*task, **options) or convolution(*task, **options)
    return launch_in_order([run, move([(output, part)])]) if run and is_apart else run
