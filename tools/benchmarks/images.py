"""Image resizing: resampling and regions of interest."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import directml_py as dml

from .benchmark_case import BenchmarkCase, Contest, filled
from .operation import Operation, contest
from .peers import torch

# The counts of regions and channels, and the sizes of the image and of a sampled region.
REGIONS, CHANNELS, SIZE, POOLED = 128, 256, 64, 7


def cases() -> Iterator[BenchmarkCase]:
    yield BenchmarkCase("RESAMPLE", "linear, twice, 256, float32", partial(resample, "linear"))
    yield BenchmarkCase("RESAMPLE", "nearest, twice, 256, float32", partial(resample, "nearest"))
    yield BenchmarkCase("ROI_ALIGN", "128 regions, 7x7 of 64, float32", roi_align)
    yield BenchmarkCase("ROI_POOLING", "128 regions, 7x7 of 64, float32", partial(roi_pooling, "float32"))
    yield BenchmarkCase("ROI_POOLING", "128 regions, 7x7 of 64, float16", partial(roi_pooling, "float16"))


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


def image_and_regions() -> tuple[Any, Any]:
    """An image and regions of all sizes, at all positions, by two corners each."""
    corners = np.random.default_rng(3).uniform(0, SIZE, (REGIONS, 2, 2)).astype(np.float32)
    return filled("float32", (1, CHANNELS, SIZE, SIZE)), np.sort(corners, 1).reshape(REGIONS, 4)


def roi_align(threads: int) -> Contest:
    (x, regions), batches = image_and_regions(), np.zeros(REGIONS, np.uint32)
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
            "output_sizes": [REGIONS, CHANNELS, POOLED, POOLED],
        },
        None,
        None,
        ("RoiAlign", {"output_height": POOLED, "output_width": POOLED, "sampling_ratio": 2}),
    )
    return contest(
        operation, [x, regions, batches], threads, peer_inputs=[x, regions, batches.astype(np.int64)]
    )


def roi_pooling(dtype: str, threads: int) -> Contest:
    x, corners = image_and_regions()
    regions = np.pad(corners, [(0, 0), (1, 0)])
    x, regions = x.astype(dtype), regions.astype(dtype)
    operation = Operation(
        "roi_pooling",
        {"spatial_scale": 1.0, "pooled_size": dml.DML_SIZE_2D(POOLED, POOLED)},
        onnx=("MaxRoiPool", {"pooled_shape": [POOLED, POOLED], "spatial_scale": 1.0}),
    )
    return contest(operation, [x, regions.reshape(1, 1, *regions.shape)], threads, peer_inputs=[x, regions])
