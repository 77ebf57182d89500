"""Operators whose elements each see a window of the input: convolutions, pools, and regions of interest."""

from . import convolution, max_unpooling, pooling, roi

__all__ = ["convolution", "max_unpooling", "pooling", "roi"]
