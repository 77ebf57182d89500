"""Descriptions of whole networks: those of Microsoft's DirectML samples, with random weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

Array = Any
EPSILON = 1e-5


class NetworkLayer(NamedTuple):
    """One layer; ``inputs`` are the positions of the earlier outputs that it reads, the image being 0.

    ``kind`` is the name of a ``Graph`` function in capitals. ``activation`` is fused: ``RELU``, ``TANH`` or none.
    """

    kind: str
    inputs: tuple[int, ...]
    weights: tuple[Array, ...]
    attributes: Mapping[str, Any]
    activation: str


class Network:
    """Layers in execution order; methods add a layer and return the position of its output.

    ``sizes`` are those of the image, whose pixels are less than ``white``.
    """

    def __init__(self, *sizes: int, white: float = 1.0) -> None:
        self.sizes = sizes
        self.white = white
        self.layers: list[NetworkLayer] = []
        self._channels = [sizes[1]]
        self._random = np.random.default_rng(7)

    def image(self) -> Array:
        return self._random.random(self.sizes, np.float32) * np.float32(self.white)

    def add(
        self,
        kind: str,
        *inputs: int,
        channels: int = 0,
        weights: Sequence[Array] = (),
        activation: str = "",
        **attributes: Any,
    ) -> int:
        """``channels`` are the output's; 0 means those of the first input."""
        self.layers.append(NetworkLayer(kind, inputs, tuple(weights), attributes, activation))
        self._channels.append(channels or self._channels[inputs[0]])
        return len(self.layers)

    def convolution(
        self,
        x: int,
        channels: int,
        window: int,
        stride: int = 1,
        padding: int = 0,
        activation: str = "",
        groups: int = 1,
        backward: bool = False,
    ) -> int:
        """A convolution; ``backward`` upsamples by 2, with one extra row and column, as the samples do for stride 2."""
        before = self._channels[x]
        sizes = (before, channels) if backward else (channels, before // groups)
        scale = (2 / (before // groups * window**2)) ** 0.5
        weights = self._random.standard_normal((*sizes, window, window), np.float32) * np.float32(scale)
        return self.add(
            "CONVOLUTION",
            x,
            channels=channels,
            weights=[weights, self._vector(channels)],
            activation=activation,
            window=window,
            features=channels,
            stride=stride,
            padding=padding,
            groups=groups,
            backward=backward,
        )

    def batch_normalization(self, x: int, activation: str = "") -> int:
        """A batch norm; its weights are the mean, the variance, the scale and the bias."""
        count = self._channels[x]
        mean, bias = self._vector(count), self._vector(count)
        weights = [mean, 1 + np.abs(self._vector(count)), 1 + self._vector(count), bias]
        return self.add("BATCH_NORMALIZATION", x, weights=weights, activation=activation)

    def instance_normalization(self, x: int, activation: str = "") -> int:
        """An instance norm; its weights are the scale and the bias."""
        count = self._channels[x]
        weights = [1 + self._vector(count), self._vector(count)]
        return self.add("MEAN_VARIANCE_NORMALIZATION1", x, weights=weights, activation=activation)

    def join(self, *inputs: int) -> int:
        return self.add("JOIN", *inputs, channels=sum(self._channels[position] for position in inputs))

    def _vector(self, count: int) -> Array:
        return self._random.standard_normal(count, np.float32) * np.float32(0.1)


def squeezenet() -> Network:
    """SqueezeNet 1.1."""
    net = Network(1, 3, 224, 224)
    x = net.convolution(0, 64, 3, 2, activation="RELU")
    for squeezed, expanded, pooled in (
        (16, 64, True),
        (16, 64, False),
        (32, 128, True),
        (32, 128, False),
        (48, 192, True),
        (48, 192, False),
        (64, 256, False),
        (64, 256, False),
    ):
        if pooled:
            x = net.add("MAX_POOLING", x, window=3, stride=2, padding=0)
        x = net.convolution(x, squeezed, 1, activation="RELU")
        sides = [
            net.convolution(x, expanded, window, padding=window // 2, activation="RELU") for window in (1, 3)
        ]
        x = net.join(*sides)
    x = net.convolution(x, 1000, 1, activation="RELU")
    x = net.add("AVERAGE_POOLING", x, window=13, stride=1, padding=0)
    net.add("ACTIVATION_SOFTMAX1", x)
    return net


def mobilenet(is_exported: bool = False) -> Network:
    """MobileNet-v2, with its batch norms as separate nodes; or as PyTorch exports it, with clips as separate nodes, and
    batch norms folded into the filters."""
    net = Network(1, 3, 224, 224)

    def block(x: int, channels: int, window: int, stride: int, activation: str, groups: int = 1) -> int:
        x = net.convolution(x, channels, window, stride, window // 2, groups=groups)
        if not is_exported:
            return net.batch_normalization(x, activation)
        return net.add("CLIP", x, low=0.0, high=6.0) if activation else x

    x, before = block(0, 32, 3, 2, "RELU"), 32
    for expansion, channels, count, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for index in range(count):
            wide, stride = before * expansion, 1 if index else first_stride
            y = block(x, wide, 1, 1, "RELU")
            y = block(y, wide, 3, stride, "RELU", wide)
            y = block(y, channels, 1, 1, "")
            x, before = net.add("ADD", x, y) if index else y, channels
    x = block(x, 1280, 1, 1, "RELU")
    x = net.add("AVERAGE_POOLING", x, window=7, stride=1, padding=0)
    net.convolution(x, 1000, 1)
    return net


def super_resolution() -> Network:
    """Sub-pixel super-resolution by a factor of 3."""
    net, x = Network(1, 1, 224, 224), 0
    for channels, window, activation in ((64, 5, "RELU"), (64, 3, "RELU"), (32, 3, "RELU"), (9, 3, "")):
        x = net.convolution(x, channels, window, padding=window // 2, activation=activation)
    net.add("DEPTH_TO_SPACE1", x, channels=1, block=3)
    return net


def style_transfer() -> Network:
    """The style transfer network of the Candy sample."""
    net = Network(1, 3, 720, 720, white=255.0)
    x = net.add("VALUE_SCALE_2D", 0, bias=[-103.9, -116.8, -123.7])
    x = net.add("PADDING", x, padding=40)

    def block(x: int, channels: int, window: int, stride: int, padding: int, activation: str = "RELU") -> int:
        return net.instance_normalization(net.convolution(x, channels, window, stride, padding), activation)

    for channels, window, stride in ((16, 9, 1), (32, 3, 2), (64, 3, 2)):
        x = block(x, channels, window, stride, window // 2)
    for _ in range(5):
        y = block(block(x, 64, 3, 1, 0), 64, 3, 1, 0, "")
        x = net.add("ADD", y, net.add("SLICE", x, border=2))
    for channels in (32, 16):
        x = net.add("SLICE", net.convolution(x, channels, 3, 2, backward=True), border=1)
        x = net.instance_normalization(x, "RELU")
    x = net.convolution(x, 3, 9, padding=4, activation="TANH")
    x = net.add("ACTIVATION_LINEAR", x, alpha=150.0)
    x = net.add("MULTIPLY", x, weights=[np.ones(3, np.float32)])
    net.add("ADD", x, weights=[np.array([103.9, 116.8, 123.7], np.float32)])
    return net


NETWORKS: Mapping[str, Callable[[], Network]] = {
    "SqueezeNet": squeezenet,
    "MobileNet-v2": mobilenet,
    "MobileNet-v2 exported": partial(mobilenet, is_exported=True),
    "super-resolution": super_resolution,
    "style transfer": style_transfer,
}
