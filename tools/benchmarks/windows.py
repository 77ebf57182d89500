"""Windows that slide over images, and images brought to another size: pools, resampling, regions of interest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml

from .cases import Case, Contest, filled
from .operation import Operation, contest
from .peers import torch


class Pool(NamedTuple):
    """A square window over square images; ``padding`` is that of each side."""

    name: str
    channels: int
    size: int
    window: int
    stride: int
    padding: int = 0


POOLS = (
    Pool("3x3 stride 2, 112", 64, 112, 3, 2, 1),
    Pool("2x2, 112", 64, 112, 2, 2),
    Pool("3x3, 56", 64, 56, 3, 1, 1),
    Pool("global, 7", 1280, 7, 7, 1),
    Pool("global, 56", 256, 56, 56, 1),
)


def cases() -> Iterator[Case]:
    for pool in POOLS:
        yield Case("MAX_POOLING", f"{pool.name}, float32", partial(max_pool, pool))
        yield Case("AVERAGE_POOLING", f"{pool.name}, float32", partial(average_pool, pool))
    yield Case("MAX_POOLING", "3x3 stride 2, 112, with indices", partial(max_pool, POOLS[0], indices=True))
    yield Case("RESAMPLE", "linear, twice, 256, float32", partial(resample, "linear"))
    yield Case("RESAMPLE", "nearest, twice, 256, float32", partial(resample, "nearest"))
    yield Case("ROI_ALIGN", "128 regions, 7x7 of 64, float32", roi_align)


def max_pool(pool: Pool, threads: int, *, indices: bool = False) -> Contest:
    window, stride, padding = ([one] * 2 for one in (pool.window, pool.stride, pool.padding))
    attributes = {"kernel_shape": window, "strides": stride, "pads": padding * 2}
    operation = Operation(
        "max_pooling2",
        {
            "window_size": window,
            "strides": stride,
            "dilations": [1, 1],
            "start_padding": padding,
            "end_padding": padding,
            "output_indices": indices,
        },
        None,
        lambda x, out: torch.nn.functional.max_pool2d(x, *pool[3:], return_indices=indices),
        None if indices else ("MaxPool", attributes),
    )
    return contest(operation, [images(pool)], threads)


def average_pool(pool: Pool, threads: int) -> Contest:
    window, stride, padding = ([one] * 2 for one in (pool.window, pool.stride, pool.padding))
    operation = Operation(
        "average_pooling",
        {
            "window_size": window,
            "strides": stride,
            "start_padding": padding,
            "end_padding": padding,
            "include_padding": False,
        },
        None,
        lambda x, out: torch.nn.functional.avg_pool2d(x, *pool[3:], count_include_pad=False),
        ("AveragePool", {"kernel_shape": window, "strides": stride, "pads": padding * 2}),
    )
    return contest(operation, [images(pool)], threads)


def images(pool: Pool) -> Any:
    return filled("float32", (1, pool.channels, pool.size, pool.size))


def resample(mode: str, threads: int) -> Contest:
    name = {"linear": "bilinear", "nearest": "nearest"}[mode]
    operation = Operation(
        "resample1",
        {
            "interpolation_mode": {
                "linear": dml.DML_INTERPOLATION_MODE_LINEAR,
                "nearest": dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR,
            }[mode],
            "scales": [1, 1, 2, 2],
            "input_pixel_offsets": [0.5] * 4,
            "output_pixel_offsets": [-0.5] * 4,
            "output_sizes": [1, 32, 512, 512],
        },
        None,
        lambda x, out: torch.nn.functional.interpolate(x, scale_factor=2, mode=name),
    )
    return contest(operation, [filled("float32", (1, 32, 256, 256))], threads)


def roi_align(threads: int) -> Contest:
    """Regions of all sizes, on all sides of the image."""
    number, steps, size = 128, 7, 64
    x = filled("float32", (1, 256, size, size))
    corners = np.random.default_rng(3).uniform(0, size, (number, 2, 2)).astype(np.float32)
    regions, batches = np.sort(corners, 1).reshape(number, 4), np.zeros(number, np.uint32)
    operation = Operation(
        "roi_align1",
        {
            "reduction_function": dml.DML_REDUCE_FUNCTION_AVERAGE,
            "interpolation_mode": dml.DML_INTERPOLATION_MODE_LINEAR,
            "spatial_scale_x": 1.0,
            "spatial_scale_y": 1.0,
            "input_pixel_offset": 0.5,
            "output_pixel_offset": -0.5,
            "out_of_bounds_input_value": 0.0,
            "minimum_samples_per_output": 2,
            "maximum_samples_per_output": 2,
            "align_regions_to_corners": False,
            "output_sizes": [number, 256, steps, steps],
        },
        None,
        None,
        ("RoiAlign", {"output_height": steps, "output_width": steps, "sampling_ratio": 2}),
    )
    return contest(operation, [x, regions, batches], threads, seen=[x, regions, batches.astype(np.int64)])
