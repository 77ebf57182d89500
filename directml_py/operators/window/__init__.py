"""Convolution, pooling and region-of-interest operators."""
