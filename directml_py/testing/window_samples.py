"""Sliding windows for the recipes of convolutions, pools and their gradients and inverses."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels.windows import Window
from .desc_generator import DescGenerator

# The most by which output sizes exceed input sizes, per dimension: padding and rounding up each may add a step.
GROWTH = 3
FIELDS = {
    "WindowSize": "size",
    "Strides": "strides",
    "Dilations": "dilations",
    "StartPadding": "start_padding",
    "EndPadding": "end_padding",
    "OutputPadding": "output_padding",
}


class SlidingWindow(NamedTuple):
    """``leading`` sizes, such as batches and channels, and spatial sizes over which a window slides."""

    leading: tuple[int, ...]
    sizes: tuple[int, ...]
    window: Window

    @property
    def output_sizes(self) -> tuple[int, ...]:
        return self.window.forward(self.sizes)

    def attributes(self, make: DescGenerator) -> dict[str, Any]:
        """The operator's window attributes: strides, dilations, padding."""
        names = make.schema.struct.index
        return {field: getattr(self.window, name) for field, name in FIELDS.items() if field in names}


def roomy(make: DescGenerator) -> bool:
    """Whether an output may be larger than its input."""
    return make.max_elements >= GROWTH**3


def sliding(make: DescGenerator, field: str, leading: int = 2, padded_away: bool = True) -> SlidingWindow:
    """A window that fits at least once into a tensor of any rank that ``field`` supports, all with few elements.

    With ``padded_away`` a window may be entirely within the padding.
    """
    source, count = make.source, make.rank(field) - 2
    # Small sizes, so that the budget of elements suffices for all dimensions.
    chosen = make.shape(leading + 2 * count, GROWTH**count, source.choice((3, 4, 5)))
    sizes, kernel = chosen[leading : leading + count], chosen[leading + count :]
    has_dilations = "Dilations" in make.schema.struct.index
    dilations, start, end = [], [], []
    for size, taps in zip(sizes, kernel):
        dilations.append(source.integer(1, 3) if has_dilations else 1)
        reach = (taps - 1) * dilations[-1]
        padding = source.integer(max(0, reach + 1 - size), reach + (padded_away and roomy(make)))
        start.append(source.integer(0, padding))
        end.append(padding - start[-1])
    strides = [source.integer(1, 3) for _ in sizes]
    return SlidingWindow(
        tuple(chosen[:leading]), tuple(sizes), Window.of(kernel, strides, dilations, start, end)
    )
