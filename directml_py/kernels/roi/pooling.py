"""Average and max pooling of regions of interest in the native kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..csr import Taps
from ..decisions import OVERLAPPING, UNREADABLE, Declined
from ..launch import NativeRun
from ..native_arrays import Array, address, apart, readable
from ..resample import Axis, axis_of, task_of, unsupported
from .sample_points import BinSamples


def takes_regions(x: Array, output: Array) -> bool | Declined:
    """Whether ``average_regions`` and ``largest_of_regions`` take these arrays."""
    reason = unsupported(x, output)
    if reason is None and not readable(x, output):
        reason = UNREADABLE
    if reason is None and not apart(output, [x]):
        reason = OVERLAPPING
    return True if reason is None else Declined("resample", reason)


def average_regions(
    x: Array, batches: Array, rows: BinSamples, columns: BinSamples, output: Array, outside: float
) -> None:
    """Store the means of the samples of regions of ``x``; samples outside the image have the value ``outside``."""
    run_regions(
        "SUM", x, batches, [counted(*samples_of(axis), axis) for axis in (rows, columns)], output, outside
    )


def largest_of_regions(
    x: Array, batches: Array, rows: BinSamples, columns: BinSamples, output: Array
) -> None:
    """Store the maxima of regions of ``x``, whose bins are either inside the image, or outside and give 0."""
    run_regions("MAXIMUM", x, batches, [samples_of(axis) for axis in (rows, columns)], output)


def run_regions(
    function: str, x: Array, batches: Array, axes: Sequence[Axis], output: Array, outside: float = 0.0
) -> None:
    numbers = np.ascontiguousarray(batches, np.int64)
    task, memory = task_of(function, x, output, axes)
    task.batches, task.outside = address(numbers), outside
    NativeRun("dml_resample_run", task, keepalive=(memory, numbers))()


def samples_of(samples: BinSamples) -> Axis:
    """The elements read at the samples of each bin of each region, weighted with the number of samples that read
    them."""
    points, entries = samples.points, samples.counts.reshape(-1)
    owners = np.repeat(np.arange(len(entries)), entries)
    shares = np.stack([1 - points.weight, points.weight], 1)
    weights = (shares * (points.times * points.is_inside)[:, None]).reshape(-1)
    # Elements of weight 0 are not read: 0 times infinity would be NaN.
    used = weights > 0
    indices = np.stack([points.low, points.low + 1], 1).reshape(-1)[used]
    starts = np.zeros(len(entries) + 1, np.int64)
    np.cumsum(np.bincount(np.repeat(owners, 2)[used], minlength=len(entries)), out=starts[1:])
    axis, memory = axis_of(Taps(starts, indices, weights[used], 0), samples.counts.shape[1])
    return {**axis, "is_per_region": 1}, memory


def counted(axis: dict[str, Any], memory: object, samples: BinSamples) -> Axis:
    """The same, with the number of samples of each bin, and how many of them are inside."""
    points, entries = samples.points, samples.counts.reshape(-1)
    first = np.cumsum(entries) - entries
    counts = np.add.reduceat(points.times.astype(np.float64), first)
    inside = np.add.reduceat(np.where(points.is_inside, points.times, 0).astype(np.float64), first)
    return {**axis, "counts": address(counts), "inside": address(inside)}, (memory, counts, inside)
