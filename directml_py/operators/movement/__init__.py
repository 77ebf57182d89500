"""Operators that move data: a whole and its parts, slices, padding, tiles, blocks, sliding windows."""
