"""Convolutions of image networks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml

from .benchmark_case import BenchmarkCase, Contest, filled
from .operation import Operation, contest
from .peers import torch


class ConvolutionLayer(NamedTuple):
    """A convolution of square images: sizes, stride and padding. ``padding`` is that of each side."""

    name: str
    batch: int
    inputs: int
    outputs: int
    size: int
    window: int
    stride: int = 1
    padding: int = 0
    groups: int = 1
    dimensions: int = 2

    @property
    def limit(self) -> tuple[str, int] | None:
        """A matrix product of as many operations; none for grouped convolutions."""
        edge = (self.size + 2 * self.padding - self.window) // self.stride + 1
        products = self.batch * self.inputs * self.outputs * (edge * self.window) ** self.dimensions
        return ("sgemm", 2 * products) if self.groups == 1 else None


# Layers of ResNet-50, MobileNet-v2 (with depthwise ones), SqueezeNet, and two unusual ones.
LAYERS = (
    ConvolutionLayer("ResNet-50 first", 1, 3, 64, 224, 7, 2, 3),
    ConvolutionLayer("ResNet-50 3x3, 56", 1, 64, 64, 56, 3, 1, 1),
    ConvolutionLayer("ResNet-50 1x1, 56", 1, 64, 256, 56, 1),
    ConvolutionLayer("ResNet-50 1x1 back, 56", 1, 256, 64, 56, 1),
    ConvolutionLayer("ResNet-50 3x3, 28", 1, 128, 128, 28, 3, 1, 1),
    ConvolutionLayer("ResNet-50 3x3 stride 2, 28", 1, 256, 256, 28, 3, 2, 1),
    ConvolutionLayer("ResNet-50 3x3, 14", 1, 256, 256, 14, 3, 1, 1),
    ConvolutionLayer("ResNet-50 1x1, 14", 1, 256, 1024, 14, 1),
    ConvolutionLayer("ResNet-50 3x3, 7", 1, 512, 512, 7, 3, 1, 1),
    ConvolutionLayer("ResNet-50 1x1, 7", 1, 2048, 512, 7, 1),
    ConvolutionLayer("MobileNet-v2 first", 1, 3, 32, 224, 3, 2, 1),
    ConvolutionLayer("MobileNet-v2 depthwise, 112", 1, 32, 32, 112, 3, 1, 1, 32),
    ConvolutionLayer("MobileNet-v2 depthwise stride 2, 112", 1, 96, 96, 112, 3, 2, 1, 96),
    ConvolutionLayer("MobileNet-v2 expand, 56", 1, 24, 144, 56, 1),
    ConvolutionLayer("MobileNet-v2 project, 56", 1, 144, 24, 56, 1),
    ConvolutionLayer("MobileNet-v2 depthwise, 56", 1, 144, 144, 56, 3, 1, 1, 144),
    ConvolutionLayer("MobileNet-v2 depthwise stride 2, 56", 1, 144, 144, 56, 3, 2, 1, 144),
    ConvolutionLayer("MobileNet-v2 depthwise, 28", 1, 192, 192, 28, 3, 1, 1, 192),
    ConvolutionLayer("MobileNet-v2 depthwise stride 2, 28", 1, 192, 192, 28, 3, 2, 1, 192),
    ConvolutionLayer("MobileNet-v2 depthwise, 14", 1, 576, 576, 14, 3, 1, 1, 576),
    ConvolutionLayer("MobileNet-v2 depthwise stride 2, 14", 1, 576, 576, 14, 3, 2, 1, 576),
    ConvolutionLayer("MobileNet-v2 depthwise, 7", 1, 960, 960, 7, 3, 1, 1, 960),
    ConvolutionLayer("MobileNet-v2 last, 7", 1, 320, 1280, 7, 1),
    ConvolutionLayer("SqueezeNet first", 1, 3, 64, 224, 3, 2),
    ConvolutionLayer("SqueezeNet squeeze, 55", 1, 64, 16, 55, 1),
    ConvolutionLayer("SqueezeNet expand, 55", 1, 16, 64, 55, 3, 1, 1),
    ConvolutionLayer("SqueezeNet classifier, 13", 1, 512, 1000, 13, 1),
    ConvolutionLayer("9x9 on 720", 1, 3, 32, 720, 9, 1, 4),
    ConvolutionLayer("3-D 3x3x3", 1, 16, 32, 28, 3, 1, 1, dimensions=3),
)


# Layers that are measured in other data types too.
TYPICAL = ("ResNet-50 3x3, 56", "ResNet-50 1x1, 14", "ResNet-50 3x3, 7", "SqueezeNet expand, 55")
DEPTHWISE = tuple(f"MobileNet-v2 depthwise, {size}" for size in (112, 56, 14, 7))


def cases() -> Iterator[BenchmarkCase]:
    for layer in LAYERS:
        name = f"{layer.name}, float32"
        yield BenchmarkCase("CONVOLUTION", name, partial(convolution, layer, "float32", False), layer.limit)
    for layer in (candidate for candidate in LAYERS if candidate.name in TYPICAL):
        yield BenchmarkCase(
            "CONVOLUTION", f"{layer.name}, float16", partial(convolution, layer, "float16", False)
        )
        yield BenchmarkCase("CONVOLUTION_INTEGER", f"{layer.name}, int8", partial(integer_convolution, layer))
        yield BenchmarkCase("QUANTIZED_LINEAR_CONVOLUTION", f"{layer.name}, int8", partial(quantized, layer))
    for layer in (candidate for candidate in LAYERS if candidate.name in DEPTHWISE):
        yield BenchmarkCase("QUANTIZED_LINEAR_CONVOLUTION", f"{layer.name}, int8", partial(quantized, layer))
        yield BenchmarkCase(
            "CONVOLUTION", f"{layer.name}, float16", partial(convolution, layer, "float16", False)
        )
    yield BenchmarkCase(
        "CONVOLUTION", "backward 64 to 32, 180, float32", partial(convolution, TRANSPOSED, "float32", True)
    )


TRANSPOSED = ConvolutionLayer("backward", 1, 64, 32, 180, 3, 2, 1)


class Movement(NamedTuple):
    """A layer's window: for each dimension the stride, the padding on either side, and the dilation 1."""

    strides: list[int]
    padding: list[int]
    every: list[int]

    @classmethod
    def of(cls, layer: ConvolutionLayer) -> Movement:
        return cls(*([value] * layer.dimensions for value in (layer.stride, layer.padding, 1)))

    def attributes(self, layer: ConvolutionLayer) -> dict[str, Any]:
        return {
            "strides": self.strides,
            "dilations": self.every,
            "start_padding": self.padding,
            "end_padding": self.padding,
            "group_count": layer.groups,
        }

    def onnx(self, layer: ConvolutionLayer) -> dict[str, Any]:
        return {"strides": self.strides, "pads": self.padding * 2, "group": layer.groups}


