"""Windows of convolutions and pools: strides, dilations and padding."""

from __future__ import annotations

from typing import Any, NamedTuple

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
        return [(size - 1) * step + 1 for size, step in zip(self.kernel, self.dilations)]

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
    """The window over spatial ``sizes``; ``auto_pad`` pads so that each stride has a result."""
    count = len(sizes)
    given = node.get("kernel_shape", kernel)
    if given is None or len(given) != count:
        raise Refusal(f"has {len(given or ())} sizes for {count} dimensions", "attribute kernel_shape")
    ones = [1] * count
    pads = list(node.get("pads", [0] * (2 * count)))
    if len(pads) != 2 * count:
        raise Refusal(f"has {len(pads)} numbers for {count} dimensions", "attribute pads")
    window = WindowAttributes(
        list(given),
        list(node.get("strides", ones)),
        list(node.get("dilations", ones)),
        pads[:count],
        pads[count:],
    )
    word = node.get("auto_pad", "NOTSET")
    if word not in WORDS:
        raise Refusal(f"is {word!r}, which is not one of {', '.join(WORDS)}", "attribute auto_pad")
    if word == "VALID":
        return window._replace(start=[0] * count, end=[0] * count)
    if word.startswith("SAME"):
        totals = [
            max(0, (-(-size // stride) - 1) * stride + extent - size)
            for size, stride, extent in zip(sizes, window.strides, window.extents)
        ]
        return window._replace(**split(totals, word))
    if min(pads, default=0) < 0:
        raise Refusal(f"is {pads}; DirectML has no negative padding here", "attribute pads")
    return window


def split(totals: list[int], word: str) -> dict[str, list[int]]:
    """Padding on both sides: the odd element is at the end for SAME_UPPER, else at the start."""
    less, more = [total // 2 for total in totals], [total - total // 2 for total in totals]
    return {"start": less, "end": more} if word == "SAME_UPPER" else {"start": more, "end": less}
