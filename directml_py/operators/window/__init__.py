"""Operators whose elements each see a window of the input: convolutions, pools, and regions of interest."""