def operands(
    layer: ConvolutionLayer, dtype: str, filter_type: str, backward: bool = False
) -> tuple[Any, Any]:
    """The input and the filters."""
    channels = (layer.inputs, layer.outputs) if backward else (layer.outputs, layer.inputs // layer.groups)
    sizes = (layer.batch, layer.inputs, *(layer.size,) * layer.dimensions)
    return filled(dtype, sizes), filled(filter_type, (*channels, *(layer.window,) * layer.dimensions))


def convolution(layer: ConvolutionLayer, dtype: str, backward: bool, threads: int) -> Contest:
    x, weights = operands(layer, dtype, dtype, backward)
    movement, bias = Movement.of(layer), filled(dtype, (layer.outputs,))
    strides, padding, every = movement
    name = f"conv{'_transpose' if backward else ''}{layer.dimensions}d"

    def pytorch(x: Any, weights: Any, bias: Any, out: Any) -> None:
        getattr(torch.nn.functional, name)(x, weights, bias, strides, padding, groups=layer.groups)

    operation = Operation(
        "convolution",
        {
            **movement.attributes(layer),
            "mode": dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
            "direction": dml.DML_CONVOLUTION_DIRECTION_BACKWARD
            if backward
            else dml.DML_CONVOLUTION_DIRECTION_FORWARD,
            "output_padding": [0] * layer.dimensions,
        },
        None,
        pytorch,
        ("ConvTranspose" if backward else "Conv", movement.onnx(layer)),
    )
    spread = bias.reshape(1, -1, *every)
    return contest(operation, [x, weights, spread], threads, peer_inputs=[x, weights, bias])


def integer_convolution(layer: ConvolutionLayer, threads: int) -> Contest:
    x, weights = operands(layer, "uint8", "int8")
    movement, zero = Movement.of(layer), np.full((1,) * x.ndim, 120, np.uint8)
    operation = Operation(
        "convolution_integer",
        movement.attributes(layer),
        onnx=("ConvInteger", movement.onnx(layer)),
    )
    others = {"input": x, "input_zero_point": zero, "filter": weights}
    return contest(operation, [], threads, [x, weights, zero.reshape(())], others)


def quantized(layer: ConvolutionLayer, threads: int) -> Contest:
    """A quantized convolution with per-channel scales."""
    x, weights = operands(layer, "uint8", "int8")
    movement, one = Movement.of(layer), np.ones((1,) * x.ndim, np.float32)
    zero, scales = np.full(one.shape, 120, np.uint8), abs(filled("float32", (layer.outputs,))) / 100
    operation = Operation(
        "quantized_linear_convolution",
        movement.attributes(layer),
        onnx=("QLinearConv", movement.onnx(layer)),
    )
    bias, output = filled("int32", (layer.outputs,)), np.float32(30)
    spread = (1, -1, *movement.every)
    others = {
        "input": x,
        "input_scale": one,
        "input_zero_point": zero,
        "filter": weights,
        "filter_scale": scales.reshape(spread),
        "bias": bias.reshape(spread),
        "output_scale": one * output,
        "output_zero_point": zero,
    }
    scalars = [part.reshape(()) for part in (one, zero, one * output, zero)]
    signed = np.zeros(layer.outputs, np.int8)
    onnx_inputs = [x, *scalars[:2], weights, scales, signed, *scalars[2:], bias]
    return contest(operation, [], threads, onnx_inputs, others)
