"""Recipes for valid descs: sampling."""

from __future__ import annotations

from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe


@recipe("UPSAMPLE_2D")
def upsample_2d(make: DescGenerator) -> Fields:
    *sizes, width, height = make.shape(make.rank("InputTensor") + 2)
    return {"InputTensor": sizes, "ScaleSize": (width, height)}


@recipe("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3")
def resample(make: DescGenerator) -> Fields:
    return scaled(make, "InputTensor", "OutputTensor")


def scaled(make: DescGenerator, small: str, large: str) -> Fields:
    """Two images, and scales that approximately relate their sizes, or arbitrary ones."""
    source, rank = make.source, make.rank(small)
    sizes = {name: make.shape(rank) for name in (small, large)}
    scales = [
        source.choice((other / size, other / size, 1.0, 0.5, 2.5, 0.2, 1.5, 0.01))
        for size, other in zip(sizes[small], sizes[large])
    ]
    offsets = [
        [source.choice((0.5, -0.5, 0.0, 0.25, 1.25)) for _ in scales]
        for _ in ("InputPixelOffsets", "OutputPixelOffsets")
    ]
    return {**sizes, "Scales": scales, "InputPixelOffsets": offsets[0], "OutputPixelOffsets": offsets[1]}
