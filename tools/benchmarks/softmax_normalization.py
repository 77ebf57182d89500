"""Softmax and normalization over rows, channels or neighbourhoods."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .benchmark_case import SIZES, BenchmarkCase, Contest, filled, matrix
from .operation import Operation, contest
from .peers import torch

SIZE_NAME = "64 MiB"
SIZE = SIZES[SIZE_NAME]
IMAGES = (16, 64, 128, 128)
EPSILON = 1e-5
# Rows of a head of attention, columns of a matrix, and classes of the pixels of images.
SOFTMAXES = {
    "rows of 64": ((262144, 64), 1),
    "leading": ((4096, 4096), 0),
    "channels": ((16, 64, 128, 128), 1),
}
LRN = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0}


def cases() -> Iterator[BenchmarkCase]:
    for dtype in ("float32", "float16"):
        name = f"trailing, {dtype}, {SIZE_NAME}"
        yield BenchmarkCase("SOFTMAX", name, partial(softmax, "softmax", dtype, SIZE))
        yield BenchmarkCase("LOG_SOFTMAX", name, partial(softmax, "log_softmax", dtype, SIZE))
        yield BenchmarkCase("MVN2 as layer norm", name, partial(layer_norm, dtype))
        yield BenchmarkCase(
            "BATCH_NORMALIZATION", f"channels, {dtype}, {SIZE_NAME}", partial(batch_norm, dtype)
        )
    for name, (sizes, axis) in SOFTMAXES.items():
        for function in ("softmax", "log_softmax"):
            make = partial(softmax_along, function, "float32", sizes, axis)
            yield BenchmarkCase(function.upper(), f"{name}, float32, {SIZE_NAME}", make)
    yield BenchmarkCase("LRN", f"across channels, float32, {SIZE_NAME}", local_response)


def softmax(function: str, dtype: str, size: int, threads: int) -> Contest:
    return softmax_along(function, dtype, matrix(dtype, size), 1, threads)


def softmax_along(function: str, dtype: str, sizes: tuple[int, ...], axis: int, threads: int) -> Contest:
    operation = Operation(
        f"activation_{function}1",
        {"axes": [axis]},
        None,
        lambda x, out: getattr(torch.ops.aten, f"_{function}").out(x, axis, False, out=out),
        ("Softmax" if function == "softmax" else "LogSoftmax", {"axis": axis}),
    )
    return contest(operation, [filled(dtype, sizes)], threads)


def layer_norm(dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, SIZE))
    row = x.shape[1:]
    scale, bias = filled(dtype, row), filled(dtype, row)
    spread = [np.broadcast_to(array, (1, *row)) for array in (scale, bias)]
    operation = Operation(
        "mean_variance_normalization2",
        {"axes": [1], "use_mean": True, "use_variance": True, "epsilon": EPSILON},
        None,
        # PyTorch has no variant with a preallocated output only for the result.
        lambda x, scale, bias, out: torch.nn.functional.layer_norm(x, row, scale, bias, EPSILON),
        ("LayerNormalization", {"axis": 1, "epsilon": EPSILON}),
    )
    return contest(operation, [x, *spread], threads, peer_inputs=[x, scale, bias])


def batch_norm(dtype: str, threads: int) -> Contest:
    x = filled(dtype, IMAGES if dtype == "float32" else (2 * IMAGES[0], *IMAGES[1:]))
    channels = [filled(dtype, (IMAGES[1],)) for _ in range(4)]
    channels[1] = np.abs(channels[1])
    mean, variance, scale, bias = channels
    operation = Operation(
        "batch_normalization",
        {"spatial": True, "epsilon": EPSILON},
        None,
        lambda x, scale, bias, mean, variance, out: torch.nn.functional.batch_norm(
            x, mean, variance, scale, bias, False, 0.0, EPSILON
        ),
        ("BatchNormalization", {"epsilon": EPSILON}),
    )
    spread = [array.reshape(1, -1, 1, 1) for array in channels]
    return contest(operation, [x, *spread], threads, peer_inputs=[x, scale, bias, mean, variance])


def local_response(threads: int) -> Contest:
    size = 5
    x = filled("float32", IMAGES)

    def pytorch(x: Any, out: Any) -> None:
        torch.nn.functional.local_response_norm(x, size, LRN["alpha"], LRN["beta"], LRN["bias"])

    operation = Operation(
        "local_response_normalization",
        {"cross_channel": True, "local_size": size, **LRN},
        None,
        pytorch,
        ("LRN", {"size": size, **LRN}),
    )
    return contest(operation, [x], threads)
