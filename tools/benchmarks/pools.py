"""Pooling of all kinds, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .benchmark_case import BenchmarkCase, Contest, filled
from .operation import Operation, contest
from .peers import torch


class PoolShape(NamedTuple):
    """A square window over square images; ``padding`` is that of each side."""

    name: str
    channels: int
    size: int
    window: int
    stride: int
    padding: int = 0

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that all pools have."""
        padding = [self.padding] * 2
        return {
            "window_size": [self.window] * 2,
            "strides": [self.stride] * 2,
            "start_padding": padding,
            "end_padding": padding,
        }

    @property
    def onnx(self) -> dict[str, Any]:
        return {
            "kernel_shape": [self.window] * 2,
            "strides": [self.stride] * 2,
            "pads": [self.padding] * 4,
        }

    @property
    def output_size(self) -> int:
        return (self.size + 2 * self.padding - self.window) // self.stride + 1

    @property
    def geometry(self) -> tuple[int, int, int]:
        """The window, stride and padding in the order of PyTorch's functions."""
        return self.window, self.stride, self.padding

    def images(self, dtype: str = "float32") -> Any:
        return filled(dtype, (1, self.channels, self.size, self.size))

    def gradients(self) -> Any:
        return filled("float32", (1, self.channels, self.output_size, self.output_size))


POOLS = (
    PoolShape("3x3 stride 2, 112", 64, 112, 3, 2, 1),
    PoolShape("2x2, 112", 64, 112, 2, 2),
    PoolShape("3x3, 56", 64, 56, 3, 1, 1),
    PoolShape("global, 7", 1280, 7, 7, 1),
    PoolShape("global, 56", 256, 56, 56, 1),
)
STRIDED, _, DENSE, SMALL, _ = POOLS


def cases() -> Iterator[BenchmarkCase]:
    for pool in POOLS:
        yield BenchmarkCase("MAX_POOLING", f"{pool.name}, float32", partial(max_pool, pool))
        yield BenchmarkCase("AVERAGE_POOLING", f"{pool.name}, float32", partial(average_pool, pool))
    yield BenchmarkCase(
        "MAX_POOLING", f"{STRIDED.name}, with indices", partial(max_pool, STRIDED, indices=True)
    )
    for pool in POOLS[:3]:
        yield BenchmarkCase("LP_POOLING", f"{pool.name}, P 2, float32", partial(norm_pool, pool, 2))
        yield BenchmarkCase("AVERAGE_POOLING_GRAD", f"{pool.name}, float32", partial(average_gradient, pool))
        yield BenchmarkCase("MAX_POOLING_GRAD", f"{pool.name}, float32", partial(max_gradient, pool))
    yield BenchmarkCase("LP_POOLING", f"{STRIDED.name}, P 3, float32", partial(norm_pool, STRIDED, 3))
    for pool in (STRIDED, DENSE, SMALL):
        for dtype in ("float16", "uint8", "int8"):
            yield BenchmarkCase("MAX_POOLING", f"{pool.name}, {dtype}", partial(max_pool, pool, dtype=dtype))
        yield BenchmarkCase(
            "AVERAGE_POOLING", f"{pool.name}, float16", partial(average_pool, pool, dtype="float16")
        )
        yield BenchmarkCase(
            "QUANTIZED_LINEAR_AVERAGE_POOLING",
            f"{pool.name}, uint8",
            partial(quantized_average_pool, pool),
        )


def max_pool(pool: PoolShape, threads: int, *, indices: bool = False, dtype: str = "float32") -> Contest:
    operation = Operation(
        "max_pooling2",
        {**pool.attributes, "dilations": [1, 1], "output_indices": indices},
        None,
        lambda x, out: torch.nn.functional.max_pool2d(x, *pool.geometry, return_indices=indices),
        None if indices else ("MaxPool", pool.onnx),
    )
    return contest(operation, [pool.images(dtype)], threads)


def average_pool(pool: PoolShape, threads: int, *, dtype: str = "float32") -> Contest:
    operation = Operation(
        "average_pooling",
        {**pool.attributes, "include_padding": False},
        None,
        lambda x, out: torch.nn.functional.avg_pool2d(x, *pool.geometry, count_include_pad=False),
        ("AveragePool", pool.onnx),
    )
    return contest(operation, [pool.images(dtype)], threads)


def norm_pool(pool: PoolShape, order: int, threads: int) -> Contest:
    """LP pooling; PyTorch's has no padding."""
    operation = Operation(
        "lp_pooling",
        {**pool.attributes, "p": order},
        None,
        None if pool.padding else lambda x, out: torch.nn.functional.lp_pool2d(x, order, *pool[3:5]),
        ("LpPool", {**pool.onnx, "p": order}),
    )
    return contest(operation, [pool.images()], threads)


def average_gradient(pool: PoolShape, threads: int) -> Contest:
    x = pool.images()

    def pytorch(gradients: Any, out: Any) -> None:
        window, strides, padding = ([value] * 2 for value in pool.geometry)
        torch.ops.aten.avg_pool2d_backward.grad_input(
            gradients, out, window, strides, padding, False, False, None, grad_input=out
        )

    attributes = {**pool.attributes, "include_padding": False, "output_sizes": x.shape}
    return contest(Operation("average_pooling_grad", attributes, None, pytorch), [pool.gradients()], threads)


def max_gradient(pool: PoolShape, threads: int) -> Contest:
    """Max pooling gradient. PyTorch's backward pass takes the indices of the maxima; its forward pass computes them."""

    def pytorch(x: Any, gradients: Any, out: Any) -> None:
        window, strides, padding = ([value] * 2 for value in pool.geometry)
        _, indices = torch.nn.functional.max_pool2d(x, window, strides, padding, return_indices=True)
        torch.ops.aten.max_pool2d_with_indices_backward.grad_input(
            gradients, x, window, strides, padding, [1, 1], False, indices, grad_input=out
        )

    attributes = {**pool.attributes, "dilations": [1, 1]}
    operation = Operation("max_pooling_grad", attributes, None, pytorch)
    return contest(operation, [pool.images(), pool.gradients()], threads)


def quantized_average_pool(pool: PoolShape, threads: int) -> Contest:
    scale, zero = np.full((1, 1, 1, 1), 0.05, np.float32), np.full((1, 1, 1, 1), 120, np.uint8)
    operation = Operation(
        "quantized_linear_average_pooling",
        {**pool.attributes, "dilations": [1, 1], "include_padding": False},
        onnx=("com.microsoft:QLinearAveragePool", pool.onnx),
    )
    x = pool.images("uint8")
    ours = {
        "input": x,
        "input_scale": scale,
        "input_zero_point": zero,
        "output_scale": scale,
        "output_zero_point": zero,
    }
    single = [array.reshape(()) for array in (scale, zero)]
    return contest(operation, [], threads, [x, *single, *single], ours)
