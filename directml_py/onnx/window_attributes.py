"""Windows of convolutions and pools: strides, dilations and padding."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .values import Sizes

WORDS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


class WindowAttributes(NamedTuple):
    """The attributes of a window in each spatial dimension."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    start: list[int]
    end: list[int]

    @property
    def extents(self) -> list[int]:
        """The number of elements that a window spans."""
        return [(size - 1) * dilation + 1 for size, dilation in zip(self.kernel, self.dilations)]

    def convolution(self) -> dict[str, Any]:
        return {
            "strides": self.strides,
            "dilations": self.dilations,
            "start_padding": self.start,
            "end_padding": self.end,
        }

    def pool(self) -> dict[str, Any]:
        return {"window_size": self.kernel, **self.convolution()}


def window_of(node: OnnxNode, sizes: Sizes, kernel: Sizes | None = None) -> WindowAttributes:
    """The window over spatial ``sizes``; ``auto_pad`` pads so that each stride has a result.

    Strides that leave elements out make that padding negative, as negative ``pads`` are.
    """
    window = explicit(node, len(sizes), kernel)
    word = node.get("auto_pad", "NOTSET")
    if not word.startswith("SAME"):
        return window
    totals = [
        (-(-size // stride) - 1) * stride + extent - size
        for size, stride, extent in zip(sizes, window.strides, window.extents)
    ]
    if kernel is not None:
        # ONNX Runtime's convolutions, unlike its pools, crop one element less.
        totals = [total + (total < 0) for total in totals]
    return window._replace(**split(totals, word))


def explicit(node: OnnxNode, count: int, kernel: Sizes | None) -> WindowAttributes:
    """The window in ``count`` dimensions with the padding that ``pads`` has."""
    ones, none = [1] * count, [0] * count
    attributes = {
        name: list(node.get(name) or default)
        for name, default in (
            ("kernel_shape", kernel or ()),
            ("strides", ones),
            ("dilations", ones),
            ("pads", none * 2),
        )
    }
    for name, numbers in attributes.items():
        wanted = count * (2 if name == "pads" else 1)
        if len(numbers) != wanted:
            raise Refusal(
                f"has {len(numbers)} numbers; {count} dimensions need {wanted}", f"attribute {name}"
            )
        if name != "pads" and min(numbers, default=1) < 1:
            raise Refusal(f"is {numbers}; the numbers must be positive", f"attribute {name}")
    word = node.get("auto_pad", "NOTSET")
    if word not in WORDS:
        raise Refusal(f"is {word!r}, which is not one of {', '.join(WORDS)}", "attribute auto_pad")
    pads = attributes["pads"] if word == "NOTSET" else none * 2
    return WindowAttributes(
        attributes["kernel_shape"], attributes["strides"], attributes["dilations"], pads[:count], pads[count:]
    )


def split(totals: list[int], word: str) -> dict[str, list[int]]:
    """Padding on both sides: the odd element is at the end for SAME_UPPER, else at the start."""
    # Halves are rounded towards 0, for negative numbers too.
    start = [int((total + (word != "SAME_UPPER")) / 2) for total in totals]
    return {"start": start, "end": [total - first for total, first in zip(totals, start)]}


def cropped(
    node: OnnxNode, window: WindowAttributes, first: int = 2
) -> tuple[Expression, Sizes, WindowAttributes]:
    """The input without the elements that negative padding removes, from axis ``first`` on, and what is left to pad."""
    shape = node.shape()
    start, end = ([max(0, -pad) for pad in pads] for pads in (window.start, window.end))
    if not any((*start, *end)):
        return node.tensor(), shape, window
    offsets, sizes = [0] * len(shape), list(shape)
    for axis, (low, high) in enumerate(zip(start, end), first):
        offsets[axis], sizes[axis] = low, sizes[axis] - low - high
    x = node.graph.slice(node.tensor(), offsets=offsets, sizes=sizes, strides=[1] * len(sizes))
    positive = {
        "start": [max(0, pad) for pad in window.start],
        "end": [max(0, pad) for pad in window.end],
    }
    return x, tuple(sizes), window._replace(**positive)
