"""Operators whose elements each see a window of the input: convolutions, pools, and regions of interest."""

from . import convolution, pooling, regions, unpooling

__all__ = ["convolution", "pooling", "regions", "unpooling"]
